"""Climbing, by warm crawlers and batches against the sandbox over real sockets."""

import asyncio
import sys
from types import ModuleType

import pytest
import pytest_twisted
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro

from webdata.config.proxies import Proxy
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import BlockedError, ConfigError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.downloadermiddlewares.blocked import captcha_hook
from webdata.fetching.fetch import FETCH, Fetch
from webdata.resources.bing_search import BING_SEARCH, BingQuery
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.sandbox.server import Sandbox
from webdata.spiders.google_web import GoogleWebSpider
from webdata.transports.handler import TransportsHandler

pytestmark = pytest.mark.task

DEAD = Proxy("http://127.0.0.1:1", "ANY", "ANY-1")


class StandingIn(TransportsHandler):
    """A browser that passes captchas, without one: it asks for the page behind. Some pages break it."""

    async def download_request(self, request):
        if Fetch.of(request).transport == "browser":
            if "broken" in request.url:
                raise UpstreamError("the browser ended before the page was won", "browser")
            behind = request.replace(url=request.url.replace("sandbox%3Acaptcha", ""))
            return await super().download_request(behind.replace(meta={**request.meta, FETCH: Fetch()}))
        return await super().download_request(request)


@pytest_twisted.async_yield_fixture
async def opened():
    """Makes warm crawlers over one sandbox, with settings; `proxies` are used beside the sandbox's own."""
    sandbox, made = Sandbox(), []
    url = await sandbox.start()

    def make(proxies=(), **settings):
        own = scrapy_settings()
        own.setdict({"SANDBOX_URL": url, "DOWNLOAD_HANDLERS": {"https": StandingIn}, "CHROMIUM": "one", **settings})
        if proxies:
            own.setdict({"PROXIES": {"ANY": (*proxies, Proxy(url, "ANY", "ANY-2"))}, "SANDBOX_PROXIES": True})
        made.append(WarmCrawlers(load_spiders(own), own, 8))
        return made[-1]

    yield make
    for warm in made:
        await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def call(q, deadline=20.0, **fields):
    return Call(WEB_SEARCH, WebQuery(q=q, **fields), sandbox=True, deadline=deadline)


def bing(q):
    return Call(BING_SEARCH, BingQuery(q=q), sandbox=True, deadline=20)


def page(url, response_type="full"):
    return Call(URL_REQUEST, UrlQuery(url=url, response_type=response_type), sandbox=True, deadline=20)


def told(attempts):
    return [
        f"{attempt['transport']} {attempt['outcome']}/{attempt['kind']}".removesuffix("/None") for attempt in attempts
    ]


WITH_BROWSER = {"TRANSPORTS": ["http", "browser"]}


async def test_an_unchallenged_call_is_one_step(opened):
    """A page that comes at once is won by plain HTTP."""
    answer = await opened().answer(call("coffee"))
    assert (answer.transport, told(answer.attempts)) == ("http", ["http ok"])
    assert "render" not in answer.timings


async def test_a_captcha_is_left_to_the_browser_and_the_next_call_begins_there(opened):
    """After a block the next transport wins the page, for the same query; the next call starts where it worked."""
    warm = opened(**WITH_BROWSER)
    first = await warm.answer(call("coffee sandbox:captcha", num=3))
    assert (first.outcome, first.transport) == (Outcome.OK, "browser")
    assert told(first.attempts) == ["http blocked/captcha", "browser ok"]
    assert first.record["query"] == "coffee sandbox:captcha"
    assert 0 < first.timings["render"] < 5
    assert told((await warm.answer(call("tea"))).attempts) == ["browser ok"]
    assert (await warm.answer(call("tea", region="DE"))).transport == "http"


async def test_one_sites_block_is_no_other_sites(opened):
    """A site that is lost with sends those who ask it elsewhere, and nobody else."""
    warm = opened(**WITH_BROWSER)
    for _ in range(2):
        with pytest.raises(BlockedError):
            await warm.answer(page("https://one.example/challenge/cloudflare"))
    assert (await warm.answer(page("https://one.example/article"))).transport == "browser"
    assert (await warm.answer(page("https://other.example/article"))).transport == "http"


