"""Fixtures of the tests of Markdown."""

import pytest

from webdata.pages.url import page

URL = "https://site.example.org/a/page.html"
PARAGRAPHS = "".join(
    f"<p>Paragraph {number} of the page says a thing or two about its subject, and goes on for some more words until "
    "it is about as long as paragraphs on pages of this kind use to be.</p>"
    for number in range(8)
)
LAST = "use to be.\n"


@pytest.fixture
def read():
    """A function that converts HTML to Markdown."""

    def as_markdown(html, content_type="text/html; charset=utf-8", content="page"):
        headers = {"Content-Type": content_type}
        body = html.encode()
        return page(body, url=URL, status=200, headers=headers, response_type="markdown", content=content)["data"]

    return as_markdown


@pytest.fixture
def after(read):
    """A function that converts HTML after the eight paragraphs of an article."""

    def behind(html):
        text = read(f"<title>T</title><main><article><h1>T</h1>{PARAGRAPHS}{html}</article></main>")
        assert text.count(LAST) == 8
        return text.rpartition(LAST)[2].strip()

    return behind


@pytest.fixture
def within(read):
    """A function that converts HTML between the paragraphs of an article."""

    def between(html):
        text = read(f"<main><article><h1>T</h1>{PARAGRAPHS}{html}{PARAGRAPHS}</article></main>")
        assert text.count(LAST) == 16
        return text.split(LAST)[8].partition("Paragraph 0")[0].strip()

    return between
