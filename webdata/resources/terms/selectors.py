"""CSS selectors, as XPath expressions."""

from functools import lru_cache

from cssselect import HTMLTranslator, SelectorError, parse

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
        return " | ".join(translator.selector_to_xpath(part) for part in parts)
    except (SelectorError, RecursionError) as error:
        raise ValueError(str(error) or "it is nested too deep") from None
