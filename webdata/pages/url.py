"""Any page as it was sent, or as Markdown."""

import re
from collections.abc import Mapping
from typing import Literal

from pybase64 import b64encode_as_string

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._url.bounds import plain_text
from webdata.pages._url.encoding import decoded
from webdata.pages._url.kinds import Kind, kind
from webdata.pages._url.shells import is_shell
from webdata.resources.url_request import UrlPage, UrlQuery

__all__ = ["is_shell", "page", "record"]

FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def page(
    body: bytes,
    *,
    url: str,
    status: int,
    headers: Mapping[str, str],
    response_type: Literal["full", "markdown"],
    method: str = "GET",
    bare: bool = False,
) -> UrlPage:
    """The record of a response whose body is decompressed. Markdown of a `bare` page is its text without markup.

    Raises UnsupportedContentError for Markdown of content that is not text.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    content_type = lower.get("content-type", "")
    form, media = kind(body, content_type)
    if form is Kind.BINARY and response_type == "markdown":
        raise UnsupportedContentError(media)
    if form is Kind.BINARY:
        text, encoding = b64encode_as_string(body), "base64"  # of the library that takes 3 ms for 20 MB
    else:
        text, encoding = decoded(body, content_type)
    return {
        "data": text if response_type == "full" else _markdown(text, form, url, bare),
        "status": status,
        "headers": lower,
        "config": {
            "url": url,
            "method": method,
            "response_type": response_type,
            "content_type": media,
            "encoding": encoding,
        },
    }


def record(body: bytes, query: UrlQuery) -> UrlPage:
    """The record of a saved page, of which only the body is known."""
    return page(body, url=query.url, status=200, headers={}, response_type=query.response_type)


def _markdown(text: str, form: Kind, url: str, bare: bool) -> str:
    if form is Kind.HTML and bare:
        return plain_text(text)
    if form is Kind.HTML:
        from webdata.pages._url.markdown import markdown  # noqa: PLC0415 - the converter takes 6 MB of each process

        return markdown(text, url)
    if form is Kind.TEXT:
        return text
    longest = max((len(fence) for fence in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{form}\n{text.strip()}\n{fence}\n"
