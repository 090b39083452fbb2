"""Documents of offices and books as Markdown and text."""

from time import process_time

import pytest

from tests.composed_office import (
    HOSTILE,
    PLAIN,
    WORD,
    docx,
    epub,
    item,
    paragraph,
    pptx,
    row,
    shape,
    table,
    xlsx,
)
from webdata.domain.errors import UnsupportedContentError
from webdata.pages.url import page
from webdata.runtime.wire.kinds import Kind, kind

URL = "https://example.com/files/a"
LINKS = (
    '<w:hyperlink r:id="r3"><w:r><w:t>a page</w:t></w:r></w:hyperlink>'
    '<w:hyperlink r:id="r4"><w:r><w:t>a script</w:t></w:r></w:hyperlink>'
)
NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'


def read(body, **options):
    return page(body, url=URL, status=200, headers={}, **{"response_type": "markdown", **options})


def test_a_text_document_has_its_structure():
    """Headings, paragraphs, lists, tables, links to pages and notes are Markdown, as those of pages."""
    body = paragraph("Part one", "H1") + paragraph("See ", inner=LINKS) + item("one") + item("two")
    body += table(("Name", "Size"), ("Pot", "2")) + paragraph("Word", inner=NOTE)
    assert read(docx(body))["data"] == (
        "# Part one\n\nSee [a page](https://example.com/a?b=%281%29)a script\n\n- one\n- two\n\n"
        "| Name | Size |\n| --- | --- |\n| Pot | 2 |\n\nWord[^2]\n\n[^2]: The note.\n"
    )


def test_text_of_a_document_is_no_markup():
    """What looks like HTML or Markdown is text, in each format: the answer may be shown by a browser."""
    body = docx(paragraph("&lt;script&gt;alert(1)&lt;/script&gt; *a* [b](javascript:c)") + paragraph("# d"))
    assert read(body)["data"] == "&lt;script>alert(1)&lt;/script> \\*a\\* [b\\](javascript:c)\n\n\\# d\n"
    assert read(body, formats=["text"])["text"] == "<script>alert(1)</script> *a* [b](javascript:c)\n# d\n"


def test_each_sheet_is_a_table():
    """The first row is its head; of several sheets each is below its name."""
    rows, shown = row(1, "Name", "Price") + row(2, "Tea", 3.5), "| Name | Price |\n| --- | --- |\n| Tea | 3.5 |\n"
    assert read(xlsx(rows))["data"] == shown
    assert read(xlsx(rows, names=("May", "June")))["data"] == f"## May\n\n{shown}\n## June\n\n{shown}"


def test_each_slide_is_below_its_title():
    """The title is a heading, the texts are below it."""
    found = read(pptx(shape("The title", kind="title") + shape("First point", "Second point")))["data"]
    assert found.startswith("## The title\n\n")
    assert found.index("First point") < found.index("Second point")


def test_a_book_is_in_the_order_of_its_spine():
    """Its chapters follow each other, below its title; scripts are none of it."""
    found = read(epub("<h1>One</h1><p>Text</p><script>x()</script>", "<h1>Two</h1><ul><li>a</li></ul>"))["data"]
    assert found == "# A book\n\n# One\n\nText\n\n# Two\n\n- a\n"


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (PLAIN, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (xlsx(row(1, 1)), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (pptx(shape("x")), "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        (epub("<p>x</p>"), "application/epub+zip"),
    ],
)
def test_a_document_is_known_by_its_bytes(body, media):
    """Its type is that of its content, whatever the server says; as it was sent it is base64."""
    assert kind(body, "text/html") == (Kind.BINARY, media)
    assert read(body, response_type="full")["config"]["content_type"] == media


def test_a_document_is_given_in_formats():
    """Its metadata are what it says of itself; it has no HTML and no pages, which are refused by name."""
    found = read(PLAIN, formats=["markdown", "metadata"])
    assert (found["markdown"], found["left_out"]) == ("Some words of the document.\n", 0.0)
    assert {name: value for name, value in found["metadata"].items() if value} == {
        "title": "A composed document",
        "author": "Ann",
        "created": "2026-05-01T12:00:00Z",
    }
    for options in ({"formats": ["html"]}, {"pages": "1-2"}, {"include": ["p"]}):
        with pytest.raises(UnsupportedContentError, match=r"which has no (HTML|pages|elements)"):
            read(PLAIN, **options)


REASONS = {
    "an encrypted package": "which is encrypted and opens with a password only",
    "a locked book": "which is protected",
    "no text": "which has no text",
    "half a file": "which is broken, or no document",
    "no document": "which is broken",
    "150 MB of text": "which unpacks to more",
    "tables in tables": "which unpacks to more, or nests deeper",
    "an old file of nothing": "which is broken",
}
"""What the error of a document that cannot be read says: it is encrypted, broken, empty or too large."""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_bounded(name):
    """Each is read, or refused with the reason, in the time of a process; nothing of this machine is in it."""
    body = HOSTILE[name]()
    began = process_time()
    try:
        found, reason = read(body)["data"], ""
    except UnsupportedContentError as error:
        found, reason = "", str(error)
    assert process_time() - began < 5
    assert REASONS.get(name, "") in reason
    assert "root:" not in found
    assert len(found) < 6_000_000


def test_macros_are_no_part_of_a_text():
    """A document with macros is read like another; they are never run."""
    assert read(docx(paragraph("Text"), {"word/vbaProject.bin": b"Sub AutoOpen()"}))["data"] == "Text\n"


def test_a_note_without_a_body_is_left_out():
    """A reference that leads nowhere is no mark."""
    empty = {"word/footnotes.xml": f"<w:footnotes {WORD}/>"}
    assert read(docx(paragraph("Word", inner=NOTE), empty))["data"].startswith("Word")
