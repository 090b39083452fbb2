"""What searches on Google have in common, whatever they search for: what is asked, and what goes wrong on demand."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites._google_results import RESULTS, RESULTS_A_PAGE, Search

HOSTS = (".google.com", ".google.??", ".google.co.??", ".google.com.??")


def is_search(request: SandboxRequest, tbm: str, udm: str) -> bool:
    """Whether a request is a search in one of Google's verticals, by the old name of it or the new one."""
    return request.path.rstrip("/") == "/search" and (request.first("tbm") == tbm or request.first("udm") == udm)


def answer_search(request: SandboxRequest, page: Callable[[Search], bytes]) -> Reply:
    """A page of results, made by `page`, or what the terms ask for instead."""
    if request.method not in ("GET", "HEAD"):
        return interstitials.error(
            HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address."
        )
    asked = _asked(request)
    if not asked.q.strip():
        return redirect(f"{request.scheme}://{request.host}/")

    def shown(search: Search) -> Handler:
        return lambda _: Reply(200, HTML, page(search))

    results = shown(asked)
    scenarios: dict[str, Handler] = {
        "captcha": interstitials.captcha(results),
        "enablejs": interstitials.shell(results),
        "consent": interstitials.consent(results),
        "denied": interstitials.denied,
        "limited": interstitials.limited,
        "error": interstitials.failed,
        "empty": shown(replace(asked, start=RESULTS)),
        "layout": shown(replace(asked, known=False)),
    }
    return apply_scenarios(request, asked.q, results, scenarios)


def _asked(request: SandboxRequest) -> Search:
    return Search(
        q=request.first("q"),
        start=_number(request.first("start"), 0),
        count=min(_number(request.first("num"), 0) or RESULTS_A_PAGE, RESULTS_A_PAGE),
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
        mobile="Mobi" in request.headers.get("user-agent", ""),
    )


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise
