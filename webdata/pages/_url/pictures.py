"""The pictures of a page: of each the largest one that it names, of those without scripts the one that these load.

https://html.spec.whatwg.org/#parse-a-srcset-attribute
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from lxml.html import HtmlElement

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
BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]*?\burl\(([^()]+)\)", re.IGNORECASE)
LONGEST = 4_000
"""Characters of the longest address of a picture."""
MOST_SOURCES = 20
"""Elements `source` of one picture."""
TINY = frozenset(["0", "1", "2", "0px", "1px"])


def choose_pictures(root: HtmlElement) -> None:
    """Write, in place, the address of each picture into its `src`, and show those that are there without scripts."""
    sources = {around: [*islice(around.iter("source"), MOST_SOURCES)] for around in root.iter("picture")}
    for drawn in root.iter("div", "span"):
        if drawn.get("role") == "img" and not len(drawn) and not (drawn.text or "").strip():
            _draw(drawn)
    for picture in root.iter("img"):
        if source := _source(picture, sources):
            picture.set("src", source)
    for area in [*root.iter("area")]:
        _link(area)
    for note in [*root.iter("noscript")]:
        if note.getparent() is not None and not any(around.tag == "head" for around in note.iterancestors()):
            _show(note)


def _draw(drawn: HtmlElement) -> None:
    """Make an element without content that says it is a picture, which is its background, one."""
    background = BACKGROUND.search(drawn.get("style", "")[:LONGEST])
    if background and (name := drawn.get("aria-label") or drawn.get("title")):
        drawn.tag, drawn.text = "img", None
        drawn.set("src", background[1].strip("\"' "))
        drawn.set("alt", name)


def _link(area: HtmlElement) -> None:
    """Write a part of a picture that is a link as one, behind the picture."""
    shown = " ".join((area.get("alt") or area.get("title") or "").split())
    around = area.getparent()
    if shown and area.get("href") and around is not None and around.tag in ("map", "span"):
        area.tag, area.text, area.tail = "a", shown, f" {area.tail or ''}"
        around.tag, around.text = "span", " "


def _source(picture: HtmlElement, sources: Mapping[HtmlElement, Sequence[HtmlElement]]) -> str | None:
    own = [*_own(picture)]
    around = picture.getparent()
    beside = sources.get(around, ()) if around is not None else ()
    others = [found for source in beside for found in _of_sets(source)]
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
    yield from _of_sets(picture)
    for name in LAZY:
        yield (picture.get(name) or "").strip() or None
    yield (picture.get("src") or "").strip() or None


def _of_sets(element: HtmlElement) -> Iterator[str]:
    """The largest picture of each srcset of an element, those that scripts read first: `data-srcset`."""
    sets = sorted(name for name in element.keys() if name.endswith("srcset"))  # noqa: SIM118  # no mapping
    return filter(None, (largest(element.get(name)) for name in sets))


def _unnamed(picture: HtmlElement) -> Iterator[str]:
    """The addresses of pictures in other attributes that scripts read."""
    given = [(name, value) for name, value in picture.items() if name.startswith("data-") and ADDRESS.fullmatch(value)]
    return (value for name, value in given if name.endswith("src") or NAMED.search(value))


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
