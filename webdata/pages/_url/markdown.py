"""A page as Markdown: its content alone if that is recognised, else all of it."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import html_to_markdown
from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url import json_ld, mathematics
from webdata.pages._url.blocks import INDENT, LINE_END, normalise, plain_lines, spaced
from webdata.pages._url.bounds import is_too_deep, is_too_large, plain_text
from webdata.pages._url.cleaning import remove_unrendered
from webdata.pages._url.content import Extent, readable
from webdata.pages._url.dropping import Removal
from webdata.pages._url.emphasis import emphasised
from webdata.pages._url.feeds import feed_page
from webdata.pages._url.links import address, footnotes, headed, linked, permanent
from webdata.pages._url.listings import BLANK
from webdata.pages._url.literal import escaped, inert
from webdata.pages._url.marks import marked
from webdata.pages._url.opening import opened
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.scripted import lacking
from webdata.pages._url.selection import EVERYTHING, Selection, TooComplexError
from webdata.pages._url.shells import fallback_texts
from webdata.pages._url.trees import tree
from webdata.pages._url.weights import BLOCKS, size

LONGEST_BASE = 4_000
"""Characters of the address that each link of a page may be relative to."""
SEVERAL = 2
"""Words that a headline shares with the title of the page."""
HALF = 0.5
"""The share of the words of the shorter of the two."""
WORD = re.compile(r"\w+")
SIGN = re.compile(r"\s*[^\w\s]\s")
"""What stands between a title and the name of the site."""
SHORTEST = 10
"""Characters of the shortest heading that is the page's title without the name of the site."""
NOTHING = 60
"""Characters of a page below which its fallback texts are added."""
OPTIONS = html_to_markdown.ConversionOptions(
    extract_metadata=False,
    compact_tables=True,
    bullets="-",
    expand_abbreviations=False,
    hidden_content="reachable",
    highlight_style="none",
    keep_inline_images_in=["h1", "h2", "h3", "h4", "h5", "h6"],
)
ATTRIBUTES = frozenset(["href", "src", "alt", "colspan", "rowspan", "start", "value", "reversed"])
"""Attributes that the converter uses."""
FRAMES = frozenset([
    "article", "aside", "button", "dialog", "figure", "footer", "form", "header", "main", "menu", "nav", "search",
    "section",
])  # fmt: skip
"""Elements that the converter would leave out by rules of its own, or set apart from the list they are in."""
SPACES = re.compile(r"[ \t\r\n\f]+")
EMPTY_LINES = re.compile(r"\n{3,}")
LINE_ENDS = re.compile(rf" ?{LINE_END}[ {LINE_END}]*+")
FIRST_LINE = re.compile(rf"(?<!\\)\|{LINE_END}")
QUOTED_LINES = re.compile(r"^(>(?: ?>)*+) *+\n(?:\1 *+\n)+", re.MULTILINE)
"""Empty lines of a quotation."""
INVISIBLE_LINES = re.compile(r"^[ \t]*+[\u00a0\u200b\ufeff][ \t\u00a0\u200b\ufeff]*+$", re.MULTILINE)
BLANK_LINES = re.compile(rf"^[ \t]*+({BLANK})$", re.MULTILINE)


class Converted(NamedTuple):
    """A page as Markdown and as text, and what of it was left out."""

    markdown: str
    text: str = ""
    kind: PageKind = PageKind.OTHER
    removed: Sequence[Removal] = ()
    left_out: float = 0.0
    """The share of the visible words that are not in the Markdown, from 0 to 1."""
    from_scripts: bool = False
    """Whether text that only the page's scripts hold is in it."""


