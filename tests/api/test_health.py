"""Whether the service is alive, and whether it is ready."""

import pytest
from pytest_twisted import ensureDeferred

from webdata.config.proxies import pools
from webdata.crawling.warm_crawlers import Call, EngineBudget, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import UpstreamError
from webdata.fetching.transport_policy import Scope
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.stores.memory import MemoryKeys

PROXIES = pools(
    [("DE", "http://u:secret@proxy.example:1"), ("DE", "http://proxy.example:2"), ("US", "http://us.example:3")]
)


class GoneKeys(MemoryKeys):
    """A store whose database is gone."""

    async def find(self, digest):
        raise OSError("db.example refused")


@pytest.fixture
def make_crawlers():
    """Makes crawlers that nobody has called yet."""

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
    """Nothing was called yet."""
    from webdata.observability.recent_calls import RecentCalls

    return RecentCalls()


@pytest.fixture
def make_health(crawlers, keys, recent):
    """Makes the health of those crawlers, or of others."""
    from webdata.api.health import Health

    def make(of=crawlers, keys=keys, wanted=("http", "browser"), sandbox_always=False):
        return Health(of, keys, wanted, recent, sandbox_always=sandbox_always)

    return make


@pytest.fixture
def health(make_health):
    return make_health()


@pytest.fixture
def api(make_api, health):
    return make_api(pages=health.pages())


def lose(ways, *transports, engine="google_web", region="DE"):
    """Have an engine lose with these transports until they rest."""
    for transport in transports:
        for _ in range(5):
            ways.transports.report(Scope(engine, region, transports), transport, won=False, seconds=0.0)


def break_proxies(ways, *labels):
    for label in labels:
        for _ in range(3):
            ways.proxies.report("google_web", label, "lost", 0.1)


@ensureDeferred
async def test_live(ask, health):
    """As long as it runs it is live, while it stops too."""
    before = await ask("/health/live", headers={})
    health.stop()
    after = await ask("/health/live", headers={})
    assert [(heard.status, heard.json) for heard in (before, after)] == [(200, {"status": "live"})] * 2


@ensureDeferred
async def test_ready(ask):
    """A service that nothing is wrong with is ready, and tells how it is."""
    heard = await ask("/health/ready", headers={})
    told = heard.json
    assert (heard.status, told["status"], told["warnings"]) == (200, "ready", [])
    assert told["calls"] == {"in_flight": 0, "limit": 5}
    assert (told["version"], told["sandbox"]) == ("0.1.0", "test")
    assert 0 <= told["uptime"] < 60
    assert set(told["fetching"]) == {"internet", "sandbox"}
    browser = told["fetching"]["internet"]["browser"]
    assert (browser["available"], browser["running"], browser["pages"]) == (True, False, 0)
    assert [row["proxy"] for row in told["fetching"]["internet"]["proxies"]] == ["DE-1", "DE-2", "US-1"]
    assert heard.headers["cache-control"] == "no-store"
    assert "retry-after" not in heard.headers


@ensureDeferred
async def test_nothing_secret(ask, crawlers, test_secret):
    """No address, no password and no name of a key is told."""
    break_proxies(crawlers.fetch_resources[False], "DE-1", "DE-2")
    heard = await ask("/health/ready")
    assert not any(word in heard.body for word in (b"example", b"secret", b"for tests", test_secret.encode()))


@ensureDeferred
async def test_stopping(ask, health):
    """A service that stops is not ready, and says when to look again."""
    health.stop()
    heard = await ask("/health/ready", headers={})
    assert (heard.status, heard.json["status"], heard.headers["retry-after"]) == (503, "stopping", "5")


@ensureDeferred
async def test_no_room(make_api, make_ask, make_health, make_crawlers):
    """Where no further call is taken it is not ready."""
    health = make_health(make_crawlers(max_calls=0))
    heard = await make_ask(make_api(pages=health.pages()))("/health/ready")
    assert (heard.status, heard.json["status"]) == (503, "unavailable")
    assert heard.json["warnings"] == ["there is no room for another call: 0 run"]


