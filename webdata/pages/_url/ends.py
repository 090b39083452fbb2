"""Blocks before and after the text of a page: lines of links, tags, teasers, navigation of the site.

Only a block that is mostly links to the site, or has the text of such a block, is removed. A price, a phone number, a
conclusion are not, nor are tables, lists and figures.
"""

import re
from collections.abc import Container, Iterable
from itertools import takewhile
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from webdata.pages._url.cleaning import HEADINGS, with_headings
from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import BLOCKS, PROSE, Weights, size

ARTICLE = 600
"""Characters of prose from which a page may be an article; at least half of its text is prose then."""
WHOLES = frozenset(["details", "dl", "figure", "ol", "pre", "table", "ul"])
"""Elements of which no part is removed."""
LABELS = re.compile(
    r"[\W_]*(?:(?:posted|filed|published|tagged|categori[sz]ed) (?:in|under|as|at|by).{0,80}"
    r"|(?:tags?|categor(?:y|ies)|schlagwörter|schlagworte|kategorien?|topics?|étiquettes?|etiquetas?)\s*:.{0,200}"
    r"|(?:no |\d+ )?(?:comments?|kommentare?|comentarios?|commentaires?|views?|shares?|likes?)\b\W{0,3}\d*"
    r"|(?:leave|post|write) a (?:comment|reply)|(?:previous|next|older|newer)(?: (?:post|article|entry|story|page)s?)?"
    r"|(?:print|e-?mail)(?: this)?(?: (?:page|article|story))?|read more|weiterlesen"
    r"|\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?| uhr)?)[\W_]*",
    re.IGNORECASE,
)
"""Texts of small blocks around an article that are no part of it."""


def hosts(root: HtmlElement, url: str) -> frozenset[str]:
    """The hosts of an unchanged page: that of its address, and that of its canonical link."""
    named = root.xpath('//link[@rel="canonical"]/@href')
    return frozenset(map(_host, [url, *named[:1]])) - {""}


def trimmed(part: HtmlElement, site: Container[str]) -> None:
    """Remove, in place, the chrome before and after the text of a page's content, whose links are absolute.

    Links to the hosts in `site` lead to other pages of the same site.
    """
    weights = Weights(part)
    if weights.total < max(ARTICLE, weights.text[part] / 2):
        return
    blocks = _innermost(part)
    before, after = _until_prose(blocks, site), _until_prose(reversed(blocks), site)
    outer = {*before, *after}
    drop(with_headings(block for block in blocks if block in outer and _is_chrome(block, site)))


def _innermost(part: HtmlElement) -> list[HtmlElement]:
    """The blocks with text and without inner blocks, but no parts of WHOLES."""
    whole = {element for outer in part.iter(*WHOLES) for element in outer.iter("*")}
    return [
        element
        for element in part.iter(*BLOCKS)
        if element is not part
        and element not in whole
        and next(element.iterdescendants(*BLOCKS), None) is None
        and element.text_content().strip()
    ]


def _until_prose(blocks: Iterable[HtmlElement], site: Container[str]) -> list[HtmlElement]:
    return [*takewhile(lambda block: _own_text(block, site) < PROSE, blocks)]


def _is_chrome(block: HtmlElement, site: Container[str]) -> bool:
    if block.tag in HEADINGS or block.find(".//img") is not None:
        return False
    text = " ".join(block.text_content().split())
    return size(text) > 2 * _own_text(block, site) or LABELS.fullmatch(text) is not None


def _own_text(block: HtmlElement, site: Container[str]) -> float:
    """The amount of a block's text outside links to the site; other links are often its subject."""
    return size(block.text_content()) - sum(
        size(link.text_content()) for link in block.iter("a") if _is_site_link(link, site)
    )


def _is_site_link(link: HtmlElement, site: Container[str]) -> bool:
    """Whether a link leads to another page of the site, and its text is not the address."""
    return _host(link.get("href")) in site and not link.text_content().lstrip().startswith(("http:", "https:", "www."))


def _host(url: str | None) -> str:
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""
