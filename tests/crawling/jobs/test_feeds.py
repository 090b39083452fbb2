"""Feeds of jobs that are killed and resumed."""

import logging
from collections import Counter
from pathlib import Path

import pytest
from pytest_twisted import ensureDeferred

from webdata.crawling.jobs.exporters import RowsExporter
from webdata.crawling.jobs.feeds import JobFeedExporter
from webdata.crawling.jobs.journal import NAME
from webdata.domain.errors import ConfigError

QUERIES = ["coffee 2", "layout", "none", "tea 3", "bug", "milk 1"]
BOTH = {"out.jsonl": {"format": "jsonl", "overwrite": True}, "rows.jsonl": {"format": "rows", "overwrite": True}}
FEEDS = ["out.jsonl", "rows.jsonl", "out.failures.jsonl"]
RESULTS = {"coffee 2": 2, "tea 3": 3, "milk 1": 1}


class FailingExporter(RowsExporter):
    """Fails to export the record of one query."""

    def export_item(self, item):
        if item["query"] == "q7":
            raise KeyError("position")
        super().export_item(item)


def assert_exactly_once(job):
    records = [record["query"] for record in job.lines("out.jsonl")]
    failures = [failure["query"]["q"] for failure in job.lines("out.failures.jsonl")]
    assert sorted(records + failures) == sorted(QUERIES)
    assert sorted(failures) == ["bug", "layout"]
    assert Counter(row["query"] for row in job.lines("rows.jsonl")) == RESULTS


def complete(ended):
    return ended.crawler.get_extension(JobFeedExporter).complete


def bytes_of(job):
    return [(job.folder / name).read_bytes() for name in FEEDS]


@ensureDeferred
async def test_a_finished_job_fetches_nothing(job):
    """The same command again leaves the feeds unchanged."""
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)
    before = bytes_of(job)
    ended = await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert bytes_of(job) == before
    assert "response_received_count" not in ended.stats
    assert ended.crawler.spider.batch.ended.total() == len(QUERIES)


@ensureDeferred
async def test_each_query_ends_once_after_any_kill(job):
    """A run after a truncated journal and torn lines in the feeds neither loses nor repeats a record."""
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    journal = job.folder / "job" / NAME
    whole, feeds = journal.read_bytes(), bytes_of(job)
    header = whole.index(b"\n") + 1
    for end in [*range(header, len(whole), 7), len(whole)]:
        journal.write_bytes(whole[:end])
        for name, content in zip(FEEDS, feeds, strict=True):
            (job.folder / name).write_bytes(content + b'{"query": "torn')
        await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
        assert_exactly_once(job)


@ensureDeferred
async def test_a_stopped_job_is_resumed(job):
    """Runs that stop early finish the job together."""
    queries = [f"q{number} 1" for number in range(40)]
    reasons = []
    while "finished" not in reasons:
        ended = await job(*queries, JOBDIR="job", CLOSESPIDER_ITEMCOUNT=5, CONCURRENT_REQUESTS=2)
        reasons.append(ended.stats["finish_reason"])
    assert len(reasons) > 2
    assert sorted(record["query"] for record in ended.records) == sorted(queries)


@ensureDeferred
async def test_an_appending_job_preserves_the_file(job):
    """A job that appends (-o) never truncates the records that were in the file before it."""
    append = {"out.jsonl": {"format": "jsonl"}}
    (job.folder / "out.jsonl").write_bytes(b'{"query":"older"}\n')
    await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    journal = job.folder / "job" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:1]))
    ended = await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == ["coffee", "older", "tea"]


@ensureDeferred
async def test_an_overwriting_job_begins_with_empty_files(job):
    """A job that overwrites (-O) removes the old content."""
    for name in FEEDS:
        (job.folder / name).write_bytes(b"old\n" * 1000)
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)


