"""The page over engines."""

from datetime import UTC, datetime

import pytest

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget
from webdata.domain.outcome import Outcome
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.stores.watch.model import Drift, Loss, Round

task = pytest.mark.task


@task
async def test_engines_are_shown_to_admins(visitor):
    """An admin sees the state of the service: last calls, transports, circuits, and proxies by label."""
    admin = await visitor().sign_up(role="admin")
    page = (await admin.get("/engines")).body.decode()
    for part in (
        "Degraded",
        "google_web",
        "captcha 1",
        "75 %",
        "half open",
        "US-1",
        "12 s more",
        "No proxy of US works",
    ):
        assert part in page
    sandbox = (await admin.get("/engines?network=sandbox")).body.decode()
    assert "Nothing was fetched yet" in sandbox
    assert (await admin.get("/engines?network=moon")).status == 200


@task
async def test_engines_are_not_shown_to_members(visitor):
    """A member neither sees the page nor a link to it."""
    member = await visitor().sign_up()
    assert (await member.get("/engines")).status == 403
    assert b"/dashboard/engines" not in (await member.get("/keys")).body


@task
async def test_upstreams_and_engines_of_endpoints_are_shown(visitor, service):
    """An admin sees what each upstream was sent today, and the last calls of each engine of each endpoint."""
    call = Call(WEB_SEARCH, WebQuery(q="tea"), sandbox=False, deadline=30)
    service.recent.ended("home", call, EngineBudget("home", 0, 0, 30), Answer({}, Outcome.OK, "http", {}))
    page = (await (await visitor().sign_up(role="admin")).get("/engines")).body.decode()
    for part in ("Upstreams", "searxng", "used up", "Engines of each endpoint", "web_search", "100 %"):
        assert part in page


@task
async def test_drifts_are_shown(visitor, service, stores):
    """An admin sees what the canaries of each engine have found, with the page behind a drift."""
    now = datetime(2026, 11, 26, 12, 30, tzinfo=UTC)
    drift = Drift(now, (Loss("results[].title", 1.0, 0.0),), sample="google_web-0a1b")
    for engine, found in (("bing_web", None), ("google_web", drift)):
        await stores.watch.begin_round(engine, "internet", now, now)
        await stores.watch.add_round(engine, "internet", Round(now, []), None, found)
    await service.watched.read()
    page = (await (await visitor().sign_up(role="admin")).get("/engines")).body.decode()
    for part in ("Canaries", "as before", "drifted", "since 2026-11-26 12:30: 0% of results[].title filled"):
        assert part in page
    assert 'href="/dashboard/samples/google_web-0a1b.html"' in page
