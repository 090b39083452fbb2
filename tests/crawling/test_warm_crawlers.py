"""Warm crawlers against the sandbox, over real sockets."""

import asyncio
import logging
from dataclasses import replace

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import LogCounterHandler

from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import (
    BlockedError,
    CallerGoneError,
    ConfigError,
    FetchError,
    LayoutError,
    OutOfCreditsError,
    OverloadedError,
    PassedOverError,
    QueryError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.fetching.circuit_breaker import MOST_LOSSES
from webdata.pages._bing.web_search import MISSING
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.runtime.archives.exchange import ENGINE
from webdata.runtime.archives.files import packed_exchange
from webdata.runtime.archives.reader import archived_page
from webdata.runtime.process.shares import CallShare, FairQueue, HeldBytes
from webdata.sandbox.names import sandbox_resolver
from webdata.sandbox.server import Sandbox
from webdata.spiders.google_web import GoogleWebSpider

pytestmark = pytest.mark.task

MAX_CALLS = 4


@pytest_twisted.async_yield_fixture
async def crawlers():
    """Warm crawlers over a sandbox of their own."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await deferred_from_coro(sandbox.start()))
    warm = WarmCrawlers(load_spiders(settings), settings, MAX_CALLS)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def call(q, deadline=20.0, **fields):
    return Call(WEB_SEARCH, WebQuery(q=q, **fields), sandbox=True, deadline=deadline)


async def test_a_call_is_answered_with_a_record(crawlers):
    """An answer has the whole record, its outcome, its transport and the time of each phase."""
    answer = await crawlers.answer(call("coffee", num=3, region="DE"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "coffee"
    assert answer.record["device_region"] == "DE"
    assert len(answer.record["results"]) == 3
    assert answer.record["ts"] > 0
    assert (answer.engine, answer.transport) == ("google_web", "http")
    assert set(answer.timings) == {"queue", "fetch", "parse", "validate"}


async def test_an_answer_has_its_page_where_the_call_wants_it(crawlers):
    """The page that it was parsed from, with whose it is, and without the headers of the transfer."""
    answer = await crawlers.answer(replace(call("coffee"), with_page=True))
    page = archived_page(packed_exchange(answer.page.masked()))
    assert (page.status, page.header("content-type")) == (200, "text/html; charset=UTF-8")
    assert page.url.startswith("https://www.google.com/search?q=coffee")
    assert page.body.startswith(b"<!doctype html>")
    assert page.marks[ENGINE] == "google_web"
    assert (await crawlers.answer(call("coffee"))).page is None


async def test_a_page_that_is_for_its_caller_alone_is_not_kept(crawlers):
    """What a caller sends to a site of its own is a secret, with the answer to it."""
    query = UrlQuery(url="https://example.com/", response_type="full", headers={"X-Own": "1"})
    asked = Call(URL_REQUEST, query, sandbox=True, deadline=20.0, with_page=True)
    assert (await crawlers.answer(asked)).page is None


async def test_names_are_looked_up_for_the_account_of_their_call(crawlers):
    """A call's look-ups take the share of its account."""
    looked_up = []

    async def resolve(name, caller):
        looked_up.append((name, caller))
        return await sandbox_resolver(name)

    crawlers.fetch_resources[True] = replace(crawlers.fetch_resources[True], resolver=resolve)
    query = UrlQuery(url="https://example.com/article", response_type="full")
    await crawlers.answer(Call(URL_REQUEST, query, sandbox=True, deadline=20.0, share=CallShare("key-1", HeldBytes())))
    assert looked_up == [("example.com", "key-1")]


async def test_nothing_is_fetched_for_a_caller_who_has_gone(crawlers):
    """A call whose caller hangs up while it waits for its fetch ends without one; the others go on."""
    gone = set()
    shares = [CallShare("key", HeldBytes(), lambda number=number: number in gone) for number in range(4)]
    waiting = [asyncio.ensure_future(crawlers.answer(replace(call(f"c{one}"), share=shares[one]))) for one in range(4)]
    gone |= {1, 2}
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [isinstance(end, CallerGoneError) for end in ends] == [False, True, True, False]
    assert {end.outcome for end in ends[::3]} == {Outcome.OK}


async def test_a_fetch_goes_on_when_its_caller_has_gone(crawlers):
    """What has begun ends."""
    gone = []
    fetching = asyncio.ensure_future(
        crawlers.answer(replace(call("sandbox:slow=0.5"), share=CallShare("key", HeldBytes(), lambda: bool(gone))))
    )
    await asyncio.sleep(0.3)
    gone.append(True)
    assert (await fetching).outcome is Outcome.OK


async def test_a_session_belongs_to_an_account(crawlers):
    """The cookies of a session come back in its account's calls, and in no other account's of that name."""
    query = WebQuery(q="sandbox:once sandbox:error", session="mine")

    async def attempts(account):
        return len((await crawlers.answer(Call(WEB_SEARCH, query, True, 20.0, account))).attempts)

    assert [await attempts(account) for account in ("acc_a", "acc_a", "acc_b", "acc_b")] == [2, 1, 2, 1]


async def test_log_lines_are_not_counted(crawlers):
    """Open crawlers do not count the service's log lines: each would, for every line."""
    await crawlers.answer(call("coffee"))
    assert not [one for one in logging.root.handlers if isinstance(one, LogCounterHandler)]


async def test_a_page_past_the_last_is_empty(crawlers):
    """Past the last page the record and its outcome are empty."""
    answer = await crawlers.answer(call("coffee", start=1000))
    assert answer.outcome is Outcome.EMPTY
    assert answer.record["results"] == []


@pytest.mark.parametrize(
    ("q", "error", "kind"),
    [
        ("sandbox:captcha", BlockedError, "captcha"),
        ("sandbox:enablejs", BlockedError, "javascript"),
        ("sandbox:layout", LayoutError, None),
        ("sandbox:reset", UpstreamError, "reset"),
        ("sandbox:truncated", UpstreamError, "truncated"),
        ("sandbox:error", UpstreamError, "http_500"),
    ],
)
async def test_a_failed_fetch_has_its_error(crawlers, q, error, kind):
    """Each kind of failure has its own error, and none is an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(q))
    assert caught.value.kind == kind


async def test_a_slow_call_fails_at_its_deadline(crawlers):
    """The call fails at its deadline, and the crawl ends soon after it."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(UpstreamTimeoutError):
        await crawlers.answer(call("sandbox:slow=30", deadline=2))
    assert loop.time() - begun < 3
    await asyncio.sleep(0.7)
    assert crawlers.in_flight == 0


async def test_calls_beyond_the_limit_are_refused(crawlers):
    """A call beyond the limit is refused at once; when one ends the next is accepted."""
    slow = [asyncio.ensure_future(crawlers.answer(call("sandbox:slow=1"))) for _ in range(MAX_CALLS)]
    await asyncio.sleep(0.1)
    with pytest.raises(OverloadedError) as caught:
        await crawlers.answer(call("coffee"))
    assert caught.value.retry_after >= 1
    await asyncio.gather(*slow)
    assert (await crawlers.answer(call("coffee"))).outcome is Outcome.OK


async def test_calls_at_once_do_not_mix(crawlers):
    """Calls that run at the same time each get the answer to their query."""
    queries = [f"query {number}" for number in range(MAX_CALLS)]
    answers = await asyncio.gather(*(crawlers.answer(call(q)) for q in queries))
    assert [answer.record["query"] for answer in answers] == queries
    assert len({answer.record["results"][0]["link"] for answer in answers}) == MAX_CALLS


async def test_the_crawler_stays_warm(crawlers):
    """A second call opens no crawler, and so waits less in the queue than the first."""
    first = await crawlers.answer(call("coffee"))
    second = await crawlers.answer(call("tea"))
    assert second.timings["queue"] < first.timings["queue"]


async def test_closing_lets_calls_finish(crawlers):
    """A call in flight is answered although the crawlers are being closed."""
    slow = asyncio.ensure_future(crawlers.answer(call("sandbox:slow=0.5")))
    await asyncio.sleep(0.1)
    await crawlers.close(10)
    assert (await slow).outcome is Outcome.OK


def scripted(name, rank, text):
    """An engine of the web search that adds text, such as the sandbox's scenarios, to its queries."""

    def request(self, query):
        return GoogleWebSpider.request(self, query.model_copy(update={"q": f"{query.q} {text}".strip()}))

    return type(name, (GoogleWebSpider,), {"name": name, "rank": rank, "request": request})


@pytest_twisted.async_yield_fixture
async def opened():
    """Makes warm crawlers of engines, or of scripted ones by `(name, rank, text)`, over one sandbox."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await deferred_from_coro(sandbox.start()))
    made = []

    def make(*engines, observers=(), reserve=None, orders=None):
        spiders = [scripted(*engine) if isinstance(engine, tuple) else engine for engine in engines]
        own = settings.copy()
        own.set("ENGINE_ORDERS", orders or {}, priority="cmdline")
        made.append(WarmCrawlers(spiders, own, MAX_CALLS, observers, reserve))
        return made[-1]

    yield make
    for warm in made:
        await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def title(answer):
    return answer.record["results"][0]["title"]


async def test_the_lowest_rank_answers(opened):
    """Of several engines the one of the lowest rank answers, of equal ones the first by name."""
    ranked = opened(("a", 1, "far"), ("b", 0, "near"))
    named = opened(("d", 0, "far"), ("c", 0, "near"))
    assert "near" in title(await ranked.answer(call("coffee")))
    assert "near" in title(await named.answer(call("coffee")))
    assert ranked.resources == named.resources == [WEB_SEARCH]


@pytest.mark.parametrize("word", ["captcha", "layout", "error", "reset", "truncated"])
async def test_the_next_engine_answers_for_one_that_fetches_no_page(opened, word):
    """After a block, an unknown layout or a failure the next engine is requested, whose record is returned."""
    warm = opened(("a", 0, f"sandbox:{word}"), ("b", 1, ""))
    answer = await warm.answer(call("coffee"))
    assert (answer.outcome, answer.record["query"]) == (Outcome.OK, "coffee")
    assert (answer.engine, answer.attempts[0]["engine"], answer.attempts[-1]["engine"]) == ("b", "a", "b")
    assert answer.record["ts"] >= answer.timings["fetch"] > 0
    assert warm.in_flight == 0


async def test_an_empty_record_is_an_answer(opened):
    """After an empty record no other engine is requested."""
    warm = opened(("a", 0, "sandbox:empty"), ("b", 1, ""))
    assert (await warm.answer(call("coffee"))).outcome is Outcome.EMPTY


async def test_the_first_error_is_raised_when_all_engines_fail(opened):
    """The error is that of the engine with the lowest rank."""
    warm = opened(("a", 0, "sandbox:layout"), ("b", 1, "sandbox:captcha"))
    with pytest.raises(LayoutError):
        await warm.answer(call("coffee"))


@pytest.mark.slow
async def test_a_slow_engine_leaves_time_for_the_next(opened):
    """An engine gets its share of the time, so that the next one can answer within the deadline."""
    warm = opened(("a", 0, "sandbox:slow=30"), ("b", 1, ""))
    loop = asyncio.get_running_loop()
    await warm.answer(call("to open the second engine", deadline=4))
    begun = loop.time()
    answer = await warm.answer(call("coffee", deadline=2))
    assert answer.outcome is Outcome.OK
    assert 0.9 < answer.timings["fetch"] <= loop.time() - begun < 2


async def test_a_call_waits_in_the_turn_of_its_account(opened, monkeypatch):
    """Before its fetch, and before its page is parsed, a call waits as one of its account."""
    accounts, wait = [], FairQueue.wait

    async def noted(queue, account=""):
        accounts.append(account)
        await wait(queue, account)

    monkeypatch.setattr(FairQueue, "wait", noted)
    await opened(("a", 0, "")).answer(replace(call("coffee"), share=CallShare("acc_1", HeldBytes())))
    assert accounts == ["acc_1", "acc_1"]


def refused(name, requested, seconds):
    """An engine whose upstream wants no requests for some seconds; it records that it was requested."""

    def check(self, response):
        requested.append(name)
        error = BlockedError("the budget is used up", "budget")
        error.retry_after = seconds
        raise error

    return type(name, (GoogleWebSpider,), {"name": name, "check": check})


async def test_an_engine_whose_upstream_wants_a_pause_is_left_out(opened):
    """An engine is not requested for the seconds that its upstream wants, and then it is."""
    requested = []
    warm = opened(refused("a", requested, 1.5), ("b", 1, ""))
    for _ in range(3):
        assert (await warm.answer(call("coffee"))).outcome is Outcome.OK
    assert requested == ["a"]
    await asyncio.sleep(1.5)
    await warm.answer(call("coffee"))
    assert requested == ["a", "a"]


async def test_when_all_upstreams_want_a_pause_one_engine_is_requested(opened):
    """The engine whose pause ends first is requested."""
    requested = []
    warm = opened(refused("a", requested, 60), refused("b", requested, 60))
    for _ in range(2):
        with pytest.raises(BlockedError):
            await warm.answer(call("coffee"))
    assert requested == ["a", "b", "a"]


async def test_an_engine_that_fails_where_another_answers_is_left_out(opened):
    """After some losses in a row beside another engine's answers an engine is not requested for a while."""
    observed = []
    warm = opened(("a", 0, "sandbox:captcha"), ("b", 1, ""), observers=[lambda engine, *_: observed.append(engine)])
    for number in range(MOST_LOSSES + 1):
        assert (await warm.answer(call(f"coffee {number}"))).engine == "b"
    assert observed == ["a", "b"] * MOST_LOSSES + ["b"]
    assert warm.seconds_open(WEB_SEARCH.name, sandbox=True) == 0


async def test_a_query_that_no_engine_answers_is_no_fault_of_theirs(opened):
    """Losses of all engines leave none of them out."""
    warm = opened(("a", 0, "sandbox:captcha"), ("b", 1, "sandbox:captcha"))
    for number in range(MOST_LOSSES + 1):
        with pytest.raises(BlockedError):
            await warm.answer(call(f"coffee {number}"))
    assert warm._breakers["a", True].is_closed


async def test_a_call_chooses_its_engines(opened):
    """Only the engines that a call names are requested, in its order."""
    warm = opened(("a", 0, ""), ("b", 1, "sandbox:captcha"), ("c", 2, ""))
    assert (await warm.answer(call("coffee", engines="C, a"))).engine == "c"
    assert (await warm.answer(call("coffee", engines="b,a"))).engine == "a"
    with pytest.raises(BlockedError) as caught:
        await warm.answer(call("coffee", engines="b"))
    assert {attempt["engine"] for attempt in caught.value.attempts} == {"b"}


async def test_an_unknown_engine_is_an_error_that_lists_them(opened):
    """The message names what is wrong and what there is."""
    with pytest.raises(QueryError, match="X-Engine: bing is no engine of web_search: give some of a, b"):
        await opened(("a", 0, ""), ("b", 1, "")).answer(call("coffee", engines="a, bing"))


async def test_an_engine_that_cannot_honour_a_query_is_passed_over(crawlers):
    """Bing is never asked without a filter of Google's; asked for alone, the call is refused by the filter's name."""
    with pytest.raises(BlockedError) as caught:
        await crawlers.answer(call("coffee sandbox:google.captcha", tbs="cdr:1"))
    assert {attempt["engine"] for attempt in caught.value.attempts} == {"google_web"}
    wanted = "bing_web cannot honour tbs, domain: leave it out, or name another engine, of google_web, bing_web"
    with pytest.raises(QueryError, match=wanted):
        await crawlers.answer(call("coffee", tbs="cdr:1", domain="google.de", engines="bing_web"))


async def test_bing_answers_where_google_is_blocked(crawlers):
    """The record is one of the web search; the answer names its engine and the parts that it cannot have."""
    answer = await crawlers.answer(call("coffee sandbox:google.captcha", num=7, region="DE"))
    assert (answer.outcome, answer.engine, len(answer.record["results"])) == (Outcome.OK, "bing_web", 7)
    assert answer.missing_parts == MISSING
    assert answer.record["related_searches"]
    assert [attempt["engine"] for attempt in answer.attempts if attempt["outcome"] == "blocked"] == ["google_web"]


async def test_observers_receive_the_result_of_each_engine(opened):
    """Observers receive the attempts and the answer or error of each requested engine."""
    ends = []
    warm = opened(("a", 0, "sandbox:captcha"), ("b", 1, ""), observers=[lambda *end: ends.append(end)])
    one = call("coffee")
    answer = await warm.answer(one)
    (first, second) = ends
    assert [(engine, which) for engine, which, _, _ in ends] == [("a", one), ("b", one)]
    assert isinstance(first[3], BlockedError)
    assert second[3].record is answer.record
    assert [[attempt["outcome"] for attempt in budget.attempts] for _, _, budget, _ in ends] == [["blocked"], ["ok"]]


async def test_an_engine_that_cannot_be_opened_is_observed(opened):
    """An error before the first attempt is observed like any other."""

    def broken(cls, *args, **kwargs):
        raise ZeroDivisionError

    ends = []
    engine = type("broken", (GoogleWebSpider,), {"name": "broken", "from_crawler": classmethod(broken)})
    warm = opened(engine, observers=[lambda *end: ends.append(end)])
    with pytest.raises(ZeroDivisionError):
        await warm.answer(call("coffee"))
    assert [(end[2].attempts, type(end[3])) for end in ends] == [([], ZeroDivisionError)]


async def test_an_engine_that_could_not_be_opened_is_opened_once(opened):
    """Of those who have waited for it none drops the crawler that a later call has opened meanwhile."""
    spider = scripted("a", 0, "near")
    warm = opened(spider)
    failed = asyncio.get_running_loop().create_future()
    warm._opened[spider.name, True] = failed
    waiting = [asyncio.ensure_future(warm._warm(spider, True)) for _ in range(2)]
    await asyncio.sleep(0)
    failed.set_exception(ZeroDivisionError())
    warm._opened[spider.name, True] = later = asyncio.get_running_loop().create_future()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert warm._opened.pop((spider.name, True)) is later


async def test_a_pause_is_not_shortened_by_a_call_that_ends_later(opened):
    """A call that began before the pause and fails later does not end the pause."""
    requested = []
    warm = opened(refused("a", requested, 60), ("b", 1, ""))
    await warm.answer(call("coffee"))
    breaker = warm._breakers["a", True]
    breaker.open_for(0)
    await warm.answer(call("tea"))
    assert (requested, breaker.seconds_open > 50) == (["a"], True)


async def test_an_engine_that_may_not_be_asked_is_passed_over_at_once(opened):
    """One whose day is used up is counted once more, then left out; the loss that is told is another engine's."""
    counted = []

    async def reserve(engine):
        counted.append(engine)
        if engine == "a":
            error = PassedOverError("the requests of its day are used up", "spent")
            error.retry_after = 3600
            raise error

    warm = opened(("a", 0, ""), ("b", 1, "sandbox:layout"), reserve=reserve)
    await warm.answer(call("coffee"))
    assert counted == []  # calls of test keys are not
    warm.fetch_resources[False], warm._settings[False] = warm.fetch_resources[True], warm._settings[True]
    for _ in range(2):
        with pytest.raises(LayoutError):
            await warm.answer(replace(call("coffee"), sandbox=False))
    assert counted == ["a", "b", "b"]


async def test_an_engine_whose_price_is_too_high_is_passed_over(opened):
    """A cheaper one answers; where none is left, the account has too few credits."""
    priced = type("a", (GoogleWebSpider,), {"name": "a", "price": 5})
    asked = []

    async def reprice(price):
        asked.append(price)
        if price > 1:
            raise OutOfCreditsError("too few")

    warm = opened(priced, ("b", 1, ""))
    answer = await warm.answer(replace(call("coffee"), reprice=reprice))
    assert (answer.engine, answer.price, asked) == ("b", 1, [5, 1])
    with pytest.raises(OutOfCreditsError):
        await warm.answer(replace(call("coffee", engines="a"), reprice=reprice))


async def test_the_operator_sets_the_engines_of_a_resource(opened):
    """Only those that are named are asked, in that order; a wrong name ends the start."""
    warm = opened(("a", 0, ""), ("b", 1, ""), ("c", 2, ""), orders={"web_search": ("c", "a")})
    assert (await warm.answer(call("coffee"))).engine == "c"
    assert warm.engines_of["web_search"] == ["c", "a"]
    for orders, message in (
        ({"web_search": ("d",)}, "d is no engine of web_search: give some of a"),
        ({"nothing": ("a",)}, "there is no resource nothing: give some of web_search"),
    ):
        with pytest.raises(ConfigError, match=message):
            opened(("a", 0, ""), orders=orders)


@pytest.mark.timed
@pytest.mark.slow
async def test_a_blocked_engine_costs_the_next_one_no_time(crawlers):
    """Of 300 searches while Google blocks all, 99 % are answered, by Bing, as fast as when Bing alone is asked.

    The two are measured in turn, so that a busy machine slows both.
    """
    clock = asyncio.get_running_loop().time
    seconds = {None: 0.0, "bing_web": 0.0}
    answered = []

    async def search(number, engines):
        try:
            answered.append(
                (await crawlers.answer(call(f"tea {number} sandbox:google.denied", engines=engines))).engine
            )
        except FetchError:
            answered.append(None)

    for number in range(MOST_LOSSES + 1):
        await search(f"before {number}", None)  # they open the circuit
    for begin in range(0, 300, 20):
        for engines in seconds:
            began = clock()
            for number in range(begin, begin + 20, MAX_CALLS):
                await asyncio.gather(*(search(number + more, engines) for more in range(MAX_CALLS)))
            seconds[engines] += clock() - began
    assert answered.count("bing_web") >= 0.99 * len(answered)
    assert set(answered) <= {"bing_web", None}
    assert seconds[None] <= 1.4 * seconds["bing_web"], seconds
