"""What the sites with a search share."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from webdata.sandbox.exchange import Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios

CACHED_PAGES = 64
"""How many pages of a site are cached."""
TOPIC_CHARACTERS = 60


def answer_search(
    request: SandboxRequest,
    terms: str,
    page: Handler,
    pages: Mapping[str, Handler],
    error: Callable[[HTTPStatus, str], Reply],
) -> Reply:
    """The reply of `page` under the scenarios in the terms; the home page without terms, an error for other methods."""
    if request.method not in ("GET", "HEAD"):
        return error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, page, pages)


def topic_of(terms: str) -> str:
    """The terms, short enough for a title."""
    return terms.strip()[:TOPIC_CHARACTERS]


def whole_number(text: str, default: int = 0) -> int:
    """A whole number in a query; the default for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def is_mobile(request: SandboxRequest) -> bool:
    """Whether the client is a browser of a phone."""
    return "Mobi" in request.headers.get("user-agent", "")
