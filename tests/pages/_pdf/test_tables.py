"""Tables of pages, ruled and aligned."""

import pytest

from tests.composed_pdf import lines, text

ROWS = [["Name", "Price", "Stock"], ["Tea", "3.20", "14"], ["Coffee", "4.80", "2"], ["Milk", "1.10", "230"]]
MARKDOWN = (
    "| Name | Price | Stock |\n| --- | --- | --- |\n| Tea | 3.20 | 14 |\n| Coffee | 4.80 | 2 |\n| Milk | 1.10 | 230 |"
)


def cells(rows, pitch=20):
    return b"".join(
        text(60 + 120 * column, 114 + pitch * row, cell)
        for row, row_cells in enumerate(rows)
        for column, cell in enumerate(row_cells)
    )


def grid(columns, rows):
    """Operators that rule a grid."""
    across = b"".join(b"50 %d m %d %d l S\n" % (y := 700 - 20 * row, 50 + 120 * columns, y) for row in range(rows + 1))
    down = b"".join(
        b"%d 700 m %d %d l S\n" % (x := 50 + 120 * column, x, 700 - 20 * rows) for column in range(columns + 1)
    )
    return across + down


def test_a_ruled_table_is_a_table(shown):
    """The cells are what is between the lines, whatever their order in the file."""
    assert shown(cells(ROWS[::-1][:0]) + grid(3, 4) + cells(ROWS)) == MARKDOWN


def test_a_ruled_cell_may_have_several_lines_or_none(shown):
    """The lines of a cell are one; an empty cell is empty."""
    rows = [["Name", "Price"], ["Green", ""], ["Black", "4"]]
    found = shown(grid(2, 3) + cells(rows).replace(b"(Green)", b"(Green tea)"))
    assert found == "| Name | Price |\n| --- | --- |\n| Green tea |  |\n| Black | 4 |"


def test_columns_of_short_cells_are_a_table(shown):
    """A table without lines is recognised by the alignment of its cells."""
    assert shown(cells(ROWS)) == MARKDOWN


def test_a_bar_in_a_cell_is_no_border(shown):
    """The text of a cell cannot end it."""
    assert "a\\|b" in shown(cells([["a|b", "x", "y"], *ROWS[1:]]))


def test_a_frame_around_a_text_is_no_table(shown):
    """A single cell is a paragraph."""
    assert shown(b"50 600 400 100 re S\n" + text(60, 150, "A note in a frame.")) == "A note in a frame."


def test_without_markup_cells_are_parted_by_tabs(shown):
    """The text of a table has a line for each row."""
    assert shown(cells(ROWS), marked=False).startswith("Name\tPrice\tStock\nTea\t3.20\t14\n")


@pytest.mark.parametrize("pitch", [12, 30])
def test_the_distance_of_rows_does_not_matter(shown, pitch):
    """Rows may be as close as lines, or apart."""
    assert shown(cells(ROWS, pitch)) == MARKDOWN


def test_cells_of_several_lines_are_those_of_the_pages_own_order(shown):
    """A table without lines whose rows follow each other closely is read cell by cell."""
    rows = [
        [["one"], ["a first meaning of it that", "goes on in a second line"], ["a remark"]],
        [["two", "or more"], ["another meaning"], ["a remark that is", "a bit longer"]],
        [["three"], ["the last of the meanings", "has two lines as well"], ["no remark"]],
    ]
    content, top = b"", 100
    for row in rows:
        content += b"".join(lines(left, top, cell) for left, cell in zip((50, 110, 250), row, strict=True))
        top += 12 * max(map(len, row))
    expected = [f"| {' | '.join(' '.join(cell) for cell in row)} |" for row in rows]
    assert shown(content).split("\n") == [expected[0], "| --- | --- | --- |", *expected[1:]]


def test_a_number_does_not_go_on_with_the_number_above(shown):
    """Totals below the last row have no first cell."""
    rows = [["Item", "Count", "Price"], ["Tea", "14", "3.20"], ["Coffee", "2", "4.80"], ["", "Total", "8.00"]]
    assert shown(cells(rows, 12)).endswith("| Coffee | 2 | 4.80 |\n|  | Total | 8.00 |")
