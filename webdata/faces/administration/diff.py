"""`webdata diff`: what a parser's change did to the records of the same pages."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson

from webdata.faces.administration._record_changes import RecordChanges, changes
from webdata.faces.administration.docs_pages import DocumentedCommand

LONGEST_VALUE = 60
"""Characters of a value in the terminal."""
MOST_NAMES = 10


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
            name = _printable(str(line.get("id") or line.get("file") or line.get("query") or "line"))
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
    for path, counts in sorted(found.paths.items(), key=lambda pair: -_total(pair[1])):
        kinds = {"lost": counts.lost, "gained": counts.gained, "changed": counts.changed}
        yield f"{_printable(path)}: {', '.join(f'{count} {kind}' for kind, count in kinds.items() if count)}"
        for name, before, after in counts.examples:
            yield f"    {name}: {_shown(before)} -> {_shown(after)}"


def _total(counts: Any) -> int:
    total: int = counts.lost + counts.gained + counts.changed
    return total


def _names(title: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield f"{len(names)} {title}: {', '.join(names[:MOST_NAMES])}{more}"


def _printable(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _shown(value: Any) -> str:
    text = _printable(orjson.dumps(value).decode())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
