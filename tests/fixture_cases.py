"""The fixtures: saved pages of our own making, each with the query that it answers and its reviewed record or error.

A case is a folder `fixtures/<engine>/<case>/` with `request.json` (the query), `response.json` (origin, url, status,
headers), `body.*`, and `expected.json` or `error.json`; or a file `fixtures/<engine>/<case>.case`: a JSON object with
`query`, `response` and `expected` or `error`, then a line `---`, then the page.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures"
SEPARATOR = b"\n---\n"


@dataclass(frozen=True)
class Case:
    """A page, what is known of its response and its query, and the record or the error that it has."""

    engine: str
    name: str
    body: bytes
    response: dict[str, Any]
    request: dict[str, str]
    expected: dict[str, Any] | None
    error: dict[str, Any] | None


def cases(engine: str = "*") -> list[Case]:
    """All cases of an engine, or of all engines, in the order of their names."""
    files = [*FIXTURES.glob(f"{engine}/*/request.json"), *FIXTURES.glob(f"{engine}/*.case")]
    read = [of_file(path) if path.suffix == ".case" else _of_folder(path.parent) for path in files]
    return sorted(read, key=lambda case: (case.engine, case.name))


def _of_folder(folder: Path) -> Case:
    (body,) = folder.glob("body.*")
    read = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json") if path != body}
    ends = read.get("expected"), read.get("error")
    return Case(folder.parent.name, folder.name, body.read_bytes(), read["response"], read["request"], *ends)


def of_file(path: Path) -> Case:
    head, _, body = path.read_bytes().partition(SEPARATOR)
    read = json.loads(head)
    ends = read.get("expected"), read.get("error")
    return Case(path.parent.name, path.stem, body, read["response"], read["query"], *ends)
