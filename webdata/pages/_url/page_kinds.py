"""The kind of a page: what its content is depends on it.

A page says its kind by schema.org (JSON-LD, microdata), by Open Graph, and by the marks of the programs that write
pages, by exact tokens.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice, takewhile
from typing import Any
from unicodedata import category

from lxml.html import HtmlElement

from webdata.pages._url import json_ld
from webdata.pages._url.blocks import spaced
from webdata.pages._url.pointers import NOWHERE
from webdata.pages._url.repetition import form
from webdata.pages._url.twins import MONEY
from webdata.pages._url.weights import PROSE, size


class PageKind(StrEnum):
    """What a page is, as far as its content depends on it."""

    ARTICLE = "article"
    DOCUMENTATION = "documentation"
    THREAD = "thread"
    PRODUCT = "product"
    LISTING = "listing"
    OTHER = "other"


SCHEMA_TYPES = {
    PageKind.THREAD: frozenset(["discussionforumposting", "qapage"]),
    PageKind.PRODUCT: frozenset(["product", "productgroup", "individualproduct", "productmodel", "vehicle"]),
    PageKind.ARTICLE: frozenset([
        "article", "newsarticle", "blogposting", "reportagenewsarticle", "analysisnewsarticle", "opinionnewsarticle",
        "liveblogposting", "scholarlyarticle", "recipe", "medicalwebpage", "reviewnewsarticle", "backgroundnewsarticle",
    ]),
    PageKind.DOCUMENTATION: frozenset(["techarticle", "apireference"]),
    PageKind.LISTING: frozenset(["itemlist", "collectionpage", "searchresultspage", "productcollection"]),
}  # fmt: skip
"""https://schema.org/docs/full.html, in lower case."""
OFFERS = ("offer", "aggregateoffer")
"""Types of what a product has on its own page; pages of services name one for the stars of a rating."""
OPEN_GRAPH = {"article": PageKind.ARTICLE, "product": PageKind.PRODUCT, "og:product": PageKind.PRODUCT}
"""https://ogp.me/#types"""
GENERATORS = {
    PageKind.THREAD: (
        "discourse", "xenforo", "phpbb", "vbulletin", "invision", "flarum", "vanilla", "nodebb", "mybb", "smf",
        "lemmy", "bbpress",
    ),
    PageKind.DOCUMENTATION: (
        "sphinx", "docusaurus", "mkdocs", "vitepress", "vuepress", "gitbook", "mdbook", "docutils", "starlight",
        "readme", "asciidoctor", "docbook", "antora", "javadoc", "doxygen", "nextra", "hugo docsy",
        "rustdoc", "mintlify", "docfx", "pdoc", "typedoc",
    ),
}  # fmt: skip
"""Beginnings of the texts of `<meta name=generator>`."""
MARKS = {
    PageKind.THREAD: frozenset([
        "bbp-topic", "bbp-reply-content", "topic-post", "crawler-post", "post-stream", "message--post", "postbody",
        "phpbb", "ipsComment", "ipsTopic", "MessageList", "CommentThread", "js-discussion", "js-timeline-item",
        "TimelineItem", "fatitem", "comtr", "question-page", "answercell", "App-content--discussion", "PostStream",
        "DiscussionPage", "shreddit-post", "shreddit-comment", "postlist", "postbit", "post_wrapper", "postcontainer",
        "comment-node", "comments_subtree", "commentarea", "postbit_buttons", "quoted-switch", "react-issue-comment",
    ]),
    PageKind.DOCUMENTATION: frozenset([
        "sphinxsidebar", "rst-content", "bd-article", "theme-doc-markdown", "docs-doc-page", "md-content__inner",
        "vp-doc", "sl-markdown-content", "devsite-article-body", "refentry", "sect1", "bd-main", "docMainContainer",
        "wy-nav-content", "doc-content", "markdown-section", "furo", "furo-main-content",
    ]),
    PageKind.PRODUCT: frozenset(["single-product", "template-product", "woocommerce-product-gallery"]),
    PageKind.LISTING: frozenset(["template-collection", "post-type-archive", "tax-product_cat", "archive"]),
}  # fmt: skip
"""Classes, ids and custom elements, as whole tokens, that programs write on pages of one kind."""
TYPE = re.compile(r'"@type"\s*:\s*(?:"([^"]{1,60})"|\[([^\]]{1,300})\])')
MOST_TYPES = 2000
"""Types in the data of a page that are read."""
SEVERAL_CARDS = 8
"""Priced cards of one form from which they are what a page is about that does not say what it is."""
MANY_CARDS = 20
"""Those from which a page is a listing that names one product in its data: a category may have one rating."""
MOST_LEVELS = 9
"""Elements around a price within its card."""
MOST_BESIDE = 12
"""Elements around the sign of a currency that may have the number."""
CELLS = frozenset(["option", "td", "tr"])
UNSHOWN = frozenset(["option", "script", "style"])
NAMED = 1000
"""Characters of a class that are read."""
TENTH = 0.1


