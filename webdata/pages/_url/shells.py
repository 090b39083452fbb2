"""Pages that hold next to nothing but the scripts that would build them."""

import re

from lxml.html import HtmlElement

from webdata.pages._url.bounds import unseen
from webdata.pages._url.encoding import decoded
from webdata.pages._url.kinds import Kind, kind
from webdata.pages._url.weights import size

LONGEST = 1_000_000
"""Bytes of a page that is looked at; a shell is rarely a tenth of it, and it takes 50 ms at most."""
FEW = 200
"""Characters of text that a shell may show: a name, a note that it loads."""
SCRIPT = re.compile(r"<script(?![^<>]*(?:application|text)/(?:ld\+)?json)", re.IGNORECASE)
SHOWN = re.compile(r"<(?:img|picture|i?frame|frameset|video|audio|object|embed|form)\b", re.IGNORECASE)
"""What tells a reader something without text."""
EMPTY = re.compile(r"<(div|main|section|(?!amp-)[a-z]{1,20}-[a-z-]{1,30})\b([^<>]*+)>\s*+</", re.IGNORECASE)
"""An element that may wait to be filled; beside text, a common one without an id is there for its looks."""
NEEDED = re.compile(r"java\s?script", re.IGNORECASE)
TITLE = re.compile(r"<title\b[^<>]*+>[^<]*+", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*+>?")
NOSCRIPT = re.compile(r"<noscript\b[^<>]*+>([^<]*+)", re.IGNORECASE)


def is_shell(body: bytes, content_type: str) -> bool:
    """Whether a body is a page with scripts and next to no text of its own, so that a browser may show more of it."""
    if len(body) > LONGEST or kind(body, content_type)[0] is not Kind.HTML:
        return False
    text, _ = decoded(body, content_type)
    if SCRIPT.search(text) is None:
        return False
    visible = TITLE.sub("", unseen(text))
    said = size(" ".join(TAG.sub(" ", visible).split()))
    if said >= FEW:
        return False
    if any(NEEDED.search(note) for note in NOSCRIPT.findall(text)):
        return True
    if said:
        return any("-" in name or "id=" in attributes for name, attributes in EMPTY.findall(visible))
    return SHOWN.search(visible) is None or EMPTY.search(visible) is not None


def remains(root: HtmlElement) -> list[str]:
    """What an untouched page says where it shows nothing: how it describes itself, and its note for no scripts."""
    metas = root.xpath('//meta[@name="description" or @property="og:description"]')
    texts = [*(meta.get("content", "") for meta in metas[:1]), *(e.text_content() for e in root.iter("noscript"))]
    return [*dict.fromkeys(filter(None, (" ".join(text.split()) for text in texts)))]
