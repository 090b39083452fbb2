"""The amounts of text, of text in links and of prose in each element of a page."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from functools import cached_property

from lxml.html import HtmlElement

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "html",
    "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul", "caption",
])  # fmt: skip
PROGRAMS = frozenset(["script", "style", "template"])
"""Elements whose texts readers never see."""
PROSE = 60
"""Characters outside links from which a block counts as prose, not as a label; a wide character counts for more."""
WIDE = 2.5
WIDE_RUNS = re.compile("[\u2e81-\U0010ffff]+")
MANY = 4
"""Links from which a part with little other text is a list of links."""


class Weights:
    """The weights of the elements under `root`, computed once, and kept true when elements are removed."""

    def __init__(self, root: HtmlElement):
        self.elements = elements = [*root.iter("*")]
        numbers = {element: number for number, element in enumerate(elements)}
        own, text, linked, prose, own_prose = ([0.0] * len(elements) for _ in range(5))
        links = [0] * len(elements)
        for number in range(len(elements) - 1, -1, -1):  # what is in an element comes before it
            element = elements[number]
            tag, raw = element.tag, element.text
            begins = size(raw) if raw else 0.0  # most have none, and the call takes longer than the look
            text[number] += begins
            free = own[number] + begins
            if tag == "a":
                linked[number] = text[number]
                links[number] += 1
            is_block = tag in BLOCKS
            own[number] = free
            if is_block and free >= PROSE:
                own_prose[number] = free
                prose[number] += free
            around = element.getparent()
            if around is None or (parent := numbers.get(around)) is None:
                continue
            raw = element.tail
            tail = size(raw) if raw else 0.0
            own[parent] += tail + (0 if is_block or tag == "a" else free)
            text[parent] += tail + text[number]
            linked[parent] += linked[number]
            links[parent] += links[number]
            prose[parent] += prose[number]
        self.text, self.linked, self.prose = (dict(zip(elements, one, strict=True)) for one in (text, linked, prose))
        self.links = dict(zip(elements, links, strict=True))
        self.own_prose = dict(zip(elements, own_prose, strict=True))
        """The prose of each without that of the blocks in it."""
        self._own = dict(zip(elements, own, strict=True))
        self._measure()

    def _measure(self) -> None:
        self.total = self.prose[self.elements[0]]
        self.whole = self.text[self.elements[0]]

    @cached_property
    def headed(self) -> frozenset[HtmlElement]:
        """The elements with a headline of the page: one that is no link to another page."""
        return frozenset(around for headline in self.elements[0].iter("h1") for around in _around(headline))

    def remove(self, outer: Sequence[HtmlElement]) -> None:
        """Forget elements that are about to be removed, of which none is in another."""
        removed = {inner for element in outer for inner in element.iter("*")}
        for element in outer:
            self._lighten(element)
        self.elements = [element for element in self.elements if element not in removed]
        self._measure()
        self.__dict__.pop("headed", None)

    def _lighten(self, removed: HtmlElement) -> None:
        """Take the weights of an element from those around it."""
        text, linked, prose = (of[removed] for of in (self.text, self.linked, self.prose))
        own = 0.0 if removed.tag == "a" or removed.tag in BLOCKS else self._own[removed]
        for around in removed.iterancestors():
            if around not in self.text:
                return
            self.text[around] -= text
            if around.tag == "a":
                linked = text
            self.linked[around] -= linked
            self.links[around] -= self.links[removed]
            if own:
                self._own[around] = left = self._own[around] - own
                if around.tag in BLOCKS:
                    own = 0.0
                    left = left if left >= PROSE else 0.0
                    prose += self.own_prose[around] - left
                    self.own_prose[around] = left
                elif around.tag == "a":
                    own = 0.0
            self.prose[around] -= prose

    def share(self, element: HtmlElement) -> float:
        """The share of the page's prose in an element, from 0 to 1."""
        return self.prose[element] / self.total if self.total else 0.0

    def is_links(self, element: HtmlElement) -> bool:
        """Whether an element is a list of links with next to no other text."""
        text, linked = self.text[element], self.linked[element]
        return element.tag in BLOCKS and self.links[element] >= MANY and linked > 0.8 * text and text - linked < PROSE


def _around(headline: HtmlElement) -> list[HtmlElement]:
    """The elements around a headline, and itself; none for the headline of another page, which is in a link to it."""
    around = [headline, *headline.iterancestors()]
    if any(_leads_away(element) for element in around):
        return []
    links = [*filter(_leads_away, headline.iter("a"))]
    linked = sum(size(link.text_content()) for link in links)
    return [] if links and linked >= size(headline.text_content()) / 2 else around  # less is the name of its section


def _leads_away(element: HtmlElement) -> bool:
    return element.tag == "a" and not element.get("href", "#").startswith("#")


def around_several(root: HtmlElement, tag: str) -> Container[HtmlElement]:
    """The elements around more than one element of a tag, counted once for all of these."""
    counts = Counter(around for element in root.iter(tag) for around in element.iterancestors())
    return {around for around, count in counts.items() if count > 1}


def size(text: str | None) -> float:
    """The weight of a text: its characters without spaces at the ends, where one of a wide script counts for more."""
    if not text or text.isspace():
        return 0
    stripped = text.strip()
    if stripped.isascii():
        return len(stripped)
    return len(stripped) + (WIDE - 1) * sum(map(len, WIDE_RUNS.findall(stripped)))
