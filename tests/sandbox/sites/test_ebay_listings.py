"""EBay's search, as the sandbox plays it."""

import re
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import blocked
from webdata.pages import ebay_listings as parser
from webdata.resources.marketplace_search import MarketplaceQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import _ebay_results, _google_interstitials, ebay_listings, site_for

RESERVED = re.compile(r"(.*\.)?example\.(com|org|net)")


def ask(path="/sch/i.html", headers=None, *, host="www.ebay.com", method="GET", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return ebay_listings.answer(SandboxRequest(method, "https", host, target, headers or {}))


def read(reply, q="kettle"):
    return parser.record(reply.body, MarketplaceQuery(q=q))


def ids(reply, part="results"):
    return [one["metadata"]["item_id"] for one in read(reply)[part]]


def kind_of(reply, url="https://www.ebay.com/sch/i.html?_nkw=kettle"):
    found = blocked.block(reply.status, dict(reply.headers), reply.body, url)
    return found.kind if found else None


def test_it_answers_for_ebay_in_many_countries():
    """EBay's hosts are one site, and nobody else's are."""
    hosts = ("ebay.com", "www.ebay.com", "www.ebay.de", "www.ebay.co.uk", "www.ebay.com.au", "signin.ebay.fr")
    assert all(site_for(host) is ebay_listings.answer for host in hosts)
    assert site_for("www.notebay.com") is not ebay_listings.answer


def test_the_same_search_gets_the_same_bytes():
    """A search is answered with the same bytes, also when its page was not kept."""
    first = ask(_nkw="kettle")
    _ebay_results.page.cache_clear()
    assert ask(_nkw="kettle") == first


def test_other_searches_get_other_pages():
    """Terms, site, page, size and view each change the page."""
    more = ({}, {"host": "www.ebay.de"}, {"_pgn": "2"}, {"_ipg": "120"}, {"_dmd": "2"})
    assert len({ask(_nkw="kettle", **one).body for one in more} | {ask(_nkw="tea").body}) == 6


def test_pages_follow_each_other_until_there_is_nothing_left():
    """A hundred and thirty-seven different listings in all, sixty a page, then none."""
    pages = [ids(ask(_nkw="kettle", _pgn=number)) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [60, 60, 17]
    assert len({number for page in pages for number in page}) == 137
    with pytest.raises(LayoutError):
        read(ask(_nkw="kettle", _pgn="4"))


@pytest.mark.parametrize(("size", "shown"), [("120", 120), ("240", 137), ("7", 60), ("x", 60), ("", 60)])
def test_the_size_is_honoured(size, shown):
    """The sizes that eBay has are honoured; others are sixty."""
    assert len(ids(ask(_nkw="kettle", _ipg=size))) == shown


@pytest.mark.parametrize("host", ["www.ebay.com", "www.ebay.co.uk", "www.ebay.de", "www.ebay.fr", "www.ebay.ie"])
def test_every_field_is_read_by_the_parser(host):
    """Each listing has all its fields in the language and money of the site, and some have what only some have."""
    listings = read(ask(_nkw="kettle", host=host))["results"]
    for one in listings:
        told = one["metadata"]
        assert all(told[name] for name in ("price", "condition", "image", "seller", "seller_feedback", "attributes"))
        assert one["link"] == f"https://{host}/itm/{told['item_id']}"
        assert "Opens" not in one["title"]
    assert {key for one in listings for key in one["metadata"]} >= {"was_price", "bids"}


def test_only_the_list_shows_sellers():
    """The gallery has the same listings without their sellers."""
    listed, gallery = read(ask(_nkw="kettle", _dmd="1")), read(ask(_nkw="kettle", _dmd="2"))
    assert {one["metadata"]["seller"] for one in gallery["results"]} == {None}
    assert [one["title"] for one in listed["results"]] == [one["title"] for one in gallery["results"]]


def test_every_link_leads_to_an_invented_place():
    """Links stay with eBay, and pictures are on reserved example domains."""
    for node in LexborHTMLParser(ask(_nkw="kettle").body).css("[href], [src]"):
        host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
        assert host.endswith("ebay.com") or RESERVED.fullmatch(host), host


@given(q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_terms_are_text_and_nothing_else(q):
    """Whatever is searched for stands in the title and adds no markup."""
    page = LexborHTMLParser(ask(_nkw=q).body)
    assert page.css_first("title").text().split() == f"{q} | eBay".replace("\0", "\ufffd").split()
    assert len(page.css("script, style")) == 1


@pytest.mark.parametrize("query", [{}, {"_nkw": ""}, {"_nkw": " \t"}])
def test_a_search_for_nothing_goes_home(query):
    """Without terms the client is sent to the home page."""
    reply = ask(**query)
    assert (reply.status, dict(reply.headers)["Location"]) == (302, "https://www.ebay.com/")
    assert ask("/").status == 200


def test_what_is_not_there_is_not_there():
    """Other paths are a 404, other methods a 405, other scenarios a 400 that lists them."""
    assert ask("/usr/somebody").status == 404
    assert ask(_nkw="kettle", method="POST").status == 405
    assert b"loose" in ask(_nkw="kettle sandbox:nonsense").body


@pytest.mark.parametrize(("word", "matching", "loose"), [("few", 3, 9), ("loose", 0, 9), ("empty", 0, 0)])
def test_some_searches_match_little(word, matching, loose):
    """Few or no listings match, and others match fewer words, or none."""
    reply = ask(_nkw=f"copper kettle sandbox:{word}")
    assert (len(ids(reply)), len(ids(reply, "loose_results"))) == (matching, loose)


def test_the_new_layout_tells_the_same():
    """The layout search-evo shows prices, conditions and sellers in its own way."""
    listings = read(ask(_nkw="kettle sandbox:evo"))["results"]
    assert len(listings) == 60
    assert all(one["metadata"]["condition"] and one["metadata"]["seller"] for one in listings)


def test_the_captcha_has_an_address_of_its_own():
    """The captcha is redirected to, goes on only to the same site, and only when solved."""
    reply = ask(_nkw="kettle sandbox:captcha")
    location = urlsplit(dict(reply.headers)["Location"])
    assert (reply.status, location.path, kind_of(reply)) == (307, "/splashui/captcha", "captcha")
    shown = ask(f"{location.path}?{location.query}")
    assert kind_of(shown, location.geturl()) == "captcha"
    assert b"sandbox%3Acaptcha" in shown.body
    assert b"elsewhere" not in ask("/splashui/captcha", ru="https://elsewhere.example/").body
    assert ask(_nkw="kettle sandbox:captcha", headers={"cookie": "dp1=abc.123"}).status == 307


@pytest.mark.parametrize("word", ["captcha", "enablejs"])
def test_a_solved_challenge_opens_the_page(word):
    """With the answer that a browser works out the results are shown; the front of eBay has no listings."""
    total = _google_interstitials.BOX_AREA
    for letter in "abc":
        total = (total * 31 + ord(letter)) % 2**32
    assert len(ids(ask(_nkw=f"kettle sandbox:{word}", headers={"cookie": f"dp1=abc.{total}"}))) == 60
    assert b"srp-results" not in ask("/").body


@pytest.mark.parametrize(
    ("word", "status", "kind"),
    [("enablejs", 200, "javascript"), ("signin", 302, "login"), ("denied", 403, "denied"), ("limited", 429, "denied")],
)
def test_obstacles_are_recognised(word, status, kind):
    """Each obstacle is told by the checks, and a page of results is none."""
    reply = ask(_nkw=f"kettle sandbox:{word}")
    assert (reply.status, kind_of(reply)) == (status, kind)
    assert kind_of(ask(_nkw="kettle")) is None


def test_a_shape_that_nobody_knows_is_refused():
    """The unknown layout is no empty page, and a failure has its status."""
    with pytest.raises(LayoutError):
        read(ask(_nkw="kettle sandbox:layout"))
    assert ask(_nkw="kettle sandbox:error").status == 500
