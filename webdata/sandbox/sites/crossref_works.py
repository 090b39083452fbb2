"""Crossref's works as its API gives them in 2026, with invented content.

Scenarios of OpenAlex's site alone (`sandbox:budget`, …) have no effect here.
"""

from collections.abc import Callable

from webdata.runtime.wire.exchange import Handler, Headers, SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _scholar_works as scholar
from webdata.sandbox.sites._searches import Data, whole_number

HOSTS = ("api.crossref.org",)

DEFAULT_SIZE = "20"
MAX_SIZE = 1000
MAX_OFFSET = 10_000
CC_BY = "https://creativecommons.org/licenses/by/4.0/"
POOL: Headers = (("x-rate-limit-limit", "5"), ("x-rate-limit-interval", "1s"), ("x-api-pool", "public"))
OPENALEX_SCENARIOS = ("budget", "paused", "key", "timeout")

Describe = Callable[[Data], Data]


def answer(request: SandboxRequest) -> SiteReply:
    """A page of works, or the reply of the scenarios in the terms."""
    if request.path.rstrip("/") != "/works":
        return not_found(request)
    size, start = _bounds(request)
    if not 0 <= size <= MAX_SIZE:
        return _invalid("rows", f"Integer specified as {request.first('rows')} but must be 0 to {MAX_SIZE}.")
    if not 0 <= start <= MAX_OFFSET:
        return _invalid("offset", f"Integer specified as {request.first('offset')} but must be 0 to {MAX_OFFSET}.")
    return apply_scenarios(request, request.first("query"), works_page(described), SCENARIOS)


def works_page(describe: Describe, total: int = scholar.WORKS, has_works: bool = True) -> Handler:
    """The page of the request's works, each as `describe` renders it; without any unless `has_works`."""

    def handler(request: SandboxRequest) -> SiteReply:
        size, start = _bounds(request)
        works = scholar.works(request.first("query"), start, size) if has_works else []
        message = {
            "facets": {},
            "total-results": total,
            "items": [describe(work) for work in works],
            "items-per-page": size,
            "query": {"start-index": start, "search-terms": request.first("query")},
        }
        head = {"status": "ok", "message-type": "work-list", "message-version": "1.0.0"}
        return json_reply({**head, "message": message}, headers=POOL)

    return handler


def described(work: Data) -> Data:
    """A work as the API returns it."""
    issued = {"date-parts": [[work["year"], 3, 1]]}
    pdf = f"https://www.harbour.example/papers/{work['key']}.pdf"
    license_ = {"URL": CC_BY, "content-version": "vor", "delay-in-days": 0, "start": issued}
    link = {"URL": pdf, "content-type": "application/pdf", "content-version": "vor"}
    return {
        "DOI": work["doi"],
        "URL": f"https://doi.org/{work['doi']}",
        "type": "journal-article",
        "title": [work["title"].replace("&", "&amp;")],
        "author": [{"given": given, "family": family, "sequence": "first"} for given, family in work["authors"]],
        "container-title": [work["venue"]],
        "issued": issued,
        "volume": str(work["volume"]),
        "page": f"{work['first_page']}-{work['last_page']}",
        "is-referenced-by-count": work["cited"],
        "abstract": f"<jats:title>Abstract</jats:title><jats:p>{work['abstract']}</jats:p>",
        **({"license": [license_], "link": [link]} if work["is_open"] else {}),
    }


def nulls(work: Data) -> Data:
    """A work with its identifier alone, all other fields null."""
    return {**dict.fromkeys(described(work)), "DOI": work["doi"]}


def not_found(_request: SandboxRequest) -> SiteReply:
    """The 404, a line of text as on the site."""
    return plain(404, "Resource not found.")


def limited(_request: SandboxRequest) -> SiteReply:
    """The 429, a page in HTML as on the site."""
    body = b"<html><head><title>429 Too Many Requests</title></head><body><h1>429</h1></body></html>"
    return SiteReply(429, (("Content-Type", "text/html"), ("Retry-After", "2")), body)


def _bounds(request: SandboxRequest) -> tuple[int, int]:
    return whole_number(request.first("rows") or DEFAULT_SIZE, -1), whole_number(request.first("offset") or "0", -1)


def _invalid(name: str, message: str) -> SiteReply:
    errors = [{"type": "integer-not-valid", "value": name, "message": message}]
    return json_reply({"status": "failed", "message-type": "validation-failure", "message": errors}, 400)


SCENARIOS: dict[str, Handler] = {
    **dict.fromkeys(OPENALEX_SCENARIOS, works_page(described)),
    "limited": limited,
    "denied": lambda _: plain(403, "Forbidden."),
    "error": lambda _: plain(500, "Internal server error."),
    "notfound": not_found,
    "empty": works_page(described, total=0, has_works=False),
    "hollow": works_page(described, total=4_000_000, has_works=False),
    "nulls": works_page(nulls),
    "layout": lambda _: json_reply({"status": "ok", "message": {"works": []}}),
}
