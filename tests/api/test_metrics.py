"""`GET /metrics`."""

import re

import pytest
from pytest_twisted import ensureDeferred

from webdata.api.metrics import metrics_page
from webdata.domain.errors import BlockedError, OverloadedError
from webdata.observability.metrics import Metrics


@pytest.fixture
def api(make_api):
    metrics = Metrics()
    return make_api(pages=[metrics_page(metrics)], observer=metrics.answered)


def answers(heard):
    return dict(
        re.findall(
            r'^webdata_answers_total\{code="(\w+)",endpoint="web_search"\} (\S+)$', heard.body.decode(), re.MULTILINE
        )
    )


@ensureDeferred
async def test_text(ask):
    """Prometheus gets its own text, or OpenMetrics where it accepts that; neither is to be kept."""
    plain = await ask("/metrics", headers={})
    opened = await ask("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert opened.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert opened.body.endswith(b"# EOF\n")
    assert plain.headers["cache-control"] == opened.headers["cache-control"] == "no-store"


@ensureDeferred
async def test_what_callers_heard_is_counted(ask, calls, test_secret):
    """Every answer of an endpoint counts by its code, those without a valid key too."""
    await ask("/v1/search/q=coffee")
    await ask("/v1/search/q=coffee&num=abc")
    await ask("/v1/search/q=coffee", headers={})
    for calls.end in (BlockedError("a captcha", "captcha"), OverloadedError("full", 1), ZeroDivisionError("a fault")):
        await ask("/v1/search/q=coffee")
    codes = ("ok", "validation_error", "unauthorized", "blocked", "overloaded", "internal")
    assert answers(await ask("/metrics")) == dict.fromkeys(codes, "1.0")


@ensureDeferred
async def test_they_can_be_turned_off(make_api, make_ask):
    """Without the page there is no such path."""
    assert (await make_ask(make_api())("/metrics")).status == 404