def converted(
    text: str,
    url: str,
    extent: Extent = "page",
    charset: str = "utf-8",
    selection: Selection = EVERYTHING,
    *,
    as_text: bool = False,
) -> Converted:
    """The Markdown of a page, with a line end at its end; `url` is its address, `charset` that of its bytes.

    The text without markup is made `as_text` only.
    Raises TooComplexError for a page that is too large or too deep for a selection.
    """
    if is_too_large(text) or (root := tree(text)) is None or is_too_deep(root):
        if selection:
            raise TooComplexError
        return Converted(plain := plain_text(text), plain)
    _held = [*root.iter("*")]  # lxml would make each element anew in each pass
    base = base_of(root, url)
    title, fallback = _title(root), fallback_texts(root)
    _raise_title(root, title)
    headings = [one for one in root.iter("h1") if spaced(one)]
    objects = [] if selection.include else json_ld.items(root)[0]
    added = "" if selection.include else lacking(root, objects)
    selection.apply(root)
    if selection.include:
        return _chosen(root, base, charset, as_text)
    found = readable(root, objects, text, url, base, extent)
    part = found.part
    title = _headline(headings, part, title) or title
    _add(added, part, base)
    plain = plain_lines(part) if as_text else ""
    _arrange(part, base, charset)
    if _length(part) < NOTHING:
        for note in fallback:
            paragraph = part.makeelement("p")
            paragraph.text = note
            part.append(paragraph)
    _head(part, title)
    written = _written(part)
    if not written.strip():
        return Converted(f"{inert(title)}\n" if title else plain_text(text), plain)
    return Converted(
        _titled(written, title, part, headings[:1]), plain, found.kind, found.removed, found.left_out, bool(added)
    )


def _add(html: str, part: HtmlElement, base: str) -> None:
    """Add HTML behind a part of a page; nothing that is too large or too deep."""
    if not html or is_too_large(html) or (root := tree(html)) is None or is_too_deep(root):
        return
    opened(root, base)
    remove_unrendered(root)
    part.extend([*root.iterchildren("body")])
    for body in part.iterchildren("body"):
        body.tag = "div"


def _chosen(root: HtmlElement, base: str, charset: str, as_text: bool) -> Converted:
    """The Markdown of all that selectors have left in the body of a page."""
    opened(root, base)
    remove_unrendered(root)
    body = next(root.iterchildren("body"))
    plain = plain_lines(body) if as_text else ""
    _arrange(body, base, charset)
    return Converted(_written(body), plain)


def feed(text: str, url: str, charset: str = "utf-8") -> str | None:
    """The Markdown of a feed, a list of its entries with all of their text; None for text that is no feed."""
    page = feed_page(text)
    if page is None or is_too_large(page) or (root := tree(page)) is None or is_too_deep(root):
        return None
    opened(root, url)
    remove_unrendered(root)
    return _of_body(root, url, charset)


def composed(page: str, url: str, *, as_text: bool = False) -> str:
    """The Markdown of a page that was composed of a document, or its text: all of it, since nothing is hidden there."""
    root = tree(page)
    if root is None:
        return ""
    return plain_lines(root) if as_text else _of_body(root, url, "utf-8")


def _of_body(root: HtmlElement, url: str, charset: str) -> str:
    part = next(root.iterchildren("body"))
    _arrange(part, url, charset)
    return _written(part)


def _arrange(part: HtmlElement, base: str, charset: str) -> None:
    """Prepare, in place, the links, lists and tables of a part of a page."""
    permanent(part)
    footnotes(part)
    linked(part, base, charset)
    normalise(part)


def _length(element: HtmlElement) -> float:
    return sum(size(text) for text in element.itertext())


def base_of(root: HtmlElement, url: str) -> str:
    """The address that a page's links are relative to: that of its base element, or the page's own."""
    for element in root.iter("base"):
        if href := element.get("href"):
            base = address(href[:LONGEST_BASE], url)
            return base if base and base.startswith(("http:", "https:")) else url
    return url


def _title(root: HtmlElement) -> str:
    """The title of a page, without the site's name where the metadata or a heading has it so."""
    full = [spaced(element) for element in root.iterfind("head/title")]
    given = [" ".join(meta.get("content", "").split()) for meta in root.xpath('head/meta[@property="og:title"]')]
    texts = [title for title in given if full and title in full[0] and title != full[0]]
    headings = [text for one in root.iter("h1", "h2") if full and _is_beginning(text := spaced(one), full[0])]
    return next(filter(None, texts + headings + full), "")


def _raise_title(root: HtmlElement, title: str) -> None:
    """Make the first second heading of a page without a first one its headline, in place, if it is the title."""
    if not any(map(spaced, root.iter("h1"))):
        second = (one for one in root.iter("h2") if spaced(one).casefold() == title.casefold() != "")
        for headline in islice(second, 1):
            headline.tag = "h1"


def _is_beginning(text: str, title: str) -> bool:
    """Whether a title is a text, a sign, and fewer words than these, such as the name of the site."""
    rest = title.removeprefix(text)
    return title.startswith(text) and max(SHORTEST, len(rest)) <= len(text) and SIGN.match(rest) is not None


