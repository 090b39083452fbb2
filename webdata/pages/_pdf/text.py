"""Words of lines as text: joined over line ends and hyphens, with their links, as Markdown or without markup."""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

from webdata.pages._pdf.blocks import PdfBlock
from webdata.pages._pdf.words import PdfWord
from webdata.pages._url.literal import escaped_text
from webdata.pages._url.mathematics import BACKSLASH

HYPHENS = "-‐\xad"
SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC", "FULLWIDTH", "BOPOMOFO")
"""Scripts without spaces between words, by the names of their characters in Unicode."""

_Spaced = tuple[PdfWord, str]
"""A word, and the text between it and the next one."""


def joined_blocks(page: Sequence[PdfBlock], vocabulary: frozenset[str], marked: bool) -> list[str]:
    """The paragraphs of a page: blocks as Markdown, or without markup; the items of a list are one."""
    found: list[str] = []
    for is_item, group in groupby(page, lambda block: bool(block.marker)):
        texts = [(_markdown if marked else _plain)(block, vocabulary) for block in group]
        found += ["\n".join(texts)] if is_item else texts
    return [text for text in found if text.strip()]


def _markdown(block: PdfBlock, vocabulary: frozenset[str]) -> str:
    """A block as Markdown."""
    if block.cells is not None:
        return _table(block.cells, vocabulary)
    text = _with_links(_spaced(_lines(block), vocabulary))
    if block.level:
        return f"{'#' * block.level} {text}"
    if not block.marker:
        return _not_an_item(text)
    number = block.marker.strip("().")
    marker = f"{number}." if number.isdecimal() else "-"
    letter = f"{block.marker} " if number.isalnum() and not number.isdecimal() else ""
    return f"{'   ' * block.depth}{marker} {letter}{text}"


def _plain(block: PdfBlock, vocabulary: frozenset[str]) -> str:
    """A block without markup; the cells of a table are parted by tabs."""
    if block.cells is not None:
        return "\n".join("\t".join(_joined([cell], vocabulary) for cell in row) for row in block.cells)
    marker = f"{'  ' * block.depth}{block.marker} " if block.marker else ""
    return marker + _joined(_lines(block), vocabulary)


def words_of(blocks: Iterable[PdfBlock]) -> frozenset[str]:
    """The words of a document, in lower case: they tell which hyphens at line ends belong to the word."""
    return frozenset(
        word.text.strip(".,;:()\"'").lower() for block in blocks for line in block.lines for word in line.words
    )


def _lines(block: PdfBlock) -> list[list[PdfWord]]:
    """The words of each line, without the marker of an item."""
    first, *others = (line.words for line in block.lines)
    return [first[1:] if block.marker else first, *others]


def _joined(lines: Sequence[Sequence[PdfWord]], vocabulary: frozenset[str]) -> str:
    return "".join(f"{word.text}{space}" for word, space in _spaced(lines, vocabulary)).strip()


def _with_links(spaced: Iterable[_Spaced]) -> str:
    """Escaped text, of which the words of one link in a row are its text."""
    parts = []
    for link, group in groupby(spaced, lambda found: found[0].link):
        text = "".join(f"{word.text}{space}" for word, space in group)
        if link is None or not text.strip():
            parts.append(escaped_text(text, False).replace(BACKSLASH, "\\"))
            continue
        shown = escaped_text(text.strip(), True).replace(BACKSLASH, "\\").replace("[", "\\[").replace("]", "\\]")
        parts.append(f"[{shown}]({_address(link)}){text[len(text.rstrip()) :]}")
    return "".join(parts).strip()


def _address(link: str) -> str:
    """A URL that ends where the link's closing bracket is."""
    unsafe = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"}
    return "".join(unsafe.get(char, char) for char in link if char.isprintable())


def _spaced(lines: Sequence[Sequence[PdfWord]], vocabulary: frozenset[str]) -> list[_Spaced]:
    """The words of some lines, each with what is between it and the next."""
    found: list[_Spaced] = []
    for line in lines:
        for index, word in enumerate(line):
            if found:
                before, _ = found[-1]
                found[-1] = _at_line_end(before, word, vocabulary) if not index else (before, _space(before, word))
            found.append((word, ""))
    return [
        (word._replace(text=word.text.replace("\xad", "-")) if "\xad" in word.text else word, space)
        for word, space in found
    ]


def _space(word: PdfWord, following: PdfWord) -> str:
    return "" if _is_spaceless(word.text[-1]) and _is_spaceless(following.text[0]) else " "


def _at_line_end(word: PdfWord, following: PdfWord, vocabulary: frozenset[str]) -> _Spaced:
    """The last word of a line, and what is between it and the first one of the next line."""
    text, after = word.text, following.text
    if len(text) < 2 or text[-1] not in HYPHENS or not text[-2].isalnum():
        return word, _space(word, following)
    if not (text[-2].isalpha() and after[0].islower()):
        return (word, "") if after[0].isalnum() else (word, " ")
    return (word, "") if _is_compound(text[:-1], after, vocabulary) else (word._replace(text=text[:-1]), "")


def _is_compound(first: str, second: str, vocabulary: frozenset[str]) -> bool:
    """Whether a hyphen at a line's end would be there within a line, too."""
    first, second = first.lower().lstrip("(\"'"), second.strip(".,;:()\"'").lower()
    if f"{first}-{second}" in vocabulary:
        return True
    return f"{first}{second}" not in vocabulary and first in vocabulary and second in vocabulary


def _is_spaceless(char: str) -> bool:
    return char > "\u2e7f" and unicodedata.name(char, "").startswith(SPACELESS)


def _table(cells: list[list[list[PdfWord]]], vocabulary: frozenset[str]) -> str:
    rows = [[_with_links(_spaced([cell], vocabulary)).replace("|", "\\|") for cell in row] for row in cells]
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _not_an_item(text: str) -> str:
    """The text of a paragraph whose beginning is no markup."""
    if text[:1] in "#+->=" or (text[:1].isdecimal() and text.partition(" ")[0].endswith((".", ")"))):
        return f"\\{text}" if not text[:1].isdecimal() else text.replace(".", "\\.", 1)
    return text
