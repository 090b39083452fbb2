"""Google News: the feed of a search, the pages of its articles, and the call that returns the articles' URLs.

Its own scenarios (see `webdata.sandbox.scenarios`):

| scenario | effect |
|---|---|
| `sandbox:unsupported` | the feed that reports that the requested one is not available |
| `sandbox:old_links` | article ids from before July 2024, which contain the publishers' URLs |
| `sandbox:links_limited` | a normal feed, 429 for its articles |
| `sandbox:links_consent` | a normal feed, the consent page for its articles |
| `sandbox:links_down` | a normal feed, broken connections for its articles |
| `sandbox:links_slow` | a normal feed, its articles after 5 seconds; `sandbox:links_slow=SECONDS` |

`sandbox:slow` applies to the feed, its articles and the call.
"""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from webdata.runtime.wire.exchange import Handler, Headers, SandboxRequest, SiteReply, redirect
from webdata.sandbox.invention import PUBLISHERS, slug
from webdata.sandbox.scenarios import apply_scenarios, scenarios
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _news_ids
from webdata.sandbox.sites._searches import WRONG_METHOD, Data, Search
from webdata.sandbox.templates import html, render

HOSTS = ("news.google.com",)

XML: Headers = (("Content-Type", "application/xml; charset=UTF-8"),)
JSON: Headers = (("Content-Type", "application/json; charset=UTF-8"),)
GUARD = ")]}'\n\n"
CALL = "Fbv4je"
CALL_PATH = "/_/DotsSplashUi/data/batchexecute"
ARTICLE_FOLDERS = ("/rss/articles/", "/articles/", "/read/")
LINK_SCENARIOS = {"links_limited": "limited", "links_consent": "consent", "links_down": "reset", "links_slow": "slow"}
"""The scenarios of articles by those of their feed."""
TEMPLATE = "sites/google_news"
SITE = "https://news.google.com"
ENTRIES = 100
"""The length of a search's feed."""
CLUSTERS = 40
"""One entry in this many is a cluster."""
CACHED_FEEDS = 32
OLDEST = 40_000
"""Minutes since the oldest article."""
AGE = re.compile(r"\bwhen:([1-9][0-9]?)([hdmy])\b")
"""The operator of how old articles are at most."""
MINUTES = {"h": 60, "d": 24 * 60, "m": 30 * 24 * 60, "y": 365 * 24 * 60}
NOW = datetime(2026, 7, 14, 4, 8, 56, tzinfo=UTC)
"""The build time of every feed."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class NewsSearch(Search):
    """The parameters of one feed."""

    hl: str
    gl: str
    ceid: str
    article_scenarios: str = ""
    """The scenarios of the articles' pages, as search terms."""
    legacy_ids: bool = False
    """Whether the ids contain the articles' URLs."""

    @property
    def topic(self) -> str:
        return AGE.sub("", super().topic).strip()

    @property
    def oldest(self) -> int:
        """Minutes since the oldest article of the feed."""
        return min([OLDEST, *(int(number) * MINUTES[unit] for number, unit in AGE.findall(self.q))])

    @property
    def market(self) -> tuple[object, ...]:
        return (self.ceid,)


@lru_cache(maxsize=CACHED_FEEDS)
def feed(search: NewsSearch, entries: int = ENTRIES, *, is_supported: bool = True) -> bytes:
    """The feed of a search, or that which reports that there is none. The same search always gives the same bytes."""
    q = NOT_XML.sub("", search.q)
    return render(
        TEMPLATE,
        "feed",
        q=q,
        hl=NOT_XML.sub("", search.hl),
        link=f"{SITE}/search?{urlencode({'q': q, 'hl': search.hl, 'gl': search.gl, 'ceid': search.ceid})}",
        date=_date(0),
        entries=[_entry(search, number) for number in range(entries if is_supported else 0)],
        is_supported=is_supported,
    )


def _entry(search: NewsSearch, number: int) -> Data:
    """An entry's date and article, and in some entries the others of a cluster that begins with it."""
    random = search.random("cluster", number)
    count = random.number(2, 9) if random.chance(CLUSTERS) else 1
    articles = [_listed(search, number, index) for index in range(count)]
    return {"date": _date(search.random("entry", number).number(1, search.oldest)), "articles": articles}


def _listed(search: NewsSearch, number: int, index: int) -> Data:
    random, topic = search.random("article", number, index), NOT_XML.sub("", search.topic)
    publisher, host = random.choice(PUBLISHERS)
    url = f"https://{host}/{slug(topic)}/{number}-{index}?" + urlencode({"ref": "news", "edition": search.ceid})
    article_id = _news_ids.legacy_id(url) if search.legacy_ids else _news_ids.opaque_id(url, search.article_scenarios)
    return {
        "id": article_id,
        "link": f"{SITE}/rss/articles/{article_id}?oc=5",
        "title": random.title(topic),
        "publisher": publisher,
        "home": f"https://{host}",
    }


