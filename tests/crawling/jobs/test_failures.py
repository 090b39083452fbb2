"""The failures feed."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy.exceptions import DropItem

from webdata.domain.errors import ConfigError


class Dropping:
    """An item pipeline that drops records."""

    def process_item(self, item):
        if isinstance(item, dict) and item["query"] == "tea":
            raise DropItem("no tea")
        return item


@ensureDeferred
async def test_a_query_ends_as_a_record_or_as_a_failure(job):
    """Each query is one line of one of the two feeds, whatever fails."""
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
async def test_a_line_has_the_query_and_the_reason(job):
    """A line of the failures feed has the query as it was given, the outcome, its kind and the reason."""
    ended = await job("layout")
    assert ended.failures == [{"query": {"q": "layout"}, "outcome": "layout", "kind": None, "reason": "no results"}]


@ensureDeferred
async def test_a_dropped_record_is_a_failure(job):
    """A record that a pipeline drops is a failure with its reason."""
    ended = await job("coffee", "tea", ITEM_PIPELINES={**job.pipelines, Dropping: 300})
    assert [record["query"] for record in ended.records] == ["coffee"]
    assert [(failure["outcome"], failure["reason"]) for failure in ended.failures] == [("dropped", "no tea")]


@ensureDeferred
async def test_the_feed_is_written_without_failures_too(job):
    """A run without failures replaces the feed of an earlier run by an empty one."""
    await job("layout")
    assert (await job("coffee")).failures == []


@ensureDeferred
async def test_failures_are_appended_if_records_are(job):
    """With -o, the failures of earlier runs stay in the feed, like their records."""
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
async def test_the_path_of_the_feed_is_made_from_the_setting(job, feeds, template, path):
    """By default the feed is beside the first output file."""
    await job("layout", FEEDS=feeds, FAILURES_FEED=template)
    assert [failure["outcome"] for failure in job.lines(path)] == ["layout"]


@ensureDeferred
async def test_the_feed_cannot_be_an_output(job):
    """A failures feed that is an output already is refused."""
    with pytest.raises(ConfigError, match=r"FAILURES_FEED cannot be 'out\.jsonl'"):
        await job("coffee", FAILURES_FEED="out.jsonl")


@ensureDeferred
async def test_the_item_classes_of_an_output_still_apply(job):
    """An output that accepts other classes only has no records."""
    feeds = {"out.jsonl": {"format": "jsonl", "item_classes": ["webdata.domain.failures.Failure"]}}
    ended = await job("layout", "coffee", FEEDS=feeds)
    assert ended.records == []
