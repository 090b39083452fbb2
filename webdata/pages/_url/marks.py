"""Markup that Markdown does not have, as text: terms with definitions, captions, readings, indices."""

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import BLOCKS

RAISED = str.maketrans("0123456789+-−=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁱⁿ")
LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
LONGEST = 12
"""Characters of the longest index; a longer text is small print."""
ORDINALS = frozenset(["st", "nd", "rd", "th", "e", "er", "re", "ème", "o", "a", "os", "as", "tm", "sm", "mo", "to"])
"""Superscripts without a meaning."""


def marked(part: HtmlElement) -> None:
    """Rewrite, in place, the terms, captions, readings and indices of a part of a page."""
    for term in [*part.iter("dt")]:
        _bold(term)
    for outer in part.iter("dl", "dd"):
        outer.tag = "div"
    for caption in part.iter("figcaption"):
        caption.tag = "p" if next(caption.iterdescendants(*BLOCKS), None) is None else "div"
    for ruby in [*part.iter("ruby")]:
        _read_aloud(ruby)
    for index in part.iter("sub", "sup"):
        if index.text and not len(index) and index.text.strip():
            index.text = _index(index.text, str(index.tag))
        elif len(index) == 1:
            _index_within(index)


def _bold(term: HtmlElement) -> None:
    term.tag = "p" if next(term.iterdescendants(*BLOCKS), None) is None else "div"
    if term.tag == "div" or not term.text_content().strip():
        return
    for inner in term.iter("b", "strong"):
        inner.tag = "span"
    strong = term.makeelement("strong")
    strong.text, term.text = (term.text or "").lstrip(), None
    strong.extend([*term])
    term.append(strong)


def _read_aloud(ruby: HtmlElement) -> None:
    """Write each reading of a ruby in parentheses after its own base.

    https://html.spec.whatwg.org/#the-ruby-element
    """
    for inner in reversed([*ruby.iter("rp", "rt")]):
        around = inner.getparent()
        if around is not None and around.tag in ("rp", "rt"):  # the end of that is left out
            around.addnext(inner)
    drop([*ruby.iter("rp")])
    bases, readings = [*ruby.iterchildren("rb")], [*ruby.iter("rt")]
    if 1 < len(bases) == len(readings) and ruby.index(bases[-1]) < len(bases):
        for base, reading in zip(bases, readings, strict=True):
            base.tail, reading.tail = None, None
            base.addnext(reading)
    for reading in readings:
        text = " ".join(reading.text_content().split())
        drop([*reading])
        reading.tag, reading.text = "span", f"({text})" if text else ""
    for inner in ruby.iter("ruby", "rb", "rtc", "rbc"):
        inner.tag = "span"


def _index_within(index: HtmlElement) -> None:
    """Write the only text of an index, such as that of a link or a variable, in Unicode's characters if it can be."""
    inner = index
    while len(inner) == 1 and not (inner.text or "").strip() and not (inner[0].tail or "").strip():
        inner = inner[0]
        if inner.tag in ("sub", "sup"):
            return
    text = inner.text or ""
    text = text.translate(RAISED if index.tag == "sup" else LOWERED) if len(text) <= LONGEST else ""
    if len(inner) or not text.strip() or any(char.isascii() and char.isalnum() for char in text):
        return
    inner.text = text
    for emphasis in index.iter("b", "em", "i", "strong", "var"):
        emphasis.tag = "span"


def _index(text: str, tag: str) -> str:
    """An index in Unicode's characters for indices, else after a sign as in TeX."""
    written = text.translate(RAISED if tag == "sup" else LOWERED)
    if not any(char.isascii() and char.isalnum() for char in written):
        return written
    if len(text) > LONGEST or " " in text.strip() or (tag == "sup" and text.strip().casefold() in ORDINALS):
        return text
    sign = "^" if tag == "sup" else "_"
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"
