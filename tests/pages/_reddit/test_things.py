"""Reddit's JSON, with all documented fields and our names."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError
from webdata.pages._reddit.things import completed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["subreddit", "subreddit_id", "kind", "data", "id"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def names(value):
    """All keys of a JSON value, repeated ones too."""
    if isinstance(value, dict):
        return sorted([*value, *(name for inner in value.values() for name in names(inner))])
    return sorted(name for inner in value for name in names(inner)) if isinstance(value, list) else []


def test_keys_of_the_upstream_are_repeated_under_our_names():
    """Keys that begin with `subreddit` are repeated as `subforum`; other keys with that word are not."""
    found = completed({"subreddit": "x", "subreddit_type": "public", "is_crosspostable_subreddit": True})
    assert found == {
        "subreddit": "x",
        "subreddit_type": "public",
        "is_crosspostable_subreddit": True,
        "subforum": "x",
        "subforum_type": "public",
    }


def test_values_of_the_upstream_are_never_replaced():
    """Only missing keys are added, as null; a value of another type than the documented one is none."""
    found = completed({"kind": "t3", "data": {"id": "1", "score": 0, "title": "", "name": "t3_1"}})["data"]
    assert (found["score"], found["title"], found["selftext"]) == (0, "", None)


@pytest.mark.parametrize(
    ("name", "ours", "odd"),
    [
        ("selftext", "selftext", ["a"]),
        ("subreddit", "subforum", {"a": None}),
        ("score", "score", "12"),
        ("over_18", "over_18", 1),
        ("edited", "edited", "yesterday"),
    ],
)
def test_a_value_of_an_undocumented_type_is_left_out(name, ours, odd):
    """One odd field of one post does not lose the whole listing."""
    found = completed({"kind": "t3", "data": {"id": "1", "name": "t3_1", "title": "x", name: odd}})["data"]
    assert (found[ours], found["title"]) == (None, "x")


@given(st.dictionaries(st.text(max_size=3), JSON) | st.lists(JSON))
def test_no_key_of_the_upstream_is_lost(value):
    """Every key of the upstream has its value, and ours is beside it."""
    original = orjson.loads(orjson.dumps(value))
    try:
        found = completed(value)
    except LayoutError:
        return
    assert is_contained(original, found)
    assert names(found).count("subforum") >= names(original).count("subreddit")


def is_contained(original, found):
    if isinstance(original, dict):
        return all(name in found and is_contained(inner, found[name]) for name, inner in original.items())
    if isinstance(original, list):
        return all(map(is_contained, original, found))
    return original == found
