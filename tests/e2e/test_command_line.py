"""Single calls from the command line: over a running service, and in a process of its own."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import orjson
import pytest

WEBDATA = Path(sys.executable).with_name("webdata")
DOCS = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^\$ webdata (.*)\n((?:(?!\$ |```).*\n)+)", re.MULTILINE)
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from webdata.main import main
main()
"""
"""The command line that heeds Ctrl-C, which programs ignore that a shell has started in the background."""


@pytest.fixture
def environ(running):
    return {
        "WEBDATA_KEY": running.test_key,
        "WEBDATA_URL": running.url,
        "WEBDATA_CA": running.certificate,
        "COLUMNS": "80",
    }


@pytest.fixture
def running(services):
    """The service that tests share."""
    return services()


@pytest.fixture
def run(environ, invoke):
    """What a command prints, and how it ends."""
    return partial(invoke, **environ)


@pytest.fixture
def local(tmp_path):
    """Runs a command in a process of its own, whose internet is the sandbox."""
    settings = {**os.environ, "WEBDATA_SANDBOX": "always", "WEBDATA_DATABASE": f"sqlite:///{tmp_path}/w.sqlite3"}
    return lambda *arguments: subprocess.run(
        [WEBDATA, *arguments], env=settings, capture_output=True, cwd=tmp_path, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(("command", "output"), EXAMPLE.findall(DOCS), ids=lambda value: value[:40].strip())
def test_the_examples_are_real(run, command, output, tmp_path, monkeypatch):
    """Each command of the docs prints what it says: whole lines, of which `…` stands for the rest."""
    monkeypatch.chdir(tmp_path)
    done = run(*shlex.split(command, comments=True))
    printed = done.output.splitlines()
    for line in output.splitlines():
        beginning = line.removesuffix("…")
        assert any(one.startswith(beginning) for one in printed), (line, done.output)


def test_there_are_examples():
    """The page shows several commands with their output."""
    assert len(EXAMPLE.findall(DOCS)) >= 4


def test_a_search_is_json_in_a_pipe(run):
    """Standard output has the record in a line, and nothing else."""
    done = run("search", "coffee", "--num", "3")
    assert (done.exit_code, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert len(orjson.loads(done.stdout)["results"]) == 3


def test_a_search_may_have_pages(run):
    """Those of the first results, by calls of the same service."""
    results = orjson.loads(run("search", "coffee", "--content", "2", "--content-chars", "200").stdout)["results"]
    assert [one.get("page", {}).get("outcome") for one in results[:3]] == ["ok", "ok", None]
    assert all(0 < len(one["page"]["markdown"]) <= 200 for one in results[:2])


def test_every_option_reaches_the_service(run):
    """What it refuses is told as bad usage, by the service's own words."""
    done = run("search", "coffee", "--num", "many")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "num cannot be 'many': give a whole number" in done.stderr
    assert run("fetch", "ftp://a.example/").exit_code == 2


@pytest.mark.parametrize(
    ("terms", "said"), [("sandbox:empty", "the outcome is empty"), ("sandbox:denied", "a blocking page")]
)
def test_nothing_found_and_blocked_are_status_1(run, terms, said):
    """The reason is on standard error."""
    done = run("search", terms)
    assert done.exit_code == 1
    assert said in done.stderr


def test_a_page_is_text(run):
    """Markdown by default, or the only format that is asked for, with what more there is told beside it."""
    done = run("fetch", "https://example.com/article", "--max-chars", "200")
    assert (done.exit_code, done.stdout.startswith("# ")) == (0, True)
    assert re.fullmatch(r"there is more: --cursor \d+-[0-9a-f]{8}\n", done.stderr)
    text = run("fetch", "https://example.com/article", "--format", "text", "--select", "h1")
    assert (text.exit_code, text.stdout.count("\n")) == (0, 1)
    both = run("fetch", "https://example.com/article", "--format", "text", "--format", "links")
    assert {"text", "links"} <= orjson.loads(both.stdout).keys()
    whole = run("fetch", "https://example.com/article", "--json")
    assert orjson.loads(whole.stdout)["markdown"].startswith("# ")


def test_an_answer_is_written_to_a_file(run, tmp_path):
    """Then standard output stays empty."""
    file = tmp_path / "page.md"
    done = run("fetch", "https://example.com/article", "-o", str(file))
    assert (done.exit_code, done.output) == (0, "")
    assert file.read_text(encoding="utf-8").startswith("# ")


def test_what_cannot_be_written_or_sent_is_bad_usage_or_a_failure(run, tmp_path):
    """Each is told in a line, without a traceback."""
    page = ("fetch", "https://example.com/article")
    ends = [
        (run(*page, "-o", str(tmp_path / "missing" / "a.md")), 1, "missing"),
        (run("search", "tea", "--table", "-o", str(tmp_path / "a")), 2, "--table is for a terminal"),
        (run("search", "tea", "--region", "D\nE"), 2, "X-Proxy-Location cannot have control characters"),
    ]
    for done, status, said in ends:
        assert (done.exit_code, said in done.stderr, done.stdout) == (status, True, "")
        assert isinstance(done.exception, SystemExit)


def test_a_key_is_needed(run):
    """A missing one is bad usage, one that is not known a failure."""
    assert (
        run("search", "tea", WEBDATA_KEY="").exit_code,
        run("search", "tea", WEBDATA_KEY="x").exit_code,
    ) == (2, 1)


def test_a_service_that_is_away_is_told_at_once(run):
    """A single call is not tried again."""
    done = run("search", "tea", WEBDATA_URL="http://127.0.0.1:9")
    assert (done.exit_code, "does not answer" in done.stderr, "trying again" in done.stderr) == (1, True, False)


def test_a_call_in_this_process_needs_no_service(local):
    """The same engines answer, and nothing but the answer is printed."""
    done = local("search", "coffee", "--num", "2", "--local", "--table")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].split() == ["#", "title", "link"]
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.slow
def test_a_failure_in_this_process_is_that_of_a_service(local):
    """It has the words and the status of the API's."""
    blocked = local("search", "sandbox:denied", "--local")
    assert (blocked.returncode, blocked.stdout, "a blocking page" in blocked.stderr) == (1, "", True)
    wrong = local("fetch", "http://127.0.0.1/", "--local")
    assert (wrong.returncode, "The target is not allowed" in wrong.stderr) == (2, True)


def test_a_reader_who_leaves_is_no_error(environ):
    """As after `| head`: nothing is printed about it."""
    process = subprocess.Popen(
        [WEBDATA, "fetch", "https://example.com/article"],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert (process.stderr.read(), process.wait(60)) == (b"", 1)
    process.stderr.close()


@pytest.mark.parametrize("where", [(), ("--local",)])
def test_ctrl_c_ends_with_130(tmp_path, where):
    """Over the API and in this process, without a traceback."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings = {
            **os.environ,
            "WEBDATA_KEY": "x",
            "WEBDATA_URL": url,
            "WEBDATA_SANDBOX": "always",
            "WEBDATA_SANDBOX_URL": url,
            "WEBDATA_TRANSPORTS": "http",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, "search", "tea", *where],
            env=settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        )
        silent.settimeout(30)
        with silent.accept()[0]:
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, b"Traceback" in errors) == (130, b"", False), errors
