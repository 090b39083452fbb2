"""Markup that Markdown does not have, as text: terms with definitions, superscripts and subscripts."""

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS

RAISED = str.maketrans("0123456789+-−=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁱⁿ")
LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
LONGEST = 12
"""Characters of the longest index; a longer text is small print."""
ORDINALS = frozenset(["st", "nd", "rd", "th", "e", "er", "re", "ème", "o", "a", "os", "as", "tm", "sm", "mo", "to"])
"""Superscripts without a meaning."""


def marked(part: HtmlElement) -> None:
    """Rewrite, in place, the terms and indices of a part of a page."""
    for term in [*part.iter("dt")]:
        _bold(term)
    for outer in part.iter("dl", "dd"):
        outer.tag = "div"
    for index in part.iter("sub", "sup"):
        if index.text and not len(index) and index.text.strip():
            index.text = _index(index.text, str(index.tag))


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


def _index(text: str, tag: str) -> str:
    """An index in Unicode's characters for indices, else after a sign as in TeX."""
    written = text.translate(RAISED if tag == "sup" else LOWERED)
    if not any(char.isascii() and char.isalnum() for char in written):
        return written
    if len(text) > LONGEST or " " in text.strip() or (tag == "sup" and text.strip().casefold() in ORDINALS):
        return text
    sign = "^" if tag == "sup" else "_"
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"