async def test_a_browser_that_the_guard_cannot_hold_is_left_out(opened):
    """Where targets are guarded, a browser that runs elsewhere is no attempt."""
    warm = opened(BROWSER_URL="ws://127.0.0.1:1", **WITH_BROWSER)
    with pytest.raises(BlockedError):
        await warm.answer(page("https://one.example/challenge/cloudflare"))
    assert "browser" in warm.fetch_resources[True].transports.transports
    assert (await warm.answer(page("https://one.example/article"))).transport == "http"


async def test_calls_at_once_climb_each_by_itself(opened):
    """Challenged calls that run at the same time all get their own page."""
    warm = opened(**WITH_BROWSER)
    queries = [f"query {number} sandbox:captcha" for number in range(8)]
    answers = await asyncio.gather(*(warm.answer(call(q)) for q in queries))
    assert [answer.record["query"] for answer in answers] == queries
    assert {answer.transport for answer in answers} == {"browser"}


async def test_a_consent_page_is_answered(opened):
    """The form is sent and the page asked for again; the cookie that it sets serves the next calls."""
    warm = opened()
    first = await warm.answer(call("coffee sandbox:consent"))
    assert told(first.attempts) == ["http blocked/consent", "http ok"]
    assert told((await warm.answer(call("tea sandbox:consent"))).attempts) == ["http ok"]


async def test_a_failure_that_passes_is_asked_for_again(opened):
    """An error of the upstream costs another attempt, not the call."""
    answer = await opened().answer(call("coffee sandbox:error sandbox:once=2"))
    assert told(answer.attempts) == ["http upstream/http_500"] * 2 + ["http ok"]


@pytest.mark.parametrize(
    ("word", "outcome", "attempts"),
    [
        ("error", "upstream", ["http/upstream"] * 3),
        ("truncated", "upstream", ["http/upstream"] * 3),
        ("denied", "blocked", ["http/blocked"]),
        ("layout", "layout", ["http/ok"]),
    ],
)
async def test_what_stays_is_told_after_as_many_steps_as_are_allowed(tmp_path, word, outcome, attempts):
    """Failures are repeated up to the number of attempts; blocks that nothing passes and unknown shapes are not."""
    (failure,), counted = await ran(tmp_path, f"coffee sandbox:{word}", MAX_STEPS=3)
    assert (failure.outcome, counted) == (outcome, attempts)


async def test_a_browser_that_breaks_rests(opened):
    """A transport that fails by itself is counted against, and calls soon do without it."""
    warm = opened(**WITH_BROWSER, MAX_STEPS=3)
    with pytest.raises(UpstreamError):
        await warm.answer(call("sandbox:captcha broken"))
    (row,) = [row for row in warm.fetch_resources[True].transports.snapshot() if row["transport"] == "browser"]
    assert (row["won"], row["attempts"]) == (0, 2)


async def test_an_empty_answer_is_asked_for_once(opened):
    """That nothing was found is an answer."""
    answer = await opened().answer(call("coffee sandbox:empty"))
    assert (answer.outcome, told(answer.attempts)) == (Outcome.EMPTY, ["http ok"])


async def test_results_that_do_not_answer_are_asked_for_again(opened):
    """A degraded answer is not taken while there are attempts left."""
    answer = await opened().answer(bing("coffee shop sandbox:degraded sandbox:once"))
    assert answer.outcome is Outcome.OK
    assert told(answer.attempts)[0] == "http degraded"
    assert told(answer.attempts)[-1] == "http ok"


async def test_results_that_never_answer_are_given_as_such(opened):
    """After the last attempt a degraded answer is better than none."""
    answer = await opened().answer(bing("coffee shop sandbox:degraded"))
    assert answer.outcome is Outcome.DEGRADED
    assert 1 < len(answer.attempts) <= 4


async def test_there_are_no_steps_beyond_the_deadline(opened):
    """Pauses between repetitions end with the time of the call."""
    warm = opened(BACKOFF=30, BACKOFF_MAX=30)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(UpstreamError):
        await warm.answer(call("coffee sandbox:error", deadline=1))
    assert loop.time() - begun < 1.2