def _date(minutes: int) -> str:
    """The date of an article, in minutes before the build time."""
    return format_datetime(NOW - timedelta(minutes=minutes), usegmt=True)


def answer(request: SandboxRequest) -> SiteReply:
    """A feed, an article's page, the URLs of articles, or a page of `_google_interstitials`."""
    if request.path == CALL_PATH:
        return _call(request)
    if request.method not in ("GET", "HEAD"):
        return interstitials.error(HTTPStatus.METHOD_NOT_ALLOWED, WRONG_METHOD)
    if request.path.startswith(ARTICLE_FOLDERS):
        return _article(request)
    return PAGES.get(request.path, _missing)(request)


def _results(request: SandboxRequest) -> SiteReply:
    terms = request.first("q")
    return apply_scenarios(request, terms, _feed, SCENARIOS) if terms.strip() else _missing(request)


def _missing(_request: SandboxRequest) -> SiteReply:
    return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _feed(request: SandboxRequest) -> SiteReply:
    return SiteReply(200, XML, feed(_search(request)))


def _search(request: SandboxRequest) -> NewsSearch:
    requested = scenarios(request.first("q"))
    links = [scenario for scenario in requested if scenario.name in (*LINK_SCENARIOS, "slow")]
    of_articles = (replace(scenario, name=LINK_SCENARIOS.get(scenario.name, "slow")) for scenario in links)
    return NewsSearch(
        q=request.first("q"),
        hl=request.first("hl") or "en-US",
        gl=request.first("gl") or "US",
        ceid=request.first("ceid") or "US:en",
        article_scenarios=" ".join(map(str, of_articles)),
        legacy_ids=any(scenario.name == "old_links" for scenario in requested),
    )


def _article(request: SandboxRequest) -> SiteReply:
    article = _news_ids.decoded(_id(request))
    if article is None:
        return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such article here.")
    return apply_scenarios(request, article[1], _article_page, ARTICLE_SCENARIOS)


def _article_page(request: SandboxRequest) -> SiteReply:
    article_id, time = _id(request), _news_ids.TIME
    signature = _news_ids.signature(article_id, time)
    return html(TEMPLATE, "article", id=article_id, time=time, signature=signature)


def _id(request: SandboxRequest) -> str:
    return request.path.rpartition("/")[2]


def _call(request: SandboxRequest) -> SiteReply:
    """The URLs of all signed ids of one call."""
    try:
        signed_ids = [_signed_id(row) for row in json.loads(request.form["f.req"][0])[0]]
    except (KeyError, IndexError, TypeError, ValueError):
        return interstitials.error(HTTPStatus.BAD_REQUEST, "This is no call.")
    articles = [_news_ids.decoded(article_id) for article_id, *_ in signed_ids]
    terms = next((article[1] for article in articles if article), "")
    return apply_scenarios(request, terms, lambda _: _urls(signed_ids, articles), ARTICLE_SCENARIOS)


SignedId = tuple[str, int, str, str]


def _signed_id(row: list[Any]) -> SignedId:
    """The id, time, signature and number in `["Fbv4je", '["garturlreq", …, ID, TIME, SIGNATURE]', null, NUMBER]`."""
    article_id, time, signature = json.loads(row[1])[2:5]
    return str(article_id), int(time), str(signature), str(row[3])


def _urls(signed_ids: list[SignedId], articles: list[tuple[str, str] | None]) -> SiteReply:
    frames: list[list[Any]] = []
    for (article_id, time, signature, number), article in zip(signed_ids, articles, strict=True):
        result = None
        if article and signature == _news_ids.signature(article_id, time):
            result = json.dumps(["garturlres", article[0], 1])
        frames.append(["wrb.fr", CALL, result, None, None, None, number])
    return SiteReply(200, JSON, (GUARD + json.dumps([*frames, ["di", 12]])).encode())


SCENARIOS: dict[str, Handler] = {
    **interstitials.by_scenario(_feed),
    "empty": lambda request: SiteReply(200, XML, feed(_search(request), entries=0)),
    "layout": lambda request: html(TEMPLATE, "layout", q=request.first("q")),
    "unsupported": lambda _: redirect(f"{SITE}/rss/unsupported"),
    **dict.fromkeys(("old_links", *LINK_SCENARIOS), _feed),
}
ARTICLE_SCENARIOS: dict[str, Handler] = {
    "limited": interstitials.limited,
    "consent": partial(interstitials.consent, _article_page),
}
PAGES: dict[str, Handler] = {
    "/rss/search": _results,
    "/rss/unsupported": lambda request: SiteReply(200, XML, feed(_search(request), is_supported=False)),
    "/sorry/index": interstitials.sorry,
}
