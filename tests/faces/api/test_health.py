"""Liveness and readiness."""

import re
from importlib.metadata import version

import pytest
from pytest_twisted import ensureDeferred

from webdata.crawling.warm_crawlers import Call, EngineBudget, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.domain.proxies import pools
from webdata.fetching.transport_policy import Scope
from webdata.resources.web_search import WEB_SEARCH, WebQuery

PROXIES = pools(
    [("DE", "http://u:secret@proxy.example:1"), ("DE", "http://proxy.example:2"), ("US", "http://us.example:3")]
)


async def works():
    """A check of a database that answers."""


async def fails():
    """A check of a database that is away."""
    raise OSError("db.example refused")


@pytest.fixture
def make_crawlers():
    """Makes crawlers without any calls yet."""

    def make(max_calls=5, **settings):
        own = scrapy_settings()
        own.setdict({"PROXIES": PROXIES, "TRANSPORTS": ("http", "browser"), "CHROMIUM": "/bin/true", **settings})
        return WarmCrawlers(load_spiders(own), own, max_calls)

    return make


@pytest.fixture
def crawlers(make_crawlers):
    return make_crawlers()


@pytest.fixture
def recent():
    """Recent calls, without any yet."""
    from webdata.observability.recent_calls import RecentCalls

    return RecentCalls()


@pytest.fixture
def make_health(crawlers, recent):
    """Makes the health of `crawlers`, or of others."""
    from webdata.faces.api.health import Health

    def make(of=crawlers, check=works, transports=("http", "browser"), sandbox_always=False, folders=None):
        return Health(of, check, transports, recent, sandbox_always=sandbox_always, folders=folders)

    return make


@pytest.fixture
def health(make_health):
    return make_health()


@pytest.fixture
def api(make_api, health):
    return make_api(pages=health.pages())


def lose(resources, *transports, engine="google_web", region="DE"):
    """Report losses of an engine until the circuits of these transports are open."""
    for transport in transports:
        for _ in range(5):
            resources.transports.report(Scope(engine, region, transports), transport, won=False, seconds=0.0)


def break_proxies(resources, *labels):
    for label in labels:
        for _ in range(3):
            resources.proxies.report("google_web", label, "lost", 0.1)


@ensureDeferred
async def test_a_running_service_is_live(send, health):
    """A service is live as long as it runs, also while it stops."""
    before = await send("/health/live", headers={})
    health.stop()
    after = await send("/health/live", headers={})
    assert [(response.status, response.json) for response in (before, after)] == [(200, {"status": "live"})] * 2


@ensureDeferred
async def test_a_healthy_service_is_ready(send):
    """A healthy service is ready, and reports the state of its parts."""
    response = await send("/health/ready", headers={})
    report = response.json
    assert (response.status, report["status"], report["warnings"]) == (200, "ready", [])
    assert report["calls"] == {"in_flight": 0, "limit": 5}
    assert (report["version"], report["sandbox"]) == (version("webdata"), "test")
    assert 0 <= report["uptime"] < 60
    assert set(report["fetching"]) == {"internet", "sandbox"}
    browser = report["fetching"]["internet"]["browser"]
    assert (browser["available"], browser["running"], browser["pages"]) == (True, False, 0)
    assert [row["proxy"] for row in report["fetching"]["internet"]["proxies"]] == ["DE-1", "DE-2", "US-1"]
    assert response.headers["cache-control"] == "no-store"
    assert "retry-after" not in response.headers


@ensureDeferred
async def test_no_secret_is_reported(send, crawlers, test_secret):
    """The report has no address, no password and no name of a key."""
    break_proxies(crawlers.fetch_resources[False], "DE-1", "DE-2")
    response = await send("/health/ready")
    assert not any(word in response.body for word in (b"example", b"secret", b"for tests", test_secret.encode()))


@ensureDeferred
async def test_a_stopping_service_is_not_ready(send, health):
    """A service that stops is not ready, and sends `Retry-After`."""
    health.stop()
    response = await send("/health/ready", headers={})
    assert (response.status, response.json["status"], response.headers["retry-after"]) == (503, "stopping", "5")


@ensureDeferred
async def test_a_full_service_is_not_ready(make_api, make_send, make_health, make_crawlers):
    """A service without room for a further call is not ready."""
    health = make_health(make_crawlers(max_calls=0))
    response = await make_send(make_api(pages=health.pages()))("/health/ready")
    assert (response.status, response.json["status"]) == (503, "unavailable")
    assert response.json["warnings"] == ["there is no room for another call: 0 run"]


@ensureDeferred
async def test_a_service_without_its_database_is_not_ready(make_api, make_send, make_health, caplog):
    """A service that cannot look up keys is not ready; the reason is only logged."""
    response = await make_send(make_api(pages=make_health(check=fails).pages()))("/health/ready")
    assert (response.status, response.json["status"]) == (503, "unavailable")
    assert "database" in response.json["warnings"][0]
    assert b"db.example" not in response.body
    assert "db.example" in caplog.text


