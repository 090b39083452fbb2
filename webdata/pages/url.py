"""Any page as it was sent, or as Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

from pybase64 import b64encode_as_string

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._url.bounds import plain_text
from webdata.pages._url.dropping import Removal
from webdata.pages._url.selection import Selection, TooComplexError
from webdata.pages._url.shells import is_shell
from webdata.pages.encoding import decoded
from webdata.resources.terms.page_ranges import page_range
from webdata.resources.url_request import Format, UrlConfig, UrlFormats, UrlQuery, UrlRecord
from webdata.runtime.wire.kinds import Kind, kind

if TYPE_CHECKING:
    from webdata.pages._pdf.document import PdfText

__all__ = ["Removal", "is_shell", "page", "record", "removals"]

PDF = "application/pdf"
FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def page(  # noqa: PLR0913  # each is an option of a query
    body: bytes,
    *,
    url: str,
    status: int,
    headers: Mapping[str, str],
    response_type: Literal["full", "markdown"],
    method: str = "GET",
    content: Literal["page", "main"] = "page",
    pages: str | None = None,
    formats: Sequence[Format] = (),
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    bare: bool = False,
) -> UrlRecord:
    """The record of a response whose body is decompressed; `content` is how much of it is in its Markdown.

    With `formats` it is the record of these. Of the elements that the selectors `include` match the Markdown, the text
    and the lists are made, without those that `exclude` matches. `pages` are those of a PDF. Markdown of a `bare` page
    is its text without markup.

    Raises UnsupportedContentError for Markdown or formats of content that has no text, for pages of what has none, and
    for selectors on a page that has no elements, or too many.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    content_type = lower.get("content-type", "")
    form, media = kind(body, content_type)
    if pages is not None and media != PDF:
        raise UnsupportedContentError(media, "which has no pages", "leave pages out")
    if form is not Kind.HTML and (include or exclude):
        raise UnsupportedContentError(media, "which has no elements to select", "leave include and exclude out")
    if form is Kind.BINARY and formats:
        made = _document_formats(body, media, pages, formats)
        return cast(UrlFormats, {"url": url, "status": status, "content_type": media, **made})
    document = _document(body, media, pages, bare=bare) if form is Kind.BINARY and response_type == "markdown" else None
    if document:
        text, encoding = "", "base64"
    elif form is Kind.BINARY:
        text, encoding = b64encode_as_string(body), "base64"  # of the library that takes 3 ms for 20 MB
    else:
        text, encoding = decoded(body, content_type)
    selection = Selection(include, exclude)
    if formats:
        with _explained(media):
            made = _formatted(text, form, url, encoding, content, selection, formats)
        return cast(UrlFormats, {"url": url, "status": status, "content_type": media, **made})
    config: UrlConfig = {
        "url": url,
        "method": method,
        "response_type": response_type,
        "content_type": media,
        "encoding": encoding,
    }
    if document:
        text, config["left_out"], config["document"] = document.text, round(document.left_out, 4), document.facts
    elif response_type == "markdown":
        with _explained(media):
            text, _, left_out = _read(text, form, url, encoding, content, selection, bare=bare)
        if not selection.include:
            config["left_out"] = left_out
    return {"data": text, "status": status, "headers": lower, "config": config}


@contextmanager
def _explained(media: str) -> Iterator[None]:
    """Raise UnsupportedContentError for a page of this type that is too complex for selectors."""
    try:
        yield
    except TooComplexError:
        reason = "which is too large, or nested too deep, for selectors, lists and facts"
        raise UnsupportedContentError(media, reason, "ask for its markdown or html alone") from None


def record(body: bytes, query: UrlQuery) -> UrlRecord:
    """The record of a saved page, of which only the body is known."""
    return page(body, url=query.url, status=200, headers={}, **query.conversion)


def removals(body: bytes, content_type: str, url: str, content: Literal["page", "main"]) -> Sequence[Removal]:
    """The parts of an HTML page that are not in its Markdown, each with the rule that left it out."""
    from webdata.pages._url.markdown import converted  # noqa: PLC0415 - the converter takes 6 MB of each process

    if kind(body, content_type)[0] is not Kind.HTML:
        return ()
    text, charset = decoded(body, content_type)
    return converted(text, url, content, charset).removed


def _document(body: bytes, media: str, pages: str | None, *, bare: bool = False, marked: bool = True) -> "PdfText":
    """The text of a document; raises UnsupportedContentError for other binary data."""
    if media != PDF:
        raise UnsupportedContentError(media)
    from webdata.pages._pdf.document import converted, raw_text  # noqa: PLC0415 - PDFium takes 8 MB of a process

    asked = page_range(pages) if pages else None
    return raw_text(body, asked) if bare else converted(body, asked, marked=marked)


def _document_formats(body: bytes, media: str, pages: str | None, formats: Sequence[Format]) -> dict[str, Any]:
    """A document in each of the formats, and what it says of itself; it has no HTML."""
    if "html" in formats:
        raise UnsupportedContentError(media, "which has no HTML", "ask for its markdown, text or metadata")
    found = _document(body, media, pages)
    named = {name: value for name, value in found.facts.items() if name not in ("pages", "first", "last")}
    made: dict[str, Any] = {"markdown": found.text, "links": [], "images": [], "metadata": named, "structured": {}}
    if "text" in formats:
        made["text"] = _document(body, media, pages, marked=False).text
    left_out = {"left_out": round(found.left_out, 4)} if "markdown" in formats else {}
    return {**{name: made[name] for name in formats}, **left_out, "document": found.facts}


def _formatted(
    text: str,
    form: Kind,
    url: str,
    charset: str,
    content: Literal["page", "main"],
    selection: Selection,
    formats: Sequence[Format],
) -> dict[str, Any]:
    """A page in each of the formats but a screenshot; a page that is no HTML has no links, pictures and facts."""
    made: dict[str, Any] = {"html": text, "rendered_html": text}
    if "markdown" in formats or "text" in formats:
        made["markdown"], made["text"], left_out = _read(
            text, form, url, charset, content, selection, as_text="text" in formats
        )
        made |= {} if selection.include or "markdown" not in formats else {"left_out": left_out}
    if form is Kind.HTML and not {"links", "images", "metadata", "structured"}.isdisjoint(formats):
        from webdata.pages._url.facts import lists_and_facts  # noqa: PLC0415 - the converter takes 6 MB of a process

        made |= lists_and_facts(text, url, charset, selection)
    else:
        made |= {"links": [], "images": [], "metadata": {}, "structured": {}}
    return {name: made[name] for name in (*dict.fromkeys(formats), "left_out") if name in made}


def _read(
    text: str,
    form: Kind,
    url: str,
    charset: str,
    content: Literal["page", "main"],
    selection: Selection,
    *,
    bare: bool = False,
    as_text: bool = False,
) -> tuple[str, str, float]:
    """A text as Markdown and as plain text, and the share of its words that is not in the Markdown."""
    if form is Kind.HTML and bare:
        plain = plain_text(text)
        return plain, plain, 0.0
    if form is Kind.TEXT:
        return text, text, 0.0
    if form in (Kind.HTML, Kind.XML):
        from webdata.pages._url.markdown import converted, feed  # noqa: PLC0415 - the converter takes 6 MB of a process

        if form is Kind.HTML:
            found = converted(text, url, content, charset, selection, as_text=as_text)
            return found.markdown, found.text, round(min(found.left_out, 1.0), 4)
        if entries := feed(text, url, charset):
            return entries, entries, 0.0
    longest = max((len(fence) for fence in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{form}\n{text.strip()}\n{fence}\n", text, 0.0
