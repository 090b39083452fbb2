"""What Google's searches share: the hosts, the parameters, the pages and the failures on demand."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from webdata.domain.google_domains import DOMAINS
from webdata.runtime.wire.exchange import HTML, Handler, SandboxRequest, SiteReply
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _searches
from webdata.sandbox.sites._searches import WebSearch, is_mobile, whole_number
from webdata.sandbox.templates import render

HOSTS = tuple(f".{domain}" for domain in DOMAINS)

RESULTS = 30
"""How many there are for any query."""
RESULTS_A_PAGE = 10


@dataclass(frozen=True)
class GoogleSearch(WebSearch):
    """The parameters of one page of Google's results."""

    start: int = 0
    count: int = RESULTS_A_PAGE
    hl: str = "en"
    gl: str = "us"
    known: bool = True
    """Whether the page has a layout that parsers know."""

    @property
    def market(self) -> tuple[object, ...]:
        return self.gl, self.hl

    @property
    def is_first_page(self) -> bool:
        return self.start == 0

    @property
    def ranks(self) -> range:
        """The ranks of the results on the page."""
        return range(self.start + 1, min(self.start + self.count, RESULTS) + 1)


def page_of(search: GoogleSearch, site: str, page: str, **values: Any) -> bytes:
    """A page of a site's template for the search's device."""
    return render(f"sites/{site}_{'mobile' if search.mobile else 'desktop'}", page, search=search, **values)


def is_search(request: SandboxRequest, tbm: str, udm: str = "") -> bool:
    """Whether a request is a search in one of Google's verticals; `tbm` is the old parameter for it, `udm` the new."""
    is_vertical = request.first("tbm") == tbm or (bool(udm) and request.first("udm") == udm)
    return request.path.rstrip("/") == "/search" and is_vertical


def answer_search(request: SandboxRequest, page: Callable[[GoogleSearch], bytes]) -> SiteReply:
    """The results that `page` makes, or what the scenarios in the terms make of them."""
    search = _search(request)

    def results_of(search: GoogleSearch) -> Handler:
        return lambda _: SiteReply(200, HTML, page(search))

    results = results_of(search)
    pages: dict[str, Handler] = {
        **interstitials.by_scenario(results),
        "empty": results_of(replace(search, start=RESULTS)),
        "layout": results_of(replace(search, known=False)),
    }
    return _searches.answer_search(request, search.q, results, pages, interstitials.error)


def _search(request: SandboxRequest) -> GoogleSearch:
    return GoogleSearch(
        q=request.first("q"),
        start=whole_number(request.first("start")),
        count=min(whole_number(request.first("num")) or RESULTS_A_PAGE, RESULTS_A_PAGE),
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
        mobile=is_mobile(request),
    )
