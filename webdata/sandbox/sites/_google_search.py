"""What all of Google's searches share: the parameters, the hosts and the failures on demand."""

from collections.abc import Callable
from dataclasses import replace

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites._google_results import RESULTS, RESULTS_A_PAGE, Search

HOSTS = (".google.com", ".google.??", ".google.co.??", ".google.com.??")


def is_search(request: SandboxRequest, tbm: str, udm: str) -> bool:
    """Whether a request is a search in one of Google's verticals; `tbm` is the old parameter for it, `udm` the new."""
    return request.path.rstrip("/") == "/search" and (request.first("tbm") == tbm or request.first("udm") == udm)


def answer_search(request: SandboxRequest, page: Callable[[Search], bytes]) -> Reply:
    """The results that `page` makes, or what the scenarios in the terms make of them."""
    if request.method not in ("GET", "HEAD"):
        return interstitials.wrong_method()
    search = _search(request)
    if not search.q.strip():
        return redirect(f"{request.scheme}://{request.host}/")

    def results_of(search: Search) -> Handler:
        return lambda _: Reply(200, HTML, page(search))

    results = results_of(search)
    pages: dict[str, Handler] = {
        **interstitials.by_scenario(results),
        "empty": results_of(replace(search, start=RESULTS)),
        "layout": results_of(replace(search, known=False)),
    }
    return apply_scenarios(request, search.q, results, pages)


def _search(request: SandboxRequest) -> Search:
    return Search(
        q=request.first("q"),
        start=_number(request.first("start")),
        count=min(_number(request.first("num")) or RESULTS_A_PAGE, RESULTS_A_PAGE),
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
        mobile="Mobi" in request.headers.get("user-agent", ""),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
