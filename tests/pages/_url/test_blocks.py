"""Lists, tables and listings."""

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol start=3><li>a<li value=10>b<li>c</ol>", "3. a\n\n10) b\n11) c"),
        ("<ol reversed><li>a<li>b</ol>after", "2. a\n\n1) b\n\nafter"),
        ("<ol><li value=x>a<li value=2>b</ol>", "1. a\n2. b"),
        (
            "<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>x<td>y<tr><td>z<td>w</table></table>",
            "| A | B |\n| --- | --- |\n| 1 | x y; z w |",
        ),
        ("<table><tr><td>left<td><table><tr><td>x<td>y</table></table>", "left\n\n| x | y |\n| --- | --- |"),
        (
            "<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>",
            "```python\nx\n```",
        ),
        ("<div class='highlight-default notranslate'><pre>x</pre></div>", "```\nx\n```"),
        (
            "<blockquote><div><div>Ann:</div></div><div><div><p>One</p><pre>a\n\n\nb</pre></div></div></blockquote>",
            "> Ann:\n>\n> One\n>\n> ```\n> a\n> \n> \n> b\n> ```",
        ),
        ("<p>One</p><div>&nbsp;</div><p>\u200b</p><p>Two</p>", "One\n\nTwo"),
    ],
)
def test_lists_tables_and_listings_are_normalised(within, html, expected):
    """Numbers of items, nested tables and the language of listings are converted as far as Markdown has them."""
    assert within(html) == expected


def test_a_table_with_one_filled_cell_in_each_row_only_arranges(after):
    """Empty cells and pictures without a text hold columns open."""
    cell = "<td><a href='/u'>ann</a> <p>An answer.</p></td>"
    rows = f"<tr><td><img src=s.gif height=1 width=40></td>{cell}</tr><tr><td></td><td>12 points</td></tr>"
    assert after(f"<table>{rows}</table>") == "[ann](https://site.example.org/u)\n\nAn answer.\n\n12 points"


def test_a_cell_with_a_listing_and_other_text_is_no_code(after):
    """An answer with a listing, beside an empty cell, is no listing itself."""
    answer = "<td>By ann <p>Open it:</p><pre><code>gate --open</code></pre></td>"
    assert after(f"<table><tr><td></td>{answer}</tr></table>") == "By ann\n\nOpen it:\n\n```\ngate --open\n```"


def test_a_table_of_items_and_their_numbers_is_text(after):
    """Journals of law and old pages put the number of a clause into a cell of its own."""
    inner = "<table><tr><td><p>(i)</p><td><p>One.</p></table>"
    assert after(f"<table><tr><td>(a)<td><p>Both:</p>{inner}</table>") == "(a) Both:\n\n(i) One."


def test_a_table_of_a_formula_and_its_number_is_no_table(after):
    """The number of an equation is no column."""
    formula = "<math alttext='a=b' display=block><mi>a</mi></math>"
    assert after(f"<table><tr><td></td><td>{formula}</td><td>(1)</td></tr></table>") == "$$a=b$$\n\n(1)"


def test_the_styles_of_items_decide_whether_they_have_numbers(after):
    """Items with signs of their own have no others."""
    decimal, none = (f"<li style='list-style-type: {style}'>" for style in ("decimal", "none"))
    assert after(f"<ul>{decimal}One{decimal}Two</ul>") == "1. One\n2. Two"
    assert after(f"<ol>{none}<b>•</b> One{none}<b>•</b> Two</ol>") == "- One\n- Two"


def test_a_number_that_a_button_in_a_cell_shows_stays(after):
    """A click tells more of the value; a button without a number is a control."""
    cells = "<td>open</td><td><button><i>45</i></button></td><td><button>Buy</button></td>"
    assert after(f"<table><tr>{cells}</tr><tr><td>a<td>b<td>c</table>").startswith("| open | *45* |  |")
