from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import UpstreamError
from webdata.pages._json import loads
from webdata.pages.odd_items import OddItemError, counted, readable

BROKEN = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("body", "value", "told"),
    [
        (rb'{"title": "cut \ud83d", "next": "T"}', {"title": f"cut {BROKEN}", "next": "T"}, "items:1"),
        (rb'["\ude00\ud83d", "x \ud83d y"]', [BROKEN, f"x {BROKEN} y"], "items:2"),
        (rb'["the same \ud83d", "the same \ud83d"]', [f"the same {BROKEN}"] * 2, "items:1"),
        (b'["x \xff z"]', [f"x {BROKEN} z"], "items:1"),
        ('["x \ud83d"]', [f"x {BROKEN}"], "items:1"),
        (rb'["\\ud83d", "\ud83d\ude00"]', [r"\ud83d", "\N{GRINNING FACE}"], None),
        (b'\xef\xbb\xbf["x"]', ["x"], None),
        (rb'{"a": ["x\u001b[2J", {"b": "\b\\b\u0085"}], "c": 5}', {"a": ["x[2J", {"b": r"\b "}], "c": 5}, None),
    ],
)
def test_what_is_no_text_is_mended_and_counted(body, value, told):
    """Lone surrogates and bytes that are not UTF-8 become the replacement character; pairs and backslashes stay."""
    with counted() as found:
        assert loads(body) == value
    assert found.told == told


@given(st.binary(max_size=200) | st.text(max_size=50))
def test_any_body_gives_a_value_or_an_error(body):
    """A body is JSON, or an UpstreamError."""
    with suppress(UpstreamError):
        loads(body)


def number(text: str) -> int:
    if not text.isdecimal():
        raise OddItemError("a number")
    return int(text)


def test_items_that_cannot_be_read_are_left_out_and_counted():
    """The others are the result; without any the page is of an unknown layout; uncounted ones harm nothing."""
    assert readable(number, ["1", "x"]) == [1]
    with counted() as found:
        assert (readable(number, ["1", "x", "2", "y"]), found.told) == ([1, 2], "items:2")
        assert readable(number, []) == []
        with pytest.raises(OddItemError):
            readable(number, ["x"])
