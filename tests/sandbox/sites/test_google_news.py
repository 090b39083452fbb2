"""Google News in the sandbox."""

import json
import re
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError, NotFoundError
from webdata.pages import google_news as parser
from webdata.pages._news import articles, ids, links
from webdata.pages.blocked import block_of
from webdata.resources.news_search import NewsQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import _news_ids, google_news, google_web, site_for

ANY = NewsQuery(q="coffee")
RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")


def ask(path="/rss/search", headers=None, *, method="GET", body=b"", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return google_news.answer(SandboxRequest(method, "https", "news.google.com", target, headers or {}, body))


def record(**query):
    return parser.record(ask(**query).body, ANY)


def addresses(signed):
    reply = ask("/_/DotsSplashUi/data/batchexecute?rpcids=Fbv4je", method="POST", body=articles.call_body(signed))
    return articles.addresses(reply.body, len(signed))


def test_it_answers_for_google_news():
    """The site answers for the host of Google News alone."""
    assert site_for("news.google.com") is google_news.answer
    assert site_for("www.google.com") is google_web.answer


def test_another_edition_has_other_articles():
    """Each edition has a feed of its own."""
    assert ask(q="coffee", ceid="DE:de") != ask(q="coffee", ceid="US:en")


def test_an_age_in_the_terms_leaves_older_articles_out():
    """The operator is no part of the titles."""
    entries = record(q="coffee when:6h")["entries"]
    assert min(entry["published_parsed"][:5] for entry in entries) >= [2026, 7, 13, 22, 8]
    assert not any("when" in entry["title"] for entry in entries)


def test_a_feed_is_xml_of_a_hundred_invented_articles():
    """Every article has its own URL at an invented publisher, some begin a cluster."""
    assert len(ElementTree.fromstring(ask(q="coffee").body).findall("channel/item")) == 100
    page = parser.record(ask(q="coffee sandbox:old_links").body, NewsQuery(q="coffee", resolve_links=True))
    urls = [entry["link"] for entry in page["entries"]]
    assert len(set(urls)) == page["links_resolved"] == 100
    assert all(RESERVED.fullmatch(urlsplit(link).hostname) for link in urls)
    assert any(len(entry["sub_articles"]) > 1 for entry in page["entries"])


@settings(deadline=None, max_examples=30)  # feedparser takes 60 ms for a hundred entries
@given(st.text(st.characters(exclude_categories=["C"], exclude_characters=":"), max_size=100).filter(str.strip))
def test_a_feed_of_any_terms_is_read(q):
    """A search for any terms without a scenario gets a complete feed."""
    reply = ask(q=q, hl=q)
    assert reply.status == 200
    assert len(parser.record(reply.body, ANY)["entries"]) == 100


def test_opaque_ids_are_resolved_by_page_and_call():
    """The page of an opaque id signs it, and the call returns its URL for the right signature alone."""
    first, second = links.unresolved(record(q="coffee"))[:2]
    assert ids.address_in_id(first) is None
    one, two = (articles.signature_or_address(ask(f"/articles/{article_id}").body) for article_id in (first, second))
    assert one.id == first
    forged = articles.Signed(two.id, two.time, "0" * 48)
    known, hidden = addresses([one, forged])
    assert (known, hidden) == (_news_ids.decoded(first)[0], None)
    assert known.startswith("https://")


@pytest.mark.parametrize(
    "body", [b"", b"f.req=", b"f.req=[[[]]]", b"f.req=%5B%5B%5B%22Fbv4je%22%2C%22%5B%5D%22%5D%5D%5D"]
)
def test_an_invalid_call_is_refused(body):
    """A body that is no call is a 400."""
    assert ask("/_/DotsSplashUi/data/batchexecute", method="POST", body=body).status == 400


@given(st.text(alphabet="ABCabc012_-=é%", max_size=60))
def test_any_id_is_decoded_or_refused(article_id):
    """An id is an article or a 404."""
    assert ask(f"/articles/{article_id}").status in (200, 404)


@pytest.mark.parametrize(("scenario", "status"), [("denied", 403), ("limited", 429), ("error", 500)])
def test_feeds_are_refused_on_demand(scenario, status):
    """Denials, limits and errors have their status."""
    assert ask(q=f"coffee sandbox:{scenario}").status == status


@pytest.mark.parametrize("scenario", ["captcha", "consent"])
def test_captcha_and_consent_are_redirects(scenario):
    """Captcha and consent have their own URLs, which are recognised, and contain that of the feed."""
    reply = ask(q=f"coffee sandbox:{scenario}")
    location = dict(reply.headers)["Location"]
    assert reply.status == 302
    assert block_of(302, {"location": location}, b"", "https://news.google.com/", "google_news")
    parts = urlsplit(location)
    site = google_news if parts.hostname == "news.google.com" else google_web
    page = site.answer(SandboxRequest("GET", "https", parts.hostname, f"{parts.path}?{parts.query}", {}))
    assert f"https://news.google.com/rss/search?q=coffee+sandbox%3A{scenario}".encode() in page.body


def test_the_consent_cookie_opens_the_feed():
    """The cookie that the consent page's form sets opens the feed."""
    assert ask(q="coffee sandbox:consent", headers={"cookie": "SOCS=CAISHAgB"}).status == 200


def test_an_empty_feed_has_no_items():
    """A search without results gets a feed without items."""
    assert record(q="coffee sandbox:empty")["entries"] == []


def test_an_unsupported_edition_has_its_own_feed():
    """An unsupported edition redirects to the feed that reports so."""
    location = dict(ask(q="coffee sandbox:unsupported").headers)["Location"]
    assert location == "https://news.google.com/rss/unsupported"
    with pytest.raises(NotFoundError):
        parser.record(ask("/rss/unsupported").body, ANY)


def test_an_unknown_layout_is_a_layout_error():
    """HTML in place of a feed is neither blocked nor empty."""
    reply = ask(q="coffee sandbox:layout")
    assert block_of(200, {}, reply.body, "https://news.google.com/rss/search?q=coffee", "google_news") is None
    with pytest.raises(LayoutError):
        parser.record(reply.body, ANY)


@pytest.mark.parametrize(
    ("scenario", "reply"),
    [
        ("links_limited", {"status": 429}),
        ("links_consent", {"status": 302}),
        ("links_down", {"reset": True}),
        ("links_slow", {"delay": 5.0}),
        ("links_slow=0.3", {"delay": 0.3}),
        ("slow=0.3", {"delay": 0.3}),
    ],
)
def test_scenarios_of_links_apply_to_articles(scenario, reply):
    """A scenario of the links leaves the feed unchanged and applies to the pages of its articles."""
    feed = ask(q=f"coffee sandbox:{scenario}")
    assert (feed.status, feed.reset, feed.delay) == (200, False, 0.3 if scenario == "slow=0.3" else 0)
    (article_id, *_) = links.unresolved(parser.record(feed.body, ANY))
    article = ask(f"/articles/{article_id}")
    assert {name: getattr(article, name) for name in reply} == reply


def test_a_slow_search_makes_its_call_slow():
    """The call for URLs is as slow as its articles."""
    (article_id, *_) = links.unresolved(record(q="coffee sandbox:slow=0.3"))
    signed = articles.Signed(article_id, 1, "x")
    assert ask("/_/DotsSplashUi/data/batchexecute", method="POST", body=articles.call_body([signed])).delay == 0.3


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/rss/search", "POST", 405),
        ("/rss/search?q=", "GET", 404),
        ("/topics/x", "GET", 404),
        ("/articles/x", "GET", 404),
    ],
)
def test_other_pages_are_errors(path, method, status):
    """Paths and methods that the sandbox does not support get Google's own error page."""
    assert ask(path, method=method).status == status


def test_the_reply_to_a_call_is_guarded_json():
    """The reply to a call begins with the guard that prevents its execution as a script."""
    reply = ask(
        "/_/DotsSplashUi/data/batchexecute", method="POST", body=articles.call_body([articles.Signed("x", 1, "y")])
    )
    guard, _, text = reply.body.decode().partition("\n\n")
    assert guard == ")]}'"
    assert json.loads(text)[0] == ["wrb.fr", "Fbv4je", None, None, None, None, "1"]
