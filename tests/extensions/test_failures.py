"""Every query ends as a record or as a line of the failures feed."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy.exceptions import DropItem

from webdata.domain.errors import ConfigError


class Dropping:
    """A pipeline of a user, who wants no tea."""

    def process_item(self, item):
        if isinstance(item, dict) and item["query"] == "tea":
            raise DropItem("no tea")
        return item


@ensureDeferred
async def test_a_query_ends_as_a_record_or_as_a_failure(job):
    """Whatever goes wrong, and wherever, each query is one line of one of the two feeds."""
    queries = ["coffee", "layout", "bug", "silent", "broken", "unaskable", "unreachable", "none", "x" * 2049]
    ended = await job(*queries)
    assert [record["query"] for record in ended.records] == ["coffee", "none"]
    assert {failure["query"]["q"] for failure in ended.failures} == set(queries) - {"coffee", "none"}
    assert {failure["query"]["q"][:11]: (failure["outcome"], failure["kind"]) for failure in ended.failures} == {
        "layout": ("layout", None),
        "bug": ("internal", "ZeroDivisionError"),
        "silent": ("internal", "ValueError"),
        "broken": ("internal", "RecordError"),
        "unaskable": ("internal", "KeyError"),
        "unreachable": ("upstream", "failed"),
        "x" * 11: ("invalid", None),
    }


@ensureDeferred
async def test_a_line_says_what_and_why(job):
    """A line of the failures feed has the query as it was given, the outcome, its kind and the reason."""
    ended = await job("layout")
    assert ended.failures == [{"query": {"q": "layout"}, "outcome": "layout", "kind": None, "reason": "no results"}]


@ensureDeferred
async def test_what_a_pipeline_drops_is_told(job):
    """A record that a pipeline drops is a failure with its reason."""
    ended = await job("coffee", "tea", ITEM_PIPELINES={**job.pipelines, Dropping: 300})
    assert [record["query"] for record in ended.records] == ["coffee"]
    assert [(failure["outcome"], failure["reason"]) for failure in ended.failures] == [("dropped", "no tea")]


@ensureDeferred
async def test_no_failure_is_an_empty_feed(job):
    """The feed is there without failures, too, and those of an earlier run are gone."""
    await job("layout")
    assert (await job("coffee")).failures == []


@ensureDeferred
async def test_failures_are_appended_where_records_are(job):
    """With -o, the failures of the runs before stay as their records do."""
    append = {"out.jsonl": {"format": "jsonl"}}
    await job("layout", "coffee", FEEDS=append)
    ended = await job("bug", "tea", FEEDS=append)
    assert [record["query"] for record in ended.records] == ["coffee", "tea"]
    assert [failure["outcome"] for failure in ended.failures] == ["layout", "internal"]


@pytest.mark.parametrize(
    ("feeds", "template", "path"),
    [
        ({}, "%(output)s.failures.jsonl", "echo.failures.jsonl"),
        ({"stdout:": {"format": "jsonl"}}, "%(output)s.failures.jsonl", "echo.failures.jsonl"),
        ({"a/b.rows.jsonl": {"format": "rows"}}, "%(output)s.failures.jsonl", "a/b.rows.failures.jsonl"),
        ({"c.jsonl": {"format": "jsonl"}}, "%(name)s-bad.jsonl", "echo-bad.jsonl"),
    ],
)
@ensureDeferred
async def test_where_the_feed_is(job, feeds, template, path):
    """The feed stands beside the first output file, or where the setting says."""
    await job("layout", FEEDS=feeds, FAILURES_FEED=template)
    assert [failure["outcome"] for failure in job.lines(path)] == ["layout"]


@ensureDeferred
async def test_failures_have_a_feed_of_their_own(job):
    """A failures feed that is an output already is refused."""
    with pytest.raises(ConfigError, match=r"FAILURES_FEED cannot be 'out\.jsonl'"):
        await job("coffee", FAILURES_FEED="out.jsonl")


@ensureDeferred
async def test_an_item_filter_of_the_user_is_kept(job):
    """An output with a filter of its own keeps it."""
    feeds = {"out.jsonl": {"format": "jsonl", "item_classes": ["webdata.batch.failures.Failure"]}}
    ended = await job("layout", "coffee", FEEDS=feeds)
    assert ended.records == []
