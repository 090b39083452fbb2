"""EBay's listings through warm crawlers, against the sandbox over real sockets."""

from functools import wraps

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawl import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.errors import BlockedError, LayoutError, UpstreamError
from webdata.outcome import Outcome
from webdata.resources.marketplace_search import MARKETPLACE_SEARCH, MarketplaceQuery
from webdata.sandbox.server import Sandbox


def as_task(test):
    """Run an async test as an asyncio task, in which asyncio's own things can be awaited."""

    @wraps(test)
    def run(*args, **kwargs):
        return deferred_from_coro(test(*args, **kwargs))

    return run


@pytest_twisted.async_yield_fixture(scope="module")
async def crawlers():
    """Warm crawlers over a sandbox of their own."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await sandbox.start())
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=4)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def call(q, **fields):
    return Call(MARKETPLACE_SEARCH, MarketplaceQuery.check({"q": q, **fields}), sandbox=True, deadline=20)


@as_task
async def test_a_call_is_answered_with_a_record(crawlers):
    """A call gives the whole record, from the site of the region and with sellers."""
    answer = await crawlers.answer(call("copper kettle", region="DE", device="mobile"))
    assert answer.outcome is Outcome.OK
    record = answer.record
    assert (record["query"], record["total"], record["loose_results"]) == ("copper kettle", 0, [])
    assert (record["device_region"], record["device_type"]) == ("DE", "mobile")
    assert [one["position"] for one in record["results"]] == list(range(1, 61))
    assert all(one["link"].startswith("https://www.ebay.de/itm/") for one in record["results"])
    assert all(one["metadata"]["seller"] for one in record["results"])


@pytest.mark.parametrize(
    ("word", "outcome", "matching", "loose"),
    [("few", Outcome.OK, 3, 9), ("loose", Outcome.EMPTY, 0, 9), ("empty", Outcome.EMPTY, 0, 0)],
)
@as_task
async def test_what_does_not_match_is_kept_apart(crawlers, word, outcome, matching, loose):
    """Only listings that match all words are results; without any the answer is empty."""
    answer = await crawlers.answer(call(f"copper kettle sandbox:{word}"))
    assert answer.outcome is outcome
    assert (len(answer.record["results"]), len(answer.record["loose_results"])) == (matching, loose)


@pytest.mark.parametrize(
    ("word", "error", "kind"),
    [
        ("captcha", BlockedError, "captcha"),
        ("enablejs", BlockedError, "javascript"),
        ("signin", BlockedError, "login"),
        ("denied", BlockedError, "denied"),
        ("limited", BlockedError, "denied"),
        ("layout", LayoutError, None),
        ("error", UpstreamError, "http_500"),
        ("reset", UpstreamError, "reset"),
    ],
)
@as_task
async def test_a_page_that_is_not_won_is_told_by_its_outcome(crawlers, word, error, kind):
    """Every way not to get a page ends in its own error, never in an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"kettle sandbox:{word}"))
    assert caught.value.kind == kind
