"""Addresses, bylines and references of works."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._scholar.reference import Printed, address, byline, doi_address, reference, text


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("Mills of the <i>north</i>", "Mills of the north"),
        ("p < 0.05 and n > 30", "p < 0.05 and n > 30"),
        ("a < b and c > d", "a < b and c > d"),
        ("H<sub>2</sub>O &amp; salt", "H2O & salt"),
        ("&lt;jats:p&gt;Escaped&lt;/jats:p&gt;", "Escaped"),
        (' <mml:math display="inline">x</mml:math>\n y ', "x y"),
        (" <i> </i> ", None),
        (None, None),
    ],
)
def test_markup_is_removed_from_a_text(markup, plain):
    """Signs of comparison are not removed."""
    assert text(markup) == plain


@pytest.mark.parametrize(
    ("doi", "link"),
    [
        ("10.5555/a.1", "https://doi.org/10.5555/a.1"),
        ("doi:10.5555/a.1", "https://doi.org/10.5555/a.1"),
        ("http://dx.doi.org/10.5555/a.1", "https://doi.org/10.5555/a.1"),
        ("10.5555/(sici)1<1::aid>3;2-#", "https://doi.org/10.5555/(sici)1%3C1::aid%3E3;2-%23"),
        ("https://doi.org/10.5555/a%3C1%3E", "https://doi.org/10.5555/a%3C1%3E"),
        ("10.5555/a%3C", "https://doi.org/10.5555/a%253C"),
        ("mills", None),
        ("", None),
        (None, None),
    ],
)
def test_a_doi_has_an_address(doi, link):
    """The address of a DOI is escaped."""
    assert doi_address(doi) == link


def test_only_addresses_of_the_web_are_addresses():
    """Other values give None."""
    assert address(" https://example.org/1 ") == "https://example.org/1"
    assert [address(value) for value in ("example.org", "ftp://example.org", "https://a b", "", None)] == [None] * 5


def test_a_byline_of_incomplete_works():
    """Missing parts leave no separators."""
    assert byline(["A", "B"], "Review", 2021) == "A, B - Review, 2021"
    assert byline([], None, 2021) == "2021"
    assert byline(["A"], None, None) == "A"
    assert byline([], None, None) == ""


def test_a_reference_is_formatted():
    """Authors, year, title, venue and link are one line; of many authors six are named."""
    printed = Printed("8", "3", "112", "129")
    formatted = reference(["A", "B", "C"], 2021, "Mills?", "Review", printed, "https://doi.org/1")
    assert formatted == "A, B, & C (2021). Mills? Review, 8(3), 112–129. https://doi.org/1"
    assert (
        reference(list("ABCDEFGH"), None, "Mills", None, Printed(), None) == "A, B, C, D, E, F, et al. (n.d.). Mills."
    )


@given(st.text())
def test_any_text_is_a_line_or_none(markup):
    """Any markup gives one line or None."""
    assert text(markup) is None or text(markup).strip()
    assert doi_address(markup) is None or address(doi_address(markup))