@ensureDeferred
async def test_no_database(make_api, make_ask, make_health, caplog):
    """Where no key can be looked up it is not ready; why is in the log alone."""
    heard = await make_ask(make_api(pages=make_health(keys=GoneKeys()).pages()))("/health/ready")
    assert (heard.status, heard.json["status"]) == (503, "unavailable")
    assert "database" in heard.json["warnings"][0]
    assert b"db.example" not in heard.body
    assert "db.example" in caplog.text


def test_no_browser(make_health, make_crawlers):
    """A browser that is wanted and not there is a warning; one that is turned off is none."""
    crawlers = make_crawlers(CHROMIUM=None)
    wanting, content = make_health(crawlers).snapshot(), make_health(crawlers, wanted=("http",)).snapshot()
    assert (wanting["status"], content["status"]) == ("degraded", "ready")
    assert "no Chromium was found" in wanting["warnings"][0]
    assert not wanting["fetching"]["internet"]["browser"]["available"]


@pytest.mark.task
async def test_a_browser_that_does_not_start(health, crawlers, caplog):
    """It is not available until one works again, which is a warning; the log tells why, once and in one line."""
    browser = crawlers.fetch_resources[False].browser
    for _ in range(2):
        with pytest.raises(UpstreamError):
            await browser.open()  # /bin/true ends at once
    told = health.snapshot()
    internet, sandbox = told["fetching"]["internet"]["browser"], told["fetching"]["sandbox"]["browser"]
    assert (internet["available"], internet["failure"], sandbox["available"]) == (False, "it does not start", True)
    assert told["status"] == "degraded"
    assert told["warnings"] == [
        "the browser does not run, so pages that need one are lost: it does not start; see the log"
    ]
    (line,) = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
    assert line.startswith("The browser cannot be had: it does not start (")
    assert "\n" not in line


def test_losses_that_no_transport_can_help_with(health, recent):
    """An engine none of whose last calls fetched a page is a warning, whatever they were lost to."""
    call = Call(WEB_SEARCH, WebQuery(q="coffee"), False, 30)
    for _ in range(12):
        recent.ended("google_web", call, EngineBudget(0, 0, 30), UpstreamError("no such host", "dns"))
    told = health.snapshot()
    assert (told["status"], told["warnings"]) == (
        "degraded",
        ["google_web: none of the last 12 calls fetched a page (dns)"],
    )
    assert told["recent"] == [{"engine": "google_web", "calls": 12, "won": 0, "lost": {"dns": 12}}]


def test_an_engine_that_wins_nothing(health, crawlers):
    """While the circuits of all transports of an engine are open, that is a warning; one that is closed is enough."""
    lose(crawlers.fetch_resources[False], "http", "browser")
    lose(crawlers.fetch_resources[False], "http", engine="bing_web", region="")
    crawlers.fetch_resources[False].transports.report(Scope("bing_web"), "browser", won=True, seconds=1)
    told = health.snapshot()
    assert told["status"] == "degraded"
    assert told["warnings"] == [
        "google_web fetches no pages from DE: the circuit of every transport it has used is open (http, browser)"
    ]


def test_a_region_without_a_proxy_that_works(health, crawlers):
    """While the circuits of all proxies of a region are open, that is a warning; one that works is enough."""
    break_proxies(crawlers.fetch_resources[False], "DE-1")
    assert health.snapshot()["status"] == "ready"
    break_proxies(crawlers.fetch_resources[False], "DE-2", "US-1")
    assert health.snapshot()["warnings"] == [
        "no proxy of DE works: the circuits of all 2 are open",
        "no proxy of US works: the circuit of the only one is open",
    ]


@pytest.mark.parametrize(("always", "status"), [(False, "ready"), (True, "degraded")])
def test_only_live_keys_count(make_health, crawlers, always, status):
    """Losses in the sandbox are no warning, unless live keys are answered there too."""
    lose(crawlers.fetch_resources[True], "http", "browser")
    assert make_health(sandbox_always=always).snapshot()["status"] == status
