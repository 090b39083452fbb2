"""OpenAlex's works as its API gives them in 2026, with invented content.

Its own scenarios (see `webdata.sandbox.scenarios` and `_scholar_works`): `sandbox:budget` is the 429 of an exhausted
daily budget, renewed after 2 seconds, `sandbox:paused` the 503 under load, `sandbox:key` the 401 of a wrong key,
`sandbox:timeout` the 504 of a search that took too long.
"""

from collections.abc import Callable

from webdata.runtime.wire.exchange import HTML, Handler, Headers, SandboxRequest, SiteReply, json_reply
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _scholar_works as scholar
from webdata.sandbox.sites._searches import Data, whole_number

HOSTS = ("api.openalex.org",)

DEFAULT_SIZE = "25"
MAX_SIZE = 200
MAX_RESULTS = 10_000
BUDGET_SECONDS = 2
NOT_FOUND = b"""<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>There is no such page in this sandbox.</p>
"""

Describe = Callable[[Data], Data]


def answer(request: SandboxRequest) -> SiteReply:
    """A page of works, or the reply of the scenarios in the terms."""
    if request.path.rstrip("/") != "/works":
        return not_found(request)
    if "api_key" in request.query and not request.first("api_key").strip():
        return unauthorized(request)
    size, number = _size(request), whole_number(request.first("page") or "1", -1)
    if not 1 <= size <= MAX_SIZE:
        return error(400, "Invalid query parameters error.", f"per-page must be a number from 1 to {MAX_SIZE}")
    if number < 1 or number * size > MAX_RESULTS:
        return error(400, "Pagination error.", f"Maximum results size of {MAX_RESULTS:,} records is exceeded.")
    return apply_scenarios(request, request.first("search"), works_page(described), SCENARIOS)


def works_page(describe: Describe, total: int = scholar.WORKS, has_works: bool = True) -> Handler:
    """The page of the request's works, each as `describe` renders it; without any unless `has_works`."""

    def handler(request: SandboxRequest) -> SiteReply:
        size, number = _size(request), whole_number(request.first("page") or "1", -1)
        works = scholar.works(request.first("search"), (number - 1) * size, size) if has_works else []
        meta = {"count": total, "db_response_time_ms": 12, "page": number, "per_page": size, "groups_count": None}
        rows = [_selected(describe(work), request.first("select")) for work in works]
        return json_reply({"meta": {**meta, "cost_usd": 0.001}, "results": rows, "group_by": []})

    return handler


def described(work: Data) -> Data:
    """A work as the API returns it."""
    landing = f"https://doi.org/{work['doi']}"
    pdf = f"https://www.harbour.example/papers/{work['key']}.pdf" if work["is_open"] else None
    source = {"id": f"https://openalex.org/S{work['volume']}", "display_name": work["venue"], "type": "journal"}
    location = {"is_oa": work["is_open"], "landing_page_url": landing, "pdf_url": pdf, "source": source}
    return {
        "id": f"https://openalex.org/W{work['key']}",
        "doi": landing,
        "display_name": work["title"],
        "publication_year": work["year"],
        "publication_date": f"{work['year']}-03-01",
        "ids": {"openalex": f"https://openalex.org/W{work['key']}", "doi": landing},
        "authorships": [_author(given, family) for given, family in work["authors"]],
        "primary_location": location,
        "best_oa_location": location if work["is_open"] else None,
        "open_access": {"is_oa": work["is_open"], "oa_status": "gold" if work["is_open"] else "closed", "oa_url": pdf},
        "biblio": {
            "volume": str(work["volume"]),
            "issue": None,
            "first_page": str(work["first_page"]),
            "last_page": str(work["last_page"]),
        },
        "cited_by_count": work["cited"],
        "abstract_inverted_index": _inverted(work["abstract"]),
    }


def nulls(work: Data) -> Data:
    """A work with its identifier alone, all other fields null."""
    return {**dict.fromkeys(described(work)), "id": f"https://openalex.org/W{work['key']}", "authorships": []}


def error(status: int, name: str, message: str, headers: Headers = (), **more: object) -> SiteReply:
    """An error of the API."""
    return json_reply({"error": name, "message": message, **more}, status, headers)


def not_found(_request: SandboxRequest) -> SiteReply:
    """The 404, a page in HTML as on the site."""
    return SiteReply(404, HTML, NOT_FOUND)


def unauthorized(_request: SandboxRequest) -> SiteReply:
    """The 401 of a wrong key."""
    return error(401, "Unauthorized", "Invalid or missing API key")


def budget_exhausted(_request: SandboxRequest) -> SiteReply:
    """The 429 of an exhausted daily budget, with the seconds until it is renewed."""
    wait = str(BUDGET_SECONDS)
    headers = (("Retry-After", wait), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", wait))
    message = "Insufficient budget. This request costs $0.001 but you only have $0 remaining."
    return error(429, "Rate limit exceeded", message, headers, retryAfter=BUDGET_SECONDS, dailyRemainingUsd=0)


def _size(request: SandboxRequest) -> int:
    return whole_number(request.first("per_page") or request.first("per-page") or DEFAULT_SIZE, -1)


def _selected(work: Data, fields: str) -> Data:
    return {name: work[name] for name in fields.split(",") if name in work} if fields else work


def _author(given: str, family: str) -> Data:
    number = 5_000_000_000 + sum(map(ord, given + family))
    author = {"id": f"https://openalex.org/A{number}", "display_name": f"{given} {family}", "orcid": None}
    return {"author_position": "first", "author": author, "raw_author_name": f"{given} {family}"}


def _inverted(abstract: str) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(abstract.split()):
        positions.setdefault(word, []).append(position)
    return positions


SCENARIOS: dict[str, Handler] = {
    "budget": budget_exhausted,
    "limited": budget_exhausted,
    "paused": lambda _: error(503, "Service unavailable", "Anonymous search is paused", (("Retry-After", "2"),)),
    "key": unauthorized,
    "denied": lambda _: error(403, "Forbidden", "This address is not served."),
    "error": lambda _: error(500, "Internal server error", "The search failed."),
    "timeout": lambda _: error(504, "Gateway timeout", "The search took too long.", reason="query_timeout"),
    "notfound": not_found,
    "empty": works_page(described, total=0, has_works=False),
    "hollow": works_page(described, total=4_000_000, has_works=False),
    "nulls": works_page(nulls),
    "layout": lambda _: json_reply({"meta": {"count": 1}, "works": [{}]}),
}
