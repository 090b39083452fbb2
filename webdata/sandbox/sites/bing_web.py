"""Bing's web search: invented results in the layout of 2026 (desktop) and 2020 (mobile).

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| scenario | effect |
|---|---|
| `sandbox:market` | no results, unless the requested market is that of the client's country |
| `sandbox:degraded` | results about the first word alone |
| `sandbox:fickle` | the same, unless the requested market is that of the client's country |
| `sandbox:repeat` | the first page for every page |
| `sandbox:undecoded` | a compressed body without Content-Encoding |
"""

import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import quote, quote_plus

from webdata.runtime.wire.exchange import HTML, Handler, SandboxRequest, SiteReply
from webdata.sandbox.challenges import challenge_id, until_solved
from webdata.sandbox.invention import REFINEMENTS, slug
from webdata.sandbox.scenarios import failures
from webdata.sandbox.sites._searches import (
    CACHED_PAGES,
    TOPIC_CHARACTERS,
    Data,
    WebSearch,
    answer_search,
    is_mobile,
    whole_number,
)
from webdata.sandbox.templates import html, render

HOSTS = (".bing.com",)
TEMPLATE = "sites/bing_web"
BING = "https://www.bing.com"
CLIENT_COUNTRY = "US"
"""Where Bing locates every client."""
CAPTCHA_COOKIE = "_C_ETH"

RESULTS = 34
"""How many there are for any query."""
RESULTS_A_PAGE = 10
MAX_A_PAGE = 50
DECOYS = (
    "{word} - dictionary entry",
    "What does “{word}” mean?",
    "{word}: meaning and use",
    "“{word}” in a sentence",
    "How “{word}” is spelt",
)
"""Titles of results that match the first word of a query and nothing else."""


@dataclass(frozen=True)
class BingSearch(WebSearch):
    """The parameters of one page of Bing's results."""

    first: int = 1
    count: int = RESULTS_A_PAGE
    mkt: str = f"en-{CLIENT_COUNTRY}"

    @property
    def market(self) -> tuple[object, ...]:
        return (self.mkt,)

    @property
    def is_first_page(self) -> bool:
        return self.start == 1

    @property
    def word(self) -> str:
        """The first word of the terms."""
        match = re.search(r"\w+", self.q)
        return match.group()[:TOPIC_CHARACTERS] if match else self.topic

    @property
    def start(self) -> int:
        """The rank of the page's first result: behind the last result Bing repeats the first page."""
        return self.first if self.first <= RESULTS else 1

    @property
    def ranks(self) -> range:
        return range(self.start, min(self.start + self.count, RESULTS + 1))


def answer(request: SandboxRequest) -> SiteReply:
    """Bing's home page, a page of results, or the page of a scenario."""
    path = request.path.rstrip("/")
    if path == "/search":
        return answer_search(request, request.first("q"), _handler(page), SCENARIOS, _error)
    if path == "":
        return html(TEMPLATE, "home")
    return _error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _handler(page: Callable[[BingSearch], bytes]) -> Handler:
    return lambda request: SiteReply(200, HTML, page(_search(request)))


def _search(request: SandboxRequest) -> BingSearch:
    return BingSearch(
        q=request.first("q"),
        first=whole_number(request.first("first")) or 1,
        count=min(whole_number(request.first("count")) or RESULTS_A_PAGE, MAX_A_PAGE),
        mkt=request.first("mkt") or f"en-{CLIENT_COUNTRY}",
        mobile=is_mobile(request),
    )


@lru_cache(maxsize=CACHED_PAGES)
def page(search: BingSearch) -> bytes:
    """The page of results. The same search always gives the same bytes."""
    note = search.random("aside").sentences(search.topic, 2)
    return render(
        TEMPLATE,
        "results",
        search=search,
        total=RESULTS,
        stats=_stats(search),
        results=[_result(search, rank) for rank in search.ranks],
        top_ads=_paid(search.ads("top")),
        bottom_ads=_paid(search.ads("bottom")),
        products=[] if search.mobile else _paid(search.products()),
        has_videos=search.has("videos", 2),
        related=[f"{search.topic} {refinement}" for refinement in search.random("related").sample(REFINEMENTS, 6)],
        note=note if search.has("aside", 3) and not search.mobile else "",
    )


