"""Parts taken out of a page, in time that grows with the page alone."""

from collections.abc import Iterable, Iterator

from lxml.html import Element, HtmlElement


def drop(elements: Iterable[HtmlElement]) -> None:
    """Take out elements, given in the order of the page, with all that they hold; the text behind them stays.

    They are moved into a tree of their own. Of what belongs to no tree lxml would walk through all, looking for
    references, whenever one to a part of it is given up: of a list of 60,000 links, for more than a minute.
    """
    outer = [*_outermost(elements)]
    if outer:
        aside = Element("template")  # the root of a new document, as that of `makeelement` would not be
        for siblings in _runs(outer):
            _move(siblings, aside)


def _outermost(elements: Iterable[HtmlElement]) -> Iterator[HtmlElement]:
    within: set[HtmlElement] = set()
    for element in elements:
        if element not in within and element.getparent() is not None:
            within.update(element.iter("*"))
            yield element


def _runs(elements: list[HtmlElement]) -> Iterator[list[HtmlElement]]:
    """Elements that stand side by side: the texts behind them are joined once, not one upon another."""
    run: list[HtmlElement] = []
    for element in elements:
        if run and element.getprevious() is not run[-1]:
            yield run
            run = []
        run.append(element)
    if run:
        yield run


def _move(siblings: list[HtmlElement], aside: HtmlElement) -> None:
    around, before = siblings[0].getparent(), siblings[0].getprevious()
    assert around is not None  # or it would not be among the outermost
    behind = "".join(element.tail or "" for element in siblings)
    for element in siblings:
        element.tail = None
        aside.append(element)
    if not behind:
        return
    if before is None:
        around.text = (around.text or "") + behind
    else:
        before.tail = (before.tail or "") + behind
