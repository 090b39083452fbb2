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
