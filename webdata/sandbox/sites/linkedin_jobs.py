"""LinkedIn's public job postings in the layout of 2026, with invented content.

A search has 47 postings. The endpoint of the endless list returns ten cards a request, and past the last posting its
first line alone; `/jobs/search` is the whole page with the first sixty cards.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import urlencode

from webdata.runtime.wire.exchange import Handler, SandboxRequest, SiteReply, plain, redirect
from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug
from webdata.sandbox.scenarios import SCENARIO, apply_scenarios
from webdata.sandbox.sites._searches import Data, whole_number
from webdata.sandbox.templates import html

HOSTS = (".linkedin.com",)

TEMPLATE = "sites/linkedin_jobs"
LIST = "/jobs-guest/jobs/api/seeMoreJobPostings/search"
PAGE = "/jobs/search"
AUTHWALL = "/authwall"
CHECKPOINT = "/checkpoint/challenge"

POSTINGS = 47
CARDS_A_LIST_PAGE = 10
CARDS_A_WHOLE_PAGE = 60
MAX_START = 1000
CACHED_PAGES = 256
DENIED = 999
"""LinkedIn's own status for a denied request."""

POSITIONS = ("{topic}", "Senior {topic}", "Lead {topic}", "{topic} II", "{topic} (Remote)", "{topic} - Hybrid")
REMARKS = ("Actively Hiring", "Be an early applicant", "Medical insurance +2 benefits")
AROUND = ("", "Greater ", "North ", "")


@dataclass(frozen=True)
class JobSearch:
    """The parameters of one page of LinkedIn's postings."""

    keywords: str
    location: str
    start: int = 0
    postings: int = POSTINGS
    is_known_layout: bool = True
    """Whether parsers know the layout of the cards."""


Render = Callable[[JobSearch], SiteReply]


def answer(request: SandboxRequest) -> SiteReply:
    """A page of the list, the whole page, or the reply of the scenarios in the keywords."""
    path = request.path.rstrip("/")
    pages = {LIST: list_page, PAGE: whole_page}
    if path == AUTHWALL:
        return html(TEMPLATE, "authwall", url=request.first("sessionRedirect"))
    if path.startswith(CHECKPOINT):
        return html(TEMPLATE, "checkpoint")
    if path not in pages:
        return plain(404, "There is no such page.")
    search = JobSearch(
        request.first("keywords"), request.first("location") or "United States", whole_number(request.first("start"))
    )
    render = pages[path]
    return apply_scenarios(
        request,
        search.keywords,
        lambda _: render(search),
        _scenarios(render, search, f"{request.scheme}://{request.host}"),
    )


def _scenarios(render: Render, search: JobSearch, home: str) -> dict[str, Handler]:
    return {
        "captcha": lambda _: redirect(f"{home}{CHECKPOINT}/sandbox"),
        "login": lambda request: redirect(f"{home}{AUTHWALL}?{urlencode({'sessionRedirect': request.url})}"),
        "denied": lambda _: html(TEMPLATE, "refusal", DENIED),
        "limited": lambda _: SiteReply(HTTPStatus.TOO_MANY_REQUESTS),
        "error": lambda _: SiteReply(HTTPStatus.INTERNAL_SERVER_ERROR),
        "empty": lambda _: render(replace(search, postings=0)),
        "layout": lambda _: render(replace(search, is_known_layout=False)),
    }


@lru_cache(maxsize=CACHED_PAGES)
def list_page(search: JobSearch) -> SiteReply:
    """The cards from `start` on, without a page around them."""
    if search.start >= MAX_START:
        return SiteReply(HTTPStatus.BAD_REQUEST)
    return html(TEMPLATE, "part", search=search, postings=_postings(search, search.start, CARDS_A_LIST_PAGE))


@lru_cache(maxsize=CACHED_PAGES)
def whole_page(search: JobSearch) -> SiteReply:
    """The page with the first cards, or with the message for no results."""
    return html(TEMPLATE, "page", search=search, postings=_postings(search, 0, CARDS_A_WHOLE_PAGE))


def _postings(search: JobSearch, start: int, count: int) -> list[Data]:
    return [_posting(search, index) for index in range(start, min(start + count, search.postings))]


def _posting(search: JobSearch, index: int) -> Data:
    random = SeededRandom("job", search.keywords, search.location, index)
    name, host = random.choice(PUBLISHERS)
    topic = " ".join(SCENARIO.sub("", search.keywords).split()) or "Clerk"
    position = random.choice(POSITIONS).format(topic=topic)
    return {
        "index": index,
        "host": host,
        "position": position,
        "employer": name,
        "slug": slug(f"{position} at {name}"),
        "has_page": not random.chance(8),
        "remark": random.choice(REMARKS) if random.chance(2) else "",
        "number": 4_000_000_000 + random.number(0, 9_999_999) * 100 + index,
        "place": f"{random.choice(AROUND)}{search.location}",
        "posted": f"2026-{random.number(1, 9):02}-{random.number(1, 28):02}",
    }
