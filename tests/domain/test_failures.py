"""The failures of a batch."""

import pytest

from webdata.domain.errors import BlockedError, QueryError, TargetError, UnsupportedContentError
from webdata.domain.failures import Failure


def test_a_fetch_error_has_its_own_outcome():
    """The failure of a FetchError has its outcome, kind and reason."""
    failure = Failure.of(BlockedError("a captcha page", "captcha"), {"q": "coffee"}, 7)
    assert failure == Failure({"q": "coffee"}, "blocked", "captcha", "a captcha page", 7)


def test_an_unexpected_error_is_internal():
    """Its kind is the name of its class."""
    failure = Failure.of(KeyError("title"), {"q": "coffee"}, 7)
    assert (failure.outcome, failure.kind) == ("internal", "KeyError")
    assert "'title'" in failure.reason


@pytest.mark.parametrize(
    "error",
    [QueryError([]), TargetError("the target is not allowed"), UnsupportedContentError("image/png")],
)
def test_a_query_that_can_never_succeed_is_invalid(error):
    """Wrong parameters, a forbidden target and unsupported content have the outcome of a query that cannot be run."""
    failure = Failure.of(error, {"url": "x"}, 7)
    assert failure == Failure({"url": "x"}, "invalid", None, str(error), 7)


def test_a_media_type_without_end_is_shown_in_part():
    """A site may send a header of 64 KB, which its caller need not read."""
    assert len(str(UnsupportedContentError("x/" + "y" * 60_000))) < 1000
