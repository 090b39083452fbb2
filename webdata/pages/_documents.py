"""Documents, which are binary data, as Markdown or as text."""

from dataclasses import dataclass

from webdata.domain.errors import UnsupportedContentError
from webdata.domain.extras import has_extra, missing_extra
from webdata.resources.terms.page_ranges import page_range
from webdata.resources.url_request import DocumentFacts
from webdata.runtime.wire.kinds import OFFICE, PDF


@dataclass(frozen=True)
class DocumentText:
    """The text of a document, or of some pages of it."""

    text: str
    left_out: float
    """The share of the words that is not in it: headers and footers that pages repeat."""
    facts: DocumentFacts


def document_text(
    body: bytes, media: str, url: str, pages: str | None, *, bare: bool = False, marked: bool = True
) -> DocumentText:
    """A document as Markdown if it is `marked`, or else as text; `bare` is for one that takes too long otherwise.

    Raises UnsupportedContentError for other binary data.
    """
    if media in OFFICE:
        if bare:
            raise UnsupportedContentError(media, "which takes too much time or memory to read")
        _check_extra("office", media)
        from webdata.pages import _office  # noqa: PLC0415 - the parser takes 14 MB of a process

        return _office.converted(body, media, url, marked=marked)
    if media != PDF:
        raise UnsupportedContentError(media)
    _check_extra("pdf", media)
    from webdata.pages._pdf.document import converted, raw_text  # noqa: PLC0415 - PDFium takes 8 MB of a process

    asked = page_range(pages) if pages else None
    return raw_text(body, asked) if bare else converted(body, asked, marked=marked)


def _check_extra(name: str, media: str) -> None:
    """Raise UnsupportedContentError where what reads these documents is not installed."""
    if not has_extra(name):
        raise UnsupportedContentError(media, "which this service does not read", missing_extra(name))
