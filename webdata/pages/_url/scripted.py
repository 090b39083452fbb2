"""Text of a page that only its scripts hold: JSON-LD for search engines, and the data that scripts would show."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from itertools import accumulate, groupby, islice
from typing import Any

from lxml.html import HtmlElement

from webdata.pages._url import json_ld
from webdata.pages._url.bounds import is_too_deep, is_too_large, may_grow
from webdata.pages._url.hydration import hydration_blocks
from webdata.pages._url.schema_texts import ScriptBlock, schema_blocks
from webdata.pages._url.trees import tree
from webdata.pages._url.weights import PROSE, Weights, size
from webdata.pages.encoding import decoded

MOST_BLOCKS = 2_000
LONGEST = 300_000
"""Characters of the texts that are added to a page, and of one that shows so much that it lacks nothing."""
NOTHING = 600
"""Characters of a page's text below which it shows next to nothing without its scripts."""
MOST_BYTES = 200_000
"""Those of a page that is read for its data before a browser is asked, in 60 ms at most."""
MOST_TAGS = 6_000
"""Its tags, end tags too."""
MOST_EQUALS = 6_000
"""Its attributes, counted roughly, all of which may be of one tag; at most 5,028 in 448 real pages."""
SHOWN = 0.5
"""The share of a text's runs of words that a page has from which it shows it."""
MOST = 0.5
NEARLY_ALL = 0.8
UNSHOWN = frozenset(["script", "style", "template", "title", "noscript"])
MARKUP = re.compile(
    r"</?(?:p|br|div|ul|ol|li|b|strong|i|em|a|span|h[1-6]|table|blockquote|pre|code|img)\b[^<>]*>", re.IGNORECASE
)
TAG = re.compile(r"<[^<>]*+>")
WORD = re.compile(r"\w+")
LONGEST_RUN = 3
"""Words of the runs by which texts are compared."""


def holds_text(body: bytes, content_type: str) -> bool:
    """Whether the scripts of a page without text hold as much as would be on it."""
    if len(body) > MOST_BYTES:
        return False
    text, _ = decoded(body, content_type)
    if text.count("<") > MOST_TAGS or text.count("=") > MOST_EQUALS or is_too_large(text) or may_grow(text):
        return False
    if (root := tree(text)) is None or is_too_deep(root):
        return False
    return size(TAG.sub(" ", lacking(root, json_ld.items(root)[0]))) >= NOTHING


def lacking(root: HtmlElement, objects: Sequence[Any]) -> str:
    """The HTML of the text that an unchanged page lacks and its scripts hold, of which `objects` are its JSON-LD.

    Entries of lists are always of the page; of prose there must be more than it shows itself.
    """
    body = next(root.iterchildren("body"))
    shown = _shown(body)
    missing = _lacked(_groups(root, objects, shown), shown) if len(shown) <= LONGEST else []
    prose = sum(size(block.text) for block in missing if block.tag != "li")
    if prose < PROSE or (prose < size(shown) and prose < Weights(body).total):
        missing = [block for block in missing if block.tag == "li"]
    return _html(islice(dict.fromkeys(missing), MOST_BLOCKS))


def _groups(root: HtmlElement, objects: Sequence[Any], shown: str) -> Iterator[list[ScriptBlock]]:
    """The blocks of each item of JSON-LD, and those of the data of a page that shows next to nothing."""
    for item in objects:
        yield _bounded([*islice(schema_blocks(item), MOST_BLOCKS)])
    if size(shown) < NOTHING:
        yield _bounded([*islice(hydration_blocks(root), MOST_BLOCKS)])


def _lacked(groups: Iterable[Sequence[ScriptBlock]], shown: str) -> list[ScriptBlock]:
    """The blocks that are neither shown nor in an earlier group."""
    filled = [group for group in groups if group]
    known, missing, left = _known(shown) if filled else set(), list[ScriptBlock](), LONGEST
    for group in filled:
        if (left := left - sum(len(block.words) for block in group)) < 0:
            break
        lacked = [*_missing(group, known)]
        known.update(*(_known(block.text) for block in lacked))
        missing += lacked
    return missing


def _shown(body: HtmlElement) -> str:
    texts = (
        text
        for element in body.iter("*")
        for text in (element.text if element.tag not in UNSHOWN else None, element.tail)
        if text
    )
    return " ".join(" ".join(texts).split())


def _missing(group: Sequence[ScriptBlock], known: set[int]) -> Iterator[ScriptBlock]:
    """The blocks of a group that the page lacks, where it lacks most of the group, and the headings above them."""
    lacks = [_share(block.words, known) < SHOWN for block in group]
    most = {is_entry: _lacks_most(group, lacks, is_entry) for is_entry in (False, True)}
    for block, is_missing, is_next_missing in zip(group, lacks, [*lacks[1:], False], strict=True):
        if most[block.tag == "li"] and (is_next_missing if block.tag == "h2" else is_missing):
            yield block


def _lacks_most(group: Sequence[ScriptBlock], lacks: Sequence[bool], is_entry: bool) -> bool:
    """Whether a page lacks half of the prose of a group, or nearly all entries: others may be on further pages."""
    amounts = [size(block.words) if (block.tag == "li") is is_entry else 0 for block in group]
    lacked = sum(amount for amount, is_missing in zip(amounts, lacks, strict=True) if is_missing)
    return lacked > (NEARLY_ALL if is_entry else MOST) * sum(amounts)


def _share(text: str, known: set[int]) -> float:
    """The share of a text's runs of words that are known."""
    words = WORD.findall(TAG.sub(" ", unescape(text)).casefold())
    runs = _runs(words, min(len(words), LONGEST_RUN))
    return sum(run in known for run in runs) / len(runs) if runs else 1.0


def _known(text: str) -> set[int]:
    words = WORD.findall(text.casefold())
    return {run for length in range(1, LONGEST_RUN + 1) for run in _runs(words, length)}


def _runs(words: Sequence[str], length: int) -> list[int]:
    """The hashes of the runs of this many words, since the runs themselves take three times the memory."""
    return [*map(hash, zip(*(words[start:] for start in range(length)), strict=False))] if length else []


def _bounded(group: Sequence[ScriptBlock]) -> list[ScriptBlock]:
    """The first blocks of a group, up to the longest text."""
    ends = accumulate(len(block.words) for block in group)
    return [block for block, end in zip(group, ends, strict=True) if end <= LONGEST]


def _html(blocks: Iterable[ScriptBlock]) -> str:
    pieces: list[str] = []
    for is_listed, group in groupby(blocks, lambda block: block.tag == "li"):
        written = [_li(block) if is_listed else _prose(block) for block in group]
        pieces += ["<ul>", *written, "</ul>"] if is_listed else written
    return "".join(pieces)


def _li(block: ScriptBlock) -> str:
    text, note = (escape(" ".join(TAG.sub(" ", unescape(one)).split())) for one in (block.text, block.note))
    title = f'<a href="{escape(block.url)}">{text}</a>' if block.url else text
    return f"<li>{title}{' – ' if note else ''}{note}</li>"


def _prose(block: ScriptBlock) -> str:
    """A heading, or a text as it is if it is HTML, else its lines as paragraphs."""
    text = block.text if MARKUP.search(block.text) else unescape(block.text)
    if block.tag != "p":
        return f"<{block.tag}>{escape(TAG.sub('', text))}</{block.tag}>"
    if MARKUP.search(text):
        return f"<div>{text}</div>"
    return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
