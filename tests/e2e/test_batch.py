"""Batches by `scrapy crawl` against the sandbox, over real sockets."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

SCRAPY = Path(sys.executable).with_name("scrapy")
ENVIRON = {"SCRAPY_SETTINGS_MODULE": "webdata.settings", "WEBDATA_SANDBOX": "always"}
FAILING = ["sandbox:layout", "sandbox:captcha", "sandbox:reset", "sandbox:error", "sandbox:enablejs"]
QUERIES = [*[f"coffee {number}" for number in range(85)], *FAILING]


@pytest.fixture
def crawl(tmp_path):
    """Starts `scrapy crawl google_web` in an empty folder; `finish` waits for its end."""
    started = []

    def begin(*arguments, stdin=None):
        process = subprocess.Popen(
            [SCRAPY, "crawl", "google_web", *arguments],
            cwd=tmp_path,
            env={**os.environ, **ENVIRON},
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def finish(process):
    """The exit status, standard output and log of an ended process."""
    out, log = process.communicate(timeout=60)
    return process.returncode, out, log


def lines(path):
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def write_queries(folder, queries=QUERIES):
    (folder / "q.txt").write_text("\n".join(queries))


def journal_length(folder):
    path = folder / "job" / "webdata.journal"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(process, folder, ended):
    """Wait until more than `ended` queries have ended, or the process has."""
    until = time.monotonic() + 30
    while process.poll() is None and journal_length(folder) <= ended:
        assert time.monotonic() < until
        time.sleep(0.002)


def assert_exactly_once(folder):
    """Assert that every query has one record or one failure, and every result one row."""
    records, failures = lines(folder / "out.jsonl"), lines(folder / "out.failures.jsonl")
    assert Counter(record["query"] for record in records) == Counter(set(QUERIES) - set(FAILING))
    assert Counter(failure["query"]["q"] for failure in failures) == Counter(FAILING)
    rows = Counter(row["query"] for row in lines(folder / "rows.jsonl"))
    assert rows == Counter({record["query"]: len(record["results"]) for record in records})


def test_a_file_of_queries_gives_a_line_each(crawl, tmp_path):
    """Each query of a file is one line: its record, or its failure with outcome, kind and reason."""
    write_queries(tmp_path)
    status, _, log = finish(crawl("-a", "queries=q.txt", "-a", "num=3", "-O", "out.jsonl", "-O", "rows.jsonl:rows"))
    assert status == 0, log
    assert_exactly_once(tmp_path)
    assert all(len(record["results"]) == 3 for record in lines(tmp_path / "out.jsonl"))
    failures = lines(tmp_path / "out.failures.jsonl")
    assert all(list(failure) == ["query", "outcome", "kind", "reason"] for failure in failures)
    assert {failure["query"]["q"]: failure["outcome"] for failure in failures} == {
        "sandbox:layout": "layout",
        "sandbox:captcha": "blocked",
        "sandbox:enablejs": "blocked",
        "sandbox:reset": "upstream",
        "sandbox:error": "upstream",
    }
    assert "90 of 90 queries have ended: 85 ok, 2 blocked, 2 upstream, 1 layout" in log


@pytest.mark.slow
@pytest.mark.parametrize(("output", "moments"), [("-O", (0, 80)), ("-o", (45,))], ids=["-O", "-o"])
def test_a_job_that_is_killed_loses_and_repeats_nothing(crawl, tmp_path, output, moments):
    """After several SIGKILLs and restarts each query ends exactly once, in every feed."""
    write_queries(tmp_path)
    command = ["-a", "queries=q.txt", output, "out.jsonl", output, "rows.jsonl:rows"]
    command += ["-s", "JOBDIR=job", "-s", "CONCURRENT_REQUESTS=8"]
    kills = 0
    for ended in moments:
        process = crawl(*command)
        wait_for(process, tmp_path, ended)
        process.kill()
        kills += process.wait() == -signal.SIGKILL
    assert kills > 0
    status, _, log = finish(crawl(*command))
    assert status == 0, log
    assert_exactly_once(tmp_path)
    before = (tmp_path / "out.jsonl").read_bytes()
    status, _, log = finish(crawl(*command))
    assert "The job goes on: 90 of 90 queries have ended" in log
    assert (tmp_path / "out.jsonl").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_job_can_be_continued(crawl, tmp_path, number):
    """After SIGINT or SIGTERM requests in flight end, and the same command continues the job."""
    write_queries(tmp_path)
    command = ["-a", "queries=q.txt", "-O", "out.jsonl", "-O", "rows.jsonl:rows", "-s", "JOBDIR=job"]
    process = crawl(*command, "-s", "CONCURRENT_REQUESTS=4")
    wait_for(process, tmp_path, 10)
    process.send_signal(number)
    _, _, log = finish(process)
    assert "The same command goes on from here" in log
    finish(crawl(*command))
    assert_exactly_once(tmp_path)


def test_another_job_in_the_folder_is_a_mistake(crawl, tmp_path):
    """A folder with the job of other queries is refused, and its feeds are unchanged."""
    write_queries(tmp_path, ["coffee", "tea"])
    command = ["-a", "queries=q.txt", "-O", "out.jsonl", "-s", "JOBDIR=job"]
    finish(crawl(*command))
    before = (tmp_path / "out.jsonl").read_bytes()
    write_queries(tmp_path, ["coffee", "cocoa"])
    status, _, log = finish(crawl(*command))
    assert status == 2
    assert "job holds another job, with other queries (SHA-256 of their file): " in log
    assert (tmp_path / "out.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-a", "q=coffee", "-a", "nmu=5"], "nmu is no argument here: the arguments are queries, q, region"),
        (["-a", "queries=latin.txt"], "latin.txt is not UTF-8 text (line 1): save it as UTF-8"),
    ],
)
def test_a_mistake_is_one_line(crawl, tmp_path, arguments, message):
    """A wrong argument or file ends with status 2 and a message with what is valid, without a traceback."""
    (tmp_path / "latin.txt").write_bytes("café\n".encode("latin-1"))
    status, _, log = finish(crawl(*arguments))
    assert status == 2
    assert message in log
    assert "Traceback" not in log


def test_invalid_rows_do_not_stop_the_others(crawl, tmp_path):
    """An invalid row is a failure with its line; the other queries have their columns and the defaults."""
    rows = [{"q": "coffee", "num": 2, "device": "mobile"}, {"q": "tea", "num": "many"}, {"q": "milk", "id": 7}]
    (tmp_path / "q.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\nnonsense\n")
    _, _, log = finish(crawl("-a", "queries=q.jsonl", "-a", "region=DE", "-O", "out.jsonl"))
    records = {record["query"]: record for record in lines(tmp_path / "out.jsonl")}
    assert set(records) == {"coffee", "milk"}
    assert records["coffee"]["device_type"] == "mobile"
    assert {record["device_region"] for record in records.values()} == {"DE"}
    tea, nonsense = lines(tmp_path / "out.failures.jsonl")
    assert tea["query"] == {"region": "DE", "q": "tea", "num": "many"}
    assert (tea["outcome"], tea["kind"]) == ("invalid", None)
    assert tea["reason"].startswith("line 2: num cannot be 'many': give a whole number")
    assert nonsense["reason"].startswith("line 4: is no JSON")
    assert "Ignored, since they are no fields of a query: id" in log


def test_queries_may_be_read_from_standard_input(crawl, tmp_path):
    """`queries=-` reads one query a line, and `-o -:jsonl` writes records to standard output."""
    write_queries(tmp_path, ["coffee", "", "tea"])
    with (tmp_path / "q.txt").open() as queries:
        _, out, _ = finish(crawl("-a", "queries=-", "-o", "-:jsonl", stdin=queries))
    assert sorted(orjson.loads(line)["query"] for line in out.splitlines()) == ["coffee", "tea"]
    assert (tmp_path / "google_web.failures.jsonl").read_bytes() == b""


def test_a_wrong_variable_is_one_line():
    """An invalid variable ends any of Scrapy's commands with status 2 and one line, before it begins."""
    environ = {**os.environ, **ENVIRON, "WEBDATA_DEADLINE": "abc"}
    command = [SCRAPY, "crawl", "google_web", "-a", "q=x"]
    ended = subprocess.run(command, check=False, env=environ, capture_output=True, timeout=30)
    message = b"Error: WEBDATA_DEADLINE cannot be 'abc': give a number from 1.0 to 600.0, such as 25.0\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, b"", message)


@pytest.mark.parametrize(
    ("tool", "code", "said"),
    [
        (["shell", "-c", "print(response.status, spider.name)"], 0, b"200 default"),
        (["shell", "--spider", "google_web", "-c", "print(response.status, spider.name)"], 0, b"200 google_web"),
        (["parse", "--spider", "google_web"], 2, b"run a query by `scrapy crawl google_web`"),
    ],
)
def test_scrapys_other_tools_trust_the_sandbox_and_write_no_files(tmp_path, tool, code, said):
    """`scrapy shell` fetches a page of the sandbox, also as an engine; `scrapy parse` of one names what to use."""
    asked = [SCRAPY, *tool, "https://www.google.com/search?q=coffee"]
    environ = {**os.environ, **ENVIRON}
    ended = subprocess.run(asked, check=False, cwd=tmp_path, env=environ, capture_output=True, timeout=120)
    assert (ended.returncode, said in ended.stdout + ended.stderr) == (code, True), ended.stderr
    assert list(tmp_path.glob("*.jsonl")) == []
