"""A page as Markdown: its content alone if that is recognised, else all of it."""

import re
from html import escape

import html_to_markdown
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from webdata.pages._url import mathematics
from webdata.pages._url.blocks import normalise
from webdata.pages._url.bounds import bound_tables, is_too_deep, is_too_large, plain_text
from webdata.pages._url.cleaning import around_questions, remove_chrome, remove_invisible, show_paid
from webdata.pages._url.content import content, described, lead
from webdata.pages._url.embedded import link_embedded
from webdata.pages._url.ends import hosts, trimmed
from webdata.pages._url.links import address, footnotes, linked, permanent
from webdata.pages._url.literal import escaped, inert
from webdata.pages._url.marks import marked
from webdata.pages._url.shells import SCRIPT, fallback_texts
from webdata.pages._url.weights import size

LITTLE = 250
"""Characters of content below which it is compared with the whole page."""
SOME = 0.2
"""The share of the whole page that so little content must be to be used alone."""
NOTHING = 60
"""Characters of a page with scripts below which its fallback texts are added."""
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
OPTIONS = html_to_markdown.ConversionOptions(
    extract_metadata=False,
    compact_tables=True,
    bullets="-",
    expand_abbreviations=False,
    hidden_content="reachable",
    highlight_style="none",
)
ATTRIBUTES = frozenset(["href", "src", "alt", "colspan", "rowspan", "start", "value", "reversed"])
"""Attributes that the converter uses."""
CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:x0*(?:[1-8bcef]|1[0-9a-f]|fff[ef])|0*(?:[1-8]|1[124-9]|2\d|3[01]|6553[45]))(?![0-9a-f]);?",
    re.IGNORECASE,
)
"""Characters that XML, and so the tree, cannot contain: https://www.w3.org/TR/xml/#charsets"""
HEAD = frozenset(["base", "head", "link", "meta", "noscript", "script", "style", "template", "title"])
"""Elements outside the body; libxml2 leaves others there if no text precedes them."""
FRAMES = frozenset(["aside", "button", "dialog", "footer", "form", "header", "menu", "nav", "search"])
"""Elements that the converter would leave out by rules of its own."""
SPACES = re.compile(r"[ \t\r\n\f]+")
EMPTY_LINES = re.compile(r"\n{3,}")
EMPTY_LINKS = re.compile(r"(?<!!)\[\s*\]\([^()\s\[\]]*+\)")


def markdown(text: str, url: str) -> str:
    """The Markdown of a page, with a line end at its end; `url` is the address of the page."""
    if is_too_large(text) or (root := tree(text)) is None or is_too_deep(root):
        return plain_text(text)
    base = _base(root, url)
    title, fallback, site = _title(root), fallback_texts(root), hosts(root, url)
    part = _part(root, text, base)
    permanent(part)
    footnotes(part)
    linked(part, base)
    normalise(part)
    trimmed(part, site)
    marked(part)
    if SCRIPT.search(text) and _length(part) < NOTHING:
        for added in fallback:
            paragraph = part.makeelement("p")
            paragraph.text = added
            part.append(paragraph)
    _fold(part)
    escaped(part)
    written = _written(part)
    return _titled(written, title, part) if written.strip() else plain_text(text)


def tree(text: str) -> HtmlElement | None:
    """The tree of a page; None for a page without markup."""
    if text.lstrip("\ufeff \r\n\t").startswith("<?xml"):
        text = _without_sections(text)
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = document_fromstring(CONTROLS.sub("", text).encode("utf-8", "replace"), parser=parser)
    except etree.LxmlError:
        return None
    body = root.find("body")
    if body is None:
        body = root.makeelement("body")
        root.append(body)
    strays = [child for around in (root, *root.iterfind("head")) for child in around if child.tag not in HEAD]
    body[:0] = [stray for stray in strays if stray is not body]
    bound_tables(root)
    return root


def _without_sections(text: str) -> str:
    """XHTML with CDATA sections as text; the search ends at the last end of a section."""
    end = text.rfind("]]>") + 3
    return CDATA.sub(lambda section: escape(section[1]), text[:end]) + text[end:] if end > 2 else text


def _part(root: HtmlElement, text: str, base: str) -> HtmlElement:
    """The content of a page, or its whole body where the content is next to nothing."""
    show_paid(root, text)
    mathematics.written(root)
    link_embedded(root, base)
    summary = described(root)
    remove_chrome(root, summary)
    part = content(root, summary | around_questions(root))
    length = _length(part)
    if length >= LITTLE:
        for element in reversed(lead(part)):
            element.tail = None
            part.insert(0, element)
        return part
    whole = tree(text)
    body = None if whole is None else whole.find("body")
    if whole is None or body is None:
        return part
    mathematics.written(whole)
    link_embedded(whole, base)
    remove_invisible(whole)
    return part if length and length >= SOME * _length(whole) else body


def _length(element: HtmlElement) -> float:
    return sum(size(text) for text in element.itertext())


def _base(root: HtmlElement, url: str) -> str:
    """The address that a page's links are relative to: that of its base element, or the page's own."""
    for element in root.iter("base"):
        if element.get("href"):
            return address(element.get("href"), url) or url
    return url


def _title(root: HtmlElement) -> str:
    """The only h1 of a page, else its title, without the site's name where the metadata has it so."""
    headings = [*root.iter("h1")]
    texts = [" ".join(element.text_content().split()) for element in (headings if len(headings) == 1 else [])]
    full = [" ".join(element.text_content().split()) for element in root.iterfind("head/title")]
    given = [" ".join(meta.get("content", "").split()) for meta in root.xpath('head/meta[@property="og:title"]')]
    texts += [title for title in given if full and title in full[0]]
    return next(filter(None, texts + full), "")


def _fold(part: HtmlElement) -> None:
    """Replace runs of spaces by one, in place, but not in listings."""
    listed = {element for pre in part.iter("pre") for element in pre.iter("*")}
    for element in part.iter("*"):
        if element.text and element not in listed:
            element.text = SPACES.sub(" ", element.text)
        if element.tail and (element not in listed or element.tag == "pre"):
            element.tail = SPACES.sub(" ", element.tail)


def _titled(written: str, title: str, part: HtmlElement) -> str:
    opening = " ".join(part.text_content()[:1000].split()).casefold()
    if not title or part.find(".//h1") is not None or opening.startswith(title.casefold()):
        return written
    return f"# {inert(title)}\n\n{written}"


def _written(part: HtmlElement) -> str:
    for element in part.iter("*"):
        if element.tag in FRAMES:
            element.tag = "div"
        names = {*ATTRIBUTES, "class"} if element.tag == "code" else ATTRIBUTES
        attributes = {name: value for name, value in element.items() if name in names}
        element.attrib.clear()  # names that HTML allows and XML does not cannot be deleted one by one
        element.attrib.update(attributes)
    html = etree.tostring(part, encoding="unicode", method="html", with_tail=False)
    text = html_to_markdown.convert(html, OPTIONS).content or ""
    text = text.replace(mathematics.BACKSLASH, "\\")
    return EMPTY_LINES.sub("\n\n", EMPTY_LINKS.sub("", text)).strip("\n") + "\n"
