"""What the log says of records."""

import logging

from pytest_twisted import ensureDeferred

from webdata.batch.failures import Failure
from webdata.extensions.log import named


@ensureDeferred
async def test_a_record_is_named_by_its_query(job, caplog):
    """Neither a refused record nor one that is told in detail is written into the log."""
    caplog.set_level(logging.DEBUG)
    await job("broken", "coffee")
    assert "Error processing the record of WebQuery(q='broken'" in caplog.text
    assert "the record of 'coffee'" in caplog.text
    assert "knowledge_graph" not in caplog.text


def test_other_items_are_told_whole():
    """A failure is short, and told as it is."""
    failure = Failure({"q": "coffee"}, "layout", None, "no results", 1)
    assert named(failure) is failure
