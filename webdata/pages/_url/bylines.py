"""Who wrote a page and when, where it says so to programs at the text that readers see, and nowhere else.

https://html.spec.whatwg.org/multipage/links.html#link-type-author, https://microformats.org/wiki/h-entry
"""

from collections.abc import Sequence
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.blocks import spaced
from webdata.pages._url.microdata import value_of
from webdata.pages._url.schema_values import names

PUBLISHED = frozenset(["published", "dt-published", "entry-date"])
"""Classes of the time of a post."""
FIELDS = {"author": "author", "datePublished": "published"}
"""The names of properties that many pages have in no item, as microdata would have them."""
MOST_MARKED = 50
"""Elements that are looked at."""
LONGEST_NAME = 100
DAY = len("2026-11-30")


def byline(root: HtmlElement) -> dict[str, str | None]:
    """The `author` and the time when a page was `published`; None where it does not mark them, or several of them."""
    marked: dict[str, list[str]] = {"author": [], "published": []}
    found = ((field, one) for one in root.iter("a", "time", "meta") if (field := _field(one)))
    for field, element in islice(found, MOST_MARKED):
        marked[field].append(spaced(element) if element.tag == "a" else value_of(element, ""))
    return {"author": _author(marked["author"]), "published": _published(marked["published"])}


def _field(element: HtmlElement) -> str | None:
    """What a link, a time or an element `meta` is marked as."""
    if element.tag == "a":
        return "author" if "author" in element.get("rel", "").split() else None
    classes = element.get("class", "").split() if element.tag == "time" else ()
    if "pubdate" in element.attrib or not PUBLISHED.isdisjoint(classes):
        return "published"
    field = FIELDS.get(element.get("itemprop", ""))
    return None if field and any("itemscope" in around.attrib for around in element.iterancestors()) else field


def _author(said: Sequence[str]) -> str | None:
    """The only name of an author; further links to one may say more, as "all posts by" it."""
    found = [one for one in names([*said]) or () if len(one) <= LONGEST_NAME]
    shortest = min(found, key=len, default=None)
    return shortest if shortest and all(shortest in one for one in found) else None


def _published(said: Sequence[str]) -> str | None:
    """The time of the only day; a list of posts has several."""
    found = [*filter(None, said)]
    return found[0] if len({one[:DAY] for one in found}) == 1 else None
