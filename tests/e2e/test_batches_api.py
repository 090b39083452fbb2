"""Batches over the API of a running service, by the command line and by plain requests."""

import csv
import re
import signal
from pathlib import Path

import orjson
import pytest
from pyarrow import parquet

from tests.processor_seconds import of_family

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
NDJSON = {"Content-Type": "application/x-ndjson"}
LAST_ROW = 200_000


@pytest.fixture
def command(running, invoke, tmp_path, monkeypatch):
    """`command("list", …)`: what `webdata batches` prints, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webdata.faces.administration.batches.LOOK_SECONDS", 0.2)

    def run(*arguments, status=0, key=None):
        environ = {
            "WEBDATA_KEY": key or running.test_key,
            "WEBDATA_URL": running.url,
            "WEBDATA_CA": running.certificate,
        }
        done = invoke("batches", *arguments, **environ)
        assert done.exit_code == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    return run


def lines(path):
    return [orjson.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_a_file_is_submitted_and_its_results_are_written(command, tmp_path):
    """A line of text is a query; --wait writes the results, and a further fetch goes on where the file ends."""
    (tmp_path / "queries.txt").write_text("coffee\n\ntea\nsandbox:notfound\n", encoding="utf-8")
    made = command(
        "submit", "queries.txt", "--resource", "web_search", "--label", "drinks", "--wait", "-o", "out.jsonl"
    )
    batch = made.strip()
    found = lines(tmp_path / "out.jsonl")
    assert [(one["row"], one["query"]["q"]) for one in found][:2] == [(1, "coffee"), (3, "tea")]
    assert found[0]["record"]["query"] == "coffee"
    assert re.search(rf"{batch}  done .* drinks$", command("list"), re.MULTILINE)
    assert orjson.loads(command("show", batch))["rows"] == 3
    whole = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "out.jsonl").write_bytes(whole[: whole.index(b"\n") + 20])
    command("results", batch, "-o", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == whole
    assert command("results", batch).encode() == whole
    table = command("results", batch, "--format", "csv").splitlines()
    assert table[0].startswith("row,query,position,title")
    assert "is done" in command("cancel", batch, status=1)


@pytest.mark.slow
def test_results_are_written_as_tables(command, tmp_path):
    """The file's name says the format, also while a batch is waited for; all have the same rows."""
    (tmp_path / "queries.txt").write_text("coffee\ntea\n", encoding="utf-8")
    batch = command("submit", "queries.txt", "--resource", "web_search", "--wait", "-o", "out.parquet").strip()
    table = parquet.read_table(tmp_path / "out.parquet")
    assert set(table.column("query").to_pylist()) == {"coffee", "tea"}
    command("results", batch, "-o", "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert (head, len(rows)) == (table.column_names, table.num_rows)
    command("results", batch, "-o", "out.xlsx")
    assert (tmp_path / "out.xlsx").read_bytes().startswith(b"PK")
    assert "give one of them" in command("results", batch, "--format", "rows", "-o", "out.xlsx", status=2)


@pytest.mark.slow
def test_a_batch_is_paused_resumed_and_retried(command, tmp_path):
    """A paused batch waits until it is resumed; at its end its failures are run again on demand."""
    queries = ["sandbox:notfound", *(f"coffee {number} sandbox:slow=1" for number in range(15))]
    (tmp_path / "queries.txt").write_text("\n".join(queries), encoding="utf-8")
    batch = command("submit", "queries.txt", "--resource", "web_search").strip()
    assert command("pause", batch).startswith(f"{batch} is paused: ")
    assert f"{batch} is paused: resume it" in command("results", batch, "--wait", status=1)
    assert command("resume", batch).startswith(f"{batch} goes on: ")
    assert "only one that is paused can be resumed" in command("resume", batch, status=1)
    command("results", batch, "--wait", "-o", "out.jsonl")
    assert len(lines(tmp_path / "out.jsonl")) == 15
    assert command("retry", batch) == f"{batch} is running: 15 of 16 queries have ended.\n"
    command("results", batch, "--wait", "-o", "out.jsonl")
    assert orjson.loads(command("show", batch))["rows_failed"] == 1


def test_what_is_wrong_is_told(command, tmp_path, monkeypatch):
    """A wrong query, file, key or address ends the command with what would be right."""
    (tmp_path / "wrong.jsonl").write_text('{"q": "a"}\n{"num": 5}\n', encoding="utf-8")
    wrong = command("submit", "wrong.jsonl", "--resource", "web_search", status=1)
    assert "1 of 2 queries cannot be run, so nothing was taken" in wrong
    assert "line 2 cannot be run: q is missing" in wrong
    assert command("submit", "wrong.jsonl", "--resource", "web_search", "--skip-invalid").startswith("bat_")
    assert "the nearest is 'web_search'" in command("submit", "wrong.jsonl", "--resource", "web", status=1)
    assert "The API key is malformed" in command("list", key="wd_test_1", status=1)
    assert "reaches no batch with this id" in command("show", "bat_1", status=1)
    monkeypatch.setattr("webdata.faces.administration.api_client.TRIES", 2)
    away = command("--url", "https://127.0.0.1:1", "list", status=1).splitlines()
    assert re.fullmatch(
        r"https://127.0.0.1:1 does not answer .*: give its address by --url or WEBDATA_URL; trying again in 1 s",
        away[0],
    )
    assert away[1].startswith("Error: https://127.0.0.1:1 does not answer")


def test_the_example_of_the_docs_is_real(running, is_part, until):
    """The submission and the line of results in the docs are those of the service."""
    body = orjson.loads(re.search(r"-d '(\{\"resource.*\})'$", DOCS, re.MULTILINE)[1])
    status, _, answer = running.post("/v1/batches", body)
    made = orjson.loads(answer)
    assert (status, made["rows"]) == (202, 2)
    until(lambda: running.get(f"/v1/batches/{made['id']}")[2]["state"] == "done")
    _, headers, results = running.request("GET", f"/v1/batches/{made['id']}/results", {"X-Api-Key": running.test_key})
    example = orjson.loads(re.search(r"^(\{\"row\":.*)$", DOCS, re.MULTILINE)[1])
    first = orjson.loads(results.splitlines()[0])
    assert list(first) == list(example)
    assert (first["row"], first["query"], headers.get("x-next-after")) == (1, example["query"], None)
    schedule = orjson.loads(re.search(r"-d '(\{\"cron.*\})'$", DOCS, re.MULTILINE)[1])
    status, _, answer = running.post("/v1/schedules", schedule)
    assert (status, orjson.loads(answer)["queries"]) == (200, 1)


def test_a_body_that_breaks_off_or_is_refused_takes_nothing(running):
    """A connection that is closed in the middle of a body, and a body without a key, make no batch."""
    before = running.get("/v1/batches")[2]["batches"]
    connection = running.connection()
    connection.putrequest("POST", "/v1/batches?resource=web_search")
    for name, value in {**NDJSON, "X-Api-Key": running.test_key, "Content-Length": "1000000"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(b'{"q":"a"}\n' * 20_000)
    connection.close()
    status, _, body = running.request("POST", "/v1/batches?resource=web_search", NDJSON, b'{"q":"a"}\n' * 20_000)
    assert (status, orjson.loads(body)["error"]["code"]) == (401, "unauthorized")
    assert running.get("/v1/batches")[2]["batches"] == before


@pytest.mark.slow
def test_many_queries_are_submitted_with_little_work_and_memory(start, tmp_path):
    """200,000 queries are validated and stored in 24 s of the processor, a million's fifth, and in under 250 MB."""
    with start(WEBDATA_TRANSPORTS="http", WEBDATA_WORKER="off") as service:
        path = tmp_path / "many.jsonl"
        with path.open("w") as file:
            file.writelines(f'{{"q":"coffee shops in town {row}","num":10}}\n' for row in range(1, LAST_ROW + 1))
        before = of_family(service.process.pid)
        status, _, answer = _upload(service, path)
        seconds = of_family(service.process.pid) - before
        made = orjson.loads(answer)
        assert (status, made["rows"]) == (202, LAST_ROW)
        memory = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{service.process.pid}/status").read_text())[1])
        assert (seconds < 24, memory < 250 * 1024) == (True, True), (seconds, memory)
        for target in ("/v1/batches", f"/v1/batches/{made['id']}", f"/v1/batches/{made['id']}/results"):
            before = of_family(service.process.pid)
            service.request("GET", target, {"X-Api-Key": service.test_key})
            assert of_family(service.process.pid) - before < 0.2
        fewer = path.read_bytes().splitlines(keepends=True)[:13_211]
        path.write_bytes(b"".join([*fewer, b'{"num":10}\n', *fewer]))
        status, _, answer = _upload(service, path)
        assert (status, "line 13,212 cannot be run: q is missing" in answer.decode()) == (422, True)


def _upload(service, path):
    with path.open("rb") as file:
        headers = {**NDJSON, "X-Api-Key": service.test_key, "Content-Length": str(path.stat().st_size)}
        connection = service.connection()
        connection.timeout = 300
        try:
            connection.request("POST", "/v1/batches?resource=web_search", file, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()


@pytest.mark.slow
def test_a_service_that_is_killed_goes_on_with_its_batch(start, until):
    """A batch goes on where it was after the service was killed, and each query has one result."""
    body = b"".join(b'{"q":"town %d"}\n' % row for row in range(1, 101))
    with start(WEBDATA_TRANSPORTS="http") as service:
        target = "/v1/batches?resource=web_search"
        made = orjson.loads(service.request("POST", target, {**NDJSON, "X-Api-Key": service.test_key}, body)[2])
        until(lambda: service.get(f"/v1/batches/{made['id']}")[2]["rows_ended"] > 20, 120)
        key = service.test_key
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    with start(WEBDATA_TRANSPORTS="http") as service:
        until(lambda: service.get(f"/v1/batches/{made['id']}", key)[2]["state"] == "done", 120)
        results = service.request("GET", f"/v1/batches/{made['id']}/results", {"X-Api-Key": key})[2]
        assert [orjson.loads(line)["row"] for line in results.splitlines()] == list(range(1, 101))
