"""The byline and the formatted reference of a work."""

import re
from collections.abc import Sequence
from html import unescape
from typing import NamedTuple
from urllib.parse import quote

from webdata.pages._text import clean

TAG = re.compile(
    r"</?(?:(?:jats|mml|m|xhtml):[\w.-]+|i|b|u|em|strong|su[bp]|scp?|tt|small|span|p|br|bold|italic|title|sec|list"
    r"|list-item|inline-formula|a)(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>",
    re.IGNORECASE,
)
"""Markup in titles and abstracts, but not `a < b and c > d`."""
DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?\s*(10\.\d{3,9}/.+)", re.IGNORECASE)
DOI_SITE = "https://doi.org/"
UNQUOTED = "/:;()._-+,@!$&'*=~"
ADDRESS = re.compile(r"https?://[^\s]+")
NAMED = 6
"""Authors that a reference names; with more, `et al.` follows the first of them."""


class Printed(NamedTuple):
    """The place of a work in its venue; None for unknown parts."""

    volume: str | None = None
    issue: str | None = None
    first_page: str | None = None
    last_page: str | None = None


def text(markup: str | None) -> str | None:
    """The text without tags and entities, as one line; None where nothing is left."""
    return clean(unescape(TAG.sub("", unescape(markup)))) or None if markup else None


def address(value: str | None) -> str | None:
    """The value if it is an address of the web, else None."""
    value = value.strip() if value else None
    return value if value and ADDRESS.fullmatch(value) else None


def doi_address(value: str | None) -> str | None:
    """The address of a DOI: `https://doi.org/10.1234/a%3C1%3E` for `10.1234/a<1>`; None for any other value."""
    found = DOI.fullmatch(value.strip()) if value else None
    if not found:
        return None
    escaped = "%" if "://" in found[0] else ""  # an address may be escaped already
    return DOI_SITE + quote(found[1], safe=UNQUOTED + escaped)


def byline(names: Sequence[str], venue: str | None, year: int | None) -> str:
    """`A, B, C - Venue, Year`, without missing parts."""
    where = ", ".join(filter(None, (venue, str(year) if year is not None else None)))
    return " - ".join(filter(None, (", ".join(names), where)))


def reference(
    names: Sequence[str], year: int | None, title: str | None, venue: str | None, printed: Printed, link: str | None
) -> str:
    """`A, B, & C (2022). Title. Venue, 8(3), 1. https://doi.org/…`, without missing parts."""
    authors = _enumerated(names)
    head = f"{authors} ({year if year is not None else 'n.d.'})" if authors else f"({year})" if year is not None else ""
    where = ", ".join(filter(None, (venue, _volume(printed), _pages(printed))))
    sentences = [part if part.endswith((".", "?", "!")) else f"{part}." for part in (head, title, where) if part]
    return " ".join(filter(None, (*sentences, link)))


def _enumerated(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])}, et al."
    if len(names) < 3:
        return " & ".join(names)
    return f"{', '.join(names[:-1])}, & {names[-1]}"


def _volume(printed: Printed) -> str | None:
    issue = f"({printed.issue})" if printed.issue else ""
    return f"{printed.volume}{issue}" if printed.volume else None


def _pages(printed: Printed) -> str | None:
    pages = [page for page in (printed.first_page, printed.last_page) if page]
    return "–".join(dict.fromkeys(pages)) or None
