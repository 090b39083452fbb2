"""The parts of a page that CSS selectors choose, and those that they leave out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.resources.terms.selectors import xpath_of


@dataclass(frozen=True)
class Selection:
    """CSS selectors: of `include` the elements that are read alone, of `exclude` those that are left out."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def apply(self, root: HtmlElement) -> None:
        """Leave nothing else in the body of a page, in place."""
        body = next(root.iterchildren("body"))
        drop(_matches(body, self.exclude))
        if self.include:
            _keep([*_matches(body, self.include)], body)


EVERYTHING = Selection()


class TooComplexError(Exception):
    """A page is too large, or nested too deep, for selectors."""


def _matches(body: HtmlElement, selectors: Sequence[str]) -> Iterator[HtmlElement]:
    """The elements that any of the selectors matches, in the order of the page."""
    found = {element for selector in selectors for element in body.xpath(xpath_of(selector))}
    return (element for element in body.iter("*") if element in found and element is not body)


def _keep(chosen: Sequence[HtmlElement], body: HtmlElement) -> None:
    """Move the outermost of the chosen elements, which are in the order of the page, into a body of their own."""
    kept = body.makeelement("body")
    body.addnext(kept)
    within: set[HtmlElement] = set()
    for element in chosen:
        if element not in within:
            within.update(element.iter("*"))
            element.tail = None
            kept.append(element)
    drop([body])
