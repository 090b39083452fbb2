"""The reading order of pages."""

import random
import re

import pytest

from tests.composed_pdf import lines, text, with_pages
from webdata.pages._pdf.document import converted

LEFT = [f"left column line {word} is about as long" for word in ("one", "two", "three", "four", "five", "six")]
RIGHT = [f"right column line {word} is as long as it" for word in ("one", "two", "three", "four", "five", "six")]


def places(found, *words):
    return [found.index(word) for word in words]


def test_columns_are_read_one_after_the_other(shown):
    """Of two columns the left one is read first, also where the file has them row by row."""
    rows = b"".join(
        text(50, 100 + 12 * n, left) + text(310, 100 + 12 * n, right)
        for n, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True))
    )
    found = shown(rows)
    assert found.index("left column line six") < found.index("right column line one")


def test_text_over_both_columns_parts_them(shown):
    """What goes over both columns is read before and after them."""
    wide = "This line goes over the whole width of the page, from the left column to the end of the right one."
    content = (
        text(50, 80, f"Above. {wide}")
        + lines(50, 100, LEFT)
        + lines(310, 100, RIGHT)
        + text(50, 200, f"Between. {wide}")
        + lines(50, 220, [line.replace("left", "lower left") for line in LEFT])
        + lines(310, 220, [line.replace("right", "lower right") for line in RIGHT])
    )
    order = places(shown(content), "Above", "left column", "right column", "Between", "lower left", "lower right")
    assert order == sorted(order)


def test_columns_whose_lines_are_not_level_are_read_one_after_the_other(shown):
    """The lines of columns need not be side by side."""
    found = shown(lines(310, 104, RIGHT, 13) + lines(50, 100, LEFT, 11))
    assert found.index("left column line six") < found.index("right column line one")


def test_a_page_with_few_lines_has_the_columns_of_the_pages_before():
    """The last lines of a text in columns are not one line."""
    full = lines(50, 100, LEFT * 3) + lines(310, 100, RIGHT * 3)
    last = lines(50, 300, ["the last words of", "the left column"]) + lines(
        310, 300, ["and those of", "the right column"]
    )
    assert "the last words of the left column and those" in converted(with_pages([full, last]), None).text
    assert "the last words of and those of" in converted(with_pages([last]), None).text


@pytest.mark.parametrize("seed", range(40))
def test_no_word_is_lost_or_doubled(shown, seed):
    """Wherever words stand, each is read once."""
    chance = random.Random(seed)
    places = [(chance.randrange(20, 500), chance.randrange(20, 780), chance.choice((8, 10, 14))) for _ in range(60)]
    if seed % 2:  # on a grid, as in tables and columns
        places = [(left // 90 * 90, top // 15 * 15, size) for left, top, size in {(x, y, 10) for x, y, _ in places}]
        places = [*dict.fromkeys(places)]
    content = b"".join(text(left, top, f"w{number}x", size) for number, (left, top, size) in enumerate(places))
    assert sorted(re.findall(r"w[0-9]+x", shown(content))) == sorted(f"w{number}x" for number in range(len(places)))


def test_turned_text_comes_last(shown):
    """Text along the edge of a page does not stand between its lines."""
    edge = b"BT /F1 10 Tf 0 1 -1 0 30 300 Tm (along the edge) Tj ET\n"
    assert shown(edge + lines(50, 100, ["The first line of the page", "and the second one."])).endswith(
        "along the edge"
    )


def test_text_beside_the_gap_of_a_table_does_not_hide_its_columns(shown):
    """Lines above and below a table that lie over some of its columns are no part of it; its rows are read as rows."""
    above = text(50, 88, "A heading that lies over two of the columns")
    places = ((50, "a"), (200, "b"), (400, "c"))
    rows = [text(left, 108 + 14 * row, f"{name}{row}") for row in range(5) for left, name in places]
    below = text(50, 186, "The text goes on below two of the columns")
    wanted = [f"| a{row} | b{row} | c{row} |" for row in range(5)]
    table = "\n".join([wanted[0], "| --- | --- | --- |", *wanted[1:]])
    assert table in shown(above + b"".join(rows) + below)


def justified(left, right, top, words):
    """Words that fill a line from left to right, with the same gap between them; each letter is 5.56 points wide."""
    gap = (right - left - 5.56 * len("".join(words))) / (len(words) - 1)
    return b"".join(
        text(left + 5.56 * len("".join(words[:index])) + gap * index, top, word) for index, word in enumerate(words)
    )


def test_wide_gaps_of_justified_lines_are_no_columns(shown):
    """The words of a line whose gaps are alike belong together, also where the gaps of lines meet."""
    rows = [["aa", "bbbbbbbb", "dd"], ["eee", "ggg", "hhhhhh"], ["nn", "uuuuuuu", "ooo"], ["qqq", "aaa", "dddddd"]]
    found = shown(b"".join(justified(50, 150, 100 + 12 * n, row) for n, row in enumerate(rows)))
    assert found == " ".join(word for row in rows for word in row)


def test_columns_go_on_over_figures(shown):
    """Where the page has one column after the other, empty space in both does not part them."""
    upper, lower = [f"upper {line}" for line in LEFT], [f"lower {line}" for line in LEFT]
    content = lines(50, 100, upper) + lines(50, 260, lower) + lines(310, 100, RIGHT) + lines(310, 290, RIGHT[::-1])
    order = places(shown(content), "upper", "lower", "right column line one")
    assert order == sorted(order)
