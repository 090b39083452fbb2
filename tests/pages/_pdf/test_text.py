"""Words of lines as text."""

import pytest

from tests.composed_pdf import lines, text

LINK = b"/Annots [<< /Subtype /Link /Rect [70 695 112 712] /A << /S /URI /URI (https://example.com/a_\\(b\\)) >> >>]"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["It is a long para-", "graph of a text."], "a long paragraph of"),
        (["The state-of-the-art is state-of-the-", "art."], "is state-of-the-art."),
        (["A well known and well-", "known thing."], "well-known thing"),
        (["In the years 2019-", "2020 it was."], "years 2019-2020 it"),
        (["The words \u2013 some-", "Where they end."], "some-Where"),
    ],
)
def test_words_are_joined_over_hyphens(shown, rows, expected):
    """A hyphen at a line's end is left out unless the word has it anyway."""
    assert expected in shown(lines(50, 100, rows))


def test_a_link_is_a_link(shown):
    """The words in the area of a link are its text."""
    assert shown(text(50, 100, "See this page for more."), entries=LINK) == (
        "See [this page](https://example.com/a_%28b%29) for more."
    )


@pytest.mark.parametrize("words", ["# no heading", "1986. That year", "> no quotation", "a *b* and *c*"])
def test_text_that_looks_like_markup_is_escaped(shown, words):
    """What would be markup has a backslash before it."""
    assert "\\" in shown(text(50, 100, words))
    assert shown(text(50, 100, words), marked=False) == words
