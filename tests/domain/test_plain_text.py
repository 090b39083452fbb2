"""Plain text of values from outside."""

from webdata.domain.plain_text import plain_text


def test_markup_is_left_out_and_blanks_are_one():
    """Tags are no part of a text, and blanks and lines are one blank."""
    assert plain_text("<b>a</b>\n <i>b", 10) == "a b"


def test_a_long_text_is_cut_with_a_mark():
    """What does not fit is left out, and an ellipsis says so."""
    assert plain_text("abcdef", 3) == "abc…"
    assert plain_text(" " * 100 + "a", 3) == "…"
