"""How much text, how much of it in links, and how much prose each element of a page holds."""

from itertools import islice

from lxml.html import HtmlElement

BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "html",
    "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul", "caption",
])  # fmt: skip
PROSE = 60
"""Characters outside links from which a block counts as prose, not as a label; a wide character counts for more."""
WIDE = 2.5
MANY = 4
"""Links from which a part that holds little beside them is a list of links."""


class Weights:
    """The weights of the elements under `root`, taken once."""

    def __init__(self, root: HtmlElement):
        self.elements = [*root.iter("*")]
        self.text = dict.fromkeys(self.elements, 0.0)
        self.linked = dict.fromkeys(self.elements, 0.0)
        self.links = dict.fromkeys(self.elements, 0)
        self.prose = dict.fromkeys(self.elements, 0.0)
        own = dict.fromkeys(self.elements, 0.0)
        for element in reversed(self.elements):
            self._add(element, own)
        self.total = self.prose[root]

    def _add(self, element: HtmlElement, own: dict[HtmlElement, float]) -> None:
        text = size(element.text)
        own[element] += text
        self.text[element] += text
        if element.tag == "a":
            self.linked[element] = self.text[element]
            self.links[element] += 1
        free = own[element]
        if element.tag in BLOCKS:
            self.prose[element] += free if free >= PROSE else 0
        parent = element.getparent()
        if parent is None or parent not in own:
            return
        tail = size(element.tail)
        own[parent] += tail + (0 if element.tag in BLOCKS or element.tag == "a" else free)
        self.text[parent] += tail + self.text[element]
        self.linked[parent] += self.linked[element]
        self.links[parent] += self.links[element]
        self.prose[parent] += self.prose[element]

    def share(self, element: HtmlElement) -> float:
        """The share of the page's prose that an element holds."""
        return self.prose[element] / self.total if self.total else 0.0

    def is_links(self, element: HtmlElement) -> bool:
        """Whether an element is a list of links and nothing else."""
        text, linked = self.text[element], self.linked[element]
        return element.tag in BLOCKS and self.links[element] >= MANY and linked > 0.8 * text and text - linked < PROSE


def several(around: HtmlElement, tag: str) -> bool:
    """Whether there is more than one such element within another; the rest of many is not looked for."""
    return len([*islice(around.iterdescendants(tag), 2)]) > 1


def size(text: str | None) -> float:
    """How much a piece of text tells: its characters, spaces at its ends aside, those of wide scripts for more."""
    stripped = text.strip() if text else ""
    return len(stripped) if stripped.isascii() else sum(WIDE if char > "\u2e80" else 1 for char in stripped)
