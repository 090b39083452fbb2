"""Paragraphs, headings and lists of pages."""

import pytest

from tests.composed_pdf import lines, text

BODY = [
    "The first line of the paragraph is as wide as the column of the page,",
    "and so is the second one, which comes after it and before the third,",
    "and the last one is short.",
]
NEXT = [line.replace("first", "next") for line in BODY]


def test_lines_of_a_paragraph_are_joined(shown):
    """A paragraph is one line of text; a wider gap begins another one."""
    assert shown(lines(50, 100, BODY) + lines(50, 150, NEXT)) == f"{' '.join(BODY)}\n\n{' '.join(NEXT)}"


def test_an_indent_begins_a_paragraph(shown):
    """Paragraphs without a gap between them are parted by the indents of their first lines."""
    content = lines(50, 100, BODY) + text(65, 136, NEXT[0]) + lines(50, 148, NEXT[1:])
    assert shown(content) == f"{' '.join(BODY)}\n\n{' '.join(NEXT)}"


def test_larger_lines_are_headings_of_levels(shown):
    """The largest font is that of the first level."""
    content = (
        text(50, 60, "The title", 20)
        + lines(50, 90, BODY)
        + text(50, 150, "A section", 14)
        + lines(50, 170, BODY)
        + text(50, 230, "Another section of", 14)
        + text(50, 246, "two lines", 14)
        + lines(50, 270, BODY)
    )
    found = [line for line in shown(content).splitlines() if line.startswith("#")]
    assert found == ["# The title", "## A section", "## Another section of two lines"]


def test_a_bold_line_by_itself_is_a_heading(shown):
    """Bold lines in the size of the text are headings; a bold line that ends a sentence is none."""
    content = text(50, 80, "A bold line", bold=True) + lines(50, 100, BODY) + text(50, 160, "It ends.", bold=True)
    assert shown(content + lines(50, 180, BODY)).count("#") == 1
    assert shown(content).startswith("# A bold line\n")


def test_lines_of_one_size_in_a_row_are_no_headings(shown):
    """The names of authors under a title are none."""
    content = text(50, 60, "The title", 20) + text(50, 100, "Ann Author", 12) + text(50, 140, "May 2026", 12)
    assert [line for line in shown(content + lines(50, 180, BODY)).splitlines() if "#" in line] == ["# The title"]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [("\u2022", "- one of them\n- two of them, which\n"), ("-", "- one of them\n- two of them, which\n")],
)
def test_lines_after_bullets_are_items(shown, marker, expected):
    """Each bullet begins an item, which goes on where its text is indented."""
    content = b"".join(text(50, 100 + 12 * n, f"{marker} {word} of them") for n, word in enumerate(("one", "two")))
    found = shown(
        content.replace(b"two of them", b"two of them, which") + text(58, 124, "goes on.") + lines(50, 160, BODY)
    )
    assert found.startswith(expected.rstrip("\n") + " goes on.\n\nThe first line")


def test_numbers_are_those_of_the_items(shown):
    """Items with numbers keep them; a deeper list is within its item."""
    content = (
        text(50, 100, "3. the third")
        + text(70, 112, "\u2022 within")
        + text(50, 124, "4. the fourth")
        + text(50, 136, "(b) the letter")
    )
    assert shown(content) == "3. the third\n   - within\n4. the fourth\n- (b) the letter"


def test_drawn_bullets_are_bullets(shown):
    """A dot before a line that is no letter is the mark of an item."""
    dots = b"".join(b"50 %d 4 4 re f\n" % (800 - 98 - 12 * n) for n in range(2))
    assert shown(dots + lines(65, 100, ["first item", "second item"])) == "- first item\n- second item"
