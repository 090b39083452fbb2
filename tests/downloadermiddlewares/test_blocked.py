"""Further attempts, by warm crawlers and batches against the sandbox, over real sockets."""

import asyncio
import sys
from types import ModuleType

import pytest
import pytest_twisted
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import BlockedError, ConfigError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.proxies import Proxy
from webdata.downloadermiddlewares.blocked import captcha_hook
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports.handler import TransportsHandler
from webdata.resources.bing_search import BING_SEARCH, BingQuery
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.sandbox.server import Sandbox
from webdata.spiders.google_web import GoogleWebSpider

pytestmark = pytest.mark.task

DEAD = Proxy("http://127.0.0.1:1", "ANY", "ANY-1")


class FakeBrowserHandler(TransportsHandler):
    """Fakes a browser that passes captchas: it requests the page without one. A query with `broken` makes it fail."""

    async def download_request(self, request):
        if Fetch.of(request).transport == "browser":
            if "broken" in request.url:
                raise UpstreamError("the browser ended before the page was won", "browser")
            plain = request.replace(url=request.url.replace("sandbox%3Acaptcha", ""))
            return await super().download_request(plain.replace(meta={**request.meta, FETCH: Fetch()}))
        return await super().download_request(request)


@pytest_twisted.async_yield_fixture
async def opened(starts):
    """Makes warm crawlers over one sandbox, with settings; `proxies` are added to the sandbox's proxy."""
    sandbox, made = Sandbox(), []
    url = await deferred_from_coro(sandbox.start())

    def make(proxies=(), spiders=None, **settings):
        own = scrapy_settings()
        own.setdict(
            {"SANDBOX_URL": url, "DOWNLOAD_HANDLERS": {"https": FakeBrowserHandler}, "CHROMIUM": "one", **settings}
        )
        if proxies:
            own.setdict({"PROXIES": {"ANY": (*proxies, Proxy(url, "ANY", "ANY-2"))}, "SANDBOX_PROXIES": True})
        made.append(WarmCrawlers(spiders or load_spiders(own), own, 8))
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


def summary(attempts):
    return [
        f"{attempt['transport']} {attempt['outcome']}/{attempt['kind']}".removesuffix("/None") for attempt in attempts
    ]


WITH_BROWSER = {"TRANSPORTS": ["http", "browser"]}


async def test_a_call_without_a_challenge_is_one_attempt(opened):
    """A page without a challenge is fetched by plain HTTP."""
    answer = await opened().answer(call("coffee"))
    assert (answer.transport, summary(answer.attempts)) == ("http", ["http ok"])
    assert "render" not in answer.timings


async def test_after_a_captcha_the_next_transport_is_used_and_remembered(opened):
    """After a block the next transport fetches the page; the next call begins with that transport."""
    warm = opened(**WITH_BROWSER)
    first = await warm.answer(call("coffee sandbox:captcha", num=3))
    assert (first.outcome, first.transport) == (Outcome.OK, "browser")
    assert summary(first.attempts) == ["http blocked/captcha", "browser ok"]
    assert first.record["query"] == "coffee sandbox:captcha"
    assert 0 < first.timings["render"] < 5
    assert summary((await warm.answer(call("tea"))).attempts) == ["browser ok"]
    assert (await warm.answer(call("tea", region="DE"))).transport == "http"


class SeesThroughSpider(GoogleWebSpider):
    """Finds out while it reads a page that it is a block: plain HTTP gets no results."""

    async def parse(self, response, query):
        if Fetch.of(response).transport == "http":
            raise BlockedError("rows without names", "denied")
        async for record in super().parse(response, query):
            yield record


async def test_a_block_that_is_found_while_reading_escalates(opened):
    """After a page module's BlockedError the next transport is used, and remembered, as after any other block."""
    warm = opened(spiders=[SeesThroughSpider], **WITH_BROWSER)
    answer = await warm.answer(call("coffee", num=3))
    assert (answer.outcome, answer.transport) == (Outcome.OK, "browser")
    assert summary(answer.attempts) == ["http blocked/denied", "browser ok"]
    assert summary((await warm.answer(call("tea"))).attempts) == ["browser ok"]


