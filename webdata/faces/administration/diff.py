"""`webdata diff`: what a parser's change did to the records of the same pages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
import orjson

from webdata.faces.administration.docs_pages import DocumentedCommand
from webdata.faces.administration.tables import printable

LONGEST_VALUE = 60
"""Characters of a value in the terminal."""
MOST_NAMES = 10
EXAMPLES = 3
"""Differences of a path that are shown, and stored."""
VOLATILE = frozenset(["file", "id", "date", "ts", "parsed_at", "record.ts", "record.parsed_at"])
"""Fields that differ between any two runs."""
IDENTITIES = ("id", "link", "url", "title")
"""Fields by one of which items of lists are the same."""
ABSENT = object()


@dataclass
class PathChanges:
    """How often a field was gained, lost or changed, and some examples: the line, its old value, its new one."""

    gained: int = 0
    lost: int = 0
    changed: int = 0
    examples: list[tuple[str, Any, Any]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How often it differs."""
        return self.gained + self.lost + self.changed

    def count(self, name: str, old: Any, new: Any) -> None:
        """Count a difference of the line of this name; None and [] are no values."""
        if _is_empty(old):
            self.gained += 1
        elif _is_empty(new):
            self.lost += 1
        else:
            self.changed += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((name, None if old is ABSENT else old, None if new is ABSENT else new))


@dataclass
class RecordChanges:
    """How two files of records differ."""

    equal: int = 0
    different: int = 0
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    paths: dict[str, PathChanges] = field(default_factory=dict)
    """By path, such as `record.results[].title`, or `record.results[]` for a whole item."""

    def compare(self, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Compare the two lines of a name."""
        found = [*differences(old, new, "")]
        for path, before, after in found:
            self.paths.setdefault(path, PathChanges()).count(name, before, after)
        self.different += bool(found)
        self.equal += not found


def differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The values that differ, with their paths."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            below = f"{path}.{name}" if path else name
            if below not in VOLATILE:
                yield from differences(old.get(name, ABSENT), new.get(name, ABSENT), below)
    elif isinstance(old, list) and isinstance(new, list):
        for before, after in _pairs(old, new):
            yield from differences(before, after, f"{path}[]")
    elif old is not new and old != new and not (_is_empty(old) and _is_empty(new)):
        yield path, old, new


def _pairs(old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The items of two lists to be compared: those of one identity, else those of one place."""
    name = next((name for name in IDENTITIES if _identifies(name, old) and _identifies(name, new)), None)
    if name is None:
        yield from zip_longest(old, new, fillvalue=ABSENT)
        return
    before = {item[name]: item for item in old}
    yield from ((before.pop(item[name], ABSENT), item) for item in new)
    yield from ((item, ABSENT) for item in before.values())


def _identifies(name: str, items: list[Any]) -> bool:
    """Whether each item has a text of its own there."""
    found = {item.get(name) for item in items if isinstance(item, dict) and isinstance(item.get(name), str)}
    return len(found) == len(items)


def _is_empty(value: Any) -> bool:
    return value is ABSENT or value in (None, [], {}, "")


def changes(old: Iterable[tuple[str, Any]], new: Iterable[tuple[str, Any]]) -> RecordChanges:
    """How the lines of two files differ that have the same name."""
    found, before = RecordChanges(), dict(old)
    for name, line in new:
        if name in before:
            found.compare(name, before.pop(name), line)
        else:
            found.only_new.append(name)
    found.only_old = [*before]
    return found


@click.command(cls=DocumentedCommand)
@click.argument("old", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Compare two files of JSON Lines of `webdata parse` or `scrapy crawl`, by the fields' paths.

    A line is found again by its id, else by its file, else by its query. The exit status is 1 where something differs.
    """
    found = changes(_named(old), _named(new))
    click.echo(orjson.dumps(asdict(found)) if as_json else "\n".join(_lines(found)))
    if found.different or found.only_old or found.only_new:
        click.get_current_context().exit(1)


def _named(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file with their names, which count where one is there again."""
    seen: Counter[str] = Counter()
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            line = _object(path, number, text)
            name = printable(str(line.get("id") or line.get("file") or line.get("query") or "line"))
            seen[name] += 1
            yield (name if seen[name] == 1 else f"{name} ({seen[name]})"), line


def _object(path: Path, number: int, text: bytes) -> dict[str, Any]:
    try:
        line = orjson.loads(text)
    except orjson.JSONDecodeError:
        line = None
    if not isinstance(line, dict):
        raise click.UsageError(f"{path}, line {number} is no JSON object: give a file of JSON Lines")
    return line


def _lines(found: RecordChanges) -> Iterator[str]:
    yield f"{found.equal} equal, {found.different} different"
    yield from _names("only in the old file", found.only_old)
    yield from _names("only in the new file", found.only_new)
    for path, counts in sorted(found.paths.items(), key=lambda pair: -pair[1].total):
        kinds = {"lost": counts.lost, "gained": counts.gained, "changed": counts.changed}
        yield f"{printable(path)}: {', '.join(f'{count} {kind}' for kind, count in kinds.items() if count)}"
        for name, before, after in counts.examples:
            yield f"    {name}: {_shown(before)} -> {_shown(after)}"


def _names(title: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield f"{len(names)} {title}: {', '.join(names[:MOST_NAMES])}{more}"


def _shown(value: Any) -> str:
    text = printable(orjson.dumps(value).decode())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
