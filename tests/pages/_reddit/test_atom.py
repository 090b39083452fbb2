"""Feeds in the shape of the upstream's JSON."""

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
def test_a_time_is_in_seconds_since_1970(text, seconds):
    """A time may be in any zone."""
    assert atom.seconds(text) == seconds


@given(st.from_regex(atom.INSTANT, fullmatch=True))
def test_any_text_is_a_time_or_none(text):
    """A text with the digits of a time raises no exception."""
    assert isinstance(atom.seconds(text), float | None)


def test_the_text_of_a_post_is_between_its_marks():
    """The text is returned as HTML and without markup."""
    marked = '<div class="md"><p>One &amp; <b>two</b>.</p><ul><li>a</li><li><p>b</p></li></ul></div>'
    html = f"<!-- SC_OFF -->{marked}<!-- SC_ON -->"
    (post,) = posts(entry(content=f"{html} submitted by someone"))
    assert post["selftext_html"] == html
    assert post["selftext"] == "One & two.\n\na\n\nb"


def test_a_post_has_the_address_that_it_links_to():
    """A post without a link to another page is a text post."""
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
    (post,) = posts(entry(more='<link href="http://[::1"/>'))
    assert post["permalink"] is None


def test_the_author_has_no_prefix():
    """An entry without an author is that of a deleted account."""
    written = "<author><name>/u/miller</name></author>"
    assert [post["author"] for post in posts(entry(more=written), entry("t3_2"))] == ["miller", "[deleted]"]


@pytest.mark.parametrize(
    ("count", "limit", "after"), [(0, 25, None), (3, 25, None), (3, 3, "t3_2"), (25, 100, "t3_24"), (25, 3, "t3_2")]
)
def test_a_full_page_has_a_next_one(count, limit, after):
    """A feed of 25 entries counts as full, because the limit may have been ignored; it has no more than that here."""
    entries = [entry(f"t3_{number}") for number in range(count)]
    found = atom.document(feed(*entries), ForumSubforumQuery(subforum="x1", limit=limit))
    assert (found["data"]["after"], len(found["data"]["children"])) == (after, min(count, limit))


def test_a_feed_has_the_data_of_its_subforum():
    """The data are name, title, description, address and icon."""
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
def test_other_documents_are_errors(body, query, error):
    """A document that is no feed of posts is not an empty feed."""
    with pytest.raises(error):
        atom.document(body, query)


def test_a_feed_with_faults_in_its_text_is_parsed():
    """Control characters and bytes that are not UTF-8 are replaced."""
    body = feed(entry(more="<title>A MARK B</title>"))
    for fault in (b"\x0b", b"\xff"):
        (child,) = atom.document(body.replace(b"MARK", fault), LISTING)["data"]["children"]
        assert child["data"]["title"].startswith("A ")


@given(st.binary())
def test_any_bytes_give_a_record_or_an_error(body):
    """Any bytes in a feed raise no other exception."""
    for whole in (body, feed().replace(b"</feed>", body + b"</feed>")):
        try:
            found = atom.document(whole, LISTING)
        except FetchError:
            continue
        assert found["data"]["dist"] == whole.count(b"<entry")
