"""Crossref's works as its API gives them in 2026, with invented content.

Words that only OpenAlex's site has a meaning for (`sandbox:budget`, …) are answered with works here.
"""

from collections.abc import Callable
from typing import Any

from webdata.sandbox.exchange import Handler, Headers, Reply, SandboxRequest, plain
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _scholar_works as invented

HOSTS = ("api.crossref.org",)

USUAL_SIZE = 20
LARGEST_SIZE = 1000
LAST = 10_000
CC_BY = "https://creativecommons.org/licenses/by/4.0/"
POOL: Headers = (("x-rate-limit-limit", "5"), ("x-rate-limit-interval", "1s"), ("x-api-pool", "public"))
NOT_MINE = ("budget", "paused", "key", "timeout")

Told = Callable[[invented.Work], dict[str, Any]]


def answer(request: SandboxRequest) -> Reply:
    """A page of works, or what the terms ask for instead."""
    if request.path.rstrip("/") != "/works":
        return missing(request)
    size, start = _bounds(request)
    if not 0 <= size <= LARGEST_SIZE:
        return _invalid("rows", f"Integer specified as {request.first('rows')} but must be 0 to {LARGEST_SIZE}.")
    if not 0 <= start <= LAST:
        return _invalid("offset", f"Integer specified as {request.first('offset')} but must be 0 to {LAST}.")
    return apply_scenarios(request, request.first("query"), shown(told), _scenarios())


def shown(tell: Told, total: int = invented.WORKS, holds: bool = True) -> Handler:
    """A page of works, told in this way."""

    def page(request: SandboxRequest) -> Reply:
        size, start = _bounds(request)
        works = invented.works(request.first("query"), start, size) if holds else []
        message = {
            "facets": {},
            "total-results": total,
            "items": [tell(work) for work in works],
            "items-per-page": size,
            "query": {"start-index": start, "search-terms": request.first("query")},
        }
        head = {"status": "ok", "message-type": "work-list", "message-version": "1.0.0"}
        return invented.data({**head, "message": message}, headers=POOL)

    return page


def told(work: invented.Work) -> dict[str, Any]:
    """A work as the index tells it."""
    issued = {"date-parts": [[work.year, 3, 1]]}
    pdf = f"https://www.harbour.example/papers/{work.key}.pdf"
    license_ = {"URL": CC_BY, "content-version": "vor", "delay-in-days": 0, "start": issued}
    link = {"URL": pdf, "content-type": "application/pdf", "content-version": "vor"}
    return {
        "DOI": work.doi,
        "URL": f"https://doi.org/{work.doi}",
        "type": "journal-article",
        "title": [work.title.replace("&", "&amp;")],
        "author": [{"given": given, "family": family, "sequence": "first"} for given, family in work.authors],
        "container-title": [work.venue],
        "issued": issued,
        "volume": str(work.volume),
        "page": f"{work.first_page}-{work.last_page}",
        "is-referenced-by-count": work.cited,
        "abstract": f"<jats:title>Abstract</jats:title><jats:p>{work.abstract}</jats:p>",
        **({"license": [license_], "link": [link]} if work.is_open else {}),
    }


def nothing(work: invented.Work) -> dict[str, Any]:
    """A work of which nothing but its name is known."""
    return {**dict.fromkeys(told(work)), "DOI": work.doi}


def missing(_request: SandboxRequest) -> Reply:
    """A page that is not there: a line of text, as on the site."""
    return plain(404, "Resource not found.")


def limited(_request: SandboxRequest) -> Reply:
    """Too many requests: a page in HTML, as on the site."""
    body = b"<html><head><title>429 Too Many Requests</title></head><body><h1>429</h1></body></html>"
    return Reply(429, (("Content-Type", "text/html"), ("Retry-After", "2")), body)


def _scenarios() -> dict[str, Handler]:
    return {
        **dict.fromkeys(NOT_MINE, shown(told)),
        "limited": limited,
        "denied": lambda _: plain(403, "Forbidden."),
        "error": lambda _: plain(500, "Internal server error."),
        "notfound": missing,
        "empty": shown(told, total=0, holds=False),
        "hollow": shown(told, total=4_000_000, holds=False),
        "nulls": shown(nothing),
        "layout": lambda _: invented.data({"status": "ok", "message": {"works": []}}),
        "encoding": invented.broken(shown(told), b'"title":["'),
    }


def _bounds(request: SandboxRequest) -> tuple[int, int]:
    return invented.whole(request.first("rows"), USUAL_SIZE), invented.whole(request.first("offset"), 0)


def _invalid(name: str, message: str) -> Reply:
    said = [{"type": "integer-not-valid", "value": name, "message": message}]
    return invented.data({"status": "failed", "message-type": "validation-failure", "message": said}, 400)
