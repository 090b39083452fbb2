"""The queue of requests."""

from pytest_twisted import ensureDeferred


@ensureDeferred
async def test_scrapy_stores_nothing_in_the_folder_of_a_job(job):
    """JOBDIR has the journal, and no queue or state of Scrapy that a resumed run would use."""
    ended = await job("coffee", "tea", JOBDIR="job")
    assert [path.name for path in (job.folder / "job").iterdir()] == ["webdata.journal"]
    assert ended.stats["scheduler/dequeued/memory"] == 2
