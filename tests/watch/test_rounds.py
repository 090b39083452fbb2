"""Rounds of canaries: what is asked, what is stored, and what becomes of a page that lacks something."""

import pytest
import pytest_twisted
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from webdata.config.canaries import CanaryFile
from webdata.crawling.samples import Samples
from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import LayoutError, OverloadedError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.sandbox.server import Sandbox
from webdata.watch.canaries import canaries_of
from webdata.watch.filled_fields import ONE_IN, FilledFields
from webdata.watch.rounds import CanaryRounds
from webdata.watch.watched import Watched

pytestmark = pytest.mark.task


class Site:
    """Answers every call with results that have a `description`, until it is changed."""

    def __init__(self):
        self.calls, self.description, self.error = [], "text", None

    async def answer(self, call):
        self.calls.append(call)
        if isinstance(self.error, OverloadedError | UpstreamError):
            raise self.error
        url = f"https://www.google.com/search?q={call.query.q}&token=secret-value"
        call.seen(Response(url, body=f'<p class="result">{call.query.q}</p>'.encode()))
        if self.error:
            raise self.error
        result = {"title": "a", "description": self.description, "link": "https://a.example/"}
        return Answer({"results": [result] * 5}, Outcome.OK, "http", {})


def rounds_of(site, stores, samples=None):
    canaries = {"google_web": canaries_of(load_spiders(), CanaryFile())["google_web"]}
    return CanaryRounds(canaries, site, stores.watch, samples, sandbox=False, seconds=0.0, deadline=20)


async def learned(site, stores, samples=None):
    rounds = rounds_of(site, stores, samples)
    for _ in range(10):
        await rounds.run_due()
    return rounds


async def test_a_changed_site_drifts_and_recovers(stores, tmp_path, caplog):
    """A lost field becomes a drift with a sample of a page without it, a warning and a metric, until it is back."""
    site, samples, watched = Site(), Samples(tmp_path / "samples"), Watched(stores.watch)
    rounds = await learned(site, stores, samples)
    await watched.read()
    assert not list(watched.warnings())
    site.description = ""
    await rounds.run_due()
    await watched.read()
    drift = await stores.watch.drift("google_web", "internet")
    assert [loss.field for loss in drift.losses] == ["results[].description"]
    [warning] = watched.warnings()
    assert "google_web has drifted since" in warning
    assert f"0% of results[].description filled (before: 100%); see webdata samples show {drift.sample}" in warning
    assert "google_web has drifted" in caplog.text
    facts, body = samples.find(drift.sample)
    assert (facts["query"], b'class="result"' in body) == ({"q": "coffee grinder"}, True)
    assert "secret-value" not in str(facts)
    assert next(sample.value for family in watched.metrics() for sample in family.samples) == 1
    site.description = "text"
    await rounds.run_due()
    await watched.read()
    assert (list(watched.warnings()), watched.rows()[0]["drift"]) == ([], None)


async def test_pages_of_unknown_layout_are_a_drift(stores):
    """Where every canary ends with an error that is a drift of the outcome."""
    site = Site()
    rounds = await learned(site, stores)
    site.error = LayoutError("results")
    await rounds.run_due()
    drift = await stores.watch.drift("google_web", "internet")
    assert (drift.losses[0].field, drift.sample) == ("outcome", None)


async def test_what_was_not_asked_says_nothing(stores):
    """A service without room for a call, or a site that is not reached, is no drift: there is no round."""
    site = Site()
    rounds = await learned(site, stores)
    for site.error in (OverloadedError("full", 1), UpstreamError("the upstream could not be reached", "unreachable")):
        await rounds.run_due()
    assert len(await stores.watch.rounds("google_web", "internet")) == 10


async def test_a_canary_asks_one_engine_alone(stores):
    """Calls name the engine, are paid by nobody and have an account of nobody."""
    site = Site()
    await rounds_of(site, stores).run_due()
    assert {(call.engine, call.account, call.share, call.reprice) for call in site.calls} == {
        ("google_web", "", None, None)
    }


async def test_a_folder_that_cannot_be_written_loses_no_drift(stores, tmp_path, caplog):
    """Without room for the sample the drift is stored all the same."""
    taken = tmp_path / "taken"
    taken.write_text("a file, no folder", encoding="utf-8")
    site = Site()
    rounds = await learned(site, stores, Samples(taken / "samples"))
    site.description = ""
    await rounds.run_due()
    assert (await stores.watch.drift("google_web", "internet")).sample is None
    assert "cannot be stored" in caplog.text


@pytest_twisted.async_yield_fixture
async def crawlers(starts):
    """Warm crawlers over a sandbox of their own."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await deferred_from_coro(sandbox.start()))
    warm = WarmCrawlers(load_spiders(settings), settings, 4)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


@pytest.mark.parametrize("engine", ["google_web", "bing_web", "amazon_products", "reddit"])
async def test_shipped_canaries_find_results_in_the_sandbox(crawlers, stores, engine):
    """The shipped canaries of an engine are answered by it, with results, filled fields and a fingerprint."""
    canaries = {engine: canaries_of(load_spiders(), CanaryFile())[engine]}
    rounds = CanaryRounds(canaries, crawlers, stores.watch, None, sandbox=True, seconds=60, deadline=20)
    await rounds.run_due()
    [found] = await stores.watch.rounds(engine, "sandbox")
    assert len(found.pages) == len(canaries[engine])
    good = [page for page in found.pages if page.outcome == "ok"]
    assert len(good) >= len(found.pages) - 1
    assert all(page.results and page.fields and page.layout for page in good)
    await rounds.run_due()
    assert len(await stores.watch.rounds(engine, "sandbox")) == 1


def test_some_real_answers_are_measured_and_canaries_are_not():
    """One answer in some is counted by field, and nothing of its query."""
    filled, budget = FilledFields(), EngineBudget("home", 0, 0, 30)
    answer = Answer({"results": [{"title": "a", "description": ""}]}, Outcome.OK, "http", {})
    call = Call(WEB_SEARCH, WebQuery(q="tea"), sandbox=False, deadline=30)
    for _ in range(ONE_IN + 1):
        filled.ended("home", call, budget, answer)
    filled.ended("home", call, budget, LayoutError("results"))
    filled.ended("home", Call(WEB_SEARCH, WebQuery(q="tea"), False, 30, seen=print), budget, answer)
    samples = [sample for family in filled.metrics() for sample in family.samples]
    counted = {(one.name, one.labels["field"]): one.value for one in samples}
    assert counted["webdata_field_filled_total", "results[].title"] == 2
    assert counted["webdata_field_filled_total", "results[].description"] == 0
    assert counted["webdata_field_places_total", "results[].description"] == 2
    assert "tea" not in str(samples)
