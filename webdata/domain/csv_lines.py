"""Lines of CSV that a person may open: no spreadsheet makes a formula of a cell (CWE-1236)."""

import csv
import io
import re
from collections.abc import Iterable

from webdata.domain.items import as_json

FORMULA = re.compile(r"[\s\x00-\x1f\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""The beginning of a text that some spreadsheet would calculate, blanks and full-width signs included."""


def csv_line(values: Iterable[object]) -> bytes:
    """A line of RFC 4180 in UTF-8. Numbers stay as they are, booleans, objects and arrays are JSON, None is empty."""
    text = io.StringIO()
    csv.writer(text).writerow(map(_cell, values))
    return text.getvalue().encode("utf-8", "backslashreplace")  # half a surrogate pair


def _cell(value: object) -> object:
    """A value of which no spreadsheet makes a formula: a text that begins like one gets `'` before it."""
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) else value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if value is None or is_number else as_json(value).decode()
