"""OpenAlex's works as its API gives them in 2026, with invented content.

Words of its own (see `webdata.sandbox.scenarios` and `_scholar_works`): `sandbox:budget` is the 429 of a day's budget
that is used up, for as many seconds as it names; `sandbox:paused` the 503 under load, `sandbox:key` the 401 of a wrong
key, `sandbox:timeout` the 504 of a search that took too long.
"""

from collections.abc import Callable
from typing import Any

from webdata.sandbox.exchange import HTML, Handler, Headers, Reply, SandboxRequest
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _scholar_works as invented

HOSTS = ("api.openalex.org",)

USUAL_SIZE = 25
LARGEST_SIZE = 200
LAST = 10_000
BUDGET_SECONDS = 2
NO_PAGE = b"""<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>There is no such page in this sandbox.</p>
"""

Told = Callable[[invented.Work], dict[str, Any]]


def answer(request: SandboxRequest) -> Reply:
    """A page of works, or what the terms ask for instead."""
    if request.path.rstrip("/") != "/works":
        return missing(request)
    if "api_key" in request.query and not request.first("api_key").strip():
        return refused(request)
    size, number = _size(request), invented.whole(request.first("page"), 1)
    if not 1 <= size <= LARGEST_SIZE:
        return error(400, "Invalid query parameters error.", f"per-page must be a number from 1 to {LARGEST_SIZE}")
    if number < 1 or number * size > LAST:
        return error(400, "Pagination error.", f"Maximum results size of {LAST:,} records is exceeded.")
    return apply_scenarios(request, request.first("search"), shown(told), _scenarios())


def shown(tell: Told, total: int = invented.WORKS, holds: bool = True) -> Handler:
    """A page of works, told in this way."""

    def page(request: SandboxRequest) -> Reply:
        size, number = _size(request), invented.whole(request.first("page"), 1)
        works = invented.works(request.first("search"), (number - 1) * size, size) if holds else []
        meta = {"count": total, "db_response_time_ms": 12, "page": number, "per_page": size, "groups_count": None}
        rows = [_selected(tell(work), request.first("select")) for work in works]
        return invented.data({"meta": {**meta, "cost_usd": 0.001}, "results": rows, "group_by": []})

    return page


def told(work: invented.Work) -> dict[str, Any]:
    """A work as the index tells it."""
    landing = f"https://doi.org/{work.doi}"
    pdf = f"https://www.harbour.example/papers/{work.key}.pdf" if work.is_open else None
    source = {"id": f"https://openalex.org/S{work.volume}", "display_name": work.venue, "type": "journal"}
    place = {"is_oa": work.is_open, "landing_page_url": landing, "pdf_url": pdf, "source": source}
    return {
        "id": f"https://openalex.org/W{work.key}",
        "doi": landing,
        "display_name": work.title,
        "publication_year": work.year,
        "publication_date": f"{work.year}-03-01",
        "ids": {"openalex": f"https://openalex.org/W{work.key}", "doi": landing},
        "authorships": [_author(given, family) for given, family in work.authors],
        "primary_location": place,
        "best_oa_location": place if work.is_open else None,
        "open_access": {"is_oa": work.is_open, "oa_status": "gold" if work.is_open else "closed", "oa_url": pdf},
        "biblio": {
            "volume": str(work.volume),
            "issue": None,
            "first_page": str(work.first_page),
            "last_page": str(work.last_page),
        },
        "cited_by_count": work.cited,
        "abstract_inverted_index": _inverted(work.abstract),
    }


def nothing(work: invented.Work) -> dict[str, Any]:
    """A work of which nothing but its name is known."""
    return {**dict.fromkeys(told(work)), "id": f"https://openalex.org/W{work.key}", "authorships": []}


def error(status: int, name: str, message: str, headers: Headers = (), **more: object) -> Reply:
    """An error as the API tells it."""
    return invented.data({"error": name, "message": message, **more}, status, headers)


def missing(_request: SandboxRequest) -> Reply:
    """A page that is not there: in HTML, as on the site."""
    return Reply(404, HTML, NO_PAGE)


def refused(_request: SandboxRequest) -> Reply:
    """The answer to a wrong key."""
    return error(401, "Unauthorized", "Invalid or missing API key")


def spent(_request: SandboxRequest) -> Reply:
    """The end of a day's budget, which begins anew in a moment."""
    wait = str(BUDGET_SECONDS)
    headers = (("Retry-After", wait), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", wait))
    message = "Insufficient budget. This request costs $0.001 but you only have $0 remaining."
    return error(429, "Rate limit exceeded", message, headers, retryAfter=BUDGET_SECONDS, dailyRemainingUsd=0)


def _scenarios() -> dict[str, Handler]:
    return {
        "budget": spent,
        "limited": spent,
        "paused": lambda _: error(503, "Service unavailable", "Anonymous search is paused", (("Retry-After", "2"),)),
        "key": refused,
        "denied": lambda _: error(403, "Forbidden", "This address is not served."),
        "error": lambda _: error(500, "Internal server error", "The search failed."),
        "timeout": lambda _: error(504, "Gateway timeout", "The search took too long.", reason="query_timeout"),
        "notfound": missing,
        "empty": shown(told, total=0, holds=False),
        "hollow": shown(told, total=4_000_000, holds=False),
        "nulls": shown(nothing),
        "layout": lambda _: invented.data({"meta": {"count": 1}, "works": [{}]}),
        "encoding": invented.broken(shown(told), b'"display_name":"'),
    }


def _size(request: SandboxRequest) -> int:
    return invented.whole(request.first("per_page") or request.first("per-page"), USUAL_SIZE)


def _selected(work: dict[str, Any], fields: str) -> dict[str, Any]:
    return {name: work[name] for name in fields.split(",") if name in work} if fields else work


def _author(given: str, family: str) -> dict[str, Any]:
    number = 5_000_000_000 + sum(map(ord, given + family))
    author = {"id": f"https://openalex.org/A{number}", "display_name": f"{given} {family}", "orcid": None}
    return {"author_position": "first", "author": author, "raw_author_name": f"{given} {family}"}


def _inverted(abstract: str) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(abstract.split()):
        places.setdefault(word, []).append(place)
    return places
