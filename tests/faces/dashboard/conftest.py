"""The dashboard in memory, over a database of its own, as the service puts it together.

What uses the installed reactor is imported late, since this file is imported before one is.
"""

from types import SimpleNamespace

import pytest

from tests.faces.dashboard.person import Person
from webdata.accounts.access.upstream_budgets import UpstreamBudgets
from webdata.config.config import Config
from webdata.domain.upstreams import Upstream
from webdata.observability.recent_calls import RecentCalls
from webdata.resources.forum import FORUM_COMMENTS
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.ephemeral.limits_memory import MemoryLimits
from webdata.watch.watched import Watched

STATE = {
    "status": "degraded",
    "version": "1.0",
    "sandbox": "test",
    "uptime": 90.5,
    "calls": {"in_flight": 1, "limit": 1024},
    "recent": [{"engine": "google_web", "calls": 4, "won": 3, "lost": {"captcha": 1}}],
    "fetching": {
        "internet": {
            "browser": {"available": True},
            "transports": [
                {
                    "engine": "google_web",
                    "region": "US",
                    "transport": "http",
                    "rate": 0.75,
                    "seconds": 0.4,
                    "attempts": 4,
                    "won": 3,
                    "circuit": "half_open",
                    "open_for": 0.0,
                }
            ],
            "proxies": [
                {
                    "proxy": "US-1",
                    "region": "US",
                    "circuit": "open",
                    "open_for": 12.0,
                    "success_rate": 0.5,
                    "blocked_by": {"google_web": 0.1},
                }
            ],
        },
        "sandbox": {"browser": {"available": False}, "transports": [], "proxies": []},
    },
    "warnings": ["no proxy of US works: the circuit of the only one is open"],
}
"""What the service's health tells."""


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    """Hashes of passwords that cost next to nothing."""
    monkeypatch.setattr("webdata.faces.dashboard.passwords.MEMORY_KIB", 8)
    monkeypatch.setattr("webdata.faces.dashboard.passwords.PASSES", 1)


@pytest.fixture
def keys(stores):
    return stores.keys


@pytest.fixture
def ledger(stores):
    return stores.ledger


@pytest.fixture
def test_secret():
    """No key: people have none."""
    return ""


@pytest.fixture
def clock():
    """The seconds of the rate limits' clock: `clock[0] += 900`."""
    return [1000.0]


HOME = Upstream(name="home", kind="searxng", url="http://127.0.0.1:1", requests_a_day=5, price=2)
"""The upstream of these tests' operator."""


class CountedRequests:
    """The requests of a day, which are used up."""

    async def of_day(self, now):
        return {"home": 5}


@pytest.fixture
def service(stores, calls, clock, sqlite, tmp_path):
    """A service that was not started, with calls that are answered without a crawl."""
    from webdata.faces.api.calls import ApiCalls
    from webdata.service import Service, scrapy_settings

    config = Config(database=sqlite, samples=tmp_path / "samples")
    service = Service(config, SimpleNamespace(certificate=None), scrapy_settings(), None)
    service.crawlers = calls
    calls.resources = [WEB_SEARCH, MAPS_SEARCH, FORUM_COMMENTS, URL_REQUEST]
    service.resources = {one.name: one for one in calls.resources}
    calls.engines = ["bing_web", "google_web"]
    calls.engines_of = {"web_search": ["google_web", "bing_web"]}
    calls.batch_arguments = lambda resource: [f"engine_of_{resource.name}"]
    service.ephemeral.limits = MemoryLimits(lambda: clock[0])
    service.admission = service._admission(stores)
    service.api_calls = ApiCalls(service.admission)
    service.webhooks = service._webhooks(stores)
    service.submissions = service._submissions(stores)
    service.part_reader = None
    service.recent = RecentCalls()
    service.budgets = UpstreamBudgets([HOME], CountedRequests())
    service.watched = Watched(stores.watch)
    service.health = SimpleNamespace(snapshot=lambda: STATE)
    return service


@pytest.fixture
def dashboard(service, stores):
    return service._dashboard(stores, ["mcp", "openwebui", "searxng"])


@pytest.fixture
def api(service, dashboard):
    from webdata.faces.api.app import Api

    return Api([WEB_SEARCH], service.admission, dashboard=dashboard)


@pytest.fixture
def send(make_send, api):
    """As that of `tests.service_in_memory`, for tests that run as tasks."""
    from scrapy.utils.defer import deferred_to_future

    plain = make_send(api)
    return lambda *request, **further: deferred_to_future(plain(*request, **further))


@pytest.fixture
def visitor(send, stores):
    """Makes people: `visitor()` is one who is not signed in."""
    return lambda: Person(send, stores.members)