def empty_page(search: BingSearch) -> bytes:
    """The page that reports no results, for any query."""
    return render(TEMPLATE, "empty", search=search)


def degraded_page(search: BingSearch) -> bytes:
    """Results in the known layout that match the first word alone."""
    return render(TEMPLATE, "degraded", search=search, results=[_decoy(search, n + 1) for n in range(RESULTS_A_PAGE)])


def unknown_page(search: BingSearch) -> bytes:
    """Results in a layout that no parser knows."""
    return render(TEMPLATE, "unknown", search=search, results=[_result(search, rank) for rank in search.ranks])


def _result(search: BingSearch, rank: int) -> Data:
    result = search.result(rank)
    return {**result, "link": _tracked(result["link"])}


def _decoy(search: BingSearch, rank: int) -> Data:
    return {
        "rank": rank,
        "link": _tracked(f"https://words.example.net/{slug(search.word)}/{rank}"),
        "title": search.random("decoy", rank).choice(DECOYS).format(word=search.word),
        "source": "Word List",
        "host": "words.example.net",
        "snippet": f"“{search.word}” is a word with {len(search.word)} letters, and this is all there is to say.",
        "date": None,
    }


def _tracked(link: str) -> str:
    """The link through Bing's redirect."""
    encoded = urlsafe_b64encode(link.encode()).decode().rstrip("=")
    return f"{BING}/ck/a?!&&p=inventedJmltdHM9MTc2NzIyNTYwMA&ptn=3&ver=2&hsh=4&u=a1{encoded}&ntb=1"


def _paid(rows: list[Data]) -> list[Data]:
    """Ads, with their links through the redirect of ads."""
    quoted = [b64encode(quote(row["link"], safe="").encode()).decode() for row in rows]
    return [
        {**row, "link": f"{BING}/aclk?ld=e8invented&u={quote_plus(link)}"}
        for row, link in zip(rows, quoted, strict=True)
    ]


def _stats(search: BingSearch) -> str:
    if search.start == 1:
        return f"About {RESULTS} results"
    return f"{search.start}-{search.ranks[-1]} of {RESULTS} results"


def _in_own_market(other_page: Callable[[BingSearch], bytes]) -> Handler:
    """Results where the requested market is that of the client's country, `other_page` elsewhere."""

    def answer(request: SandboxRequest) -> SiteReply:
        is_own = request.first("mkt").endswith(f"-{CLIENT_COUNTRY}")
        return _handler(page if is_own else other_page)(request)

    return answer


def _captcha(request: SandboxRequest) -> SiteReply:
    challenge = challenge_id(request.url)
    return html(TEMPLATE, "captcha", q=request.first("q"), url=request.url, challenge=challenge, cookie=CAPTCHA_COOKIE)


def _error(status: HTTPStatus, reason: str) -> SiteReply:
    return html(TEMPLATE, "error", status, error=status, reason=reason)


SCENARIOS: dict[str, Handler] = {
    **failures(_error),
    **dict.fromkeys(("captcha", "enablejs"), until_solved(CAPTCHA_COOKIE, _handler(page), _captcha)),
    "consent": _handler(page),  # Bing has no such page
    "empty": _handler(empty_page),
    "layout": _handler(unknown_page),
    "market": _in_own_market(empty_page),
    "degraded": _handler(degraded_page),
    "fickle": _in_own_market(degraded_page),
    "repeat": _handler(lambda search: page(replace(search, first=1))),
    "undecoded": _handler(lambda search: zlib.compress(page(search))),
}
