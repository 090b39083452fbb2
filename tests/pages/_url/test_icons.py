"""Icons that fonts draw in the place of texts."""

import pytest

CASES = {
    "a word": ('<p>Read <i class="material-icons">expand_more</i>on', "Read on"),
    "a word of a newer font": ('<p><span class="material-symbols-outlined">home</span>At home', "At home"),
    "a character for private use": ("<p><i class=fa>\uf00c</i> Done", "Done"),
    "an item": ("<ul><li><i class=icon>&#xe5ca;</i> One<li><i class=icon>&#xe5ca;</i> Two</ul>", "- One\n- Two"),
    "a link of an icon": ("<p>Two <a href=/x>\ue001</a> words", "Two words"),
    "text of that class": ('<p><span class="material-icons">In words</span>', "In words"),
    "code": ("<p>Its prompt is <code>\ue0b0</code> or so", "Its prompt is `\ue0b0` or so"),
}


@pytest.mark.parametrize(("html", "text"), CASES.values(), ids=CASES)
def test_an_icon_is_no_text(after, html, text):
    """What a reader sees as a picture is not written as a word, or as a character that no other font has."""
    assert after(html) == text


def test_an_icon_that_is_all_of_a_cell_stays(after):
    """It may be what the table says."""
    row = '<tr><td>Price<td><i class="material-icons">check</i>'
    assert "check" in after(f"<table><tr><th>A<th>B{row}{row}</table>")