def _headline(headings: Sequence[HtmlElement], part: HtmlElement, title: str) -> str:
    """The only headline of a page, or the one of several that its title says again, where none is in its content.

    The name of a site that leads to its first page is none.
    """
    texts = [spaced(heading) for heading in headings if not _leads_away(heading)]
    if len(texts) == 1 or not texts or part.find(".//h1") is not None:
        return texts[0] if len(texts) == 1 else ""
    words = _words(title)
    best = max(texts, key=lambda text: len(_words(text) & words))
    shared = len(_words(best) & words)
    return best if shared >= max(SEVERAL, HALF * min(len(_words(best)), len(words))) else ""


def _leads_away(heading: HtmlElement) -> bool:
    """Whether all of a heading is a link to another page, or in one; the links to its own are gone."""
    inner = (link for link in heading.iter("a") if spaced(link) == spaced(heading))
    return any(link.get("href", "#")[:1] != "#" for link in (*heading.iterancestors("a"), *inner))


def _words(text: str) -> set[str]:
    return {*WORD.findall(text.casefold())}


def _fold(part: HtmlElement) -> None:
    """Replace runs of spaces by one, in place, but not in listings."""
    listed = {element for pre in part.iter("pre") for element in pre.iter("*")}
    for element in part.iter("*"):
        if element.text and element not in listed:
            element.text = SPACES.sub(" ", element.text)
        if element.tail and (element not in listed or element.tag == "pre"):
            element.tail = SPACES.sub(" ", element.tail)


def _titled(written: str, title: str, part: HtmlElement, headlines: Sequence[HtmlElement]) -> str:
    """The Markdown with the title, unless it begins with it or has a headline that may be it."""
    is_outside = any(spaced(one) == title and part not in one.iterancestors() for one in headlines)
    is_headed = any(not _leads_away(one) for one in part.iter("h1")) and not is_outside
    if not title or is_headed or _begins_with(part, title):
        return written
    return f"# {inert(title)}\n\n{written}"


def _head(part: HtmlElement, title: str) -> None:
    """Make the block with which a part begins its headline, in place, where it is its title and no other is."""
    first = _first(part)
    if first is not None and first.tag in ("div", "p") and part.find(".//h1") is None and _begins_with(part, title):
        first.tag = "h1"


def _begins_with(part: HtmlElement, title: str) -> bool:
    """Whether the first heading or block with text of a part is its title."""
    first = _first(part)
    return first is not None and spaced(first).casefold() == title.casefold()


def _first(part: HtmlElement) -> HtmlElement | None:
    blocks = (block for block in part.iter(*BLOCKS) if next(block.iterdescendants(*BLOCKS), None) is None)
    return next((block for block in blocks if spaced(block)), None)


def _written(part: HtmlElement) -> str:
    """The Markdown of a part of a page, whose elements are changed."""
    headed(part)
    marked(part)
    _fold(part)
    emphasised(part)
    escaped(part)
    for element in part.iter("*"):
        if element.tag in FRAMES:
            element.tag = "div"
        names = {*ATTRIBUTES, "class"} if element.tag == "code" else ATTRIBUTES
        attributes = {name: value for name, value in element.items() if name in names}
        element.attrib.clear()  # names that HTML allows and XML does not cannot be deleted one by one
        element.attrib.update(attributes)
    html = etree.tostring(part, encoding="unicode", method="html", with_tail=False)
    text = html_to_markdown.convert(html, OPTIONS).content or ""
    text = QUOTED_LINES.sub(r"\1\n", INVISIBLE_LINES.sub("", text))
    text = EMPTY_LINES.sub("\n\n", text).strip("\n") + "\n"
    text = text.replace(f"{mathematics.BACKSLASH}\\", mathematics.BACKSLASH)  # in cells the converter escapes, too
    return _with_lines(text).replace(mathematics.BACKSLASH, "\\")


def _with_lines(text: str) -> str:
    """Markdown with the line ends in cells, which only HTML has there, and the empty lines of listings."""
    if LINE_END in text:
        text = FIRST_LINE.sub("| ", LINE_ENDS.sub(LINE_END, text)).replace(f"{LINE_END}|", " |")
        text = text.replace(LINE_END, "<br>").replace(INDENT, " ")
    return BLANK_LINES.sub(r"\1", text).replace(BLANK, "") if BLANK in text else text