async def test_a_dead_proxy_costs_a_step(opened):
    """A call that lost its proxy goes out by another one."""
    warm = opened(proxies=[DEAD])
    answers = [await warm.answer(call(f"coffee {number}")) for number in range(6)]
    attempts = [attempt for answer in answers for attempt in answer.attempts]
    assert {answer.attempts[-1]["proxy"] for answer in answers} == {"ANY-2"}
    assert all(attempt["kind"] == "proxy" for attempt in attempts if attempt["proxy"] == "ANY-1")
    (dead,) = [row for row in warm.fetch_resources[True].proxies.snapshot() if row["proxy"] == "ANY-1"]
    assert dead["lost"] == len([attempt for attempt in attempts if attempt["proxy"] == "ANY-1"])


async def test_the_operators_hook_answers_captchas(opened, monkeypatch):
    """What the hook makes of a captcha is asked for next, by the same transport."""
    seen = []

    async def hook(response, error):
        seen.append((response.status, error.kind))
        return Request("https://www.google.com/search?q=coffee")

    monkeypatch.setitem(sys.modules, "captchas", ModuleType("captchas"))
    sys.modules["captchas"].hook = hook
    answer = await opened(CAPTCHA_HOOK="captchas:hook").answer(call("sandbox:captcha"))
    assert seen == [(429, "captcha")]
    assert told(answer.attempts) == ["http blocked/captcha", "http ok"]


async def test_a_hook_that_fails_changes_nothing(opened, monkeypatch, caplog):
    """Its error is told in the log, and the call climbs as if there were none."""

    async def hook(response, error):
        raise RuntimeError("no credit left")

    monkeypatch.setitem(sys.modules, "captchas", ModuleType("captchas"))
    sys.modules["captchas"].hook = hook
    answer = await opened(CAPTCHA_HOOK="captchas:hook", **WITH_BROWSER).answer(call("coffee sandbox:captcha"))
    assert answer.transport == "browser"
    assert "no credit left" in caplog.text


@pytest.mark.parametrize("name", ["nowhere.at_all:hook", "sys:no_such_thing"])
async def test_a_hook_that_is_not_there_is_a_mistake(name):
    """The message names the setting and what would be right."""
    with pytest.raises(ConfigError, match="WEBDATA_CAPTCHA_HOOK cannot be"):
        captcha_hook(name)


async def test_a_hook_that_is_not_async_is_a_mistake():
    """What cannot be awaited would fail at the first captcha."""
    with pytest.raises(ConfigError, match="cannot be 'os:getpid', which is not async: give an async function"):
        captcha_hook("os:getpid")


async def ran(folder, *queries, **settings):
    """What became of the queries of a batch, and its attempts as `transport/outcome`, counted by the stats."""
    own = scrapy_settings()
    feeds = {"FEEDS": {}, "FAILURES_FEED": str(folder / "failures.jsonl")}
    own.setdict({"SANDBOX": True, "DOWNLOAD_HANDLERS": {"https": StandingIn}, "CHROMIUM": "one", **feeds, **settings})
    file = folder / "queries.txt"
    file.write_text("\n".join(queries))
    crawler, items = Crawler(GoogleWebSpider, own), []

    def item_scraped(item):
        items.append(item)

    crawler.signals.connect(item_scraped, signals.item_scraped)
    await crawler.crawl_async(queries=str(file))
    stats = crawler.stats.get_stats()
    attempts = {
        key.removeprefix("webdata/attempts/"): n for key, n in stats.items() if key.startswith("webdata/attempts/")
    }
    return items, [attempt for attempt, number in sorted(attempts.items()) for _ in range(number)]


async def test_batches_climb_too(tmp_path):
    """Each query of a file is won like a call."""
    queries = ("coffee sandbox:captcha", "tea sandbox:error sandbox:once", "milk sandbox:limited")
    items, attempts = await ran(tmp_path, *queries, **WITH_BROWSER)
    assert {item["query"] for item in items if isinstance(item, dict)} == set(queries[:2])
    assert [item.kind for item in items if not isinstance(item, dict)] == ["captcha"]
    assert {"browser/ok", "browser/blocked", "http/blocked"} <= set(attempts)
