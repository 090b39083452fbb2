"""Fixtures of the tests of PDFs."""

import pytest

from tests.composed_pdf import with_pages
from webdata.pages._pdf.document import converted


@pytest.fixture
def shown():
    """A function that gives the Markdown of one page of operators, or its text without markup."""

    def as_markdown(content, marked=True, entries=b""):
        text = converted(with_pages([content], entries), None, marked=marked).text
        return text.removeprefix("<!-- page 1 -->\n\n").rstrip("\n")

    return as_markdown
