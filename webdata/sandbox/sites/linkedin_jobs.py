"""LinkedIn's job postings for guests in the layout of 2026, with invented content.

A search has 47 postings. The list that guests scroll through gives ten a request, and nothing but its first line
where there are no more; `/jobs/search` gives the first sixty with the whole page around them.
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
PART = "/jobs-guest/jobs/api/seeMoreJobPostings/search"
WHOLE = "/jobs/search"
WALL = "/authwall"
CHECKPOINT = "/checkpoint/challenge"

POSTINGS = 47
IN_A_PART = 10
ON_A_PAGE = 60
LAST_START = 1000
KEPT_PAGES = 256
REFUSED = 999
"""LinkedIn's own status."""

POSITIONS = ("{topic}", "Senior {topic}", "Lead {topic}", "{topic} II", "{topic} (Remote)", "{topic} - Hybrid")
REMARKS = ("Actively Hiring", "Be an early applicant", "Medical insurance +2 benefits")
AROUND = ("", "Greater ", "North ", "")


@dataclass(frozen=True)
class Search:
    """What is asked for."""

    keywords: str
    location: str
    start: int = 0
    postings: int = POSTINGS
    known: bool = True
    """Whether the layout is one that a parser may know."""

    @property
    def topic(self) -> str:
        """The keywords without words for the sandbox."""
        return " ".join(SCENARIO.sub("", self.keywords).split()) or "Clerk"


Show = Callable[[Search], Reply]


def answer(request: SandboxRequest) -> Reply:
    """A part of the list, the whole page, or what the terms ask for instead."""
    path = request.path.rstrip("/")
    pages = {PART: part, WHOLE: whole}
    if path == WALL:
        return wall(request)
    if path.startswith(CHECKPOINT):
        return _page(blocks(TEMPLATE)["checkpoint"].fill())
    if path not in pages:
        return plain(404, "There is no such page.")
    asked = Search(request.first("keywords"), request.first("location") or "United States", _start(request))
    show = pages[path]
    return apply_scenarios(request, asked.keywords, lambda _: show(asked), _scenarios(show, asked))


def _scenarios(show: Show, asked: Search) -> dict[str, Handler]:
    def shown(search: Search) -> Handler:
        return lambda _: show(search)

    return {
        "captcha": lambda request: redirect(f"{_home(request)}{CHECKPOINT}/sandbox"),
        "login": lambda request: redirect(f"{_home(request)}{WALL}?{urlencode({'sessionRedirect': request.url})}"),
        "denied": lambda _: Reply(REFUSED, HTML, blocks(TEMPLATE)["refusal"].fill().encode()),
        "limited": lambda _: Reply(HTTPStatus.TOO_MANY_REQUESTS),
        "error": lambda _: Reply(HTTPStatus.INTERNAL_SERVER_ERROR),
        "empty": shown(replace(asked, postings=0)),
        "layout": shown(replace(asked, known=False)),
    }


@lru_cache(maxsize=KEPT_PAGES)
def part(search: Search) -> Reply:
    """The cards from `start` on, without a page around them."""
    if search.start >= LAST_START:
        return Reply(HTTPStatus.BAD_REQUEST)
    cards = _cards(search, search.start, search.start + IN_A_PART)
    return _page(blocks(TEMPLATE)["part"].fill(cards=cards))


@lru_cache(maxsize=KEPT_PAGES)
def whole(search: Search) -> Reply:
    """The first cards in their page; where there are none, it says so."""
    block = blocks(TEMPLATE)
    asked = {"keywords": search.keywords, "location": search.location}
    if search.postings:
        main = block["list"].fill(count=search.postings, cards=_cards(search, 0, ON_A_PAGE), **asked)
    else:
        main = block["empty"].fill(**asked)
    return _page(block["page"].fill(count=search.postings, main=main, **asked))


def wall(request: SandboxRequest) -> Reply:
    """The page that asks guests to join."""
    return _page(blocks(TEMPLATE)["wall"].fill(url=request.first("sessionRedirect")))


def _cards(search: Search, start: int, end: int) -> Html:
    return joined(_card(search, index) for index in range(start, min(end, search.postings)))


def _card(search: Search, index: int) -> Html:
    block = blocks(TEMPLATE)
    random = SeededRandom("job", search.keywords, search.location, index)
    name, host = random.choice(PUBLISHERS)
    position = random.choice(POSITIONS).format(topic=search.topic)
    if not search.known:
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
