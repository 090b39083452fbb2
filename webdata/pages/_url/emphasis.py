"""Emphasis that every reader of Markdown reads as such.

A delimiter opens or closes emphasis only beside certain characters: `は**「x」**` is no emphasis, `は「**x**」` is.
https://spec.commonmark.org/current/#left-flanking-delimiter-run
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import takewhile

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS

KINDS = {
    "b": "strong", "strong": "strong", "em": "em", "i": "em", "var": "em", "dfn": "em", "del": "del", "s": "del",
    "strike": "del",
}  # fmt: skip
"""Elements that are written with delimiters, and the first of those with the same ones."""
STARS = frozenset(["strong", "em"])
"""Those whose delimiters are one run where they meet: what is behind it decides."""
STYLES = {
    "b": re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE),
    "i": re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE),
    "s": re.compile(r"text-decoration(?:-line)?\s*:\s*line-through", re.IGNORECASE),
}
PLAIN_STYLES = {
    "strong": re.compile(r"font-weight\s*:\s*(?:normal|[1-4]00)", re.IGNORECASE),
    "em": re.compile(r"font-style\s*:\s*normal", re.IGNORECASE),
    "del": re.compile(r"text-decoration(?:-line)?\s*:\s*none", re.IGNORECASE),
}
"""The styles by which an element of a kind is as the text around it."""
LONGEST_STYLE = 1_000
UNMARKED = frozenset(["font", "span", "sub", "sup", "u"])
"""Elements that begin and end with their text in Markdown."""
SIGNED = frozenset(["a", "code", "img", "kbd", "samp", "tt"])
"""Other elements that begin and end with punctuation in Markdown."""


def emphasised(part: HtmlElement) -> None:
    """Make, in place, the emphasis of a part of a page such that its delimiters are read as delimiters."""
    _read_styles(part)
    for element in [*part.iter(*KINDS)]:
        if element.tag not in KINDS:
            continue
        if _is_within_its_kind(element):
            element.tag = "span"
        elif next(element.iterdescendants(*BLOCKS), None) is not None:
            _distribute(element)
        elif any(map(_is_empty_line, inner := _only(element))):
            element.tag, inner.tag = "span", element.tag
            _part(inner)
    for element in [*part.iter(*KINDS)]:
        if element.tag in KINDS:
            _join(element)
    for element in reversed([*part.iter(*KINDS)]):
        _fit(element)


def _read_styles(part: HtmlElement) -> None:
    """Make elements emphasis, or none, in place, by their own styles, as editors write them."""
    for element in part.iter("span", *KINDS):
        style = element.get("style", "")[:LONGEST_STYLE]
        if style and element.tag != "span":
            element.tag = "span" if PLAIN_STYLES[KINDS[str(element.tag)]].search(style) else element.tag
        elif style:
            element.tag = next((tag for tag, pattern in STYLES.items() if pattern.search(style)), "span")


def _is_within_its_kind(element: HtmlElement) -> bool:
    kind = KINDS[str(element.tag)]
    inline = takewhile(lambda around: around.tag not in BLOCKS, element.iterancestors())
    return any(KINDS.get(str(around.tag)) == kind for around in inline)


def _distribute(element: HtmlElement) -> None:
    """Emphasise the text of each block in an element instead of the element: Markdown's ends with a block."""
    tag = str(element.tag)
    for inner in [*element.iterdescendants(*KINDS)]:
        if KINDS[str(inner.tag)] == KINDS[tag]:
            inner.tag = "span"
    for block in [*element.iterdescendants(*BLOCKS)]:
        if next(block.iterdescendants(*BLOCKS), None) is None and block.text_content().strip() and block.tag != "pre":
            inner = block.makeelement(tag)
            inner.text, block.text = block.text, None
            inner.extend([*block])
            block.append(inner)
    element.tag = "div"


def _is_empty_line(element: HtmlElement) -> bool:
    """Whether an element ends a line right behind another: an empty line, which ends a paragraph."""
    before = element.getprevious()
    return element.tag == "br" and before is not None and before.tag == "br" and not (before.tail or "").strip()


def _only(element: HtmlElement) -> HtmlElement:
    """An element, or the unmarked one in it that has all of its text."""
    inner = element
    while len(inner) == 1 and inner[0].tag in UNMARKED and not ((inner.text or "") + (inner[0].tail or "")).strip():
        inner = inner[0]
    return inner


def _part(element: HtmlElement) -> None:
    """Emphasise each line in an element instead of the element: Markdown's emphasis ends with a paragraph."""
    tag, text, children = str(element.tag), element.text, [*element]
    line = element.makeelement(tag)
    line.text, element.tag, element.text = text, "span", None
    element.insert(0, line)
    for child in children:
        if child.tag == "br":
            line = element.makeelement(tag)
            line.text, child.tail = child.tail, None
            child.addnext(line)
        else:
            line.append(child)


def _join(element: HtmlElement) -> None:
    """Join an element with those of its kind right after it: `**a****b**` is no emphasis."""
    for after in [*_run(element)]:
        tail, after.tail = after.tail or "", None
        _write_around(after, tail, "")
        after.tag = "span"
        element.append(after)


def _run(element: HtmlElement) -> Iterator[HtmlElement]:
    """The elements of the kind of another that follow it and each other."""
    last = element
    while (after := _right_after(last)) is not None and KINDS.get(str(after.tag)) == KINDS[str(element.tag)]:
        yield after
        last = after


