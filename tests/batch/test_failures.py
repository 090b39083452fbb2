"""Queries that ended without a record."""

import pytest

from webdata.batch.failures import Failure
from webdata.domain.errors import BlockedError, TargetError, UnsupportedContentError


def test_a_fetch_error_has_its_own_outcome():
    """A page that was not won gives its outcome, kind and reason."""
    failure = Failure.of(BlockedError("a captcha stands in the way", "captcha"), {"q": "coffee"}, 7)
    assert failure == Failure({"q": "coffee"}, "blocked", "captcha", "a captcha stands in the way", 7)


def test_anything_else_is_a_fault_of_ours():
    """An unexpected error is internal, and of the kind of its class."""
    failure = Failure.of(KeyError("title"), {"q": "coffee"}, 7)
    assert (failure.outcome, failure.kind) == ("internal", "KeyError")
    assert "'title'" in failure.reason


@pytest.mark.parametrize("error", [TargetError("the target is not allowed"), UnsupportedContentError("image/png")])
def test_what_may_not_or_cannot_be_given_is_invalid(error):
    """A forbidden target, or content that cannot be given so, is like a query that cannot be run."""
    failure = Failure.of(error, {"url": "x"}, 7)
    assert failure == Failure({"url": "x"}, "invalid", None, str(error), 7)
