"""Google's web search: results in the layout of 2026 (desktop) and 2023 (mobile), with invented content."""

from http import HTTPStatus

from webdata.sandbox.exchange import HTML, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import Page, play
from webdata.sandbox.sites import _google_blocks as block
from webdata.sandbox.sites._google_results import RESULTS, RESULTS_A_PAGE, Search, page

HOSTS = (".google.com", ".google.??", ".google.co.??", ".google.com.??")


def answer(request: SandboxRequest) -> Reply:
    """Google's answer: home, a page of results, or a page of `_google_blocks`."""
    path = request.path.rstrip("/")
    if request.host.startswith("consent."):
        return block.consent_saved(request) if path == "/save" else block.consent_form(request)
    if path == "/search":
        return _search(request)
    if path in ("", "/webhp"):
        return block.home()
    if path == "/sorry/index":
        return block.sorry(request)
    if path == "/httpservice/retry/enablejs":
        return block.enablejs(request)
    return block.error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _search(request: SandboxRequest) -> Reply:
    if request.method not in ("GET", "HEAD"):
        return block.error(HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address.")
    terms = request.first("q")
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return play(request, terms, _results, SCENARIOS)


def _results(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, page(_wanted(request)))


def _empty(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, page(_wanted(request, start=RESULTS)))


def _layout(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, page(_wanted(request, known=False)))


def _wanted(request: SandboxRequest, *, start: int | None = None, known: bool = True) -> Search:
    return Search(
        q=request.first("q"),
        start=_number(request.first("start"), 0) if start is None else start,
        count=min(_number(request.first("num"), 0) or RESULTS_A_PAGE, RESULTS_A_PAGE),
        hl=request.first("hl") or "en",
        gl=request.first("gl").lower() or "us",
        mobile="Mobi" in request.headers.get("user-agent", ""),
        known=known,
    )


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


SCENARIOS: dict[str, Page] = {
    "captcha": block.captcha(_results),
    "enablejs": block.shell(_results),
    "consent": block.consent(_results),
    "denied": block.denied,
    "limited": block.limited,
    "error": block.failed,
    "empty": _empty,
    "layout": _layout,
}
