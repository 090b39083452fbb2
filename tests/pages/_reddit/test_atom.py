"""Feeds, in the shape of the upstream's JSON."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError, LayoutError, UpstreamError
from webdata.pages._reddit import atom
from webdata.resources.forum import ForumAboutQuery, ForumCommentsQuery, ForumSubforumQuery

LISTING, THREAD, ABOUT = ForumSubforumQuery(subforum="x1"), ForumCommentsQuery(id="1"), ForumAboutQuery(subforum="x1")


def feed(*entries, head='<category term="x1" label="r/x1"/>'):
    names = 'xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"'
    return f'<?xml version="1.0" encoding="UTF-8"?><feed {names}>{head}{"".join(entries)}</feed>'.encode()


def entry(name="t3_1", content="", more=""):
    return f'<entry><id>{name}</id><content type="html">{escape(content)}</content>{more}</entry>'


def posts(*entries, query=LISTING):
    return [child["data"] for child in atom.document(feed(*entries), query)["data"]["children"]]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:10+00:00", 10),
        ("1970-01-01T01:00:10+01:00", 10),
        ("1969-12-31T23:30:10-00:30", 10),
        ("1970-01-01T00:00:10Z", 10),
        ("1970-01-01T00:00:10.5Z", 10),
        ("1970-13-01T00:00:10Z", None),
        ("today", None),
        ("", None),
        (None, None),
    ],
)
def test_times(text, seconds):
    """A time is told in seconds since 1970, whatever zone it is written in."""
    assert atom.seconds(text) == seconds


@given(st.from_regex(atom.INSTANT, fullmatch=True))
def test_any_time(text):
    """What is written like a time is one, or none."""
    assert isinstance(atom.seconds(text), float | None)


def test_a_text():
    """A post's text is what stands between its marks: as it is, and as text alone."""
    marked = '<div class="md"><p>One &amp; <b>two</b>.</p><ul><li>a</li><li><p>b</p></li></ul></div>'
    html = f"<!-- SC_OFF -->{marked}<!-- SC_ON -->"
    (post,) = posts(entry(content=f"{html} submitted by someone"))
    assert post["selftext_html"] == html
    assert post["selftext"] == "One & two.\n\na\n\nb"


def test_a_link():
    """A post that links elsewhere has that address; one that does not is a text."""
    own = "https://www.reddit.com/r/x1/comments/1/title/"
    link = f'<link href="{own}"/>'
    (post,) = posts(entry(content='<a href="https://example.org/?a=1&amp;b=2">[link]</a>', more=link))
    assert (post["url"], post["is_self"], post["permalink"]) == (
        "https://example.org/?a=1&b=2",
        False,
        "/r/x1/comments/1/title/",
    )
    (post,) = posts(entry(content=f'<a href="{own}">[link]</a>', more=link))
    assert (post["url"], post["is_self"]) == (own, True)


def test_who_wrote_it():
    """An author is told without the prefix; where there is none the account is gone."""
    written = "<author><name>/u/miller</name></author>"
    assert [post["author"] for post in posts(entry(more=written), entry("t3_2"))] == ["miller", "[deleted]"]


@pytest.mark.parametrize(
    ("count", "limit", "after"), [(0, 25, None), (3, 25, None), (3, 3, "t3_2"), (25, 100, "t3_24")]
)
def test_a_page_that_is_full_goes_on(count, limit, after):
    """The next page is told where this one is full; a feed of 25 may be one whose limit was not heeded."""
    entries = [entry(f"t3_{number}") for number in range(count)]
    found = atom.document(feed(*entries), ForumSubforumQuery(subforum="x1", limit=limit))
    assert found["data"]["after"] == after


def test_a_subforum():
    """A feed names its subforum, and tells what it is called and about."""
    head = '<category term="x1" label="r/x1"/><title>The X</title><subtitle>All of it.</subtitle><logo>https://e.org/l</logo>'
    assert atom.document(feed(head=head), ABOUT)["data"] == {
        "display_name": "x1",
        "display_name_prefixed": "r/x1",
        "title": "The X",
        "public_description": "All of it.",
        "url": "/r/x1/",
        "icon_img": "https://e.org/l",
    }
    with pytest.raises(LayoutError):
        atom.document(feed(head=""), ABOUT)


@pytest.mark.parametrize(
    ("body", "query", "error"),
    [
        (feed(entry("t5_1")), LISTING, LayoutError),
        (feed("<entry/>"), LISTING, LayoutError),
        (feed(entry("t1_1")), THREAD, LayoutError),
        (feed(), THREAD, LayoutError),
        (b'<?xml version="1.0"?><rss/>', LISTING, LayoutError),
        (b"<feed/>", LISTING, LayoutError),
        (b'<!DOCTYPE feed [<!ENTITY a "b">]><feed>&a;</feed>', LISTING, LayoutError),
        (feed()[:-1], LISTING, UpstreamError),
        (b"<feed>&nbsp;</feed>", LISTING, UpstreamError),
        (b"<feed", LISTING, UpstreamError),
    ],
)
def test_what_is_no_feed(body, query, error):
    """What is no feed of posts is no empty one."""
    with pytest.raises(error):
        atom.document(body, query)


def test_faults_in_a_text():
    """Control characters, and bytes that are not UTF-8, do not make a feed unreadable."""
    body = feed(entry(more="<title>A MARK B</title>"))
    for fault in (b"\x0b", b"\xff"):
        (child,) = atom.document(body.replace(b"MARK", fault), LISTING)["data"]["children"]
        assert child["data"]["title"].startswith("A ")


@given(st.binary())
def test_any_bytes(body):
    """Whatever stands in a feed, it is read or has an outcome."""
    for whole in (body, feed().replace(b"</feed>", body + b"</feed>")):
        try:
            found = atom.document(whole, LISTING)
        except FetchError:
            continue
        assert found["data"]["dist"] == whole.count(b"<entry")
