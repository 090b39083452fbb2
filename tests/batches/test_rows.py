"""What becomes of the error of a row."""

import pytest

from webdata.batches.rows import error_text, failure, is_passing
from webdata.domain.errors import (
    BlockedError,
    LayoutError,
    NotFoundError,
    OverloadedError,
    QueryError,
    RecordError,
    TargetError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.resources.web_search import WEB_SEARCH


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (BlockedError("a captcha", "captcha"), True),
        (UpstreamTimeoutError("no answer", "timeout"), True),
        (UpstreamError("a reset", "reset"), True),
        (UpstreamError("status 404", "http_404"), False),
        (OverloadedError("no room", 1), True),
        (LayoutError("organic"), False),
        (NotFoundError("gone"), False),
        (RecordError("a fault"), False),
        (ValueError("a fault"), False),
    ],
)
def test_what_may_pass_is_run_again(error, passes):
    """Blocks, overloads and failures of the upstream may end otherwise later; what is so stays so."""
    assert is_passing(error) is passes


@pytest.mark.parametrize(
    ("error", "outcome", "text"),
    [
        (UpstreamTimeoutError("10.0.0.7 is silent", "timeout"), "upstream", "the upstream did not answer in time"),
        (NotFoundError("gone"), "not_found", WEB_SEARCH.not_found),
        (TargetError("this address may not be fetched"), "refused", "this address may not be fetched"),
        (QueryError([{"loc": ["q"], "msg": "q is \0 wrong", "type": "x"}]), "refused", "q is \ufffd wrong"),
        (KeyError("/home/secret"), "internal", "something went wrong here, not in the query"),
    ],
)
def test_failures_tell_what_their_owner_may_know(error, outcome, text):
    """A failure has an outcome and a text without what only the operator may know, or a database cannot store."""
    result = failure(7, error, WEB_SEARCH)
    assert (result.row, result.outcome, result.error, result.cost) == (7, outcome, text, 0)


def test_a_reason_is_not_repeated():
    """The reason of a loss, which may name addresses and proxies, is not in its text."""
    assert "10.0.0.7" not in error_text(BlockedError("10.0.0.7 has shown a captcha", "captcha"))