def _right_after(element: HtmlElement) -> HtmlElement | None:
    """The element that nothing sets apart from the one before it, also where one of them is in an unmarked one."""
    here, around = element, element.getparent()
    while not here.tail and here.getnext() is None and around is not None and around.tag in UNMARKED:
        here, around = around, around.getparent()
    after = None if here.tail else here.getnext()
    while after is not None and after.tag in UNMARKED and not after.text and (len(after) or not after.tail):
        after = after[0] if len(after) else after.getnext()
    return after


def _swap(outer: HtmlElement, link: HtmlElement) -> None:
    """Move the emphasis of a link into it."""
    outer.tag, link.tag = link.tag, outer.tag
    attributes = dict(link.attrib)
    link.attrib.clear()
    outer.attrib.clear()
    outer.attrib.update(attributes)


def _fit(element: HtmlElement) -> None:
    """Move spaces and, where its delimiters need it, punctuation out of an element."""
    before, after = _before(element), _after(element)
    start = _stripped(element, str.isspace, at_end=False)
    end = _stripped(element, str.isspace, at_end=True)
    before, after = (start or before)[-1:], (end or after)[:1]
    if before and not _is_apart(before):
        start += _stripped(element, _is_mark, at_end=False)
    if after and not _is_apart(after):
        end = _stripped(element, _is_mark, at_end=True) + end
    _write_around(element, start, end)
    first, last = _edge(element, at_end=False), _edge(element, at_end=True)
    before, after = (start or before)[-1:], (end or after)[:1]
    if _is_blank(element.text_content()) and element.find(".//img") is None:
        element.tag = "span"
    elif _is_stuck(before, first) or _is_stuck(after, last):
        if len(element) == 1 and element[0].tag == "a" and not (element.text or element[0].tail):
            _swap(element, element[0])
        else:
            element.tag = "span"


def _is_blank(text: str) -> bool:
    """Whether a text shows nothing: it is spaces, also those without a width."""
    return all(sign.isspace() or unicodedata.category(sign) == "Cf" for sign in text)


def _is_stuck(outside: str, inside: str) -> bool:
    """Whether a delimiter between two characters is read as text."""
    return bool(outside and inside) and _is_mark(inside) and not _is_apart(outside)


def _write_around(element: HtmlElement, start: str, end: str) -> None:
    if end:
        element.tail = end + (element.tail or "")
    if not start:
        return
    previous, around = element.getprevious(), element.getparent()
    if previous is not None:
        previous.tail = (previous.tail or "") + start
    elif around is not None:
        around.text = (around.text or "") + start


def _stripped(element: HtmlElement, is_one: Callable[[str], bool], at_end: bool) -> str:
    """Remove the characters of a kind from an end of an element's own text, and return them."""
    last = element[-1] if at_end and len(element) else None
    if not at_end and not element.text:
        return ""
    text = (last.tail if last is not None else element.text) or ""
    count = sum(1 for _ in takewhile(is_one, reversed(text) if at_end else text))
    cut = len(text) - count if at_end else count
    kept, taken = (text[:cut], text[cut:]) if at_end else (text[cut:], text[:cut])
    if taken and last is not None:
        last.tail = kept
    elif taken:
        element.text = kept
    return taken


def _edge(element: HtmlElement, at_end: bool) -> str:
    """The first or last character of an element as Markdown."""
    if at_end:
        last = element[-1] if len(element) else None
        text = element.text if last is None else last.tail
        inner = last
    else:
        text, inner = element.text, element[0] if len(element) else None
    if text:
        return text[-1] if at_end else text[0]
    if inner is None:
        return ""
    return "*" if inner.tag in SIGNED else _edge(inner, at_end)


def _before(element: HtmlElement) -> str:
    """The character before an element in its block; empty at the beginning."""
    here: HtmlElement | None = element
    while here is not None and (here is element or here.tag not in BLOCKS):
        previous = here.getprevious()
        if previous is not None:
            text = previous.tail or ("" if previous.tag in BLOCKS or previous.tag == "br" else _edge(previous, True))
            if not previous.tail and (previous.tag in SIGNED or KINDS.get(str(previous.tag)) not in (None, *STARS)):
                return "*"
            return text[-1:]
        around = here.getparent()
        if around is not None and around.text:
            return around.text[-1]
        if around is not None and around.tag in SIGNED:
            return "*"
        here = around
    return ""


def _after(element: HtmlElement) -> str:
    """The character after an element in its block; empty at the end."""
    here: HtmlElement | None = element
    while here is not None and (here is element or here.tag not in BLOCKS):
        if here.tail:
            return here.tail[0]
        following = here.getnext()
        if following is not None:
            if following.tag in BLOCKS or following.tag == "br":
                return ""
            is_signed = following.tag in SIGNED or KINDS.get(str(following.tag)) not in (None, *STARS)
            return "*" if is_signed else _edge(following, False)
        here = here.getparent()
        if here is not None and here.tag in SIGNED:
            return "*"
    return ""


def _is_apart(char: str) -> bool:
    return char.isspace() or unicodedata.category(char)[0] == "P" or (char.isascii() and not char.isalnum())


def _is_mark(char: str) -> bool:
    """Whether a character is punctuation to some reader: CommonMark counts symbols with it since 0.31."""
    return unicodedata.category(char)[0] in "PS"
