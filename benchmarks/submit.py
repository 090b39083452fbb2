"""Queries a second that the API takes in one batch: a file of lines, each validated before the answer."""

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks import serving

LINE = b'{"q": "coffee shops in town number %d", "num": 10}\n'
ANSWERS_WITHIN = 600.0


@dataclass(frozen=True)
class Submission:
    """What one submission took."""

    rows_per_s: float
    more_mb: float
    """By how much the service's largest resident memory has grown."""


def measure(rows: int) -> Submission:
    """Submit so many lines to a service over SQLite, which runs none of them."""
    with serving.upstream(b"") as (url, folder):
        lines = folder / "queries.jsonl"
        with lines.open("wb") as file:
            file.writelines(LINE % row for row in range(rows))
        with serving.service(url, folder, settings={"WEBDATA_WORKER": "off"}) as service:
            before = _peak_mb(service.process.pid)
            began = monotonic()
            _submit(service.target.port, service.target.key, lines, rows)
            seconds = monotonic() - began
            return Submission(rows / seconds, _peak_mb(service.process.pid) - before)


def _submit(port: int, key: str, lines: Path, rows: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN)
    headers = {
        "X-Api-Key": key,
        "Content-Type": "application/x-ndjson",
        "Content-Length": str(lines.stat().st_size),
    }
    with lines.open("rb") as body:
        connection.request("POST", "/v1/batches?resource=web_search", body, headers)
        response = connection.getresponse()
        answer = json.load(response)
    connection.close()
    if response.status != 202 or answer["rows"] != rows:
        raise RuntimeError(f"{response.status}: {answer}")


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
