"""Answers from a folder of saved pages."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import orjson

from webdata.domain.errors import ConfigError
from webdata.runtime.wire.exchange import HTML, Headers, SandboxRequest, SiteReply

INDEX = "INDEX.jsonl"
EXPECTED = f'a replay folder has an {INDEX} with a JSON object a line, such as {{"file": "page.html", "status": 200}}'

TRANSFER_HEADERS = {"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc"}
"""Headers that described the saved transfer and would be wrong for ours."""


class Replay:
    """Answers for any host and path: with the capture whose stem is a value of the query, else with the next one.

    Raises ConfigError for a folder without a valid index.
    """

    def __init__(self, folder: Path):
        captures = [_capture(folder, number, line) for number, line in _rows(folder)]
        if not captures:
            raise ConfigError(f"{folder / INDEX} is empty: {EXPECTED}")
        self._by_stem = dict(captures)
        self._rotation = cycle(reply for _, reply in captures)

    def answer(self, request: SandboxRequest) -> SiteReply:
        values = chain(request.query.get("q", []), *request.query.values())
        named = (self._by_stem.get(value) for value in values)
        return (next(filter(None, named), None) or next(self._rotation))()


def _rows(folder: Path) -> list[tuple[int, str]]:
    try:
        lines = (folder / INDEX).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{folder / INDEX} cannot be read ({error}): {EXPECTED}") from error
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _capture(folder: Path, number: int, line: str) -> tuple[str, Callable[[], SiteReply]]:
    """The name of a page's file without its last extension, and its reply, which is read on first use and cached."""
    where = f"{folder / INDEX}, line {number}"
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{where} is no JSON: {EXPECTED}") from error
    if not isinstance(row, dict):
        raise ConfigError(f"{where} is no JSON object: {EXPECTED}")
    path, status, headers = _file(folder, row, where), _status(row, where), _headers(row, where)
    return path.stem, cache(lambda: SiteReply(status, headers, path.read_bytes()))


def _file(folder: Path, row: Mapping[str, Any], where: str) -> Path:
    name = row.get("file")
    path = folder / name if isinstance(name, str) else None
    if path is None or not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        raise ConfigError(f"{where}: `file` is {name!r}, which is no file of that folder: {EXPECTED}")
    return path


def _status(row: Mapping[str, Any], where: str) -> int:
    status = row.get("status") or 200
    if type(status) is not int or not 200 <= status <= 599:
        raise ConfigError(f"{where}: `status` is {status!r}, it should be a number from 200 to 599, or left out")
    return status


def _headers(row: Mapping[str, Any], where: str) -> Headers:
    headers = row.get("headers") or {}
    if not isinstance(headers, dict):
        raise ConfigError(f"{where}: `headers` should be an object of names and values, or left out")
    sent = tuple((name, str(value)) for name, value in headers.items() if name.lower() not in TRANSFER_HEADERS)
    return sent if any(name.lower() == "content-type" for name, _ in sent) else sent + HTML
