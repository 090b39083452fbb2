"""Removal of parts of a page in linear time."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml.html import Element, HtmlElement

from webdata.pages._url.weights import BLOCKS, Weights


class Removal(NamedTuple):
    """A part of a page that was left out, by the rule that did."""

    rule: str
    text: str


class Removals:
    """What was left out of a page, in the order of the rules."""

    def __init__(self) -> None:
        self.found: list[Removal] = []
        self._weights: Weights | None = None

    def weights(self, root: HtmlElement) -> Weights:
        """The weights of what is left under an element, which a removal lightens."""
        if self._weights is None or self._weights.elements[0] is not root:
            self._weights = Weights(root)
        return self._weights

    def drop(self, body: HtmlElement, *rules: tuple[str, Iterable[HtmlElement]]) -> None:
        """Remove elements of a body and note their texts; the first of the rules that has an element is its rule."""
        chosen: dict[HtmlElement, str] = {}
        for rule, elements in rules:
            for element in elements:
                chosen.setdefault(element, rule)
        outer = [*_outermost(element for element in body.iter("*") if element in chosen)] if chosen else []
        for element in outer:
            self.note(chosen[element], [element])
            if element.tag in BLOCKS and element.tail:
                element.tail = f" {element.tail}"
        if outer and self._weights is not None:
            self._weights.remove(outer)
        drop(outer)

    def note(self, rule: str, outer: Iterable[HtmlElement]) -> None:
        """Note the texts of elements of which none is in another."""
        texts = (" ".join(element.text_content().split()) for element in outer)
        self.found += [Removal(rule, text) for text in texts if text]


def drop(elements: Iterable[HtmlElement]) -> None:
    """Remove elements, given in the order of the page, with their content; the text after them stays.

    They are moved into a tree of their own. lxml searches elements without a tree for references whenever a reference
    to one of them is dropped: for a list of 60,000 links that takes more than a minute.
    """
    outer = [*_outermost(elements)]
    if outer:
        aside = Element("template")  # the root of a new document, as that of `makeelement` would not be
        for run in _runs(outer):
            _move(run, aside)


def _outermost(elements: Iterable[HtmlElement]) -> Iterator[HtmlElement]:
    within: set[HtmlElement] = set()
    for element in elements:
        if element not in within and element.getparent() is not None:
            within.update(element.iter("*"))
            yield element


def _runs(elements: list[HtmlElement]) -> Iterator[list[HtmlElement]]:
    """Runs of neighbouring elements, so that the texts after them are joined once."""
    run: list[HtmlElement] = []
    for element in elements:
        if run and element.getprevious() is not run[-1]:
            yield run
            run = []
        run.append(element)
    if run:
        yield run


def _move(run: list[HtmlElement], aside: HtmlElement) -> None:
    around, before = run[0].getparent(), run[0].getprevious()
    assert around is not None  # or it would not be among the outermost
    text = "".join(element.tail or "" for element in run)
    for element in run:
        element.tail = None
        aside.append(element)
    if not text:
        return
    if before is None:
        around.text = (around.text or "") + text
    else:
        before.tail = (before.tail or "") + text
