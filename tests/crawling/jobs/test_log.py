"""Log messages about items."""

import logging
from dataclasses import make_dataclass

import pytest
from pytest_twisted import ensureDeferred

from webdata.crawling.jobs.log import named
from webdata.domain.failures import Failure


@ensureDeferred
async def test_a_record_is_named_by_its_query(job, caplog):
    """The log has the query of a record, refused or exported, and none of its other keys."""
    caplog.set_level(logging.DEBUG)
    await job("broken", "coffee")
    assert "Error processing the record of WebQuery(archive=None, q='broken'" in caplog.text
    assert "the record of 'coffee'" in caplog.text
    assert "knowledge_graph" not in caplog.text


def test_a_failure_is_logged_whole():
    """A failure is not replaced, it is short."""
    failure = Failure({"q": "coffee"}, "layout", None, "no results", 1)
    assert named(failure) is failure


@pytest.mark.parametrize("item_type", [dict, make_dataclass("Record", ["query"])])
def test_any_item_type_is_named_by_its_query(item_type):
    """A record is named alike as a dict and as a dataclass."""
    assert named(item_type(query="tea")) == "the record of 'tea'"
