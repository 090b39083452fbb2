"""Bing's results by warm crawlers against the sandbox, over real sockets."""

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.resources.bing_search import BING_SEARCH, BingQuery

pytestmark = pytest.mark.task


def call(q, **fields):
    return Call(BING_SEARCH, BingQuery(q=q, **fields), sandbox=True, deadline=20)


async def test_a_call_is_answered_with_a_record(crawlers):
    """The record has the query, the region and decoded links."""
    answer = await crawlers.answer(call("coffee shops", num=3, region="DE", device="mobile"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "coffee shops"
    assert (answer.record["device_region"], answer.record["device_type"]) == ("DE", "mobile")
    assert answer.record["location"] == {"htmlLang": "de"}
    assert len(answer.record["results"]) == 3
    assert not any("bing.com" in result["link"] for result in answer.record["results"])


async def test_pages_follow_each_other(crawlers):
    """Three pages have different results, and after the last page the answer is empty."""
    answers = [await crawlers.answer(call("coffee", start=start)) for start in (0, 10, 20, 100)]
    assert [answer.outcome for answer in answers] == [Outcome.OK, Outcome.OK, Outcome.OK, Outcome.EMPTY]
    assert len({result["link"] for answer in answers for result in answer.record["results"]}) == 30


@pytest.mark.parametrize("scenario", ["market", "fickle"])
@pytest.mark.parametrize("fields", [{}, {"region": "DE"}], ids=["anywhere", "from-DE"])
async def test_a_doubtful_answer_is_requested_again(crawlers, scenario, fields):
    """After a false "no results" or degraded results the matching market is requested."""
    answer = await crawlers.answer(call(f"coffee grinder repair sandbox:{scenario}", **fields))
    assert answer.outcome is Outcome.OK
    assert len(answer.record["results"]) == 10


async def test_repeatedly_missing_results_are_empty(crawlers):
    """Two pages without results are an empty answer."""
    answer = await crawlers.answer(call("coffee sandbox:empty"))
    assert (answer.outcome, answer.record["results"]) == (Outcome.EMPTY, [])


async def test_persistently_degraded_results_are_returned(crawlers):
    """Results that ignore the query are returned with the outcome `degraded`."""
    answer = await crawlers.answer(call("coffee grinder repair sandbox:degraded"))
    assert answer.outcome is Outcome.DEGRADED
    assert len(answer.record["results"]) == 10


@pytest.mark.parametrize(
    ("scenario", "fields", "error", "kind"),
    [
        ("captcha", {}, BlockedError, "captcha"),
        ("denied", {}, BlockedError, "denied"),
        ("limited", {}, BlockedError, "denied"),
        ("repeat", {"start": 10}, BlockedError, "first_page"),
        ("layout", {}, LayoutError, None),
        ("undecoded", {}, UpstreamError, "undecoded"),
        ("error", {}, UpstreamError, "http_500"),
        ("reset", {}, UpstreamError, "reset"),
    ],
)
async def test_a_failed_fetch_has_its_error(crawlers, scenario, fields, error, kind):
    """Each kind of failure has its own error, and none is an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"coffee sandbox:{scenario}", **fields))
    assert caught.value.kind == kind
