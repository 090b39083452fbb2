"""The pictures of a page: of each the largest one that it names, of those without scripts the one that these load.

https://html.spec.whatwg.org/#parse-a-srcset-attribute
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from lxml.html import HtmlElement

SETS = ("data-srcset", "data-lazy-srcset", "srcset")
LAZY = (
    "data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-full-src", "data-large-src",
    "data-original-src", "data-echo", "data-image",
)  # fmt: skip
"""Attributes with the address of a picture that is loaded when it scrolls into view."""
CANDIDATE = re.compile(r"[\s,]*+(?:(\S++)(?<!,)(?:\s++([^,(]*+(?:\([^)]*+\)?[^,(]*+)*+))?|(\S++)|\Z)")
"""An address of a srcset and its descriptors; an address may contain commas, and ends before those at its end.

What is left behind the last address matches as well, or it would be searched again from each of its characters.
"""
SIZE = re.compile(r"(?:^|\s)(\d{1,6}(?:\.\d{1,6})?)([wx])(?:\s|$)")
PLACEHOLDER = re.compile(
    r"(?:^|[-_./])(?:1x1|blank|clear|empty|gr[ae]y|lazy\w*|loading|loader|pixel|placeholder|spacer|transparent)"
    r"(?:[-_.][^/]*)?$",
    re.IGNORECASE,
)
"""The file name of a picture that stands until another is loaded."""
NAMED = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:[?#]|$)", re.IGNORECASE)
ADDRESS = re.compile(r"\s*+[^\s{}\"'<>]++\s*+")
"""A text that may be an address and nothing else."""
LONGEST = 4_000
"""Characters of the longest address of a picture."""
MOST_SOURCES = 20
"""Elements `source` of one picture."""
TINY = frozenset(["0", "1", "2", "0px", "1px"])


def choose_pictures(root: HtmlElement) -> None:
    """Write, in place, the address of each picture into its `src`, and show those that are there without scripts."""
    sources = {around: [*islice(around.iter("source"), MOST_SOURCES)] for around in root.iter("picture")}
    for picture in root.iter("img"):
        if source := _source(picture, sources):
            picture.set("src", source)
    for note in [*root.iter("noscript")]:
        if note.getparent() is not None and not any(around.tag == "head" for around in note.iterancestors()):
            _show(note)


def _source(picture: HtmlElement, sources: Mapping[HtmlElement, Sequence[HtmlElement]]) -> str | None:
    own = [*_own(picture)]
    around = picture.getparent()
    beside = sources.get(around, ()) if around is not None else ()
    others = [found for source in beside for name in SETS if (found := largest(source.get(name)))]
    usable = [
        source
        for source in (*own, *others, *_unnamed(picture))
        if source and len(source) <= LONGEST and not _is_inline(source)
    ]
    real = (source for source in usable if not _is_placeholder(source))
    return next(real, next(iter(usable), None))


def _is_inline(source: str) -> bool:
    return source.startswith(("data:", "about:", "blob:"))


def _is_placeholder(source: str) -> bool:
    return PLACEHOLDER.search(source[:LONGEST].partition("?")[0]) is not None


def _own(picture: HtmlElement) -> Iterator[str | None]:
    """The addresses of a picture in the order of their worth."""
    for name in SETS:
        yield largest(picture.get(name))
    for name in LAZY:
        yield (picture.get(name) or "").strip() or None
    yield (picture.get("src") or "").strip() or None


def _unnamed(picture: HtmlElement) -> Iterator[str]:
    """The addresses of pictures in other attributes that scripts read."""
    values = (value for name, value in picture.items() if name.startswith("data-"))
    return (value for value in values if ADDRESS.fullmatch(value) and NAMED.search(value))


def largest(srcset: str | None) -> str | None:
    """The address of the largest picture of a srcset, by width or density; None where it has none."""
    best, most = None, -1.0
    for found in CANDIDATE.finditer(srcset or ""):
        address = (found[1] or found[3] or "").rstrip(",")
        size = SIZE.search(found[2] or "")
        amount = float(size[1]) if size else 1.0
        if address and not address.startswith("data:") and amount > most:
            best, most = address, amount
    return best


def _show(note: HtmlElement) -> None:
    """Show the pictures of a `noscript`: in place of the ones before or after it that scripts would load, or alone."""
    pictures = [picture for picture in note.iter("img") if _is_shown(picture)]
    if not pictures or any((text or "").strip() for text in note.itertext()):
        return
    beside = [_only_picture(other) for other in (note.getprevious(), note.getnext())] if len(pictures) == 1 else []
    for other in beside:
        if other is not None:
            _take(other, pictures[0])
            return
    if all(NAMED.search(picture.get("src", "")) for picture in pictures):
        note.tag = "span"


def _only_picture(element: HtmlElement | None) -> HtmlElement | None:
    """The picture that is all of an element."""
    while element is not None and element.tag != "img":
        is_frame = element.tag in ("picture", "span", "div", "a") and not (element.text or "").strip()
        element = element[-1] if is_frame and len(element) and (len(element) == 1 or element.tag == "picture") else None
    return element


def _take(picture: HtmlElement, shown: HtmlElement) -> None:
    source = picture.get("src") or ""
    if not source or _is_inline(source) or _is_placeholder(source):
        picture.set("src", shown.get("src", ""))
    if not picture.get("alt"):
        picture.set("alt", shown.get("alt", ""))


def _is_shown(picture: HtmlElement) -> bool:
    """Whether a picture is one to look at, not one that counts visitors."""
    if TINY & {picture.get("width"), picture.get("height")} or "none" in picture.get("style", ""):
        return False
    source = picture.get("src", "")
    if not source or len(source) > LONGEST or _is_inline(source):
        return False
    return bool(picture.get("alt")) or NAMED.search(source) is not None
