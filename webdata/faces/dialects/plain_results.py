"""The results of any search in one form: what a dialect lists of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from html import unescape
from importlib import import_module

from webdata.domain.items import as_record
from webdata.domain.records import Record
from webdata.resources import Resource, ResultFields, first_text

MARKUP = re.compile(r"<[^<>]{0,2000}>")
WRITTEN_DAY = "%b %d, %Y"
"""The form of `Dec 16, 2022`."""
WRITTEN_DAY_BEGINS = re.compile(r"[A-Za-z]{3} \d")
LONGEST_DATE = 40
"""Characters."""

import_module("_strptime")  # datetime does at its first date, for which there may be no file left to open


@dataclass(frozen=True)
class PlainResult:
    """A result of a search; what it does not have is "" or None."""

    title: str
    url: str
    text: str
    date: str
    """As its site writes it."""
    source: str
    thumbnail: str
    image: str
    row: Record
    """The result itself."""

    @property
    def published(self) -> str | None:
        """The date as ISO 8601; None for one that is not certain, such as an age."""
        return iso_date(self.date)


def plain_results(resource: Resource, record: Record) -> list[PlainResult]:
    """The results of a record of a search that have an address."""
    fields = resource.result_fields
    assert fields, "it is a search"
    rows = map(as_record, resource.results(record))
    return [result for result in (_plain(fields, row) for row in rows) if result.url]


def _plain(fields: ResultFields, row: Record) -> PlainResult:
    return PlainResult(**{name: _text(row, paths) for name, paths in vars(fields).items()}, row=row)


def _text(row: Record, paths: Iterable[str]) -> str:
    """The first value of these paths that is there, as text without markup."""
    return without_markup(first_text(row, paths))


def without_markup(text: str) -> str:
    """Text of HTML in one run of blanks; text without tags is unchanged."""
    return " ".join(unescape(MARKUP.sub(" ", text)).split()) if "<" in text and MARKUP.search(text) else text


@lru_cache(1000)
def iso_date(text: str) -> str | None:
    """A date of RFC 5322, ISO 8601 or the form `Dec 16, 2022` as ISO 8601; None for any other."""
    if not text or len(text) > LONGEST_DATE:
        return None
    try:
        date = _read_date(text)
    except (ValueError, OverflowError):
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).isoformat()


def _read_date(text: str) -> datetime:
    """Raises ValueError for a text of none of the forms; each is told by its beginning."""
    if text[0].isdecimal():
        return parsedate_to_datetime(text) if " " in text and not text[:4].isdecimal() else datetime.fromisoformat(text)
    if WRITTEN_DAY_BEGINS.match(text):
        return datetime.strptime(text, WRITTEN_DAY).replace(tzinfo=UTC)
    return parsedate_to_datetime(text)
