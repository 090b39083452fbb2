"""Google's web search: results in the layout of 2026 (desktop) and 2023 (mobile), with invented content."""

from http import HTTPStatus

from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_results import page

HOSTS = _google_search.HOSTS


def answer(request: SandboxRequest) -> Reply:
    """Google's answer: home, a page of results, or a page of `_google_interstitials`."""
    path = request.path.rstrip("/")
    if request.host.startswith("consent."):
        return interstitials.consent_saved(request) if path == "/save" else interstitials.consent_form(request)
    if path == "/search":
        return _google_search.answer_search(request, page)
    if path in ("", "/webhp"):
        return interstitials.home()
    if path == "/sorry/index":
        return interstitials.sorry(request)
    if path == "/httpservice/retry/enablejs":
        return interstitials.enablejs(request)
    return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such page here.")