async def test_a_sites_block_has_no_effect_on_other_sites(opened):
    """After a site's block only calls for that site begin with another transport."""
    warm = opened(**WITH_BROWSER)
    for _ in range(2):
        with pytest.raises(BlockedError):
            await warm.answer(page("https://one.example/challenge/cloudflare"))
    assert (await warm.answer(page("https://one.example/article"))).transport == "browser"
    assert (await warm.answer(page("https://other.example/article"))).transport == "http"


async def test_a_browser_that_cannot_be_guarded_is_not_used(opened):
    """Where the egress guard is on, a remote browser is not used."""
    warm = opened(BROWSER_URL="ws://127.0.0.1:1", **WITH_BROWSER)
    with pytest.raises(BlockedError):
        await warm.answer(page("https://one.example/challenge/cloudflare"))
    assert "browser" in warm.fetch_resources[True].transports.transports
    assert (await warm.answer(page("https://one.example/article"))).transport == "http"


async def test_calls_at_once_escalate_independently(opened):
    """Challenged calls at the same time each get their own page."""
    warm = opened(**WITH_BROWSER)
    queries = [f"query {number} sandbox:captcha" for number in range(8)]
    answers = await asyncio.gather(*(warm.answer(call(q)) for q in queries))
    assert [answer.record["query"] for answer in answers] == queries
    assert {answer.transport for answer in answers} == {"browser"}


async def test_a_consent_form_is_sent(opened):
    """The form is sent and the page requested again; the next calls have its cookie."""
    warm = opened()
    first = await warm.answer(call("coffee sandbox:consent"))
    assert summary(first.attempts) == ["http blocked/consent", "http ok"]
    assert summary((await warm.answer(call("tea sandbox:consent"))).attempts) == ["http ok"]


async def test_a_temporary_failure_is_repeated(opened):
    """After an error of the upstream the request is repeated."""
    answer = await opened().answer(call("coffee sandbox:error sandbox:once=2"))
    assert summary(answer.attempts) == ["http upstream/http_500"] * 2 + ["http ok"]


@pytest.mark.parametrize(
    ("scenario", "outcome", "attempts"),
    [
        ("error", "upstream", ["http/upstream"] * 3),
        ("truncated", "upstream", ["http/upstream"] * 3),
        ("denied", "blocked", ["http/blocked"]),
        ("layout", "layout", ["http/ok"]),
    ],
)
@pytest.mark.usefixtures("starts")
async def test_a_persistent_failure_ends_after_the_maximum_of_attempts(tmp_path, scenario, outcome, attempts):
    """Failures are repeated up to the maximum of attempts; persistent blocks and unknown layouts are not."""
    (failure,), counted = await ran(tmp_path, f"coffee sandbox:{scenario}", MAX_STEPS=3)
    assert (failure.outcome, counted) == (outcome, attempts)


async def test_a_broken_browser_is_counted_as_lost(opened):
    """The browser's own failures count as losses of its transport."""
    warm = opened(**WITH_BROWSER, MAX_STEPS=3)
    with pytest.raises(UpstreamError):
        await warm.answer(call("sandbox:captcha broken"))
    snapshot = warm.fetch_resources[True].transports.snapshot()
    (row,) = [row for row in snapshot if (row["engine"], row["transport"]) == ("google_web", "browser")]
    assert (row["won"], row["attempts"]) == (0, 2)


async def test_an_empty_answer_is_requested_once(opened):
    """An empty answer is not requested again."""
    answer = await opened().answer(call("coffee sandbox:empty"))
    assert (answer.outcome, summary(answer.attempts)) == (Outcome.EMPTY, ["http ok"])


async def test_degraded_results_are_requested_again(opened):
    """A degraded answer is not returned while attempts are left."""
    answer = await opened().answer(bing("coffee shop sandbox:degraded sandbox:once"))
    assert answer.outcome is Outcome.OK
    assert summary(answer.attempts)[0] == "http degraded"
    assert summary(answer.attempts)[-1] == "http ok"


