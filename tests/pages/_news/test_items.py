"""The items of a feed, and what feedparser makes of them."""

import io
import random

import feedparser
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._news.items import taken

SEED = 3
FEED = '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"{}><channel><title>t</title>{}</channel></rss>'
ITEM = (
    "<item><title>Kiln Lane</title><link>https://news.google.com/rss/articles/a?oc=5</link>"
    '<guid isPermaLink="false">a</guid><pubDate>Tue, 14 Jul 2026 03:33:16 GMT</pubDate>'
    '<description>&lt;a href="https://a.example/" target="_blank"&gt;Kiln&lt;/a&gt;&amp;nbsp;x</description>'
    '<source url="https://clay.example">Clay</source></item>'
)


def entries(feed: bytes) -> list[dict]:
    """The entries of a feed as the product reads them: its own, and feedparser's of what is left."""
    rest, found = taken(feed)
    others = iter(parsed(rest)["entries"])
    return [next(others) if entry is None else entry for entry in found] + [*others]


def parsed(feed: bytes) -> dict:
    value = feedparser.parse(io.BytesIO(feed), resolve_relative_uris=False)
    return orjson.loads(orjson.dumps({"feed": value.feed, "entries": value.entries}, default=list))


@pytest.mark.captures
def test_real_items_are_those_of_feedparser(captures):
    """Every entry has the same keys, in the same order, and the same values; nearly all need no feedparser."""
    for path in sorted((captures / "news").glob("*.xml")):
        feed = path.read_bytes()
        rest, found = taken(feed)
        expected = parsed(feed)
        assert orjson.dumps(entries(feed)) == orjson.dumps(expected["entries"]), path.name
        assert parsed(rest)["feed"] == expected["feed"], path.name
        assert b"<entry" in feed or sum(entry is not None for entry in found) >= 0.9 * len(found), path.name


@pytest.mark.captures
def test_real_items_with_a_changed_character_are_those_of_feedparser(captures):
    """So they are where any character of a feed is another one, if it is a feed of XML at all."""
    chance = random.Random(SEED)
    feed = (captures / "news" / "gnews-2026-08-brent-search-enGB-trimmed.xml").read_bytes()
    for _ in range(40):
        place = chance.randrange(feed.index(b"<item>"), feed.rindex(b"</item>"))
        changed = feed[:place] + chance.choice([b"&amp;", b"&lt;", b"&#39;", b"'", b" ", b";", b"", b"\xc3\x83", b"9"])
        changed += feed[place + 1 :].lstrip(b"\x80\xbf")
        assert orjson.dumps(entries(changed)) == orjson.dumps(parsed(changed)["entries"]), place


def test_an_ordinary_item_is_taken_out_of_the_feed():
    """What is left has the channel and no item."""
    rest, found = taken(FEED.format("", ITEM).encode())
    assert b"item" not in rest
    assert [entry["title"] for entry in found] == ["Kiln Lane"]


TEXTS = st.sampled_from([
    "Kiln", " ", "\n", "&amp;", "&amp;amp;", "&amp;E", "&amp;nbsp;", "&amp;copy;", "&amp;#39;", "&amp;#34;",
    "&amp;#8217;", ";", "'", '"', "&lt;", "&gt;", "&lt;b&gt;", "&lt;/b&gt;", "&lt;ol&gt;&lt;li&gt;",
    "&lt;/li&gt;&lt;/ol&gt;", "&lt;script&gt;", '&lt;a href="https://a.example/?a=1&amp;amp;b=2" target="_blank"&gt;',
    '&lt;a href="https://a.example/?a=1&amp;b=2"&gt;', '&lt;a href="https://a.example/?a=1&amp;amp;copy;"&gt;',
    '&lt;a href="javascript:x"&gt;', "&lt;/a&gt;", "é", "Ã©", "\x85", '&lt;font color="#6f6f6f"&gt;', "&lt;/font&gt;",
    "&lt;br/&gt;", "https://", "a.example/", "&#13;", "<![CDATA[<b>]]>", "Tue, 14 Jul 2026 03:33:16 GMT",
    "Mon, 31 Feb 2026 03:33:16 GMT", "14 Jul 2026",
])  # fmt: skip
CHILDREN = st.sampled_from([
    "<title>{}</title>", "<link>{}</link>", "<link>https://a.example/{}</link>", '<guid isPermaLink="false">{}</guid>',
    "<guid>{}</guid>", "<pubDate>{}</pubDate>", "<description>{}</description>", "<description>x{}</description>",
    '<source url="https://clay.example">{}</source>', "<source>{}</source>", "<author>{}</author>",
    '<title type="html">{}</title>', "<!--{}-->",
])  # fmt: skip
FIELDS = st.builds(lambda child, texts: child.format("".join(texts)), CHILDREN, st.lists(TEXTS, max_size=4))
ITEMS = st.lists(FIELDS, max_size=4).map("".join).map("<item>{}</item>".format)


@given(
    st.lists(ITEMS | st.just(ITEM), max_size=3).map("".join),
    st.sampled_from(["", "<language>en</language>", "<content>x</content>", "<summary>y</summary>"]),
    st.sampled_from(["", ' xml:lang="en"', ' xml:base="https://b.example/"', ' xmlns="http://purl.org/rss/1.0/"']),
)
def test_any_items_are_those_of_feedparser(items, head, attributes):
    """Whatever an item holds, in whatever feed: its entry is as feedparser gives it."""
    feed = FEED.format(attributes, head + items).encode()
    assert orjson.dumps(entries(feed)) == orjson.dumps(parsed(feed)["entries"])


@pytest.mark.parametrize("head", ['<!DOCTYPE rss [<!ENTITY a "b">]>', '<?xml version="1.0" encoding="ISO-8859-1"?>'])
def test_a_feed_of_another_form_is_left_to_feedparser(head):
    """With entities of its own or in another charset, all of it is."""
    feed = f'{head}<rss version="2.0"><channel>{ITEM}</channel></rss>'.encode()
    assert taken(feed) == (feed, [])
