"""Any page as it was sent, or as Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

from pybase64 import b64encode_as_string

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._documents import document_text
from webdata.pages._url.bounds import plain_text
from webdata.pages._url.dropping import Removal
from webdata.pages._url.scripted import holds_text
from webdata.pages._url.selection import Selection, TooComplexError
from webdata.pages._url.shells import is_shell
from webdata.pages.encoding import decoded
from webdata.resources.terms.extraction import Extracted, Extraction
from webdata.resources.url_request import Format, UrlConfig, UrlQuery, UrlRecord
from webdata.runtime.wire.kinds import PDF, Kind, kind

__all__ = ["Removal", "needs_scripts", "page", "record", "removals"]

OF_MARKDOWN = ("left_out", "from_scripts")
"""What a record says of its Markdown."""
FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def needs_scripts(body: bytes, content_type: str) -> bool:
    """Whether a page has next to no text, in its data neither, so that a browser may show more of it."""
    return is_shell(body, content_type) and not holds_text(body, content_type)


@dataclass(frozen=True)
class PageOptions:
    """What is made of a page, as a query says it.

    With `formats` or `extract` it is the record of these. Of the elements that the selectors `include` match the
    Markdown, the text, the lists and the extracts are made, without those that `exclude` matches. `content` is how much
    of the page is in its Markdown, `pages` are those of a PDF. Markdown of a `bare` page is its text without markup, or
    XML as it is.
    """

    response_type: Literal["full", "markdown"]
    content: Literal["page", "main"] = "page"
    pages: str | None = None
    formats: Sequence[Format] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    extract: Mapping[str, Extraction] = field(default_factory=dict)
    bare: bool = False

    @property
    def selection(self) -> Selection:
        """The elements that are read."""
        return Selection(self.include, self.exclude)

    def check(self, form: Kind, media: str) -> None:
        """Raise UnsupportedContentError for options that content of this kind and type has not."""
        if self.pages is not None and media != PDF:
            raise UnsupportedContentError(media, "which has no pages", "leave pages out")
        if form is not Kind.HTML and self.selection:
            raise UnsupportedContentError(media, "which has no elements to select", "leave include and exclude out")
        if form is not Kind.HTML and self.extract:
            raise UnsupportedContentError(media, "which has no elements to extract from", "leave extract out")


class _Reading(NamedTuple):
    """A text as Markdown and as plain text."""

    markdown: str
    text: str
    left_out: float = 0.0
    """The share of its visible words that is not in the Markdown."""
    from_scripts: bool = False
    """Whether text that only the page's scripts hold is in it."""

    def facts(self, asked: PageOptions) -> dict[str, Any]:
        """What a record says of its Markdown; of chosen parts the share that is left out means nothing."""
        left_out = {} if asked.include else {"left_out": self.left_out}
        return {**left_out, "from_scripts": True} if self.from_scripts else left_out


class _SentText(NamedTuple):
    """A page that is text."""

    text: str
    charset: str
    form: Kind
    media: str
    url: str


def page(
    body: bytes, *, url: str, status: int, headers: Mapping[str, str], method: str = "GET", **options: Any
) -> UrlRecord:
    """The record of a response whose body is decompressed; `options` are those of PageOptions.

    Raises UnsupportedContentError for Markdown or formats of content that has no text, for pages of what has none, and
    for selectors on a page that has no elements, or too many.
    """
    asked = PageOptions(**options)
    lower = {name.lower(): value for name, value in headers.items()}
    content_type = lower.get("content-type", "")
    form, media = kind(body, content_type)
    asked.check(form, media)
    sent = None if form is Kind.BINARY else _SentText(*decoded(body, content_type), form, media, url)
    if asked.formats or asked.extract:
        made = _formatted(sent, asked) if sent else _document_formats(body, media, url, asked)
        return cast(UrlRecord, {"url": url, "status": status, "content_type": media, **made})
    data, encoding, facts = _whole(sent, asked) if sent else _whole_document(body, media, url, asked)
    config = {"url": url, "method": method, "response_type": asked.response_type, "content_type": media}
    config |= {"encoding": encoding, **facts}
    return {"data": data, "status": status, "headers": lower, "config": cast(UrlConfig, config)}


