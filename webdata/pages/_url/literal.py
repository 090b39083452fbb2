"""Escapes for characters of a page's text that are markup in Markdown; the converter escapes those at line starts."""

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from lxml.html import HtmlElement

from webdata.pages._url.mathematics import BACKSLASH
from webdata.pages._url.weights import BLOCKS

CODE = frozenset(["code", "kbd", "pre", "samp", "tt"])
PAIRED = (
    re.compile(r"\*(?!\s)|(?<!\s)\*"),
    re.compile(r"(?<![^\W_])_{1,99}(?=[^\W_])|(?<=[^\W_])_{1,99}(?![^\W_])"),
    re.compile("`"),
    re.compile("~(?=~)|(?<=~)~"),
)
"""Characters that are markup if a block has two of them: https://spec.commonmark.org/current/#delimiter-run"""
DELIMITED = {
    **dict.fromkeys(("b", "dfn", "em", "i", "strong", "var"), "*.*"),
    **dict.fromkeys(CODE, "`.`"),
    **dict.fromkeys(("del", "s", "strike"), "~~.~~"),
}
"""The elements that are written with these characters."""
BOLD = frozenset(["dt", "summary"])
"""Blocks that are written in bold."""
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
UNDERLINE = re.compile(r"\s*(?:=+|[|:][|:\s-]*|(?=[^|]*\|)-[|:\s-]*)\s*")
"""A line under another that would make it a heading, or the first row of a table."""
FORMULA = re.compile(r"\$.*\$", re.DOTALL)


def escaped(part: HtmlElement) -> None:
    """Escape, in place, the text outside of listings, code and formulas, and the texts of images."""
    code = {element for whole in part.iter(*CODE) for element in whole.iter("*")}
    linked = {element for link in part.iter("a") for element in link.iter("*")}
    blocks = _blocks(part)
    paired = _paired(blocks, code)
    for element, block in blocks.items():
        if alt := element.get("alt"):
            element.set("alt", inert(alt))
        if element.tag == "a":
            _part_from_mark(element)
        if not element.text or element in code:
            pass
        elif FORMULA.fullmatch(element.text):
            element.text = TAG.sub("< ", element.text)  # TeX ignores spaces
        else:
            element.text = escaped_text(element.text, element in linked, paired.get(block, ()))
        around = element.getparent()
        if element.tail and around in blocks and around not in code:
            is_underline = element.tag == "br" and UNDERLINE.fullmatch(element.tail) is not None
            mark = BACKSLASH if is_underline else ""
            text = element.tail.lstrip() if mark else element.tail
            element.tail = mark + escaped_text(text, around in linked, paired.get(blocks[around], ()))


def _blocks(part: HtmlElement) -> dict[HtmlElement, HtmlElement]:
    """The elements of a part of a page in their order, each with the block that it stands in."""
    blocks = {part: part}
    for element in part.iterdescendants("*"):
        around = element.getparent()
        assert around is not None  # it is in the part
        blocks[element] = element if element.tag in BLOCKS else blocks[around]
    return blocks


def _paired(
    blocks: Mapping[HtmlElement, HtmlElement], code: Container[HtmlElement | None]
) -> dict[HtmlElement, list[re.Pattern[str]]]:
    """The characters that are markup in each block: it has two of them, in all of its text and around its elements."""
    texts: defaultdict[HtmlElement, list[str]] = defaultdict(list)
    for element, block in blocks.items():
        around = element.getparent()
        if element.tag in DELIMITED:
            texts[block].append(DELIMITED[str(element.tag)])
        if element.tag in BOLD:
            for inner in element.iter(*BLOCKS):
                texts[inner].append("*.*")
        if element.text and element not in code:
            texts[block].append(element.text)
        if element.tail and around is not None and around in blocks and around not in code:
            texts[blocks[around]].append(element.tail)
    return {block: _pairs("".join(pieces)) for block, pieces in texts.items()}


def _pairs(text: str) -> list[re.Pattern[str]]:
    if MARKUP.search(text) is None:
        return []
    return [pattern for pattern in PAIRED if len(pattern.findall(text)) > 1]


def _part_from_mark(link: HtmlElement) -> None:
    """Escape the exclamation mark before a link: together they would be a picture."""
    before, around = link.getprevious(), link.getparent()
    if before is not None and (before.tail or "").endswith("!"):
        before.tail = f"{(before.tail or '')[:-1]}{BACKSLASH}!"
    elif before is None and around is not None and (around.text or "").endswith("!"):
        around.text = f"{(around.text or '')[:-1]}{BACKSLASH}!"


def escaped_text(text: str, linked: bool, paired: Sequence[re.Pattern[str]] | None = None) -> str:
    """Text with escapes, but not for brackets in links, which the converter escapes.

    `paired` are those of PAIRED that are markup in the block of the text; without them the text is a whole block.
    """
    if MARKUP.search(text) is None:
        return text
    patterns = _pairs(text) if paired is None else paired
    for pattern in patterns if linked else [*patterns, LINK, DEFINITION]:
        text = pattern.sub(lambda found: "".join(BACKSLASH + char for char in found[0]), text)
    return inert(text)


def inert(text: str) -> str:
    """Text in which nothing is HTML for a renderer of Markdown, or for a browser."""
    return HTML.sub(lambda found: ENTITIES[found[0]], text)
