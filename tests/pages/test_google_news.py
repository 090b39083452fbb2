"""Google News' feeds, real and composed."""

import io
import json
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import chain
from time import perf_counter

import feedparser
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError, LayoutError, NotFoundError, UpstreamError
from webdata.pages import google_news
from webdata.pages.blocked import block
from webdata.pipelines.envelope import ParsedPage, envelope
from webdata.pipelines.validate import validate
from webdata.resources.news_search import NEWS_SEARCH, NewsQuery

ANY = NewsQuery(q="pottery")
RESOLVED = NewsQuery(q="pottery", resolve_links=True)
CUTS = 20
SEED = 20
TAG = re.compile(rb"<[^>]+>|&lt;[^&]+&gt;")
MOST_SECONDS = 0.06
"""Within which a feed of 100 entries is read."""

TIMED = """
from timeit import repeat
from webdata.pages import google_news
from webdata.resources.news_search import NewsQuery
from webdata.sandbox.sites._news_feed import Search, feed

body = feed(Search("coffee", "en-US", "US", "US:en"))
assert len(google_news.record(body, NewsQuery(q="coffee"))["entries"]) == 100
print(min(repeat(lambda: google_news.record(body, NewsQuery(q="coffee")), number=1, repeat=7)))
"""

FIELDS = {
    "title": (lambda truth: truth["title"], lambda entry: entry["title"]),
    "link": (lambda truth: truth["link"], lambda entry: entry["link"]),
    "published": (lambda truth: truth["published"], lambda entry: entry.get("published") or entry["updated"]),
    "source": (lambda truth: truth["source_title"], lambda entry: entry.get("source", {}).get("title")),
    "sub-articles": (lambda truth: truth["sub_article_count"], lambda entry: len(entry["sub_articles"])),
}


def judged(body: bytes, query: NewsQuery = ANY):
    """The record of a feed, kept to its schema; None where it is refused."""
    try:
        page = google_news.record(body, query)
    except FetchError:
        return None
    record = envelope(ParsedPage(page, query, 0.0))
    validate(NEWS_SEARCH, record)
    orjson.dumps(record)
    return record


def rss(items: str = "", head: str = "<title>t</title><link>https://news.google.com/search?q=a+b</link>") -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


def item(link: str = "https://clay.example/", more: str = "", title: str = "Kiln Lane") -> str:
    return f"<item><title>{title}</title><link>{link}</link>{more}</item>"


@pytest.fixture(scope="module")
def feeds(captures):
    """Every real feed by its file's name."""
    return {path.name: path.read_bytes() for path in sorted((captures / "news").glob("*.xml"))}


