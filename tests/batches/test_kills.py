"""Workers that are killed at any moment, on PostgreSQL."""

import pytest

from benchmarks.machines import arguments, measure

pytestmark = pytest.mark.slow

ROWS = 2000


@pytest.mark.task
async def test_each_query_ends_once_however_workers_die(postgresql):
    """Under kills each query has one result and one charge, its batch one event, and the slots bound what is asked."""
    options = ["--database", postgresql, "--rows", str(ROWS), "--workers", "3", "--slots", "4"]
    found = await measure(arguments([*options, "--kill-every", "3", "--kills", "3"]))
    assert (found["results"], found["charges"], found["completed"]) == (ROWS, ROWS, 1)
    assert found["kills"] > 0
    assert found["most_in_flight"] <= found["cap"] == 40
