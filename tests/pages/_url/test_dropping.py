"""The removal of parts of a page."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml.html import fromstring

from webdata.pages._url.dropping import Removals, drop
from webdata.pages._url.weights import Weights

TREES = st.recursive(
    st.text("abc ", max_size=3),
    lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"<div>{''.join(parts)}</div>"),
    max_leaves=20,
)


@given(TREES, st.sets(st.integers(0, 30)))
def test_elements_are_removed_like_by_lxml(html, chosen):
    """The elements are removed, the text after each stays, as with `drop_tree` of lxml."""
    ours, theirs = (fromstring(f"<main>{html}</main>") for _ in range(2))
    picked = [[e for n, e in enumerate(root.iter("div")) if n in chosen] for root in (ours, theirs)]
    drop(picked[0])
    for element in picked[1]:
        if element.getparent() is not None:
            element.drop_tree()
    assert etree.tostring(ours) == etree.tostring(theirs)


@pytest.mark.timed
def test_referenced_elements_are_removed_in_linear_time():
    """Thousands of referenced elements are removed and released in linear time."""
    root = fromstring(f"<main><ul>{'<li><a>x</a></li>' * 30_000}</ul><p>y</p></main>")
    begun = process_time()
    weights = Weights(root)
    drop([root[0]])
    del weights
    assert process_time() - begun < 2
    assert root.text_content() == "y"


def test_weights_are_those_of_what_is_left():
    """They are computed once for each state of the page, since that takes a tenth of a conversion."""
    body = fromstring("<body><p>One.</p><aside>Another.</aside></body>")
    removals = Removals()
    first = removals.weights(body)
    removals.drop(body, ("nothing", []))
    assert removals.weights(body) is first
    removals.drop(body, ("aside", body.iter("aside")))
    assert removals.weights(body).whole == len("One.")
    assert removals.weights(body[0]).elements == [body[0]]
