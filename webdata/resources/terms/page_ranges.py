"""Ranges of the pages of a document."""

import re

from pydantic import ValidationInfo

from webdata.domain.query import explained

PAGES = re.compile("[0-9]{1,6}(-([0-9]{1,6})?)?")
PageRange = tuple[int, int]
"""The first and the last page, counted from 1."""
MOST_PAGES = 100
"""Pages of a document in one answer: they take two seconds of the processor."""
ALL_PAGES = 999_999


def of_markdown(value: str | None, info: ValidationInfo) -> str | None:
    """For validators: a range of pages of a document as Markdown."""
    if value is None:
        return None
    if info.data.get("response_type") == "full":
        raise explained("is of Markdown: ask for it with response_type markdown")
    if not PAGES.fullmatch(value):
        raise explained("is one page (3), pages from one to another (1-20), or from one on (21-)")
    first, last = page_range(value)
    if first < 1 or last < first:
        raise explained("goes from a page to a later one, such as 1-20")
    if last - first >= MOST_PAGES and not value.endswith("-"):
        most = f"{first}-{first + MOST_PAGES - 1}"
        raise explained(f"holds more than the {MOST_PAGES} pages of one answer: ask for {most}")
    return value


def page_range(value: str) -> PageRange:
    """The first and the last page of `3`, `3-20` or `3-`, of which the last goes to the end."""
    first, dash, last = value.partition("-")
    return int(first), int(last or (ALL_PAGES if dash else first))
