"""CSS selectors as XPath."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from webdata.resources.terms.selectors import LONGEST_SELECTOR, xpath_of


@pytest.mark.parametrize(
    "selector", ["a[", "", "div >", "p::before", ":no-such", "a:not(", "{", "p,", ":is" * 90, r"\1"]
)
def test_a_text_that_is_no_selector_is_refused(selector):
    """The error is one, and says why."""
    with pytest.raises(ValueError, match=r"\w"):
        xpath_of(selector)


@given(st.text(max_size=LONGEST_SELECTOR) | st.text("ab:not()[]*>+~.#,= '\"", max_size=LONGEST_SELECTOR))
def test_any_text_is_an_expression_or_refused(selector):
    """No text raises another error, and an expression can be read."""
    try:
        found = xpath_of(selector)
    except ValueError:
        return
    etree.XPath(found)
