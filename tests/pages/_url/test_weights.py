"""The weights of a page stay true when parts of it are removed."""

from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._url.dropping import Removals
from webdata.pages._url.trees import tree
from webdata.pages._url.weights import Weights, size

TEXTS = st.sampled_from(
    ["", " ", "a few words", "as many words as a paragraph has, and so some more of them than a label"]
)
TAGS = st.sampled_from(["a", "b", "div", "h1", "li", "p", "section", "span", "ul"])
ELEMENT = "<{0}>{1}</{0}>".format
PAGES = st.recursive(
    st.builds(ELEMENT, TAGS, TEXTS), lambda inner: st.builds(ELEMENT, TAGS, st.lists(inner, max_size=4).map("".join))
)
"""Pages of elements with text or with elements: that of two texts that become one would count the space between."""


@given(PAGES, st.integers(1, 5))
def test_what_is_left_weighs_as_if_it_had_been_all(html, every):
    """Text, links, prose and headlines, whatever the tags of what is removed."""
    body = tree(f"<body><div>{html}</div></body>").find("body")
    removals = Removals()
    weights = removals.weights(body)
    removals.drop(body, ("rule", weights.elements[1:][::-every]))
    anew = Weights(body)
    assert weights is removals.weights(body)
    assert weights.elements == anew.elements
    assert (weights.total, weights.whole, weights.headed) == (anew.total, anew.whole, anew.headed)
    for name in ("text", "linked", "links", "prose", "own_prose"):
        kept = getattr(weights, name)
        assert {element: kept[element] for element in anew.elements} == getattr(anew, name), name


def test_a_wide_character_counts_for_more():
    """Scripts without spaces say more in a character; spaces at the ends say nothing."""
    assert (size(" ab "), size("é"), size("日本語 a"), size(" \n"), size(None)) == (2, 1, 9.5, 0, 0)