async def test_persistently_degraded_results_are_returned(opened):
    """After the last attempt a degraded answer is returned."""
    answer = await opened().answer(bing("coffee shop sandbox:degraded"))
    assert answer.outcome is Outcome.DEGRADED
    assert 1 < len(answer.attempts) <= 4


async def test_no_attempt_begins_after_the_deadline(opened):
    """Pauses between attempts end at the deadline of the call."""
    warm = opened(BACKOFF=30, BACKOFF_MAX=30)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(UpstreamError):
        await warm.answer(call("coffee sandbox:error", deadline=1))
    assert loop.time() - begun < 1.2


async def test_a_dead_proxy_costs_an_attempt(opened):
    """After a proxy's failure the call uses another proxy."""
    warm = opened(proxies=[DEAD])
    answers = [await warm.answer(call(f"coffee {number}")) for number in range(6)]
    attempts = [attempt for answer in answers for attempt in answer.attempts]
    assert {answer.attempts[-1]["proxy"] for answer in answers} == {"ANY-2"}
    assert all(attempt["kind"] == "proxy" for attempt in attempts if attempt["proxy"] == "ANY-1")
    (dead,) = [row for row in warm.fetch_resources[True].proxies.snapshot() if row["proxy"] == "ANY-1"]
    assert dead["lost"] == len([attempt for attempt in attempts if attempt["proxy"] == "ANY-1"])


async def test_the_operators_hook_solves_captchas(opened, monkeypatch):
    """The request that the hook returns is sent next, by the same transport."""
    seen = []

    async def hook(response, error):
        seen.append((response.status, error.kind))
        return Request("https://www.google.com/search?q=coffee")

    monkeypatch.setitem(sys.modules, "captchas", ModuleType("captchas"))
    sys.modules["captchas"].hook = hook
    answer = await opened(CAPTCHA_HOOK="captchas:hook").answer(call("sandbox:captcha"))
    assert seen == [(429, "captcha")]
    assert summary(answer.attempts) == ["http blocked/captcha", "http ok"]


async def test_a_hook_that_fails_has_no_effect(opened, monkeypatch, caplog):
    """The hook's error is logged, and the call continues without it."""

    async def hook(response, error):
        raise RuntimeError("no credit left")

    monkeypatch.setitem(sys.modules, "captchas", ModuleType("captchas"))
    sys.modules["captchas"].hook = hook
    answer = await opened(CAPTCHA_HOOK="captchas:hook", **WITH_BROWSER).answer(call("coffee sandbox:captcha"))
    assert answer.transport == "browser"
    assert "no credit left" in caplog.text


@pytest.mark.parametrize("name", ["nowhere.at_all:hook", "sys:no_such_thing"])
async def test_a_missing_hook_is_a_mistake(name):
    """The message names the setting and the valid form."""
    with pytest.raises(ConfigError, match="WEBDATA_CAPTCHA_HOOK cannot be"):
        captcha_hook(name)


async def test_a_hook_that_is_not_async_is_a_mistake():
    """A function that cannot be awaited is refused at the start."""
    with pytest.raises(ConfigError, match="cannot be 'os:getpid', which is not async: give an async function"):
        captcha_hook("os:getpid")


async def ran(folder, *queries, **settings):
    """The items of a batch, and its attempts as `transport/outcome`, by Scrapy's stats."""
    own = scrapy_settings()
    feeds = {"FEEDS": {}, "FAILURES_FEED": str(folder / "failures.jsonl")}
    own.setdict(
        {"SANDBOX": True, "DOWNLOAD_HANDLERS": {"https": FakeBrowserHandler}, "CHROMIUM": "one", **feeds, **settings}
    )
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


@pytest.mark.usefixtures("starts")
async def test_batches_escalate_too(tmp_path):
    """Each query of a file has the attempts of a call."""
    queries = ("coffee sandbox:captcha", "tea sandbox:error sandbox:once", "milk sandbox:limited")
    items, attempts = await ran(tmp_path, *queries, **WITH_BROWSER)
    assert {item["query"] for item in items if isinstance(item, dict)} == set(queries[:2])
    assert [item.kind for item in items if not isinstance(item, dict)] == ["captcha"]
    assert {"browser/ok", "browser/blocked", "http/blocked"} <= set(attempts)
