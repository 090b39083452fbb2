"""Who wrote a page and when, where it says so to programs at the text that readers see, and nowhere else.

https://html.spec.whatwg.org/multipage/links.html#link-type-author, https://microformats.org/wiki/h-entry
"""

from collections.abc import Iterable

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.blocks import spaced
from webdata.pages._url.microdata import value_of
from webdata.pages._url.schema_values import names

LOOSE = "not(ancestor-or-self::*[@itemscope])"
"""Of no item, as microdata would have it."""
AUTHORS = (
    etree.XPath("//a[contains(concat(' ', normalize-space(@rel), ' '), ' author ')]"),
    etree.XPath(f"//*[@itemprop='author'][{LOOSE}]"),
)
CLASSES = " or ".join(
    f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"
    for name in ("published", "dt-published", "entry-date")
)
DATES = (
    etree.XPath(f"//time[@datetime][@pubdate or {CLASSES}]"),
    etree.XPath(f"//*[@itemprop='datePublished'][{LOOSE}]"),
)
MOST_MARKED = 50
"""Elements that are looked at."""
LONGEST_NAME = 100
DAY = len("2026-11-30")


def author(root: HtmlElement) -> str | None:
    """The only name that the links to authors have; the others may say more, as "all posts by" it."""
    said = [one for one in names(_values(root, AUTHORS)) or () if len(one) <= LONGEST_NAME]
    shortest = min(said, key=len, default=None)
    return shortest if shortest and all(shortest in one for one in said) else None


def published(root: HtmlElement) -> str | None:
    """The time of the only day that elements marked so have: a list of posts has several."""
    said = _values(root, DATES)
    return said[0] if len({one[:DAY] for one in said}) == 1 else None


def _values(root: HtmlElement, paths: Iterable[etree.XPath]) -> list[str]:
    """The texts of links, and the values that other elements have for programs."""
    found = (element for path in paths for element in path(root)[:MOST_MARKED])
    return [*filter(None, (spaced(one) if one.tag == "a" else value_of(one, "") for one in found))]
