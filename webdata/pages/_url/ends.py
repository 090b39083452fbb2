"""Blocks before and after the text of a page: lines of links, tags, teasers, navigation of the site.

Only a block that is mostly links to the site, or has the text of such a block, is removed. A price, a phone number, a
conclusion are not, nor are tables, lists and figures.
"""

import re
from collections.abc import Container, Iterable
from itertools import islice, takewhile
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from webdata.pages._text import date
from webdata.pages._url.cards import with_records
from webdata.pages._url.cleaning import emptied, with_headings
from webdata.pages._url.dropping import Removals
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.repetition import heads_of_posts
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROSE, Weights, size

ARTICLE = 600
"""Characters of prose from which a page may be an article; at least half of its text is prose then."""
WHOLES = frozenset(["details", "dl", "figure", "ol", "pre", "table", "ul"])
"""Elements of which no part is removed."""
LEVELS = 3
"""Elements around the title and the link of a record."""
RELATIVE = re.compile(r"/(?![/\\])|\?|\.|[^:/?#\\]++(?:[/?#]|$)")
"""An address without a scheme and a host that leads to another page: `tel:` and `#top` are none."""


def hosts(root: HtmlElement, url: str) -> frozenset[str]:
    """The hosts of an unchanged page: that of its address, and that of its canonical link."""
    named = root.xpath('//link[@rel="canonical"]/@href')
    return frozenset(map(_host, [url, *named[:1]])) - {""}


def trimmed(
    part: HtmlElement, site: Container[str], kind: PageKind, products: HtmlElement | None, removals: Removals
) -> None:
    """Remove, in place, the chrome before and after the text of a page's content, but no title of the products on it.

    Relative links, and those to the hosts in `site`, lead to other pages of the same site.
    """
    weights = removals.weights(part)
    if weights.total < max(ARTICLE, weights.text[part] / 2):
        return
    blocks = _innermost(part)
    before, after = _until_prose(blocks, site), _until_prose(reversed(blocks), site)
    outer = {*before, *after}
    outer.difference_update(() if products is None else products.iter("*"))
    titled = {around for title in part.iter(*HEADINGS - {"h1"}) for around in islice(title.iterancestors(), LEVELS)}
    chrome = [block for block in blocks if block in outer and _is_chrome(block, site)]
    chrome = [block for block in chrome if not _is_of_title(block, titled, weights)]
    if kind is PageKind.THREAD:  # of the first and the last post, too, it says whose it is, and of when
        heads = heads_of_posts(weights)
        chrome = [block for block in chrome if block not in heads and date(block.text_content()) is None]
    if kind is not PageKind.OTHER:
        chrome = emptied(with_records(chrome, weights), weights)
    removals.drop(part, ("links around the text", with_headings(chrome)))


def _innermost(part: HtmlElement) -> list[HtmlElement]:
    """The blocks with text and without inner blocks, but no parts of WHOLES; a listing is a block."""
    within = {element for outer in part.iter(*WHOLES) for element in outer.iter("*") if element.tag != "pre"}
    return [
        element
        for element in part.iter(*BLOCKS)
        if element is not part
        and element not in within
        and next(element.iterdescendants(*BLOCKS), None) is None
        and element.text_content().strip()
    ]


def _until_prose(blocks: Iterable[HtmlElement], site: Container[str]) -> list[HtmlElement]:
    return [*takewhile(lambda block: _own_text(block, site) < PROSE, blocks)]


def _is_chrome(block: HtmlElement, site: Container[str]) -> bool:
    if block.tag in HEADINGS | WHOLES or block.find(".//img") is not None:
        return False
    return size(block.text_content()) > 2 * _own_text(block, site)


def _is_of_title(block: HtmlElement, titled: Container[HtmlElement], weights: Weights) -> bool:
    """Whether a block has the only link of a part with a heading, which would lead nowhere without it.

    A heading right before the block goes with it.
    """
    before = block.getprevious()
    if before is not None and before.tag in HEADINGS:
        return False
    for around in islice(block.iterancestors(), LEVELS):
        if weights.links.get(around) != weights.links[block]:
            return False
        if around in titled:
            return True
    return False


def _own_text(block: HtmlElement, site: Container[str]) -> float:
    """The amount of a block's text outside links to the site; other links are often its subject."""
    return size(block.text_content()) - sum(
        size(link.text_content()) for link in block.iter("a") if _is_site_link(link, site)
    )


def _is_site_link(link: HtmlElement, site: Container[str]) -> bool:
    """Whether a link leads to another page of the site, and its text is not the address."""
    href = link.get("href", "").strip()
    if link.text_content().lstrip().startswith(("http:", "https:", "www.")):
        return False
    return _host(href) in site or (bool(href) and RELATIVE.match(href) is not None)


def _host(url: str | None) -> str:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""
