"""`webdata doctor`."""

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, closing
from email.utils import formatdate
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from webdata.config.config import Config
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError, UpstreamTimeoutError
from webdata.faces.administration import engine_checks, machine_checks
from webdata.faces.administration.engine_checks import in_words
from webdata.faces.administration.machine_checks import here, outside
from webdata.main import main

WEBDATA = Path(sys.executable).with_name("webdata")


@pytest.fixture
def doctor(starts, tmp_path):
    """Runs the command in an empty folder, without a browser."""

    def run(*arguments, **environ):
        settings = {"WEBDATA_TRANSPORTS": "http", "WEBDATA_SANDBOX": "always", "WEBDATA_PORT": "0", **environ}
        settings["WEBDATA_HTTP_PORT"] = "off"
        command = [WEBDATA, "doctor", *arguments]
        environ = {**os.environ, **settings}
        return subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.mark.slow
def test_each_engine_is_asked(doctor):
    """The findings are lines, or an object for programs; a live query of each chosen engine is among them."""
    done = doctor("--engines", "google_web,openalex_works", "--json")
    report = orjson.loads(done.stdout)
    assert (done.returncode, report["ok"], done.stderr) == (0, True, "")
    subjects = {finding["subject"] for finding in report["findings"]}
    assert subjects == {"database", "folder", "port", "browser", "clock", "disk", "engine"}
    texts = sorted(finding["text"] for finding in report["findings"] if finding["subject"] == "engine")
    assert [text.partition(": answers in ")[0] for text in texts] == [
        "Google (google_web)",
        "OpenAlex (openalex_works)",
    ]


@pytest.mark.slow
def test_what_fails_is_status_1(doctor, tmp_path):
    """Nothing outside is asked offline; what has failed has its reason, and nothing is made."""
    (tmp_path / "file").write_text("no folder")
    done = doctor("--offline", WEBDATA_TLS_FOLDER="file/tls", WEBDATA_DATABASE="sqlite:///file/a.sqlite3")
    assert done.returncode == 1
    assert "FAIL  folder           file/tls of the certificate cannot be written to: give one that" in done.stdout
    assert "engine" not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--offline", "--engines", "google_web"], "leave one of them out"),
        (["--engines", "gogle_web"], "'gogle_web' is not an engine: the engines are amazon_products"),
    ],
)
def test_what_cannot_be_done_is_status_2(arguments, message):
    """Options that contradict each other, and engines that are not there, are refused by name."""
    done = CliRunner().invoke(main, ["doctor", *arguments])
    assert (done.exit_code, message in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BlockedError("x", "captcha"), "blocked by a captcha from this address; set a proxy or an upstream"),
        (BlockedError("a wall"), "blocked (a wall) from this address; set a proxy or an upstream"),
        (LayoutError("results"), "its page has a layout that is not known here (results): upgrade webdata"),
        (UpstreamTimeoutError("silence"), "no answer in time (silence): is there a way out to the internet"),
        (UpstreamError("broken"), "broken"),
    ],
)
def test_outcomes_are_told_in_words(error, words):
    """An engine that fails has its reason, and what would help."""
    assert in_words(error, has_proxies=False).startswith(words)
    assert "set a proxy" not in in_words(error, has_proxies=True)


@pytest.mark.task
async def test_ports_and_proxies_are_tried(starts, tmp_path, monkeypatch):
    """A port of another program and a proxy that nobody listens on are told by port and by label, without its URL."""
    monkeypatch.chdir(tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as other, closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))
        taken, dead = other.getsockname()[1], closed.getsockname()[1]
        proxies = f"http://me:secret@127.0.0.1:{dead},http://127.0.0.1:{taken}"
        environ = {"WEBDATA_PORT": "0", "WEBDATA_TRANSPORTS": "http", "WEBDATA_PROXIES_DE": proxies}
        other.settimeout(0)
        config = Config.from_environ({**environ, "WEBDATA_PORT": str(taken), "WEBDATA_HTTP_PORT": "off"})
        monkeypatch.setattr("webdata.faces.administration.machine_checks.ANSWERS_WITHIN", 0.5)
        found = [finding async for finding in here(config) if finding.subject == "port"]
        tried = {finding.text.partition(" ")[0]: finding async for finding in outside(config, [])}
    assert [(one.state, one.text.partition(";")[0]) for one in found] == [
        ("failed", f"{taken} of 127.0.0.1: Address already in use")
    ]
    assert (tried["DE-1"].state, tried["DE-2"].state) == ("failed", "ok")
    assert "secret" not in str(tried)


@pytest.mark.task
async def test_what_is_wrong_with_a_machine_is_told(starts, tmp_path, monkeypatch):
    """A folder that cannot be made, a file that is no database, a full disk and a clock that is behind have failed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder, and no database")
    settings = {"WEBDATA_DATABASE": "sqlite:///file", "WEBDATA_TLS_FOLDER": "file/tls", "WEBDATA_TRANSPORTS": "http"}
    config = Config.from_environ(
        {**settings, "WEBDATA_HOST": "127.0.0.1", "WEBDATA_PORT": "0", "WEBDATA_HTTP_PORT": "off"}
    )
    monkeypatch.setattr(machine_checks, "reserve", lambda total: total)
    monkeypatch.setattr(machine_checks.time, "time", lambda: 0.0)
    found = [one async for one in here(config) if one.state == "failed"]
    assert {one.subject for one in found} == {"clock", "database", "disk", "folder"}
    assert any(one.text.startswith("file/tls of the certificate cannot be written to") for one in found)
    assert "run an NTP client" in str(found)
    assert "make room" in str(found)


@pytest.mark.task
async def test_a_clock_is_compared_with_that_of_a_site(starts):
    """A site's time that differs by minutes is a failure, one that says none a warning."""
    said = ["Mon, 02 Jan 2023 10:00:00 GMT", formatdate(usegmt=True), "soon"]

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nDate: {said.pop(0)}\r\nConnection: close\r\n\r\n".encode())
        writer.close()

    config = Config.from_environ({})
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        found = [one for _ in range(3) async for one in outside(config, [host]) if one.subject == "clock"]
    assert [one.state for one in found] == ["failed", "ok", "warning"]


@pytest.mark.task
async def test_no_other_engine_answers_for_the_one_that_is_checked(monkeypatch):
    """Each engine is the only one that its query asks, also where the resource has several, and names none."""
    calls = []

    class Crawlers:
        async def answer(self, call):
            calls.append(call)
            raise UpstreamError("away", "reset")

    @asynccontextmanager
    async def crawlers(_config, max_calls):
        yield Crawlers()

    monkeypatch.setattr(engine_checks, "local_crawlers", crawlers)
    engines = load_spiders()
    found = [one async for one in engine_checks.engine_findings(Config.from_environ({}), engines)]
    assert sorted(call.engine for call in calls) == sorted(engine.name for engine in engines)
    assert {one.state for one in found} == {"failed"}
