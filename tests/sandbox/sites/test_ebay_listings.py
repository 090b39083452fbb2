"""The sandbox's eBay."""

import re
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import ebay_listings as parser
from webdata.pages.blocked import block_of
from webdata.resources.marketplace_search import MarketplaceQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox import challenges
from webdata.sandbox.sites import ebay_listings, site_for

REQUIRED = ("price", "condition", "image", "seller", "seller_feedback", "attributes")
RESERVED = re.compile(r"(.*\.)?example\.(com|org|net)")


def ask(path="/sch/i.html", headers=None, *, host="www.ebay.com", method="GET", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return ebay_listings.answer(SandboxRequest(method, "https", host, target, headers or {}))


def read(reply, q="kettle"):
    return parser.record(reply.body, MarketplaceQuery(q=q))


def ids(reply, part="results"):
    return [listing["metadata"]["item_id"] for listing in read(reply)[part]]


def kind(reply, url="https://www.ebay.com/sch/i.html?_nkw=kettle"):
    block = block_of(reply.status, dict(reply.headers), reply.body, url, "ebay_listings")
    return block and block.kind


def test_it_serves_ebay_in_many_countries():
    """EBay's hosts are one site; a similar name is not."""
    hosts = ("ebay.com", "www.ebay.com", "www.ebay.de", "www.ebay.co.uk", "www.ebay.com.au", "signin.ebay.fr")
    assert all(site_for(host) is ebay_listings.answer for host in hosts)
    assert site_for("www.notebay.com") is not ebay_listings.answer


def test_different_searches_have_different_pages():
    """Terms, site, page, size and view each change the page."""
    more = ({}, {"host": "www.ebay.de"}, {"_pgn": "2"}, {"_ipg": "120"}, {"_dmd": "2"})
    assert len({ask(_nkw="kettle", **fields).body for fields in more} | {ask(_nkw="tea").body}) == 6


def test_pages_end_after_the_last_listing():
    """There are 137 different listings, sixty a page, and none past the last page."""
    pages = [ids(ask(_nkw="kettle", _pgn=number)) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [60, 60, 17]
    assert len({number for page in pages for number in page}) == 137
    with pytest.raises(LayoutError):
        read(ask(_nkw="kettle", _pgn="4"))


@pytest.mark.parametrize(("size", "listings"), [("120", 120), ("240", 137), ("7", 60), ("x", 60), ("", 60)])
def test_the_page_size_is_a_parameter(size, listings):
    """A page has the requested size if eBay offers it, else sixty listings."""
    assert len(ids(ask(_nkw="kettle", _ipg=size))) == listings


@pytest.mark.parametrize("host", ["www.ebay.com", "www.ebay.co.uk", "www.ebay.de", "www.ebay.fr", "www.ebay.ie"])
def test_every_field_is_read_by_the_parser(host):
    """Every listing has the required fields in the site's language and currency, some have the optional ones."""
    listings = read(ask(_nkw="kettle", host=host))["results"]
    for listing in listings:
        metadata = listing["metadata"]
        assert all(metadata[name] for name in REQUIRED)
        assert listing["link"] == f"https://{host}/itm/{metadata['item_id']}"
        assert "Opens" not in listing["title"]
    assert {key for listing in listings for key in listing["metadata"]} >= {"was_price", "bids"}


def test_the_gallery_has_no_sellers():
    """The gallery has the listings of the list without their sellers."""
    listed, gallery = read(ask(_nkw="kettle", _dmd="1")), read(ask(_nkw="kettle", _dmd="2"))
    assert {listing["metadata"]["seller"] for listing in gallery["results"]} == {None}
    titles = [[listing["title"] for listing in page["results"]] for page in (listed, gallery)]
    assert titles[0] == titles[1]


def test_links_stay_on_the_site_or_on_reserved_domains():
    """Links lead to eBay, pictures are on example domains (RFC 2606)."""
    for node in LexborHTMLParser(ask(_nkw="kettle").body).css("[href], [src]"):
        host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
        assert host.endswith("ebay.com") or RESERVED.fullmatch(host), host


@given(q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_terms_are_escaped(q):
    """Terms are text in the title and add no markup."""
    page = LexborHTMLParser(ask(_nkw=q).body)
    assert page.css_first("title").text().split() == f"{q} | eBay".replace("\0", "\ufffd").split()
    assert len(page.css("script, style")) == 1


@pytest.mark.parametrize("query", [{}, {"_nkw": ""}, {"_nkw": " \t"}])
def test_a_search_without_terms_redirects_home(query):
    """A search without terms is redirected to the home page."""
    reply = ask(**query)
    assert (reply.status, dict(reply.headers)["Location"]) == (302, "https://www.ebay.com/")
    assert ask("/").status == 200


def test_unknown_requests_are_errors():
    """Other paths are a 404, other methods a 405, unknown scenarios a 400 that lists the known ones."""
    assert ask("/usr/seller").status == 404
    assert ask(_nkw="kettle", method="POST").status == 405
    assert b"loose" in ask(_nkw="kettle sandbox:nonsense").body


@pytest.mark.parametrize(("scenario", "matching", "loose"), [("few", 3, 9), ("loose", 0, 9), ("empty", 0, 0)])
def test_some_searches_have_few_matches(scenario, matching, loose):
    """Few or no listings match all the words, and nine or none match fewer."""
    reply = ask(_nkw=f"copper kettle sandbox:{scenario}")
    assert (len(ids(reply)), len(ids(reply, "loose_results"))) == (matching, loose)


def test_the_layout_search_evo_is_read_by_the_parser():
    """The layout search-evo has all listings with their conditions and sellers."""
    listings = read(ask(_nkw="kettle sandbox:evo"))["results"]
    assert len(listings) == 60
    assert all(listing["metadata"]["condition"] and listing["metadata"]["seller"] for listing in listings)


def test_the_captcha_has_its_own_url():
    """A search redirects to the captcha until it is solved, and the captcha only to the same site."""
    reply = ask(_nkw="kettle sandbox:captcha")
    location = urlsplit(dict(reply.headers)["Location"])
    assert (reply.status, location.path, kind(reply)) == (307, "/splashui/captcha", "captcha")
    page = ask(f"{location.path}?{location.query}")
    assert kind(page, location.geturl()) == "captcha"
    assert b"sandbox%3Acaptcha" in page.body
    assert b"elsewhere" not in ask("/splashui/captcha", ru="https://elsewhere.example/").body
    assert ask(_nkw="kettle sandbox:captcha", headers={"cookie": "dp1=abc.123"}).status == 307


@pytest.mark.parametrize("scenario", ["captcha", "enablejs"])
def test_a_solved_challenge_gives_the_results(scenario):
    """The results follow the solution that a browser computes; the home page has no listings."""
    total = challenges.SITE_BOX_AREA
    for letter in "abc":
        total = (total * 31 + ord(letter)) % 2**32
    assert len(ids(ask(_nkw=f"kettle sandbox:{scenario}", headers={"cookie": f"dp1=abc.{total}"}))) == 60
    assert b"srp-results" not in ask("/").body


@pytest.mark.parametrize(
    ("scenario", "status", "expected"),
    [("enablejs", 200, "javascript"), ("signin", 302, "login"), ("denied", 403, "denied"), ("limited", 429, "denied")],
)
def test_blocks_are_recognised(scenario, status, expected):
    """Each block page is recognised as its kind, and a page of results as none."""
    reply = ask(_nkw=f"kettle sandbox:{scenario}")
    assert (reply.status, kind(reply)) == (status, expected)
    assert kind(ask(_nkw="kettle")) is None


def test_an_unknown_layout_is_rejected():
    """The parser rejects the unknown layout, and an error has the status 500."""
    with pytest.raises(LayoutError):
        read(ask(_nkw="kettle sandbox:layout"))
    assert ask(_nkw="kettle sandbox:error").status == 500
