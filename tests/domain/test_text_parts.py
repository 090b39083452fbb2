"""Long texts in parts."""

import re

import pytest

from webdata.domain.text_parts import CURSOR, part_begin, part_cursor, part_end

TEXT = "One line.\n" * 200


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("x" * 60 + "\n\n" + "x" * 20 + "\n" + "y" * 100, 62),
        ("x" * 60 + "\n" + "x" * 20 + " " + "y" * 100, 61),
        ("x" * 60 + " " + "y" * 100, 61),
        ("x" * 40 + "\n" + "y" * 100, 100),
        ("x" * 90, 90),
    ],
)
def test_a_part_ends_behind_a_paragraph_a_line_or_a_word(text, end):
    """The largest of them that ends in its second half counts; a text without them is cut."""
    assert part_end(text, 0, 100) == end


@pytest.mark.parametrize("offset", [0, 10, 250, 2000])
def test_a_cursor_leads_to_its_part(offset):
    """It has the form that a query takes."""
    cursor = part_cursor(TEXT, offset)
    assert re.fullmatch(CURSOR, cursor)
    assert part_begin(TEXT, cursor) == offset


@pytest.mark.parametrize("changed", [TEXT[:-1], TEXT + "x", "x" + TEXT[1:], ""])
def test_a_cursor_of_another_text_is_refused(changed):
    """A text with another length, or another one before the part, is none to go on in."""
    with pytest.raises(ValueError, match="has changed since: begin again without it"):
        part_begin(changed, part_cursor(TEXT, 100))


@pytest.mark.parametrize("cursor", ["", "100", "100-", "-5-00000000", "999999999-00000000", "١-00000000", "1" * 5000])
def test_a_made_up_cursor_is_refused(cursor):
    """A plain offset is none."""
    with pytest.raises(ValueError, match="begin again without it"):
        part_begin(TEXT, cursor)
