"""Submissions while they arrive."""

import asyncio
import resource
import subprocess
import sys
from contextlib import AsyncExitStack

import pytest

from webdata.batches import intake as intake_module
from webdata.batches.intake import Intake
from webdata.domain.errors import BrokenBodyError, OverloadedError, QueryError, RateLimitedError, SlowBodyError
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.server.streams import BodyStream

GIVEN = {"resource": "web_search"}


@pytest.fixture
def intake(starts, tmp_path):
    return Intake(tmp_path / "intake", {"web_search": WEB_SEARCH.query})


def stream():
    return BodyStream(None, lambda: None, lambda: None)


async def taken(intake, body, given=GIVEN, ndjson=True):
    async with intake.taken("key_1", body, given, ndjson=ndjson) as submission:
        return submission.result, list(submission.queries())


@pytest.mark.task
async def test_a_body_is_validated_while_it_arrives(intake):
    """Pieces of a body may end anywhere; the queries come out with their numbers, and the hash is that of the body."""
    body = stream()
    taking = asyncio.ensure_future(taken(intake, body))
    for piece in (b'{"q": "caf', b"\xc3", b'\xa9"}\n{"q":', b'"tea"}\n'):
        body.feed(piece)
        await asyncio.sleep(0)
    body.end()
    result, queries = await taking
    assert queries == [(1, '{"q":"café"}'.encode()), (2, b'{"q":"tea"}')]
    again, _ = await taken(intake, '{"q": "café"}\n{"q":"tea"}\n'.encode())
    assert again.digest == result.digest


@pytest.mark.task
async def test_nothing_is_left_of_a_submission(intake, tmp_path):
    """The file of a submission has no name, so that also a killed process leaves none."""
    async with intake.taken("key_1", b'{"q":"a"}\n' * 2000, GIVEN, ndjson=True):
        assert not list((tmp_path / "intake").iterdir())


@pytest.fixture
def full_disk():
    """Files that cannot grow beyond 16 KB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.task
@pytest.mark.usefixtures("full_disk")
async def test_a_full_disk_is_told(intake):
    """A submission for which the disk has no room is refused, as something that passes."""
    with pytest.raises(OverloadedError, match="too large"):
        await taken(intake, b'{"q":"coffee"}\n' * 5000)


@pytest.mark.task
async def test_wrong_parameters_end_it_before_the_body_has_come(intake):
    """An error of the process ends the submission at once, also where more of the body comes."""
    body = stream()
    taking = asyncio.ensure_future(taken(intake, body, {}))
    async with asyncio.timeout(10):
        while not taking.done():
            body.feed(b'{"q":"a"}\n' * 1000)
            await asyncio.sleep(0.01)
    with pytest.raises(QueryError, match="resource is missing"):
        await taking


@pytest.mark.task
@pytest.mark.parametrize("error", [BrokenBodyError("gone"), SlowBodyError("slow")])
async def test_a_body_that_breaks_off_takes_nothing(intake, error):
    """The error of a body that never ends is that of the submission."""
    body = stream()
    taking = asyncio.ensure_future(taken(intake, body))
    body.feed(b'{"q":"a"}\n')
    await asyncio.sleep(0)
    body.fail(error)
    with pytest.raises(type(error)):
        await taking


LARGE = b'{"q":"a"}\n' * 2000


async def held_by(intake, held, account, **more):
    """Let an account's large submission hold its place until the stack ends."""
    await held.enter_async_context(intake.taken(account, LARGE, GIVEN, ndjson=True, **more))


@pytest.mark.task
async def test_an_account_has_its_share(intake, monkeypatch):
    """An account may send two at once, one by its test keys; half of the places are for accounts that have none."""
    monkeypatch.setattr(intake._places, "most", 5)
    async with AsyncExitStack() as held:
        await held_by(intake, held, "acc_1", test=True)
        with pytest.raises(RateLimitedError, match="1 large submission of the test keys of this account"):
            await held_by(intake, held, "acc_1", test=True)
        await held_by(intake, held, "acc_1")
        with pytest.raises(RateLimitedError, match="2 large submissions of this account"):
            await held_by(intake, held, "acc_1")
        for account in ("acc_2", "acc_3", "acc_4"):
            await held_by(intake, held, account)
            with pytest.raises(RateLimitedError, match="while many accounts send some"):
                await held_by(intake, held, account)
        with pytest.raises(OverloadedError):
            await held_by(intake, held, "acc_5")
    await taken(intake, LARGE)


@pytest.mark.task
async def test_a_small_body_needs_no_place(intake, monkeypatch):
    """Small bodies are taken while large ones have every place, whether or not their length is told."""
    monkeypatch.setattr(intake._places, "most", 2)
    body = stream()
    body.feed(b'{"q":"a"}')
    body.end()
    async with AsyncExitStack() as held:
        for account in ("acc_1", "acc_2"):
            await held_by(intake, held, account)
        for small in (b'{"q":"a"}', body):
            assert (await taken(intake, small))[1] == [(1, b'{"q":"a"}')]


@pytest.mark.task
@pytest.mark.parametrize("line", [b"", b'{"q":"a"}\n' * 2000])
async def test_a_whole_body_has_a_time(intake, monkeypatch, line):
    """A body of which there is always a little more ends after a while, and its place is free."""
    monkeypatch.setattr(intake_module, "BODY_SECONDS", 0.3)
    body = stream()
    body.feed(line)
    with pytest.raises(SlowBodyError, match="send it faster, or as several batches"):
        await taken(intake, body)
    assert intake._places.total == 0


@pytest.mark.task
async def test_a_process_that_dies_is_a_fault_of_ours(intake, monkeypatch):
    """A validation that is killed, as for its memory, is an error that nobody waits for."""
    killed = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    monkeypatch.setattr(intake_module, "start_child", lambda *_: subprocess.Popen(killed))
    with pytest.raises(RuntimeError, match="has ended"):
        await taken(intake, b'{"q":"a"}\n' * 100_000)


@pytest.mark.task
@pytest.mark.parametrize("queries", [2000, 200_000], ids=["that answers nothing", "that reads nothing"])
async def test_a_process_that_hangs_is_a_fault_of_ours(intake, monkeypatch, queries):
    """A validation that does not go on is no fault of the body, which has come."""
    hangs = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(intake_module, "start_child", lambda _, *pipes: subprocess.Popen(hangs, pass_fds=pipes))
    monkeypatch.setattr(intake_module, "PROGRESS_SECONDS", 0.2)
    with pytest.raises(RuntimeError, match="has hung"):
        await taken(intake, b'{"q":"a"}\n' * queries)
