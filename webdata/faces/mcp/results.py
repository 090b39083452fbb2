"""Lists of results as a model reads them: what a result needs, and what else was asked for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from webdata.domain.errors import Problem, QueryError
from webdata.domain.records import Record
from webdata.faces.mcp.foreign_text import framed, one_line, visible, visible_value
from webdata.faces.mcp.tools import MOST_RESULTS, USUAL_RESULTS, WebTool

SNIPPETS = (160, 100, 60, 30, 0)
"""Characters of a snippet: the most with which the results have room, for a snippet is what says least."""
ROOM = 390
"""Bytes of a result without further fields."""
MOST_BYTES = 36_000
"""Bytes of all results, once as data and once as text."""
LONGEST_TITLE, LONGEST_SOURCE, LONGEST_DATE, LONGEST_URL = 120, 60, 40, 2000
WORD = re.compile(r"\w+")
NUMBER = re.compile(r"[0-9]{1,9}")
BASIC = ("title", "url", "image", "date", "source", "snippet")


@dataclass(frozen=True)
class ToolAnswer:
    """What a model gets: data by the tool's output schema, and the same as text."""

    structured: dict[str, Any]
    text: str


@dataclass(frozen=True)
class ListShape:
    """How much of the results is shown."""

    max_results: int = USUAL_RESULTS
    fields: tuple[str, ...] = ()

    @classmethod
    def read(cls, tool: WebTool, arguments: Mapping[str, Any]) -> "ListShape":
        """The shape that arguments ask for; raises QueryError."""
        most = whole_number(arguments.get("max_results", USUAL_RESULTS))
        if type(most) is not int or not 1 <= most <= MOST_RESULTS:
            raise wrong_argument("max_results", f"is no whole number from 1 to {MOST_RESULTS}")
        fields = arguments.get("fields", [])
        if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
            raise wrong_argument("fields", "is no list of names of fields")
        known = dict.fromkeys((*tool.row_fields, *tool.page_fields))
        if unknown := [name for name in fields if name not in known]:
            raise wrong_argument("fields", f"cannot have {unknown[0][:60]!r}: the fields are {', '.join(known)}")
        return cls(most, tuple(dict.fromkeys(fields)))


def whole_number(value: Any) -> Any:
    """A number that a client sends as a text; any other value as it is."""
    return int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else value


def wrong_argument(name: str, wrong: str) -> QueryError:
    """The error of an argument that is none of the query's."""
    row: Problem = {"loc": ["query", name], "msg": f"{name} {wrong}", "type": "value_error"}
    return QueryError([row])


def listed(tool: WebTool, record: Record, shape: ListShape) -> ToolAnswer:
    """The results of a record."""
    rows = tool.resource.results(record)
    shown = [_result(tool, row, shape.fields) for row in rows[: shape.max_results]]
    _fit(shown)
    page = {name: visible_value(record.get(name)) for name in shape.fields if name not in tool.row_fields}
    shown = within(shown, MOST_BYTES - len(orjson.dumps(page)))
    structured = {"found": len(rows), "results": shown, **({"page": page} if page else {})}
    others = [name for name in tool.page_fields if name not in page and isinstance(record.get(name), list | dict)]
    return ToolAnswer(structured, _text(structured, len(rows), [name for name in others if record[name]]))


def _result(tool: WebTool, row: Record, fields: Sequence[str]) -> dict[str, Any]:
    """One result: its short fields, and those that were asked for as they are."""
    longest = {"snippet": SNIPPETS[0], "title": LONGEST_TITLE, "source": LONGEST_SOURCE, "date": LONGEST_DATE}
    result = {}
    for name, paths in tool.paths.items():
        value = next((value for path in paths if (value := _value(row, path)) not in (None, "")), None)
        if name in longest and value is not None:
            result[name] = one_line(str(value), longest[name])
        elif isinstance(value, str) and len(value) <= LONGEST_URL:
            result[name] = visible(value)
    if result.get("source", "\0") in result.get("url", ""):
        del result["source"]
    shown = WORD.findall(f"{result.get('title')} {result.get('source')}")
    if set(WORD.findall(result.get("snippet", ""))).issubset(shown):
        result.pop("snippet", None)  # a feed's summary may be its title and publisher again
    return result | {name: visible_value(row[name]) for name in fields if row.get(name) is not None}


def _value(row: Record, path: str) -> Any:
    """The value at a path of names; None where there is none."""
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _fit(results: list[dict[str, Any]]) -> None:
    """Shorten the snippets until all results have room, each without its further fields."""
    for longest in SNIPPETS:
        for result in results:
            if "snippet" in result:
                result["snippet"] = one_line(result["snippet"], longest) if longest else ""
        if len(orjson.dumps([{name: one.get(name) for name in BASIC} for one in results])) <= ROOM * len(results):
            return


def within(results: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """The first results that have room, the very first in any case."""
    kept: list[dict[str, Any]] = []
    for result in results:
        room -= len(orjson.dumps(result))
        if room < 0 and kept:
            break
        kept.append(result)
    return kept


def _text(structured: Mapping[str, Any], found: int, others: Sequence[str]) -> str:
    if not structured["results"] and not structured.get("page"):
        nothing = "Nothing was found: the site itself says so. Try other words."
        return f"The page lists no results.{_named(others)}" if others else nothing
    lines = [_lines(number, one) for number, one in enumerate(structured["results"], 1)]
    if page := structured.get("page"):
        lines.append(orjson.dumps(page).decode())
    return f"{len(structured['results'])} of {found} results. {framed(chr(10).join(lines))}{_named(others)}"


def _lines(number: int, result: Mapping[str, Any]) -> str:
    facts = " · ".join(result[name] for name in ("date", "source", "snippet") if result.get(name))
    image = f"image: {result['image']}" if "image" in result else ""
    shown = [f"{number}. {result.get('title', '')}", result.get("url"), image, facts]
    shown += [f"{name}: {_short(value)}" for name, value in result.items() if name not in BASIC]
    return "\n".join(line for line in shown if line)


def _short(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _named(others: Sequence[str]) -> str:
    return f"\nThe page has more, for `fields`: {', '.join(others)}." if others else ""
