"""CSS selectors, as XPath expressions."""

from functools import lru_cache

from cssselect import HTMLTranslator, SelectorError, parse
from lxml import etree

from webdata.domain.query import explained

LONGEST_SELECTOR = 300
"""Characters of the longest selector."""


@lru_cache(100)
def xpath_of(selector: str) -> str:
    """The XPath expression that matches the same elements of an HTML tree.

    Raises ValueError for a text that is no selector, or one of what no saved page has, such as `a::before`.
    https://www.w3.org/TR/selectors-3/
    """
    translator = HTMLTranslator()
    try:
        parts = parse(selector)
        if any(part.pseudo_element for part in parts):
            raise ValueError("a pseudo-element is no element of the page")
        expression = " | ".join(translator.selector_to_xpath(part) for part in parts)
        etree.XPath(expression)  # a control character is none of a page
    except (SelectorError, RecursionError, etree.XPathError) as error:
        raise ValueError(str(error) or "it is nested too deep") from None
    return expression


def known_selector(value: str) -> str:
    """For validators: a selector of elements that are on saved pages."""
    try:
        xpath_of(value)
    except ValueError as error:
        shown = value if len(value) <= 60 else f"{value[:60]}…"
        raise explained(f"has {shown!r}, which is no CSS selector ({error}): give one such as article .body") from None
    return value
