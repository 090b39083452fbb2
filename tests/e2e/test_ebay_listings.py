"""EBay's listings by warm crawlers against the sandbox, over real sockets."""

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.resources.marketplace_search import MARKETPLACE_SEARCH, MarketplaceQuery

pytestmark = pytest.mark.task


def call(q, **fields):
    return Call(MARKETPLACE_SEARCH, MarketplaceQuery.check({"q": q, **fields}), sandbox=True, deadline=20)


async def test_a_call_is_answered_with_a_record(crawlers):
    """The record has listings of the region's site, with sellers."""
    answer = await crawlers.answer(call("copper kettle", region="DE", device="mobile"))
    assert answer.outcome is Outcome.OK
    record = answer.record
    assert (record["query"], record["total"], record["loose_results"]) == ("copper kettle", 0, [])
    assert (record["device_region"], record["device_type"]) == ("DE", "mobile")
    assert [one["position"] for one in record["results"]] == list(range(1, 61))
    assert all(one["link"].startswith("https://www.ebay.de/itm/") for one in record["results"])
    assert all(one["metadata"]["seller"] for one in record["results"])


@pytest.mark.parametrize(
    ("scenario", "outcome", "matching", "loose"),
    [("few", Outcome.OK, 3, 9), ("loose", Outcome.EMPTY, 0, 9), ("empty", Outcome.EMPTY, 0, 0)],
)
async def test_loose_results_are_separate(crawlers, scenario, outcome, matching, loose):
    """Only listings that match all terms are results; without any the answer is empty."""
    answer = await crawlers.answer(call(f"copper kettle sandbox:{scenario}"))
    assert answer.outcome is outcome
    assert (len(answer.record["results"]), len(answer.record["loose_results"])) == (matching, loose)


@pytest.mark.parametrize(
    ("scenario", "error", "kind"),
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
async def test_a_failed_fetch_has_its_error(crawlers, scenario, error, kind):
    """Each kind of failure has its own error, and none is an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"kettle sandbox:{scenario}"))
    assert caught.value.kind == kind
