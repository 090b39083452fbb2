"""Google's web search: invented results in the layout of 2026 (desktop) and 2023 (mobile)."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply
from webdata.sandbox.invention import PLACES, PUBLISHERS, QUESTIONS, REFINEMENTS, STREETS, slug
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_search import RESULTS, GoogleSearch, page_of
from webdata.sandbox.sites._searches import CACHED_PAGES, IMAGE, Data
from webdata.sandbox.templates import html

HOSTS = _google_search.HOSTS


def answer(request: SandboxRequest) -> SiteReply:
    """Google's home page, a page of results, or a page of `_google_interstitials`."""
    path = request.path.rstrip("/")
    if request.host.startswith("consent."):
        return interstitials.consent_saved(request) if path == "/save" else interstitials.consent_form(request)
    if path == "/search":
        return _google_search.answer_search(request, page)
    if path in ("", "/webhp"):
        return html(interstitials.TEMPLATE, "home")
    if path == "/sorry/index":
        return interstitials.sorry(request)
    if path == "/httpservice/retry/enablejs":
        return html(interstitials.TEMPLATE, "enablejs")
    return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such page here.")


@lru_cache(maxsize=CACHED_PAGES)
def page(search: GoogleSearch) -> bytes:
    """The page of web results. The same search always gives the same bytes."""
    if search.start >= RESULTS:
        return page_of(search, "google_web", "empty")
    results = [_result(search, rank) for rank in search.ranks]
    if not search.known:
        return page_of(search, "google_web", "unknown", results=results)
    parts = {
        "results": results,
        "top_ads": search.ads("tads"),
        "bottom_ads": search.ads("tadsb"),
        "questions": _questions(search),
        "refinements": search.random("related").sample(REFINEMENTS, 8),
    }
    if search.mobile:
        return page_of(search, "google_web", "results", **parts)
    return page_of(
        search,
        "google_web",
        "results",
        **parts,
        total=RESULTS,
        stats=_stats(search),
        products=search.products(),
        stories=_part(search, "stories", _story, range(1, 4)),
        places=_part(search, "places", _place, search.random("places").sample(PLACES, 3)),
        panel=_panel(search) if search.has("panel", 3) else None,
    )


def _part(
    search: GoogleSearch, name: str, item: Callable[[GoogleSearch, Any], Data], keys: Sequence[Any]
) -> list[Data]:
    """The items of a part that one query in three has."""
    return [item(search, key) for key in keys] if search.has(name, 3) else []


def _result(search: GoogleSearch, rank: int) -> Data:
    random = search.random("extras", rank)
    return {
        **search.result(rank),
        "has_sitelinks": rank == 1 and search.random("sitelinks").chance(2),
        "id": f"ih6Jnb_{random.number(10**8, 10**9)}",
        "rating": random.rating() if random.chance(4) else "",
        "reviews": random.number(2, 900),
    }


def _stats(search: GoogleSearch) -> Data:
    random = search.random("stats")
    return {"total": f"{random.number(1_000, 900_000) * 1000:,}", "hundredths": random.number(11, 89)}


def _questions(search: GoogleSearch) -> list[str]:
    questions = search.random("questions").sample(QUESTIONS, 4) if search.has("questions", 2) else []
    return [question.format(topic=search.topic) for question in questions]


def _story(search: GoogleSearch, rank: int) -> Data:
    random = search.random("story", rank)
    source, host = random.choice(PUBLISHERS)
    return {
        "link": f"https://{host}/news/{slug(search.q)}-{rank}",
        "title": f"{search.topic}: {random.sentences(search.topic, 1)}",
        "source": source,
        "date": f"{random.number(2, 23)} hours ago",
        "image": IMAGE.format(id=f"story-{random.number(1, 9999)}"),
    }


def _place(search: GoogleSearch, name: str) -> Data:
    random = search.random("place", name)
    return {
        "name": f"{name} {search.topic}",
        "cid": random.number(10**8, 10**9),
        "rating": random.rating(),
        "reviews": f"{random.number(3, 4000):,}",
        "price_level": "$" * random.number(1, 3),
        "category": "Shop",
        "address": f"{random.number(1, 180)} {random.choice(STREETS)}",
        "phone": f"(555) 555-01{random.number(0, 99):02}",
        "status": f"Open · Closes {random.number(5, 11)} PM",
        "website": f"https://{slug(name)}.example/",
    }


def _panel(search: GoogleSearch) -> Data:
    random = search.random("panel")
    source, host = random.choice(PUBLISHERS)
    return {
        "description": random.sentences(search.topic, 2),
        "source": source,
        "source_link": f"https://{host}/about/{slug(search.q)}",
        "facts": [
            ("founded", "Founded", random.date()),
            ("founder", "Founder", "Ada Example"),
            ("seat", "Headquarters", f"{random.choice(STREETS)}, Exampleton"),
        ],
        "profiles": [("Example Social", "social.example.com"), ("Example Video", "video.example.net")],
    }
