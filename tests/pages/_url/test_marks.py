"""Terms and indices as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import fromstring

from webdata.pages._url.marks import marked


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<dl><dt>A <code>b</code><dd>First.<dt><b>C</b><dd><p>x<p>y</dl>", "**A `b`**\n\nFirst.\n\n**C**\n\nx\n\ny"),
        ("<dl><div><dt>A<dd>1</div></dl>", "**A**\n\n1"),
        ("H<sub>2</sub>O, 5 m<sup>2</sup>, 10<sup>−3</sup>", "H₂O, 5 m², 10⁻³"),
        ("x<sup>k</sup>, x<sup>ab</sup>, a<sub>ij</sub>", "x^k, x^(ab), a_(ij)"),
        ("the 1<sup>st</sup>, Name<sup>®</sup>", "the 1st, Name®"),
        ("word<sup>a note that is long</sup>", "worda note that is long"),
    ],
)
def test_terms_and_indices_are_rewritten(within, html, expected):
    """Terms are bold; indices are in Unicode's characters or after a sign, but not ordinals and small print."""
    assert within(html) == expected


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_may_be_an_index(text):
    """No text of an index is lost."""
    part = fromstring("<div><sup></sup></div>")
    part[0].text = text
    marked(part)
    assert len(part[0].text) >= len(text)
