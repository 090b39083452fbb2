"""Pages with next to no content but scripts that would build it."""

import re
from html import unescape

from lxml.html import HtmlElement

from webdata.pages._url.blocks import spaced
from webdata.pages._url.bounds import without_hidden_parts
from webdata.pages._url.weights import size
from webdata.pages.encoding import decoded
from webdata.runtime.wire.kinds import Kind, kind

LONGEST = 1_000_000
"""Bytes of the longest page that is checked, in 50 ms at most; a shell is rarely a tenth of it."""
FEW = 200
"""Characters of text that a shell may have: a name, a note that it loads."""
SCRIPT = re.compile(r"<script(?![^<>]*(?:application|text)/(?:ld\+)?json)", re.IGNORECASE)
MEDIA = re.compile(r"<(?:img|picture|i?frame|frameset|video|audio|object|embed|form)\b", re.IGNORECASE)
"""Content without text."""
EMPTY = re.compile(r"<(div|main|section|(?!amp-)[a-z]{1,20}-[a-z-]{1,30})\b([^<>]*+)>\s*+</", re.IGNORECASE)
"""An empty element that scripts may fill; beside text, a common one without an id is decoration."""
NEEDED = re.compile(r"java\s?script", re.IGNORECASE)
TITLE = re.compile(r"<title\b[^<>]*+>[^<]*+", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*+>?")
NOSCRIPT = re.compile(r"<noscript\b[^<>]*+>([^<]*+)", re.IGNORECASE)


def is_shell(body: bytes, content_type: str) -> bool:
    """Whether a body is a page with scripts and next to no text, so that a browser may show more of it."""
    if len(body) > LONGEST or kind(body, content_type)[0] is not Kind.HTML:
        return False
    text, _ = decoded(body, content_type)
    if SCRIPT.search(text) is None:
        return False
    visible = TITLE.sub("", without_hidden_parts(text))
    length = size(" ".join(TAG.sub(" ", visible).split()))
    if length >= FEW:
        return False
    if any(NEEDED.search(note) for note in NOSCRIPT.findall(text)):
        return True
    if length:
        return any("-" in name or "id=" in attributes for name, attributes in EMPTY.findall(visible))
    return MEDIA.search(visible) is None or EMPTY.search(visible) is not None


def fallback_texts(root: HtmlElement) -> list[str]:
    """The texts that an unchanged page has for clients without scripts: a description and its `noscript` notes.

    Some programs escape the signs of a description twice.
    """
    metas = root.xpath('//meta[@name="description" or @property="og:description"]')
    described = max((unescape(meta.get("content", "")) for meta in metas), key=len, default="")
    texts = [described, *map(spaced, root.iter("noscript"))]
    return [*dict.fromkeys(filter(None, (" ".join(text.split()) for text in texts)))]
