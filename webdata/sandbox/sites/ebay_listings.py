"""eBay's search: listings in the layout of 2026, with invented content, on the sites of many countries.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, enablejs, denied, limited, error, empty and
layout:

| scenario | effect |
|---|---|
| `sandbox:few` | three listings match, nine more match fewer words |
| `sandbox:loose` | nothing matches, nine listings match fewer words |
| `sandbox:evo` | the layout called search-evo |
| `sandbox:signin` | a redirect to the sign-in page |
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from webdata.runtime.wire.exchange import HTML, Handler, SandboxRequest, SiteReply, redirect
from webdata.sandbox.challenges import challenge_id, until_solved
from webdata.sandbox.scenarios import failures
from webdata.sandbox.sites._searches import CACHED_PAGES, Data, Search, answer_search, whole_number
from webdata.sandbox.templates import data, html, render

HOSTS = (".ebay.com", ".ebay.??", ".ebay.co.??", ".ebay.com.??")
TEMPLATE = "sites/ebay_listings"
SIZES = ("60", "120", "240")
GALLERY = "2"
"""The value of `_dmd` for a gallery; 1 is the list."""
CHALLENGE_COOKIE = "dp1"
CAPTCHA, CHALLENGE = "/splashui/captcha", "/splashui/challenge"
CHECK = "Pardon Our Interruption..."

LANGUAGES = {"ebay.de": "de", "ebay.at": "de", "ebay.ch": "de", "ebay.fr": "fr"}
"""By domain of the site; all others are in English."""
CURRENCIES = {"ebay.co.uk": "£{}", "ebay.ca": "C ${}", "ebay.com.au": "AU ${}", "ebay.ie": "EUR {}"}
"""The price formats of sites other than those of `LANGUAGES` (`EUR 12,50`) and the American one (`$12.50`)."""
RESULTS = 137
"""How many listings match any query."""
LOOSE_RESULTS = 9
MATCHES_BEFORE_LOOSE = 3
TITLES = (
    "{topic} - tested, works",
    "Vintage {topic}, one owner",
    "{topic} with box & papers",
    "Lot of 3: {topic}",
    "{topic} <spare part>",
    'Rare {topic} 12"',
    "{topic}, never used",
)
SELLERS = ("copper_lane", "orchard.goods", "lantern-alley", "millbridge88", "open*shed", "tinkers_attic")
LEADS = "ABCDEFGHJK"


@dataclass(frozen=True)
class ListingSearch(Search):
    """The parameters of one page of eBay's results."""

    host: str = "www.ebay.com"
    page: int = 1
    size: int = 60
    gallery: bool = False
    evo: bool = False
    """Whether the page has the layout search-evo, which is new in 2026."""
    matches: int = RESULTS
    """How many listings match; if not all, some more match fewer of the words."""
    loose: int = LOOSE_RESULTS
    """How many match fewer of the words, where not all match."""

    @property
    def domain(self) -> str:
        return self.host.removeprefix("www.")

    @property
    def market(self) -> tuple[object, ...]:
        return (self.domain,)

    @property
    def texts(self) -> Data:
        """The texts of the site's language; `{}` is an amount, a place or a number."""
        texts: Data = data("sites/_ebay_texts")[LANGUAGES.get(self.domain, "en")]
        return texts

    def money(self, cents: int) -> str:
        """A price as the marketplace writes it."""
        plain = f"{cents // 100:,}.{cents % 100:02}"
        if self.domain in LANGUAGES:
            return f"EUR {plain.translate(str.maketrans(',.', '.,'))}"
        return CURRENCIES.get(self.domain, "${}").format(plain)


def answer(request: SandboxRequest) -> SiteReply:
    """The home page, a page of results, or a scenario's page in its place."""
    path = request.path.rstrip("/")
    if path == "/sch/i.html":
        return answer_search(request, request.first("_nkw"), _handler(), SCENARIOS, _error)
    if path in (CAPTCHA, CHALLENGE):
        return _splash(_next(request), "Security Measure" if path == CAPTCHA else CHECK)
    if path == "" or request.host.startswith("signin."):
        return html(TEMPLATE, "home")
    return _error(HTTPStatus.NOT_FOUND, "This page is missing.")


