"""Escapes for characters of a page's text that are markup in Markdown; the converter escapes those at line starts."""

import re

from lxml.html import HtmlElement

from webdata.pages._url.mathematics import BACKSLASH

CODE = frozenset(["code", "kbd", "pre", "samp", "tt"])
PAIRED = (
    re.compile(r"\*(?=\S)|(?<=\S)\*"),
    re.compile(r"(?<![^\W_])_{1,99}(?=[^\W_])|(?<=[^\W_])_{1,99}(?![^\W_])"),
    re.compile("`"),
    re.compile("~(?=~)|(?<=~)~"),
)
"""Characters that are markup if there are two of them: https://spec.commonmark.org/current/#delimiter-run"""
HTML = re.compile(r"<(?=[a-zA-Z/!?]|\Z)|&(?=#?\w+;)")
"""Text like a tag or an entity; a tag may go on in the next element."""
TAG = re.compile(r"<(?=[a-zA-Z/!?])")
ENTITIES = {"<": "&lt;", "&": "&amp;"}
"""Not all renderers know a backslash before these."""
LINK = re.compile(r"](?=\()")
DEFINITION = re.compile(r"(?<!\S)\[(?=(?!\^)[^\[\]]{1,999}+\]:)")
"""The beginning of what would be a definition of a link, which is not displayed."""
MARKUP = re.compile(r"[]*_`~<&[]")
"""The characters of all of these; most texts have none."""
UNDERLINE = re.compile(r"\s*=+\s*")
"""A line under another that would make it a heading."""
FORMULA = re.compile(r"\$.*\$", re.DOTALL)


def escaped(part: HtmlElement) -> None:
    """Escape, in place, the text outside of listings, code and formulas, and the texts of images."""
    code = {element for whole in part.iter(*CODE) for element in whole.iter("*")}
    linked = {element for link in part.iter("a") for element in link.iter("*")}
    for element in part.iter("*"):
        if alt := element.get("alt"):
            element.set("alt", inert(alt))
        if element.tag == "a":
            _part_from_mark(element)
        if not element.text or element in code:
            pass
        elif FORMULA.fullmatch(element.text):
            element.text = TAG.sub("< ", element.text)  # TeX ignores spaces
        else:
            element.text = escaped_text(element.text, element in linked)
        around = element.getparent()
        if element.tail and element is not part and around not in code:
            is_underline = element.tag == "br" and UNDERLINE.fullmatch(element.tail) is not None
            mark = BACKSLASH if is_underline else ""
            element.tail = mark + escaped_text(element.tail.lstrip() if mark else element.tail, around in linked)


def _part_from_mark(link: HtmlElement) -> None:
    """Escape the exclamation mark before a link: together they would be a picture."""
    before, around = link.getprevious(), link.getparent()
    if before is not None and (before.tail or "").endswith("!"):
        before.tail = f"{(before.tail or '')[:-1]}{BACKSLASH}!"
    elif before is None and around is not None and (around.text or "").endswith("!"):
        around.text = f"{(around.text or '')[:-1]}{BACKSLASH}!"


def escaped_text(text: str, linked: bool) -> str:
    """Text with escapes, but not for brackets in links, which the converter escapes."""
    if MARKUP.search(text) is None:
        return text
    patterns = [pattern for pattern in PAIRED if len(pattern.findall(text)) > 1]
    for pattern in patterns if linked else [*patterns, LINK, DEFINITION]:
        text = pattern.sub(lambda found: "".join(BACKSLASH + char for char in found[0]), text)
    return inert(text)


def inert(text: str) -> str:
    """Text in which nothing is HTML for a renderer of Markdown, or for a browser."""
    return HTML.sub(lambda found: ENTITIES[found[0]], text)
