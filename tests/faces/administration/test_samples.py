"""`webdata samples`, `webdata report`, `webdata watch` and a case of a sample."""

import asyncio
import json
import zipfile
from datetime import UTC, datetime

import pytest

from webdata.crawling.cases import Case
from webdata.crawling.samples import Samples
from webdata.faces.administration import engines
from webdata.stores.sql_stores import SqlStores
from webdata.stores.watch.model import Drift, Loss, Round

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
FACTS = {
    "url": "https://www.google.com/search?q=secret+tea",
    "status": 200,
    "headers": {"content-type": "text/html; charset=UTF-8", "set-cookie": "…", "content-length": "9"},
    "resource": "web_search",
    "query": {"q": "secret tea"},
    "reason": "0% of results[].description filled",
}
PAGE = b'<html><body><p class="new">secret tea\x1b[31m</p></body></html>'


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A sample in a folder that the commands use; its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEBDATA_SAMPLES", ".webdata/samples")
    return Samples(tmp_path / ".webdata/samples").add("google_web", PAGE, **FACTS).stem


def test_samples_are_listed_shown_and_opened(run, sample):
    """The list has their names and reasons, `show` the facts, `open` the page as it came."""
    assert sample in run("samples", "list")
    assert "0% of results[].description filled" in run("samples", "list")
    assert json.loads(run("samples", "show", sample[:14]))["query"] == {"q": "secret tea"}
    assert run("samples", "open", sample).encode() == PAGE


def test_a_sample_that_is_not_there_is_named(attempt, sample):
    """An unknown name, or one of a file outside of the folder, is a wrong use."""
    for name in ("nothing", "../first-keys.txt", "/etc/passwd"):
        result = attempt("samples", "open", name)
        assert result.exit_code == 2
        assert "webdata samples list" in result.stderr


def test_a_redacted_sample_has_forgotten_its_query(run, attempt, sample):
    """Its query, URL and headers are gone, its page is not."""
    run("samples", "redact", sample)
    assert "secret" not in run("samples", "show", sample)
    assert attempt("samples", "redact", "nothing").exit_code == 2


def test_a_report_says_nothing_of_what_was_searched_for(run, attempt, sample):
    """The bundle has the engine, the reason and the structure; it never overwrites a file."""
    assert f"{sample}.report.zip: read it" in run("report", sample)
    with zipfile.ZipFile(f"{sample}.report.zip") as bundle:
        texts = [bundle.read(name).decode() for name in bundle.namelist()]
    assert "secret" not in "".join(texts)
    assert '"reason": "0% of results[].description filled"' in texts[0]
    assert 'class="new"' in texts[1]
    assert attempt("report", sample).exit_code == 2


def test_a_case_of_a_sample_is_unread(attempt, sample, tmp_path, monkeypatch):
    """It has the body, the request and today's answer, and fails its test until somebody has read it."""
    monkeypatch.setattr(engines, "source_tree", lambda: tmp_path)
    result = attempt("fixture", "google_web", "--sample", sample, "--name", "new")
    assert result.exit_code == 0, result.output
    case = Case.read(tmp_path / "fixtures/google_web/new.case")
    assert (case.unread, case.body, case.query) == (True, PAGE, {"q": "secret tea"})
    assert case.response["headers"] == {"content-type": "text/html; charset=UTF-8"}
    assert case.error["outcome"]
    assert 'take "unread" out' in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["google_web"], "either a PAGE or --sample ID"),
        (["bing_web", "--sample", "google_web"], "that sample is of google_web"),
        (["google_web", "--sample", "google_web", "--status", "404"], "has its own URL, status and headers"),
    ],
)
def test_a_case_of_a_sample_that_cannot_be_made_is_refused(attempt, sample, tmp_path, monkeypatch, arguments, message):
    """The message says what would be right."""
    monkeypatch.setattr(engines, "source_tree", lambda: tmp_path)
    result = attempt("fixture", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_drift_is_listed_and_accepted(run, attempt, url, in_thread):
    """The list has what is lost; an accepted engine has no drift any more, and one without canaries is named."""
    assert "No canary has run" in run("watch", "list")
    drift = Drift(NOW, (Loss("results[].title", 1.0, 0.0), Loss("number of results", 10.0, 4.5)))

    async def add(stores):
        await stores.watch.begin_round("google_web", "internet", NOW, NOW)
        await stores.watch.add_round("google_web", "internet", Round(NOW, []), None, drift)

    with SqlStores(url) as stores:
        in_thread(asyncio.run, add(stores))
    what = "0% of results[].title filled (before: 100%); 4.5 results a page (before: 10)"
    assert what in run("watch", "list")
    run("watch", "accept", "google_web")
    assert "No canary has run" in run("watch", "list")
    assert "no canary has run" in attempt("watch", "accept", "google_web").stderr