@ensureDeferred
async def test_the_database_is_checked_once_for_many(make_api, make_send, make_health):
    """Those who ask at the same time share one check of the database, and so do those within a second."""
    checks = []

    async def check():
        checks.append(1)

    send = make_send(make_api(pages=make_health(check=check).pages()))
    assert {(await send("/health/ready")).status for _ in range(5)} == {200}
    assert len(checks) == 1


def test_a_missing_browser_is_a_warning(make_health, make_crawlers):
    """A missing browser is a warning, unless its transport is turned off."""
    crawlers = make_crawlers(CHROMIUM=None)
    missing, off = make_health(crawlers).snapshot(), make_health(crawlers, transports=("http",)).snapshot()
    assert (missing["status"], off["status"]) == ("degraded", "ready")
    assert "no Chromium was found" in missing["warnings"][0]
    assert not missing["fetching"]["internet"]["browser"]["available"]


@pytest.mark.slow
@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_a_browser_that_does_not_start_is_a_warning(health, crawlers, caplog):
    """A browser that does not start is a warning, and its error is logged once, in one line."""
    browser = crawlers.fetch_resources[False].browser
    for _ in range(2):
        with pytest.raises(UpstreamError):
            await browser.open()  # /bin/true ends at once
    report = health.snapshot()
    internet, sandbox = report["fetching"]["internet"]["browser"], report["fetching"]["sandbox"]["browser"]
    assert (internet["available"], internet["failure"], sandbox["available"]) == (False, "it does not start", True)
    assert report["status"] == "degraded"
    assert report["warnings"] == [
        "the browser does not run, so pages that need one are lost: it does not start; see the log"
    ]
    (line,) = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
    assert line.startswith("The browser cannot be had: it does not start (")
    assert "\n" not in line


def test_an_engine_whose_calls_all_fail_is_a_warning(health, recent):
    """An engine whose last calls all failed is a warning, for any kind of error."""
    call = Call(WEB_SEARCH, WebQuery(q="coffee"), False, 30)
    for _ in range(12):
        recent.ended("google_web", call, EngineBudget("google_web", 0, 0, 30), UpstreamError("no such host", "dns"))
    report = health.snapshot()
    assert (report["status"], report["warnings"]) == (
        "degraded",
        ["google_web: none of the last 12 calls fetched a page (dns)"],
    )
    assert report["recent"] == [{"engine": "google_web", "calls": 12, "won": 0, "lost": {"dns": 12}}]


def test_an_engine_without_a_closed_circuit_is_a_warning(health, crawlers):
    """An engine is a warning while the circuits of all its transports are open."""
    lose(crawlers.fetch_resources[False], "http", "browser")
    lose(crawlers.fetch_resources[False], "http", engine="bing_web", region="")
    crawlers.fetch_resources[False].transports.report(Scope("bing_web"), "browser", won=True, seconds=1)
    report = health.snapshot()
    assert report["status"] == "degraded"
    assert report["warnings"] == [
        "google_web fetches no pages from DE: the circuit of every transport it has used is open (http, browser)"
    ]


def test_a_region_without_a_closed_circuit_is_a_warning(health, crawlers):
    """A region is a warning while the circuits of all its proxies are open."""
    break_proxies(crawlers.fetch_resources[False], "DE-1")
    assert health.snapshot()["status"] == "ready"
    break_proxies(crawlers.fetch_resources[False], "DE-2", "US-1")
    assert health.snapshot()["warnings"] == [
        "no proxy of DE works: the circuits of all 2 are open",
        "no proxy of US works: the circuit of the only one is open",
    ]


@pytest.mark.parametrize(("always", "status"), [(False, "ready"), (True, "degraded")])
def test_losses_in_the_sandbox_count_for_live_keys_only(make_health, crawlers, always, status):
    """Losses in the sandbox are a warning only where live keys are answered there too."""
    lose(crawlers.fetch_resources[True], "http", "browser")
    assert make_health(sandbox_always=always).snapshot()["status"] == status


def test_a_nearly_full_disk_is_a_warning(make_health, tmp_path, monkeypatch):
    """A disk with little room is a warning that names what is on it; a folder that is not there yet is none."""
    health = make_health(folders={"database": tmp_path, "samples": tmp_path / "none"})
    assert not [warning for warning in health.snapshot()["warnings"] if "disk" in warning]
    monkeypatch.setattr("webdata.faces.api.health.LEAST_FREE", 1 << 60)
    [warning] = [warning for warning in health.snapshot()["warnings"] if "disk" in warning]
    assert re.fullmatch(r"the disk of the database has \d+ MiB left: make room before writes fail", warning)
    assert health.snapshot()["status"] == "degraded"