def page_kind(root: HtmlElement, objects: Sequence[Any]) -> PageKind:
    """The kind of an unchanged page with these objects of JSON-LD; `OTHER` where nothing says it."""
    types = Counter(_schema_types(root))
    marks = _marks(root)
    for kind in (PageKind.THREAD, PageKind.DOCUMENTATION):
        if kind in marks or any(types[name] for name in SCHEMA_TYPES[kind]):
            return kind
    products = sum(types[name] for name in SCHEMA_TYPES[PageKind.PRODUCT])
    listed = PageKind.LISTING in marks or any(types[name] for name in SCHEMA_TYPES[PageKind.LISTING])
    graph, articles = _open_graph(root), sum(types[name] for name in SCHEMA_TYPES[PageKind.ARTICLE])
    if graph is PageKind.ARTICLE and articles:
        return graph  # the products and lists that it names stand in it or beside it
    is_offered = not listed and products < FEW_PRODUCTS and any(types[name] for name in OFFERS)
    is_one = products and (is_offered or _is_headed_by_product(root, objects))
    if graph is PageKind.PRODUCT or PageKind.PRODUCT in marks or is_one:
        return PageKind.LISTING if is_one and products_of(root, MANY_CARDS) is not None else PageKind.PRODUCT
    if graph is PageKind.ARTICLE and _is_scattered(root):
        graph = None  # many sites say of each page that it is an article
    if articles and not listed:
        return PageKind.ARTICLE
    if listed or products >= FEW_PRODUCTS:
        return PageKind.LISTING
    return graph or PageKind.OTHER


def _is_headed_by_product(root: HtmlElement, objects: Sequence[Any]) -> bool:
    """Whether a product in the data of a page has the name in its headline."""
    headlines = {spaced(headline).casefold() for headline in root.iter("h1")}
    found = (item for item in objects if "Product" in json_ld.types(item))
    return any(str(item.get("name") or "").strip().casefold() in headlines for item in found)


FEW_PRODUCTS = 4
"""Products in the data of a page from which it lists them."""


def products_of(root: HtmlElement, fewest: int = SEVERAL_CARDS) -> HtmlElement | None:
    """The element with the most children of one form, each with a link to another page, a picture and a price."""
    prices = _prices(root)
    if len(prices) < fewest:
        return None
    linked = _around(link for link in root.iter("a") if not link.get("href", "#").startswith(NOWHERE))
    priced = {around for price in prices for around in islice(price.iterancestors(), MOST_LEVELS)}
    cards = priced & linked & _around(root.iter("img"))
    forms = Counter(form(card) for card in cards if card.tag not in CELLS)
    best = max(forms, key=lambda shared: forms[shared], default=None)
    return None if best is None or forms[best] < fewest else best[0]


def _around(elements: Iterable[HtmlElement]) -> set[HtmlElement]:
    found: set[HtmlElement] = set()
    for element in elements:
        found.update(takewhile(lambda around: around not in found, element.iterancestors()))
    return found


def _prices(root: HtmlElement) -> list[HtmlElement]:
    """The elements with a short text with the sign of a currency, and a number in it or beside it."""
    signs = [(element, element.getparent()) for element in root.iter("*") if _has_sign(element)]
    numbered = {around for around in {around for _, around in signs} if around is not None and _has_number(around)}
    return [element for element, around in signs if around in numbered]


def _has_sign(element: HtmlElement) -> bool:
    text = element.text
    if not text or len(text) > PROSE or element.tag in UNSHOWN:
        return False
    return "$" in text or (not text.isascii() and any(category(sign) == MONEY for sign in text))


def _has_number(around: HtmlElement) -> bool:
    """Whether one of the first texts in an element has a digit."""
    texts = (text[:PROSE] for one in islice(around.iter("*"), MOST_BESIDE) for text in (one.text, one.tail) if text)
    return any(any(map(str.isdigit, text)) for text in texts)


def _is_scattered(root: HtmlElement) -> bool:
    """Whether no tenth of a page's long paragraphs stands in one place: they are texts of other pages."""
    texts: defaultdict[HtmlElement | None, float] = defaultdict(float)
    for paragraph in root.iter("p", "div"):
        text = paragraph.itertext() if paragraph.tag == "p" else (paragraph.text or "",)
        if (amount := size("".join(text))) >= PROSE:
            texts[paragraph.getparent()] += amount
    return max(texts.values(), default=0) < TENTH * sum(texts.values())


def _schema_types(root: HtmlElement) -> Iterator[str]:
    for script in root.iter("script"):
        if "ld+json" in script.get("type", ""):
            for number, found in enumerate(TYPE.finditer(script.text or "")):
                if number >= MOST_TYPES:
                    break
                yield from re.findall(r"\w+", (found[1] or found[2]).lower().replace("schema.org", ""))
    for element in root.iter("*"):
        named = element.get("itemtype")
        if named:
            yield named.rstrip("/").rpartition("/")[2][:60].lower()


def _marks(root: HtmlElement) -> set[PageKind]:
    elements = [*root.iter("*")]
    of_page = {name for element in root.iter("html", "body", "main") for name in element.get("class", "").split()}
    classes = {element.get("class", "")[:NAMED] for element in elements}
    tokens = {name for names in classes for name in names.split()}
    tokens |= {element.get("id", "")[:NAMED] for element in elements}
    tokens |= {tag for element in elements if "-" in (tag := str(element.tag))}
    found = {kind for kind, names in MARKS.items() if not names.isdisjoint(tokens)}
    if of_page.isdisjoint(MARKS[PageKind.LISTING]):
        found.discard(PageKind.LISTING)  # the list of months of a blog is an `archive`, too
    for meta in root.iter("meta"):
        if meta.get("name", "").lower() == "generator":
            written = meta.get("content", "").strip().lower()
            found.update(kind for kind, names in GENERATORS.items() if written.startswith(names))
    return found


def _open_graph(root: HtmlElement) -> PageKind | None:
    for meta in root.iter("meta"):
        if meta.get("property") == "og:type":
            return OPEN_GRAPH.get(meta.get("content", "").strip().lower())
    return None
