"""Amazon's products by warm crawlers against the sandbox, over real sockets."""

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.resources.product_search import PRODUCT_SEARCH, ProductQuery

pytestmark = pytest.mark.task


def call(q, **fields):
    return Call(PRODUCT_SEARCH, ProductQuery(q=q, **fields), sandbox=True, deadline=20)


@pytest.mark.parametrize(
    ("region", "host", "currency"),
    [(None, "www.amazon.com", "USD"), ("DE", "www.amazon.de", "EUR"), ("JP", "www.amazon.co.jp", "JPY")],
)
async def test_a_call_is_answered_from_the_regions_marketplace(crawlers, region, host, currency):
    """The record has the links and the currency of the region's marketplace."""
    answer = await crawlers.answer(call("tea pot", region=region, device="mobile"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "tea pot"
    assert (answer.record["device_region"], answer.record["device_type"]) == (region or "", "mobile")
    assert len(answer.record["products"]) == 20
    assert {product["currency"] for product in answer.record["products"]} == {currency}
    assert all(product["link"].startswith(f"https://{host}/dp/") for product in answer.record["products"])


async def test_a_page_without_results_is_empty(crawlers):
    """A page without results is an empty record."""
    answer = await crawlers.answer(call("teapot sandbox:empty", region="DE"))
    assert (answer.outcome, answer.record["products"]) == (Outcome.EMPTY, [])


@pytest.mark.parametrize(
    ("scenario", "error", "kind"),
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
async def test_a_failed_fetch_has_its_error(crawlers, scenario, error, kind):
    """Each kind of failure has its own error, and none is an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"teapot sandbox:{scenario}"))
    assert caught.value.kind == kind
