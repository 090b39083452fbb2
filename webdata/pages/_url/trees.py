"""The tree of a page, as browsers make it."""

import re
from html import escape

from lxml.html import HtmlElement, HTMLParser, document_fromstring

from webdata.pages._elements import document, is_deep
from webdata.pages._url.bounds import DEEP, TAGS, bound_tables

VOID = ("bgsound", "embed", "keygen", "source", "track", "wbr")
"""Elements without content that libxml2 does not know as such: https://html.spec.whatwg.org/#void-elements"""
CLOSING = {
    "address": "ul",
    "center": "b, i, font",
    "dd": "address, dir, listing, menu, pre",
    "dl": "address, dir, dt, listing, menu, pre",
    "dt": "address, dir, listing, menu, pre",
    "fieldset": "a, h1, h2, h3, h4, h5, h6, legend, listing, pre",
    "form": "address, dir, dl, h1, h2, h3, h4, h5, h6, listing, menu, ol, pre, ul",
    "li": "address, dl, h1, h2, h3, h4, h5, h6, listing, pre",
    "menu": "ul",
    "p": "b, big, h1, h2, h3, h4, h5, h6, i, s, small, strike, tt, u",
    "pre": "ul",
    "table": "a, h1, h2, h3, h4, h5, h6, listing, p, pre",
    "ul": "address, dir, listing, menu, pre",
}
"""Elements before which libxml2 ends these, where browsers leave the ones in the others."""
CLOSED = ", ".join(f":is({outer}) > {inner}" for inner, outer in CLOSING.items())
HELD = "webdata-held"
"""An element that libxml2 does not know, around one that would close what it is in."""
BEGIN, END = "webdata-begin", "webdata-end"
WITHIN_WORDS = "\xad\u2060\ufeff"
"""The soft hyphen, the word joiner, and the sign that was that before."""
INVISIBLE = re.compile(f"[{WITHIN_WORDS}]+")
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
CONTROLS = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML, and so the tree, cannot contain, and those that are no characters, our own placeholders.

https://www.w3.org/TR/xml/#charsets, https://www.unicode.org/faq/private_use.html#noncharacters
"""
REFERENCES = re.compile(
    r"&#(?:x0*(?:[1-8bcef]|1[0-9a-f]|fff[ef]|fd[de][0-9a-f])(?![0-9a-f])"
    r"|0*(?:[1-8]|1[124-9]|2\d|3[01]|6553[45]|649(?:7[6-9]|[89]\d)|6500[0-7])(?!\d));?",
    re.IGNORECASE,
)
"""References to them, which stay in the texts that browsers do not read as HTML, of `noscript` and `iframe`."""


def tree(text: str) -> HtmlElement | None:
    """The tree of a page; None for a page that nests too deep, or is one of too many elements.

    Lexbor reads HTML as the standard has it, https://html.spec.whatwg.org/#parsing, and lxml what Lexbor writes.
    """
    if text.lstrip("\ufeff \r\n\t").startswith("<?xml"):
        text = _without_sections(text)
    body = text.encode("utf-8", "replace")
    if is_deep(body, DEEP):
        return None
    html = _written(body)
    if html.count("<") > 2 * TAGS:
        return None
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = document_fromstring(html.encode(), parser=parser)
    _free(root)
    for frames in root.iterchildren("frameset"):
        frames.tag = "body"
    bound_tables(root)
    if any(sign in html for sign in WITHIN_WORDS):
        _join_words(root)
    return root


def _join_words(root: HtmlElement) -> None:
    """Remove, in place, the signs within words that nobody sees, so that the words are found; code is as it is."""
    literal = {inner for code in root.iter("code", "pre", "script", "textarea") for inner in code.iter("*")}
    for element in root.iter("*"):
        if element.text and INVISIBLE.search(element.text) and element not in literal:
            element.text = INVISIBLE.sub("", element.text)
        if element.tail and INVISIBLE.search(element.tail) and element.getparent() not in literal:
            element.tail = INVISIBLE.sub("", element.tail)


def _written(body: bytes) -> str:
    """A page as HTML of which libxml2 makes the tree of browsers, but for the elements that are held."""
    page = document(body, scripting=True)
    held = page.css(CLOSED)
    for element in held:
        element.insert_before(page.create_node(BEGIN))
        element.insert_after(page.create_node(END))
    html = page.html or ""
    if held:
        html = html.replace(f"<{BEGIN}></{BEGIN}>", f"<{HELD}>").replace(f"<{END}></{END}>", f"</{HELD}>")
    for name in VOID:
        if f"<{name}" in html:
            html = re.sub(f"<{name}(?=[ >])[^>]*+>", rf"\g<0></{name}>", html)
    html = CONTROLS.sub("", html)
    return REFERENCES.sub("\ufffd", html) if "&#" in html else html


def _free(root: HtmlElement) -> None:
    """Put the elements that are held, in place, where they belong."""
    for held in [*root.iter(HELD)]:
        around = held.getparent()
        if around is not None and len(held) == 1:
            held[0].tail = held.tail
            around.replace(held, held[0])


def _without_sections(text: str) -> str:
    """XHTML with CDATA sections as text; the search ends at the last end of a section."""
    end = text.rfind("]]>") + 3
    return CDATA.sub(lambda section: escape(section[1]), text[:end]) + text[end:] if end > 2 else text
