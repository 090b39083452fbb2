"""Words of lines as text."""

import pytest

from tests.composed_pdf import lines, stream, text, with_pages
from webdata.pages._pdf.document import converted

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


def arabic(shown_codes):
    """A page of a word in a font whose glyphs fill their widths; it says which Arabic letters A and B are, no more."""
    letters = b"1 beginbfrange\n<41> <42> <0645>\nendbfrange"
    space = b"1 begincodespacerange <00> <FF> endcodespacerange"
    glyphs = b"/Encoding << /Differences [42 /g 65 /g /g] >> /FirstChar 42 /LastChar 66 /Widths [%s]" % (b"500 " * 25)
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [.001 0 0 .001 0 0] /CharProcs "
        b"<< /g 6 0 R >> /ToUnicode 7 0 R %s >>" % glyphs
    )
    more = {5: font, 6: stream(b"500 0 0 0 500 700 d1 0 0 500 700 re f"), 7: stream(b"%s\n%s" % (space, letters))}
    content = b"".join(
        b"BT /F5 10 Tf 1 0 0 1 %d 700 Tm (%c) Tj ET\n" % (300 - 5 * place, code)
        for place, code in enumerate(shown_codes)
    )
    return with_pages([content], b"/Resources << /Font << /F5 5 0 R >> >>", more)


@pytest.mark.parametrize("codes", [b"ABA", b"AB*A", b"A**BA"])
def test_what_stretches_a_word_is_no_letter_of_it(codes):
    """Glyphs without a character between Arabic letters, which justify a line, leave the word as it is."""
    assert "\u0645\u0646\u0645" in converted(arabic(codes), None).text
