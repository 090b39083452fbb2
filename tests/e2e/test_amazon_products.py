"""Amazon's products through warm crawlers, against the sandbox over real sockets."""

from functools import wraps

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawl import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.errors import BlockedError, LayoutError, UpstreamError
from webdata.outcome import Outcome
from webdata.resources.product_search import PRODUCT_SEARCH, ProductQuery
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
    return Call(PRODUCT_SEARCH, ProductQuery(q=q, **fields), sandbox=True, deadline=20)


@pytest.mark.parametrize(
    ("region", "host", "currency"),
    [(None, "www.amazon.com", "USD"), ("DE", "www.amazon.de", "EUR"), ("JP", "www.amazon.co.jp", "JPY")],
)
@as_task
async def test_a_call_is_answered_from_the_regions_marketplace(crawlers, region, host, currency):
    """A call gives the whole record, with links, prices and currency of the region's marketplace."""
    answer = await crawlers.answer(call("tea pot", region=region, device="mobile"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "tea pot"
    assert (answer.record["device_region"], answer.record["device_type"]) == (region or "", "mobile")
    assert len(answer.record["products"]) == 20
    assert {product["currency"] for product in answer.record["products"]} == {currency}
    assert all(product["link"].startswith(f"https://{host}/dp/") for product in answer.record["products"])


@as_task
async def test_an_empty_answer_is_true(crawlers):
    """What the page says is not there gives an empty record."""
    answer = await crawlers.answer(call("teapot sandbox:empty", region="DE"))
    assert (answer.outcome, answer.record["products"]) == (Outcome.EMPTY, [])


@pytest.mark.parametrize(
    ("word", "error", "kind"),
    [
        ("captcha", BlockedError, "captcha"),
        ("robot", BlockedError, "captcha"),
        ("challenge", BlockedError, "javascript"),
        ("signin", BlockedError, "login"),
        ("denied", BlockedError, "denied"),
        ("limited", BlockedError, "denied"),
        ("layout", LayoutError, None),
        ("error", UpstreamError, "http_503"),
        ("reset", UpstreamError, "reset"),
    ],
)
@as_task
async def test_a_page_that_is_not_won_is_told_by_its_outcome(crawlers, word, error, kind):
    """Every way not to get a page ends in its own error, never in an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"teapot sandbox:{word}"))
    assert caught.value.kind == kind
