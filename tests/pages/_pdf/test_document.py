"""PDFs as Markdown: their pages, what they say of themselves, and those that have no text."""

from time import process_time

import pytest

from tests.composed_pdf import PLAIN, hostile, lines, pdf, text, with_pages
from webdata.domain.errors import UnsupportedContentError
from webdata.pages._pdf.document import converted, raw_text
from webdata.resources.terms.page_ranges import MOST_PAGES

FILES = hostile()
SLOW = {"forms of forms of forms", "a bomb", "a million lines", "a million places", "a bomb in a bomb"}
"""Files that take seconds or a gigabyte, which processes that can be killed convert."""
SECONDS = 2.0
"""The processor's time of a hostile file, several times what the slowest takes."""
NUMBERED = [text(50, 300, f"This is the text of number {number}.") for number in range(1, 5)]


def test_each_page_has_its_mark():
    """The pages follow each other, each after a comment with its number."""
    assert converted(with_pages(NUMBERED[:2]), None).text == (
        "<!-- page 1 -->\n\nThis is the text of number 1.\n\n<!-- page 2 -->\n\nThis is the text of number 2.\n"
    )


@pytest.mark.parametrize(("asked", "numbers"), [((2, 3), [2, 3]), ((3, 3), [3]), ((4, 900), [4]), (None, [1, 2, 3, 4])])
def test_pages_that_are_asked_for_are_read_alone(asked, numbers):
    """Only the pages from the first to the last are in the text, and the facts say which."""
    found = converted(with_pages(NUMBERED), asked)
    assert [number for number in range(1, 5) if f"number {number}." in found.text] == numbers
    assert (found.facts["first"], found.facts["last"], found.facts["pages"]) == (numbers[0], numbers[-1], 4)


def test_what_a_document_says_of_itself_is_kept():
    """Title and dates are facts of the document; what it does not say is null."""
    facts = converted(with_pages([PLAIN]), None).facts
    assert (facts["title"], facts["author"], facts["created"]) == (
        "A composed document",
        None,
        "2026-05-01T12:00:00+02:00",
    )


def test_a_long_document_says_which_pages_are_left():
    """At its end stands for which pages to ask next."""
    found = converted(with_pages([PLAIN] * (MOST_PAGES + 20)), None)
    assert found.facts["last"] == MOST_PAGES
    assert found.text.endswith('<!-- pages 101 to 120 are not here: ask for them with "pages": "101-120" -->\n')


def test_lines_that_pages_repeat_are_left_out():
    """A header and a footer with the number of the page are left out, and told as a share."""
    pages = [text(50, 30, "The header") + own + text(50, 780, f"Page {n} of 4") for n, own in enumerate(NUMBERED)]
    found = converted(with_pages(pages), None)
    assert "header" not in found.text
    assert " of 4" not in found.text
    assert found.left_out == pytest.approx(6 / 13)


def test_a_page_that_is_turned_is_read_as_it_is_displayed():
    """The rotation of a page is undone."""
    content = b"q 0 1 -1 0 600 0 cm " + lines(50, 300, ["The first line of the page,", "and the second one."]) + b"Q"
    assert (
        "The first line of the page, and the second one." in converted(with_pages([content], b"/Rotate 90"), None).text
    )


def test_a_page_without_text_is_broken_where_it_cannot_be_read():
    """A broken page among others has a mark that says so."""
    body = with_pages(NUMBERED).replace(
        b"/Type /Page /Parent 2 0 R /Contents 13", b"/Type /Pagx /Parent 2 0 R /Contents 13"
    )
    assert "<!-- page 2 is broken -->\n\n<!-- page 3 -->" in converted(body, None).text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("encrypted", "is encrypted and opens with a password"),
        ("noise", "is broken and cannot be opened"),
        ("no page", "is broken"),
        ("a page that is none", "is broken and has no page that can be read"),
        ("pictures alone", "has no text, only pictures"),
    ],
)
def test_a_document_that_has_no_text_is_refused_with_the_reason(name, words):
    """The error says whether a document is encrypted, broken or scanned."""
    with pytest.raises(UnsupportedContentError, match=words):
        converted(FILES[name], None)


def test_pages_that_a_document_does_not_have_are_refused():
    """The error says which pages there are."""
    with pytest.raises(UnsupportedContentError, match="which has no page 7: ask for pages from 1 to 4"):
        converted(with_pages(NUMBERED), (7, 9))


@pytest.mark.parametrize("name", sorted(FILES.keys() - SLOW))
@pytest.mark.parametrize("function", [converted, raw_text])
def test_a_hostile_document_has_an_answer_within_bounds(name, function):
    """Files that loop, grow or lie give their text or an error with words, in bounded time."""
    begun = process_time()
    try:
        answer = function(FILES[name], None).text
    except UnsupportedContentError as error:
        answer = str(error)
    assert answer
    assert len(answer) < 2_000_000
    assert process_time() - begun < SECONDS


def test_nothing_in_a_document_is_markup():
    """Tags, pictures and links to scripts of a document's text are text."""
    found = converted(FILES["markup"], None).text
    assert "<script" not in found
    assert "](javascript:" not in found.replace("\\](", "")
    assert "javascript" not in converted(FILES["a link to a script"], None).text


def test_the_text_of_a_complex_document_is_as_it_stands():
    """Without layout, the text is in the order of the file."""
    body = with_pages([text(50, 300, "Second.") + text(50, 100, "First <b>.")])
    assert raw_text(body, None).text == "Second.\nFirst &lt;b>.\n"


def test_a_document_of_no_page_is_broken():
    """A tree without pages is no document."""
    with pytest.raises(UnsupportedContentError, match="broken"):
        converted(pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>"}), None)
