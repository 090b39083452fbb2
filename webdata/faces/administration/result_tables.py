"""The results of a search as a table that fits on a terminal."""

from collections.abc import Sequence

from webdata.domain.items import as_record
from webdata.domain.records import Record
from webdata.faces.administration.tables import cut, print_table, text_width
from webdata.resources import Resource, first_text

GAP = 2
"""Blanks between two columns."""
LEAST_WIDTH = 40
"""Columns of a terminal that is taken for wider than it is."""
LONGEST_DATE, LONGEST_SOURCE = 16, 18
TITLE_SHARE = 0.55
"""Of the room for titles and links."""
FAR_FROM_FULL = 90
"""Columns from which on the date and the source have room."""


def print_results(resource: Resource, record: Record, columns: int) -> None:
    """Print the results of a record: their place, title and link, on a wide terminal also their date and source."""
    rows = _rows(resource, record)
    head = ("#", "title", "link", "date", "source")
    width = max(columns, LEAST_WIDTH)
    shown = [
        place for place in range(len(head)) if place < 3 or (width >= FAR_FROM_FULL and any(r[place] for r in rows))
    ]
    kept = [[row[place] for place in shown] for row in rows]
    limits = _limits(kept, [head[place] for place in shown], width)
    print_table([head[place] for place in shown], [[*map(cut, row, limits)] for row in kept])


def _rows(resource: Resource, record: Record) -> list[list[str]]:
    fields = resource.result_fields
    assert fields, "it is a search"
    paths = (fields.title, fields.url, fields.date, fields.source)
    results = [as_record(one) for one in resource.results(record)]
    return [
        [str(place), *(" ".join(first_text(one, path).split()) for path in paths)]
        for place, one in enumerate(results, 1)
    ]


def _limits(rows: Sequence[Sequence[str]], head: Sequence[str], width: int) -> list[int]:
    """The widths of the columns: what titles do not need is the links'."""
    widths = [max(map(text_width, column)) for column in zip(head, *rows, strict=True)]
    place, title, _, *others = widths
    others = [min(one, most) for one, most in zip(others, (LONGEST_DATE, LONGEST_SOURCE), strict=False)]
    room = width - place - sum(others) - GAP * (len(widths) - 1)
    title = min(title, max(round(room * TITLE_SHARE), room - widths[2]))
    return [place, title, room - title, *others]
