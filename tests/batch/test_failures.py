"""Queries that ended without a record."""

from webdata.batch.failures import Failure
from webdata.errors import BlockedError


def test_a_fetch_error_has_its_own_outcome():
    """A page that was not won gives its outcome, kind and reason."""
    failure = Failure.of(BlockedError("a captcha stands in the way", "captcha"), {"q": "coffee"}, 7)
    assert failure == Failure({"q": "coffee"}, "blocked", "captcha", "a captcha stands in the way", 7)


def test_anything_else_is_a_fault_of_ours():
    """An unexpected error is internal, and of the kind of its class."""
    failure = Failure.of(KeyError("title"), {"q": "coffee"}, 7)
    assert (failure.outcome, failure.kind) == ("internal", "KeyError")
    assert "'title'" in failure.reason
