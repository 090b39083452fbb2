"""The links and the pictures of a page, as lists."""

from collections.abc import Iterator
from typing import TypeVar

from lxml.html import HtmlElement

from webdata.pages._url.links import PageAddresses
from webdata.pages._url.pictures import choose_pictures
from webdata.resources.url_request import PageLink, PagePicture

MOST_LISTED = 5_000
"""Links, or pictures, of one page."""
LONGEST_TEXT = 500
"""Characters of the text of a link or a picture."""


Listed = TypeVar("Listed", PageLink, PagePicture)


def links(root: HtmlElement, base: str, charset: str) -> list[PageLink]:
    """The links of a page to documents, each address with each of its texts once, in the order of the page."""
    return _distinct(_links(root, PageAddresses(base, charset)))


def pictures(root: HtmlElement, base: str, charset: str) -> list[PagePicture]:
    """The pictures of a page, each once, with the addresses that scripts would load."""
    choose_pictures(root)
    return _distinct(_pictures(root, PageAddresses(base, charset)))


def _links(root: HtmlElement, addresses: PageAddresses) -> Iterator[PageLink]:
    for link in root.iter("a", "area"):
        if url := addresses.of(link.get("href")):
            yield {"url": url, "text": _short(link.text_content() or link.get("title") or link.get("alt") or "")}


def _pictures(root: HtmlElement, addresses: PageAddresses) -> Iterator[PagePicture]:
    for picture in root.iter("img"):
        source = picture.get("src") or ""
        if not source.startswith("data:") and (url := addresses.of(source)):
            yield {"url": url, "alt": _short(picture.get("alt") or "")}


def _distinct(found: Iterator[Listed]) -> list[Listed]:
    distinct: dict[str, Listed] = {}
    for one in found:
        distinct.setdefault(" ".join(map(str, one.values())), one)  # an address has no space
        if len(distinct) == MOST_LISTED:
            break
    return list(distinct.values())


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST_TEXT]
