"""LinkedIn's public job postings in the layout of 2026, with invented content.

A search has 47 postings. The endpoint of the endless list returns ten cards a request, and past the last posting its
first line alone; `/jobs/search` is the whole page with the first sixty cards.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import urlencode

from webdata.sandbox.exchange import HTML, Handler, Reply, SandboxRequest, plain, redirect
from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug
from webdata.sandbox.scenarios import SCENARIO, apply_scenarios
from webdata.sandbox.templates import Html, blocks, joined

HOSTS = (".linkedin.com",)

TEMPLATE = "linkedin_jobs.html"
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
class Search:
    """The parameters of one page of LinkedIn's postings."""

    keywords: str
    location: str
    start: int = 0
    postings: int = POSTINGS
    is_known_layout: bool = True
    """Whether parsers know the layout of the cards."""

    @property
    def topic(self) -> str:
        """The keywords without scenarios."""
        return " ".join(SCENARIO.sub("", self.keywords).split()) or "Clerk"


Render = Callable[[Search], Reply]


def answer(request: SandboxRequest) -> Reply:
    """A page of the list, the whole page, or the reply of the scenarios in the keywords."""
    path = request.path.rstrip("/")
    pages = {LIST: list_page, PAGE: whole_page}
    if path == AUTHWALL:
        return _page(blocks(TEMPLATE)["authwall"].fill(url=request.first("sessionRedirect")))
    if path.startswith(CHECKPOINT):
        return _page(blocks(TEMPLATE)["checkpoint"].fill())
    if path not in pages:
        return plain(404, "There is no such page.")
    search = Search(request.first("keywords"), request.first("location") or "United States", _start(request))
    render = pages[path]
    return apply_scenarios(request, search.keywords, lambda _: render(search), _scenarios(render, search))


def _scenarios(render: Render, search: Search) -> dict[str, Handler]:
    return {
        "captcha": lambda request: redirect(f"{_home(request)}{CHECKPOINT}/sandbox"),
        "login": lambda request: redirect(f"{_home(request)}{AUTHWALL}?{urlencode({'sessionRedirect': request.url})}"),
        "denied": lambda _: Reply(DENIED, HTML, blocks(TEMPLATE)["refusal"].fill().encode()),
        "limited": lambda _: Reply(HTTPStatus.TOO_MANY_REQUESTS),
        "error": lambda _: Reply(HTTPStatus.INTERNAL_SERVER_ERROR),
        "empty": lambda _: render(replace(search, postings=0)),
        "layout": lambda _: render(replace(search, is_known_layout=False)),
    }


@lru_cache(maxsize=CACHED_PAGES)
def list_page(search: Search) -> Reply:
    """The cards from `start` on, without a page around them."""
    if search.start >= MAX_START:
        return Reply(HTTPStatus.BAD_REQUEST)
    cards = _cards(search, search.start, search.start + CARDS_A_LIST_PAGE)
    return _page(blocks(TEMPLATE)["part"].fill(cards=cards))


@lru_cache(maxsize=CACHED_PAGES)
def whole_page(search: Search) -> Reply:
    """The page with the first cards, or with the message for no results."""
    block = blocks(TEMPLATE)
    values = {"keywords": search.keywords, "location": search.location}
    if search.postings:
        main = block["list"].fill(count=search.postings, cards=_cards(search, 0, CARDS_A_WHOLE_PAGE), **values)
    else:
        main = block["empty"].fill(**values)
    return _page(block["page"].fill(count=search.postings, main=main, **values))


def _cards(search: Search, start: int, end: int) -> Html:
    return joined(_card(search, index) for index in range(start, min(end, search.postings)))


def _card(search: Search, index: int) -> Html:
    block = blocks(TEMPLATE)
    random = SeededRandom("job", search.keywords, search.location, index)
    name, host = random.choice(PUBLISHERS)
    position = random.choice(POSITIONS).format(topic=search.topic)
    if not search.is_known_layout:
        return block["layout_card"].fill(position=position)
    employer = block["employer_without_page" if random.chance(8) else "employer"]
    remark = block["remark"].fill(text=random.choice(REMARKS)) if random.chance(2) else Html("")
    return block["card"].fill(
        index=index,
        row=index + 1,
        number=4_000_000_000 + random.number(0, 9_999_999) * 100 + index,
        slug=slug(f"{position} at {name}"),
        host=host,
        position=position,
        employer=employer.fill(name=name, slug=slug(name)),
        location=f"{random.choice(AROUND)}{search.location}",
        remark=remark,
        posted=f"2026-{random.number(1, 9):02}-{random.number(1, 28):02}",
    )


def _home(request: SandboxRequest) -> str:
    return f"{request.scheme}://{request.host}"


def _start(request: SandboxRequest) -> int:
    text = request.first("start")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _page(markup: Html) -> Reply:
    return Reply(200, HTML, markup.encode("utf-8", "replace"))
