"""Where requests wait."""

from pytest_twisted import ensureDeferred


@ensureDeferred
async def test_nothing_of_scrapy_is_kept_in_the_folder_of_a_job(job):
    """JOBDIR holds the journal, and no queue or state that a resumed run would act on."""
    ended = await job("coffee", "tea", JOBDIR="job")
    assert [path.name for path in (job.folder / "job").iterdir()] == ["webdata.journal"]
    assert ended.stats["scheduler/dequeued/memory"] == 2