@ensureDeferred
async def test_a_resumed_job_writes_to_the_same_file(job):
    """A file with the time in its name is continued under its first name."""
    feeds = {"out-%(time)s.jsonl": {"format": "jsonl"}}
    await job("coffee", "tea", FEEDS=feeds, JOBDIR="job")
    journal = job.folder / "job" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]).replace(b"out-2", b"out-1"))
    for path in job.folder.glob("out-2*"):
        path.rename(path.with_name(path.name.replace("out-2", "out-1")))
    await job("coffee", "tea", FEEDS=feeds, JOBDIR="job")
    (path,) = [path for path in job.folder.glob("out-*") if "failures" not in path.name]
    assert sorted(record["query"] for record in job.lines(path)) == ["coffee", "tea"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"queries": ["coffee", "cocoa"]}, "queries "),
        ({"arguments": {"queries": "q.txt", "num": "5"}}, "arguments"),
        ({"FEEDS": {"other.jsonl": {"format": "jsonl"}}}, "feeds"),
    ],
)
@ensureDeferred
async def test_another_job_is_refused(job, change, what):
    """A folder of another job is refused before anything is fetched or truncated."""
    await job("coffee", "tea", JOBDIR="job")
    before = (job.folder / "out.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=f"holds another job, with other {what}"):
        await job(*change.pop("queries", ["coffee", "tea"]), JOBDIR="job", **change)
    assert (job.folder / "out.jsonl").read_bytes() == before


@ensureDeferred
async def test_a_missing_feed_is_refused(job):
    """A job whose feed was removed is not resumed."""
    await job("coffee", "tea", JOBDIR="job")
    (job.folder / "out.jsonl").unlink()
    with pytest.raises(ConfigError, match="holds 0 bytes, but the job"):
        await job("coffee", "tea", JOBDIR="job")


@pytest.mark.parametrize("uri", ["out.json", "stdout:"])
@ensureDeferred
async def test_a_feed_that_cannot_be_resumed_is_named_in_a_warning(job, caplog, uri):
    """A feed that cannot be truncated at a line is written nevertheless."""
    feeds = {uri: {"format": "json" if uri == "stdout:" else uri[4:]}}
    with caplog.at_level(logging.WARNING):
        ended = await job("coffee", FEEDS=feeds, JOBDIR="job")
    warnings = [record.getMessage() for record in caplog.records if "cannot be resumed" in record.getMessage()]
    assert warnings == [f"{uri} cannot be resumed: only files of the formats jsonl, rows and csv can"]
    assert ended.stats["item_scraped_count"] == 1


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}])
@pytest.mark.parametrize("path", ["file/out.jsonl", "folder", "%(unknown)s.jsonl"])
@ensureDeferred
async def test_a_feed_that_cannot_be_opened_stops_the_job_before_it_begins(job, caplog, settings, path):
    """Nothing is fetched for an output that cannot be opened."""
    (job.folder / "file").write_text("no folder")
    (job.folder / "folder").mkdir()
    feeds = {path: {"format": "jsonl"}}
    ended = await job("coffee", FEEDS=feeds, FAILURES_FEED="f.jsonl", **settings)
    assert ended.stats["finish_reason"] == "feed_error"
    assert "response_received_count" not in ended.stats
    assert caplog.text.count("A feed cannot be opened") == 1
    assert "Traceback" not in caplog.text
    assert not complete(ended)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it stands for a full disk")
@pytest.mark.parametrize("queries", [1, 500])
@ensureDeferred
async def test_a_full_disk_stops_the_job_with_one_line(job, caplog, queries):
    """What cannot be written is one line with what to do, nothing more is fetched, and no query is counted as ended."""
    feeds = {"/dev/full": {"format": "jsonl"}}
    ended = await job(*[f"q{number}" for number in range(queries)], FEEDS=feeds, FAILURES_FEED="f.jsonl")
    assert ended.stats["response_received_count"] < 200
    [line] = [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]
    assert line.getMessage() == (
        "A feed cannot be written: [Errno 28] No space left on device. The batch stops here: "
        "make room for it or give another output, then run the same command again"
    )
    assert not line.exc_info
    assert not complete(ended)


@ensureDeferred
async def test_an_output_that_nothing_can_store_is_a_mistake(job):
    """A batch does not run without an output that was asked for."""
    with pytest.raises(ConfigError, match="an output cannot be used"):
        await job("coffee", FEEDS={"nowhere://out.jsonl": {"format": "jsonl"}}, FAILURES_FEED="f.jsonl")


@ensureDeferred
async def test_a_batch_is_complete_when_each_query_has_its_line(job):
    """A record and a failure both end a query; a batch that stops early is not complete."""
    assert complete(await job("coffee", "layout"))
    assert not complete(await job(*["coffee"] * 50, CLOSESPIDER_ITEMCOUNT=1, CONCURRENT_REQUESTS=1))


@ensureDeferred
async def test_a_job_folder_that_cannot_be_made_is_a_mistake(job):
    """A JOBDIR in a file is refused with one line."""
    (job.folder / "file").write_text("no folder")
    with pytest.raises(ConfigError, match=r"JOBDIR cannot be used: .*Not a directory: 'file/job': give a folder"):
        await job("coffee", JOBDIR="file/job")


@ensureDeferred
async def test_a_query_that_one_feed_cannot_write_is_repeated_for_all(job):
    """A feed that fails for one query stops the job, and the next run writes that query to all feeds."""
    feeds = {"out.jsonl": {"format": "jsonl"}, "rows.jsonl": {"format": "rows"}}
    queries = [f"q{number}" for number in range(50)]
    broken = {**job.exporters, "rows": FailingExporter}
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job", FEED_EXPORTERS=broken, CONCURRENT_REQUESTS=2)
    assert ended.stats["finish_reason"] == "feed_error"
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == sorted(queries)
    assert sorted(row["query"] for row in job.lines("rows.jsonl")) == sorted(queries)


@ensureDeferred
async def test_a_job_without_files_is_resumed_too(job):
    """Queries that have ended are skipped though no feed can be truncated."""
    for fetched in (2, None):
        ended = await job(
            "coffee", "tea", FEEDS={"out.json": {"format": "json"}}, FAILURES_FEED="stdout:", JOBDIR="job"
        )
        assert ended.stats.get("response_received_count") == fetched


@ensureDeferred
async def test_a_single_query_is_a_job_too(job):
    """A query from the arguments is run once per job folder."""
    for _ in range(2):
        ended = await job(arguments={"q": "coffee"}, JOBDIR="job")
        assert [record["query"] for record in ended.records] == ["coffee"]