def _whole(sent: _SentText, asked: PageOptions) -> tuple[str, str, dict[str, Any]]:
    """A text as the answer has it, its charset, and what is known of its Markdown."""
    if asked.response_type == "full":
        return sent.text, sent.charset, {}
    with _explained(sent.media):
        read = _read(sent, asked)
    return read.markdown, sent.charset, read.facts(asked)


def _whole_document(body: bytes, media: str, url: str, asked: PageOptions) -> tuple[str, str, dict[str, Any]]:
    """Binary data as the answer has it, its encoding, and what is known of its Markdown."""
    if asked.response_type == "full":
        return b64encode_as_string(body), "base64", {}  # of the library that takes 3 ms for 20 MB
    found = document_text(body, media, url, asked.pages, bare=asked.bare)
    return found.text, "base64", {"left_out": round(found.left_out, 4), "document": found.facts}


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


def _document_formats(body: bytes, media: str, url: str, asked: PageOptions) -> dict[str, Any]:
    """A document in each of the formats, and what it says of itself; it has no HTML."""
    if "html" in asked.formats:
        raise UnsupportedContentError(media, "which has no HTML", "ask for its markdown, text or metadata")
    texts = [name for name in ("markdown", "text") if name in asked.formats] or ["text"]
    read = {name: document_text(body, media, url, asked.pages, marked=name == "markdown") for name in texts}
    found = read[texts[0]]
    named = {name: value for name, value in found.facts.items() if name not in ("pages", "first", "last")}
    made: dict[str, Any] = {"links": [], "images": [], "metadata": named, "structured": {}}
    made |= {name: one.text for name, one in read.items()}
    left_out = {"left_out": round(found.left_out, 4)} if "markdown" in asked.formats else {}
    return {**{name: made[name] for name in asked.formats}, **left_out, "document": found.facts}


def _formatted(sent: _SentText, asked: PageOptions) -> dict[str, Any]:
    """A page in each of the formats but a screenshot; a page that is no HTML has no links, pictures and facts."""
    made: dict[str, Any] = {"html": sent.text, "rendered_html": sent.text}
    made |= {"links": [], "images": [], "metadata": {}, "structured": {}}
    with _explained(sent.media):
        if not {"markdown", "text"}.isdisjoint(asked.formats):
            read = _read(sent, asked, as_text="text" in asked.formats)
            made |= {"markdown": read.markdown, "text": read.text}
            made |= read.facts(asked) if "markdown" in asked.formats else {}
        if sent.form is Kind.HTML and not {"links", "images", "metadata", "structured"}.isdisjoint(asked.formats):
            from webdata.pages._url.facts import lists_and_facts  # noqa: PLC0415 - the converter takes 6 MB

            made |= lists_and_facts(sent.text, sent.url, sent.charset, asked.selection)
        if asked.extract:
            made["extract"] = _extracted(sent, asked)
    return {name: made[name] for name in (*dict.fromkeys(asked.formats), "extract", *OF_MARKDOWN) if name in made}


def _extracted(sent: _SentText, asked: PageOptions) -> dict[str, Extracted]:
    """The values that are wanted of a page; raises UnsupportedContentError where they cannot be given."""
    from webdata.pages._url.extraction import ExtractError, extracted  # noqa: PLC0415 - as the converter

    try:
        return extracted(sent.text, sent.url, asked.selection, asked.extract)
    except ExtractError as error:
        raise UnsupportedContentError(sent.media, *error.args) from None


def _read(sent: _SentText, asked: PageOptions, *, as_text: bool = False) -> _Reading:
    text = sent.text.replace("\0", "\ufffd")  # as browsers show it
    if sent.form is Kind.HTML and asked.bare:
        plain = plain_text(text)
        return _Reading(plain, plain)
    if sent.form is Kind.TEXT:
        return _Reading(text, text)
    if sent.form is Kind.HTML or (sent.form is Kind.XML and not asked.bare):
        from webdata.pages._url.markdown import converted, feed  # noqa: PLC0415 - the converter takes 6 MB of a process

        if sent.form is Kind.HTML:
            found = converted(text, sent.url, asked.content, sent.charset, asked.selection, as_text=as_text)
            return _Reading(found.markdown, found.text, round(min(found.left_out, 1.0), 4), found.from_scripts)
        if entries := feed(text, sent.url, sent.charset):
            return _Reading(entries, entries)
    longest = max((len(fence) for fence in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return _Reading(f"{fence}{sent.form}\n{text.strip()}\n{fence}\n", text)