@pytest.fixture(scope="module")
def truths(captures, feeds):
    """Each hand-checked answer beside the record of its feed."""
    answers = [json.loads(path.read_text()) for path in sorted((captures / "news" / "truth").glob("*.json"))]
    return [(truth, google_news.record(feeds[truth["file"]], ANY)) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize("name", FIELDS)
def test_real_feeds_are_read_as_a_person_reads_them(truths, name):
    """Of every field of the saved feeds at least 99 in 100 are right."""
    expected_of, found_of = FIELDS[name]
    expected = Counter((t["file"], n, expected_of(one)) for t, _ in truths for n, one in enumerate(t["entries"]))
    found = Counter((t["file"], n, found_of(one)) for t, page in truths for n, one in enumerate(page["entries"]))
    assert (expected & found).total() >= 0.99 * max(expected.total(), found.total()), expected - found


@pytest.mark.captures
def test_keys_and_values_are_those_of_feedparser(feeds):
    """Everything that feedparser gives by default is there unchanged, and nothing else but sub_articles and entries."""
    for body in feeds.values():
        expected = orjson.loads(orjson.dumps(feedparser.parse(io.BytesIO(body)), default=list))
        page = google_news.record(body, ANY)
        assert {key: page["feed"][key] for key in page["feed"] if key != "entries"} == expected["feed"]
        assert [{key: entry[key] for key in entry if key != "sub_articles"} for entry in page["entries"]] == (
            expected["entries"]
        )


@pytest.mark.captures
def test_old_links_of_real_feeds_are_resolved_offline(feeds):
    """Every id of 2022 holds its publisher's address, none of 2026 does."""
    resolved = {name: google_news.record(body, RESOLVED)["links_resolved"] for name, body in feeds.items()}
    assert resolved == {name: 38 if "2022" in name else 0 for name in feeds}


@pytest.mark.captures
def test_cut_off_and_torn_feeds_are_read_or_refused(feeds):
    """Whatever is missing from a feed, it gives a record that keeps its schema or an error, and is never empty."""
    chance = random.Random(SEED)
    for body in feeds.values():
        short = body[:20_000] + body[-200:]
        cuts = (body[: len(body) * part // CUTS] for part in range(1, CUTS))
        torn = (
            TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), short)  # noqa: B023  # used at once
            for share in (0.005, 0.02, 0.3)
            for _ in range(10)
        )
        assert all(page["entries"] for page in map(judged, chain(cuts, torn)) if page)


def test_a_feed_of_a_hundred_entries_is_read_in_time():
    """The best of some readings takes less than 60 ms, in a process that measures no coverage."""
    ran = subprocess.run([sys.executable, "-c", TIMED], capture_output=True, text=True, timeout=60, check=True)
    assert float(ran.stdout) < MOST_SECONDS


def test_no_name_of_a_file_is_opened(tmp_path):
    """A body that reads like a path or an address is no feed, and nothing is fetched."""
    (tmp_path / "feed.xml").write_bytes(rss(item()))
    for body in (str(tmp_path / "feed.xml").encode(), b"https://news.google.com/rss"):
        with pytest.raises(LayoutError, match="a feed"):
            google_news.record(body, ANY)


def test_times_are_nine_integers():
    """A date comes as written, and parsed."""
    (entry,) = google_news.record(rss(item(more="<pubDate>Tue, 14 Jul 2026 03:33:16 GMT</pubDate>")), ANY)["entries"]
    assert entry["published"] == "Tue, 14 Jul 2026 03:33:16 GMT"
    assert entry["published_parsed"] == [2026, 7, 14, 3, 33, 16, 1, 195, 0]


def test_a_search_without_items_is_empty():
    """A whole feed of a search that holds nothing says that nothing was found."""
    assert judged(rss())["entries"] == []


@pytest.mark.parametrize(
    "head",
    [
        "<title>t</title><link>https://news.google.com/</link>",
        "<title>t</title><link>https://example.com/search?q=a</link>",
        "<title>t</title>",
        "<link>https://news.google.com/search?q=a</link>",
        "<title>t & u</title><link>https://news.google.com/search?q=a</link>",
    ],
)
def test_another_feed_without_items_is_not_empty(head):
    """Nothing in a feed that is not a search's, or not whole, is no proof that there is nothing."""
    with pytest.raises(LayoutError, match="articles, or the feed of a search"):
        google_news.record(rss(head=head), ANY)


def test_the_feed_that_says_there_is_none_is_not_found():
    """An edition that is not served is told by an item that leads to the front page."""
    with pytest.raises(NotFoundError, match="This feed is not available"):
        google_news.record(rss(item("https://news.google.com/?hl=en", title="This feed is not available.")), ANY)


@pytest.mark.parametrize("body", [b"", b"<html><p>news</p></html>", b"{}", b"<rs", b'<html><a href="/rss">rss</a>'])
def test_what_is_no_feed_is_refused(body):
    """HTML or anything else in the place of a feed is of an unknown shape."""
    with pytest.raises(LayoutError, match="a feed"):
        google_news.record(body, ANY)


def test_a_feed_that_was_cut_off_is_the_upstreams_fault():
    """A feed without its end would give a part of the news for the whole."""
    with pytest.raises(UpstreamError) as caught:
        google_news.record(rss(item() * 9)[:-30], ANY)
    assert caught.value.kind == "truncated"


@pytest.mark.parametrize("broken", ["<title></title><link>https://a.example/</link>", "<title>t</title><link>a</link>"])
def test_an_article_without_title_or_link_is_refused(broken):
    """An article that is none would be a partial result."""
    with pytest.raises(LayoutError, match="of an article"):
        google_news.record(rss(item() + f"<item>{broken}</item>"), ANY)


def test_a_broken_character_costs_only_itself():
    """Bytes that are not UTF-8 and characters that XML knows not leave the rest as it is."""
    body = rss(item(title="Kiln € Lane #")).replace(b"#", b"\xff\x00\x0b")
    (entry,) = google_news.record(body, ANY)["entries"]
    assert entry["title"] == "Kiln € Lane \N{REPLACEMENT CHARACTER}"


def test_what_follows_a_feed_is_not_read():
    """Megabytes of comment behind the end cost nothing."""
    begun = perf_counter()
    assert judged(rss(item()) + b"<!--" + b" " * 16_000_000 + b"-->")["entries"]
    assert perf_counter() - begun < 1


def test_the_terms_are_read_from_the_feeds_own_link():
    """A saved feed of a search tells what was searched; another one does not."""
    assert google_news.shown_query(rss(item())) == "a b"
    assert google_news.shown_query(rss(item(), head="<link>https://news.google.com/?hl=en</link>")) is None
    assert google_news.shown_query(b"no feed") is None
    assert google_news.shown_query(b"<rss>cut") is None


@pytest.mark.parametrize("words", ["unusual traffic", "Update your browser", "g-recaptcha"])
def test_headlines_may_speak_of_anything(words):
    """A short feed about captchas is no captcha."""
    assert block(200, {}, rss(item(title=words)), "https://news.google.com/rss/search?q=a") is None


@given(st.binary(max_size=1000))
def test_no_bytes_make_the_parser_stumble(body):
    """Any bytes, alone or in a feed, give an error or a record that keeps its schema."""
    judged(body)
    judged(rss(item() + "#").replace(b"#", body), RESOLVED)
    google_news.shown_query(body)


PIECES = st.sampled_from(
    [
        "<item>",
        "</item>",
        "<title>t</title>",
        "<title type='html'>&lt;b>t",
        "<link>https://a.example/</link>",
        "<link>https://[/</link>",
        "<links a='b'/>",
        "<link href='https://a.example/'/>",
        "<guid isPermaLink='false'>x</guid>",
        "<guid>x</guid>",
        "<summary_detail a='b'/>",
        "<summary a='b'/>",
        "<description>&lt;ol>&lt;li>&lt;a href='https://[/'>t&lt;/a></description>",
        "<description>&lt;ol>&lt;li>&lt;a href='https://a.example/'>&amp;#xD83D;</description>",
        "<description>&lt;a href='https://news.google.com/topics/a'>t&lt;/a></description>",
        "<content>x</content>",
        "<image><title>t</title><height>9</height><width>99999999999999999999</width></image>",
        "<source url='https://a.example/'>s</source>",
        "<source/>",
        "<pubDate>never</pubDate>",
        "<pubDate>Tue, 14 Jul 2026 03:33:16 GMT</pubDate>",
        "<language>en</language>",
        "<category domain='x'>c</category>",
        "<psc:chapter xmlns:psc='http://podlove.org/simple-chapters' start='1:00'/>",
        "&#xD83D;",
        "&nope;",
        "<![CDATA[x]]>",
        "<!ENTITY a 'b'>",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from([ANY, RESOLVED]))
def test_no_pieces_make_the_parser_stumble(pieces, query):
    """Any pieces of feeds, in any order, give an error or a record that keeps its schema."""
    judged(rss(item() + pieces), query)
    judged(rss(f"<item>{pieces}</item>"), query)
