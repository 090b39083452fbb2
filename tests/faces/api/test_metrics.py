"""`GET /metrics`."""

import re

import pytest
from pytest_twisted import ensureDeferred

from webdata.domain.errors import BlockedError, OverloadedError
from webdata.faces.api.metrics import metrics_page
from webdata.observability.metrics import Metrics


@pytest.fixture
def api(make_api):
    metrics = Metrics()
    return make_api(pages=[metrics_page(metrics)], observer=metrics.answered)


def answers(response):
    return dict(
        re.findall(
            r'^webdata_answers_total\{code="(\w+)",endpoint="web_search"\} (\S+)$', response.body.decode(), re.MULTILINE
        )
    )


@ensureDeferred
async def test_the_format_follows_the_accept_header(send):
    """The format is Prometheus's text, or OpenMetrics where it is accepted; neither may be cached."""
    plain = await send("/metrics", headers={})
    openmetrics = await send("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert openmetrics.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert openmetrics.body.endswith(b"# EOF\n")
    assert plain.headers["cache-control"] == openmetrics.headers["cache-control"] == "no-store"


@ensureDeferred
async def test_responses_are_counted_by_code(send, calls, test_secret):
    """Every response of an endpoint is counted by its code, also those to an invalid key."""
    await send("/v1/search/q=coffee")
    await send("/v1/search/q=coffee&num=abc")
    await send("/v1/search/q=coffee", headers={})
    for calls.end in (BlockedError("a captcha", "captcha"), OverloadedError("full", 1), ZeroDivisionError("a fault")):
        await send("/v1/search/q=coffee")
    codes = ("ok", "validation_error", "unauthorized", "blocked", "overloaded", "internal")
    assert answers(await send("/metrics")) == dict.fromkeys(codes, "1.0")


@ensureDeferred
async def test_metrics_can_be_turned_off(make_api, make_send):
    """Without the page the path is a 404."""
    assert (await make_send(make_api())("/metrics")).status == 404
