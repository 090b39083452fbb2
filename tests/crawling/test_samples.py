"""Samples of pages with an unknown layout."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.crawling.engine import unknown_layout
from webdata.crawling.samples import Samples, SampleUnknownLayouts
from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import GoogleWebSpider


def index(folder):
    return [json.loads(line) for line in (folder / "INDEX.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_page_is_stored_with_facts_about_it(tmp_path):
    """The body is stored as it was received, and the index has its URL."""
    path = Samples(tmp_path / "samples").add("google_web", b"<p>new</p>", url="https://www.google.com/", reason="shape")
    assert path.read_bytes() == b"<p>new</p>"
    [row] = index(path.parent)
    assert row.pop("time")
    facts = {"engine": "google_web", "bytes": 10, "url": "https://www.google.com/", "reason": "shape"}
    assert row == {"file": path.name, **facts}


def test_samples_are_their_owners_alone(tmp_path):
    """Pages, index and new folders are readable by their owner only, whatever the umask."""
    before = os.umask(0)
    try:
        Samples(tmp_path / "new" / "samples").add("google_web", b"<p>new</p>")
    finally:
        os.umask(before)
    made = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}


def test_the_same_page_is_stored_once(tmp_path):
    """A page that is received twice is stored once."""
    pages = Samples(tmp_path)
    assert pages.add("google_web", b"<p>new</p>") == pages.add("google_web", b"<p>new</p>")
    assert len(index(tmp_path)) == 1


def test_the_oldest_are_deleted_first(tmp_path):
    """At most `most` pages are stored and listed in the index."""
    pages = Samples(tmp_path, most=2)
    paths = [pages.add("google_web", body) for body in (b"1", b"2", b"3")]
    assert [path.exists() for path in paths] == [False, True, True]
    assert [row["file"] for row in index(tmp_path)] == [path.name for path in paths[1:]]


def test_samples_are_bounded_in_bytes_and_days(tmp_path):
    """Pages that are too many bytes together, or older than 30 days, make room for the next; that one always stays."""
    pages = Samples(tmp_path, most_bytes=5)
    paths = [pages.add("google_web", body) for body in (b"123", b"456", b"a longer one")]
    assert [path.exists() for path in paths] == [False, False, True]
    [row] = pages.rows()
    (tmp_path / "INDEX.jsonl").write_text(json.dumps({**row, "bytes": 1, "time": "2020-01-01"}), encoding="utf-8")
    assert pages.add("google_web", b"7").exists()
    assert not paths[2].exists()


def test_what_a_sample_was_searched_for_is_forgotten_on_demand(tmp_path):
    """A redacted sample keeps its page and its reason, not its query, its URL and its headers."""
    pages = Samples(tmp_path)
    path = pages.add("google_web", b"1", url="https://www.google.com/search?q=tea", query={"q": "tea"}, reason="shape")
    assert pages.redact(path.stem)
    facts, body = pages.find(path.stem)
    assert (facts["reason"], body) == ("shape", b"1")
    assert "tea" not in json.dumps(facts)
    assert not pages.redact("nothing")


def test_samples_may_be_stored_at_the_same_time(tmp_path):
    """Each page that several processes store at the same time is in the index once."""
    bodies = [str(number).encode() for number in range(64)] * 2
    with ThreadPoolExecutor(8) as threads:  # file locks hold among threads too, as each opens the file itself
        list(threads.map(lambda body: Samples(tmp_path).add("google_web", body), bodies))
    assert len(index(tmp_path)) == 64


async def reported(folder):
    """A crawler whose spider reports a page of unknown layout."""
    crawler = get_crawler(GoogleWebSpider, {"SAMPLES": folder})
    extension = SampleUnknownLayouts.from_crawler(crawler)
    page = Response("https://www.google.com/search", body=b"<p>new</p>", headers={"Set-Cookie": "NID=1"})
    about = {"response": page, "reason": "results", "query": WebQuery(q="tea")}
    await crawler.signals.send_catch_log_async(unknown_layout, spider=GoogleWebSpider(), **about)
    return extension


@pytest.mark.task
async def test_a_page_of_unknown_layout_is_stored(tmp_path):
    """The extension stores each page that a spider reports."""
    await reported(tmp_path)
    (row,) = index(tmp_path)
    assert (row["resource"], row["query"], row["headers"]) == ("web_search", {"q": "tea"}, {"set-cookie": "…"})
    assert (row["engine"], row["reason"], row["status"]) == ("google_web", "results", 200)


@pytest.mark.task
async def test_a_page_that_cannot_be_stored_is_logged(tmp_path, caplog):
    """Where the folder cannot be written that is logged, and the call continues."""
    taken = tmp_path / "taken"
    taken.write_text("a file, no folder", encoding="utf-8")
    extension = await reported(taken / "samples")
    assert extension.samples.folder == taken / "samples"
    assert "cannot be stored" in caplog.text
