"""The tree of a page."""

import re
from collections.abc import Collection
from html import escape

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from webdata.pages._url.bounds import bound_tables
from webdata.pages._url.weights import HEADINGS

OPENED_HEADING = re.compile(r"(<h[1-6]\b[^<>]*+>\s*+)<p\b[^<>]*+>", re.IGNORECASE)
"""A paragraph in a heading, which libxml2 ends before it; browsers do not."""
IMAGE = re.compile(r"<image(?=[\s/>])", re.IGNORECASE)
"""A picture by its old name: https://html.spec.whatwg.org/#parsing-main-inbody"""
VOID = re.compile(
    r"""<(bgsound|command|embed|keygen|source|track|wbr)(?=[\s/>])(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>""", re.IGNORECASE
)
"""An element without content, into which libxml2 puts all that follows it.

https://html.spec.whatwg.org/#void-elements
"""
PAGE_END = re.compile(r"</(?:body|html)\s*+>", re.IGNORECASE)
"""An end behind which libxml2 leaves out all that follows; to browsers it is in the body.

https://html.spec.whatwg.org/#parsing-main-afterbody
"""
LINE_END = re.compile(r"</br\s*+>", re.IGNORECASE)
"""An end that browsers read as `br`."""
PARAGRAPH = re.compile(r"<(/?)p(?=[\s/>])[^<>]*+>", re.IGNORECASE)
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
CONTROLS = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]"
    r"|&#(?:x0*(?:[1-8bcef]|1[0-9a-f]|fff[ef]|fd[de][0-9a-f])(?![0-9a-f])"
    r"|0*(?:[1-8]|1[124-9]|2\d|3[01]|6553[45]|649(?:7[6-9]|[89]\d)|6500[0-7])(?!\d));?",
    re.IGNORECASE,
)
"""Characters that XML, and so the tree, cannot contain, and those that are no characters, our own placeholders.

https://www.w3.org/TR/xml/#charsets, https://www.unicode.org/faq/private_use.html#noncharacters
"""
HEAD = frozenset(["base", "head", "link", "meta", "noscript", "script", "style", "template", "title"])
"""Elements outside the body; libxml2 leaves others there if no text precedes them."""


def tree(text: str) -> HtmlElement | None:
    """The tree of a page; None for a page without markup."""
    if text.lstrip("\ufeff \r\n\t").startswith("<?xml"):
        text = _without_sections(text)
    text = OPENED_HEADING.sub(r"\1", _with_paragraphs(PAGE_END.sub("", text)))
    text = VOID.sub(r"\g<0></\1>", IMAGE.sub("<img", LINE_END.sub("<br>", text)))
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = document_fromstring(_without_controls(text).encode("utf-8", "replace"), parser=parser)
    except etree.LxmlError:
        return None
    body = root.find("body")
    if body is None:
        body = root.makeelement("body")
        root.append(body)
    strays = [child for around in (root, *root.iterfind("head")) for child in around if child.tag not in HEAD]
    body[:0] = [stray for stray in strays if stray is not body]
    _end(root, ("dt", "dd"))
    _end(root, HEADINGS)
    bound_tables(root)
    return root


def _without_controls(text: str) -> str:
    """A page without controls; what their removal makes one, as of `&#&#27;27;`, is replaced by a visible character."""
    text, count = CONTROLS.subn("", text)
    return CONTROLS.sub("\ufffd", text) if count else text


def _with_paragraphs(text: str) -> str:
    """HTML in which the end of a paragraph that has not begun is an empty one: libxml2 would leave it out."""
    is_open = False

    def written(tag: re.Match[str]) -> str:
        nonlocal is_open
        was_open, is_open = is_open, not tag[1]
        return tag[0] if was_open or is_open else "<p></p>"

    return PARAGRAPH.sub(written, text)


def _end(root: HtmlElement, tags: Collection[str]) -> None:
    """Move, in place, elements out of those before them, which such a one ends, but not to libxml2."""
    for element in [*root.iter(*tags)]:
        around = element.getparent()
        if around is not None and around.tag in tags:
            for one in reversed([element, *element.itersiblings()]):
                around.addnext(one)


def _without_sections(text: str) -> str:
    """XHTML with CDATA sections as text; the search ends at the last end of a section."""
    end = text.rfind("]]>") + 3
    return CDATA.sub(lambda section: escape(section[1]), text[:end]) + text[end:] if end > 2 else text
