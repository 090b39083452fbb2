"""The commands of batches, without a service."""

import pytest

from webdata.administration import batches
from webdata.administration.api_client import ApiError


class Answers:
    """A client of the API that is answered with these states of a batch, one after the other."""

    def __init__(self, *states):
        self._states = iter(states)

    async def ask(self, method, path):
        state, reason = next(self._states)
        return {"state": state, "reason": reason, "rows": 3, "rows_ended": 1, "rows_failed": 0, "cost": 1}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(batches, "LOOK_SECONDS", 0)


@pytest.mark.task
@pytest.mark.parametrize("reason", ["requested", "key_revoked"])
async def test_nobody_waits_for_a_batch_that_does_not_go_on_by_itself(reason):
    """A batch that somebody has to resume ends the wait with what would be right."""
    with pytest.raises(ApiError, match="bat_1 is paused: resume it"):
        await batches._wait(Answers(("running", None), ("paused", reason)), "bat_1")


@pytest.mark.task
async def test_a_batch_without_credits_is_waited_for():
    """It goes on when there are some."""
    client = Answers(("paused", "out_of_credits"), ("running", None), ("done", None))
    await batches._wait(client, "bat_1")
    assert list(client._states) == []
