"""The commands of batches, without a service."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import orjson
import pytest

from webdata.faces.administration import batches
from webdata.faces.administration.api_client import INTERRUPTED, ApiError

HEAD = b"row,title\n"
WAITING = {"rows": 1, "next_try": "2026-11-25T23:31:07+00:00"}
WITH_INTERRUPTS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from webdata.main import main
main()
"""
"""The command line that heeds Ctrl-C, which programs ignore that a shell has started in the background."""


class Answers:
    """A client of the API that is answered with these states of a batch, one after the other: each ends a query."""

    def __init__(self, *states):
        self._states = iter(states)
        self.ended = 0
        self.waiting = None
        self.given = None

    async def ask(self, method, path, params=None, body=None, headers=None):
        if method == "POST":
            self.given = params
            return {"id": "bat_1", "rejected": 0, "problems": [], "ignored": []}
        state, reason = next(self._states)
        self.ended += 1
        counts = {"rows": 3, "rows_ended": self.ended, "rows_failed": 0, "cost": 1, "waiting": self.waiting}
        return {"id": "bat_1", "state": state, "reason": reason, **counts}

    @asynccontextmanager
    async def response(self, method, path, params):
        lines = [orjson.dumps({"row": row}) + b"\n" for row in range(params["after"] + 1, self.ended + 1)]
        head = HEAD if params["format"] == "csv" else b""
        yield SimpleNamespace(content=Content(head + b"".join(lines)), headers={"x-next-after": str(self.ended)})


class Content:
    def __init__(self, body):
        self._body = body

    async def iter_chunked(self, size):
        yield self._body


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(batches, "LOOK_SECONDS", 0)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out.jsonl"


@pytest.mark.task
@pytest.mark.parametrize("reason", ["requested", "key_revoked"])
async def test_nobody_waits_for_a_batch_that_does_not_go_on_by_itself(reason, output):
    """A batch that somebody has to resume ends the wait with what would be right."""
    client = Answers(("running", None), ("paused", reason))
    with pytest.raises(ApiError, match="bat_1 is paused: resume it"):
        await batches._fetch(client, "bat_1", output, "records", wait=True)


@pytest.mark.task
async def test_a_batch_without_credits_is_waited_for(output):
    """It goes on when there are some."""
    client = Answers(("paused", "out_of_credits"), ("running", None), ("done", None))
    await batches._fetch(client, "bat_1", output, "records", wait=True)
    assert list(client._states) == []


@pytest.mark.task
@pytest.mark.parametrize("form", ["records", "csv"])
async def test_results_are_written_while_the_batch_is_waited_for(output, form):
    """Each result is in the file before the next look, once, and so is the line that names columns."""
    seen = []

    def states():
        for state in ("running", "running", "done"):
            seen.append(output.read_bytes() if output.exists() else b"")
            yield state, None

    client = Answers()
    client._states = states()
    await batches._fetch(client, "bat_1", output, form, wait=True)
    head = HEAD if form == "csv" else b""
    assert seen == [b"", head + b'{"row":1}\n', head + b'{"row":1}\n{"row":2}\n']
    assert output.read_bytes() == head + b'{"row":1}\n{"row":2}\n{"row":3}\n'


@pytest.mark.task
async def test_what_waits_is_told_once(output, capsys):
    """Where no bar is shown, a line says what waits and until when."""
    client = Answers(("running", None), ("running", None), ("done", None))
    client.waiting = WAITING
    await batches._fetch(client, "bat_1", output, "records", wait=True)
    assert capsys.readouterr().err.count("1 query waits for another try at ") == 1
    assert batches._progress(
        {**WAITING, "state": "running", "rows_failed": 0, "cost": 2, "waiting": WAITING}
    ).startswith("state=running, failed=0, cost=2, 1 query waits for another try at ")


@pytest.mark.task
async def test_the_wait_for_a_batch_that_somebody_cancels_fails(output):
    """Its results so far are written, and the command ends with an error."""
    with pytest.raises(ApiError, match="bat_1 was cancelled: 1 of 3"):
        await batches._fetch(Answers(("cancelled", None)), "bat_1", output, "records", wait=True)
    assert output.read_bytes() == b'{"row":1}\n'


@pytest.mark.task
async def test_an_interrupted_wait_says_how_to_go_on(output, monkeypatch, capsys):
    """Ctrl-C leaves what is written, and names the commands that go on and that end the batch."""
    monkeypatch.setattr(batches, "LOOK_SECONDS", 60)
    fetching = asyncio.ensure_future(batches._fetch(Answers(("running", None)), "bat_1", output, "records", wait=True))
    await asyncio.sleep(0.1)
    assert output.read_bytes()
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    told = capsys.readouterr().err
    assert f"webdata batches results bat_1 --wait --format records -o {output}" in told
    assert "webdata batches cancel bat_1" in told


def test_the_status_after_an_interruption(starts):
    """Ctrl-C ends a command with the status that shells expect."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-c", WITH_INTERRUPTS, "batches", "--url", url, "show", "bat_1"]
        process = subprocess.Popen(command, env={**os.environ, "WEBDATA_KEY": "wd_test_x"}, stderr=subprocess.PIPE)
        with process, silent.accept()[0] as asked:
            assert asked.recv(10)
            assert b"Traceback" not in interrupted(process)
        assert process.returncode == INTERRUPTED


def interrupted(process):
    """What a command says on Ctrl-C, which is repeated: Python loses one that comes while it destroys an object."""
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=15)[1]
    process.kill()
    return pytest.fail("it does not end")


@pytest.mark.parametrize(
    ("options", "retries"), [((), None), (("--no-retry",), 0), (("--retries", "2"), 2), (("--retries", "0"), 0)]
)
def test_how_often_is_tried_again(attempt, monkeypatch, tmp_path, options, retries):
    """The caller says how often what was blocked is tried again; without a word the service decides."""
    client, file = Answers(), tmp_path / "queries.txt"
    file.write_text("coffee\n")
    monkeypatch.setattr(batches.ApiClient, "ask", client.ask)
    monkeypatch.setenv("WEBDATA_KEY", "wd_test_x")
    assert attempt("batches", "submit", str(file), "--resource", "web_search", *options).exit_code == 0
    assert client.given["retries"] == retries


@pytest.mark.parametrize("options", [("-o", "x.jsonl"), ("--no-retry", "--retries", "2"), ("--retries", "11")])
def test_options_that_say_nothing_together_are_refused(mistake, monkeypatch, tmp_path, options):
    """No option is passed over in silence."""
    (tmp_path / "queries.txt").write_text("coffee\n")
    monkeypatch.setenv("WEBDATA_KEY", "wd_test_x")
    assert options[0] in mistake(
        "batches", "submit", str(tmp_path / "queries.txt"), "--resource", "web_search", *options
    )