@lru_cache(maxsize=CACHED_PAGES)
def page(search: ListingSearch) -> bytes:
    """The page of results: matching listings with a carousel between them, or fewer, and looser ones behind them."""
    is_full, start = search.matches == RESULTS, (search.page - 1) * search.size if search.matches == RESULTS else 0
    return render(
        TEMPLATE,
        "results",
        search=search,
        texts=search.texts,
        count=search.matches,
        matching=[_listing(search, index) for index in range(start, min(start + search.size, search.matches))],
        loose=[] if is_full else [_listing(search, RESULTS + 1 + index) for index in range(search.loose)],
        carousel=_listing(search, RESULTS) if is_full else None,
    )


@lru_cache(maxsize=CACHED_PAGES)
def unknown_page(search: ListingSearch) -> bytes:
    """The results in a layout that no parser knows."""
    return render(
        TEMPLATE, "unknown", search=search, texts=search.texts, listings=[_listing(search, index) for index in range(5)]
    )


def _listing(search: ListingSearch, index: int) -> Data:
    random = search.random("card", index)
    is_new, condition = random.chance(9), random.choice(search.texts["conditions"])
    cents = random.number(99, 90_000)
    more = search.money(cents + random.number(100, 9000))
    is_range, is_less = random.chance(5), random.chance(4)
    return {
        "item": f"{search.random('item', index).number(10**8, 10**9 - 1)}{index:03}",
        "title": _title(search, index),
        "is_new": is_new,
        "condition": condition,
        "price": search.money(cents),
        "most": more if is_range else "",
        "was": more if is_less else "",
        "bids": random.number(2, 40),
        "cost": search.money(random.number(199, 4000)),
        "format": random.choice(("buy_now", "best_offer", "bids")),
        "is_free": random.chance(3),
        "place": random.choice(search.texts["places"]),
        "has_returns": random.chance(4),
        "feedback": (f"{random.number(901, 999) / 10}", f"{random.number(1, 99)}.{random.number(1, 9)}K"),
        "seller": random.choice(SELLERS),
        "lead": random.choice(LEADS),
    }


def _title(search: ListingSearch, index: int) -> str:
    """A title with the terms; one that matches fewer words has only the first."""
    topic = search.topic if index <= RESULTS else search.topic.split()[0]
    return f"{search.random('title', index).choice(TITLES).format(topic=topic)} #{index + 1}"


def _handler(page: Callable[[ListingSearch], bytes] = page, **changes: Any) -> Handler:
    """A page of the request's search with some fields changed."""
    return lambda request: SiteReply(200, HTML, page(replace(_search(request), **changes)))


def _search(request: SandboxRequest) -> ListingSearch:
    return ListingSearch(
        q=request.first("_nkw"),
        host=request.host,
        page=whole_number(request.first("_pgn")) or 1,
        size=int(request.first("_ipg") if request.first("_ipg") in SIZES else SIZES[0]),
        gallery=request.first("_dmd") == GALLERY,
    )


def _to_captcha(request: SandboxRequest) -> SiteReply:
    parameters = urlencode({"ap": "1", "appName": "orch", "ru": request.url})
    return redirect(f"{request.scheme}://{request.host}{CAPTCHA}?{parameters}", 307)


def _splash(url: str, title: str) -> SiteReply:
    return html(TEMPLATE, "splash", title=title, url=url, challenge=challenge_id(url), cookie=CHALLENGE_COOKIE)


def _next(request: SandboxRequest) -> str:
    """The URL after the captcha, always on the same host."""
    root = f"{request.scheme}://{request.host}/"
    return request.first("ru") if request.first("ru").startswith(root) else root


def _sign_in(request: SandboxRequest) -> SiteReply:
    host = request.host.removeprefix("www.")
    return redirect(f"{request.scheme}://signin.{host}/ws/eBayISAPI.dll?{urlencode({'ru': request.url})}")


def _error(status: HTTPStatus, reason: str) -> SiteReply:
    return html(TEMPLATE, "error", status, error=status, reason=reason)


SCENARIOS: dict[str, Handler] = {
    **failures(_error),
    "captcha": until_solved(CHALLENGE_COOKIE, _handler(), _to_captcha),
    "enablejs": until_solved(CHALLENGE_COOKIE, _handler(), lambda request: _splash(request.url, CHECK)),
    "signin": _sign_in,
    "empty": _handler(matches=0, loose=0),
    "few": _handler(matches=MATCHES_BEFORE_LOOSE),
    "loose": _handler(matches=0),
    "evo": _handler(evo=True),
    "layout": _handler(unknown_page),
}
