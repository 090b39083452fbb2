"""Bing's web search in the sandbox."""

import re
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import bing_web as parser
from webdata.pages.blocked import block_of
from webdata.resources.bing_search import BingQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import bing_web, site_for

PHONE = {"user-agent": "Mozilla/5.0 (Linux; Android 14) Chrome/140.0 Mobile Safari/537.36"}
RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")


def ask(path="/search", headers=None, *, method="GET", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return bing_web.answer(SandboxRequest(method, "https", "www.bing.com", target, headers or {}))


def read(reply, q="coffee", **fields):
    return parser.record(reply.body, BingQuery(q=q, **fields))


def links(reply, **fields):
    return [result["link"] for result in read(reply, **fields)["results"]]


def block(reply):
    return block_of(reply.status, dict(reply.headers), reply.body, "https://www.bing.com/search?q=coffee", "bing_web")


def test_it_answers_for_bing():
    """The site answers for Bing's hosts and no others."""
    assert all(site_for(host) is bing_web.answer for host in ("bing.com", "www.bing.com", "cn.bing.com"))
    assert site_for("notbing.com") is not bing_web.answer


def test_other_searches_get_other_pages():
    """Terms, market, page and device each change the page."""
    pages = [ask(q="coffee", **more) for more in ({}, {"mkt": "de-DE"}, {"first": 11}, {"headers": PHONE})]
    assert len({page.body for page in [*pages, ask(q="tea")]}) == 5


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_the_first_page_repeats_behind_the_last(headers):
    """There are thirty-four different results, ten a page; behind the last page is the first one again."""
    pages = [ask(q="coffee", first=first, headers=headers) for first in (1, 11, 21, 31)]
    assert [len(links(page)) for page in pages] == [10, 10, 10, 4]
    assert len({link for page in pages for link in links(page)}) == 34
    beyond = ask(q="coffee", first=41, headers=headers)
    assert beyond.body == pages[0].body
    assert links(beyond, start=40) == []


@pytest.mark.parametrize(("count", "results"), [("3", 3), ("25", 25), ("50", 34), ("0", 10), ("x", 10), ("", 10)])
def test_count_limits_the_results(count, results):
    """A page has the requested number of results, as far as there are any; an invalid number gets ten."""
    assert len(links(ask(q="coffee", count=count))) == results


def test_every_part_is_read_by_the_parser():
    """The parser reads all parts of a page, and each part is on some page."""
    parts = set()
    for number in range(20):
        reply = ask(q=f"coffee {number}")
        record, page = read(reply), LexborHTMLParser(reply.body)
        counts = {
            "results": len(page.css(".b_algo")),
            "ads": len(page.css(".sb_add")),
            "shoppingAds": len(page.css(".pa_item")),
        }
        assert {part: len(record[part]) for part in counts} == counts
        assert {one["area"] for one in record["ads"]} <= {"top", "bottom"}
        assert parser.answers(record, f"coffee {number}")
        parts |= {part for part, count in counts.items() if count}
    assert parts == {"results", "ads", "shoppingAds"}


def test_every_link_is_invented():
    """Links have reserved example domains, or Bing's own."""
    for number in range(20):
        reply = ask(q=f"coffee {number}")
        for link in links(reply):
            assert RESERVED.fullmatch(urlsplit(link).hostname), link
        for node in LexborHTMLParser(reply.body).css("[href], [src]"):
            host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
            assert host in (None, "www.bing.com") or RESERVED.fullmatch(host), host


@given(
    q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip), mobile=st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_terms_are_text_and_nothing_else(q, mobile):
    """Any terms are text in the title and add no markup."""
    page = LexborHTMLParser(ask(q=q, headers=PHONE if mobile else {}).body)
    assert page.css_first("title").text().split() == f"{q} - Search".replace("\0", "\ufffd").split()
    assert len(page.css("script, style")) == 2


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": " \t"}])
def test_a_search_without_terms_redirects_home(query):
    """Without terms Bing redirects the client to its home page."""
    reply = ask(**query)
    assert (reply.status, dict(reply.headers)["Location"]) == (302, "https://www.bing.com/")
    assert ask("/").status == 200


def test_other_pages_are_errors():
    """Other paths are a 404, other methods a 405, unknown scenarios a 400 that lists the known ones."""
    assert ask("/maps").status == 404
    assert ask(q="coffee", method="POST").status == 405
    assert b"fickle" in ask(q="coffee sandbox:nonsense").body


def test_the_captcha_is_recognised():
    """The captcha is recognised on its page, which a cookie with a wrong solution does not open."""
    reply = ask(q="coffee sandbox:captcha")
    assert (reply.status, block(reply).kind) == (200, "captcha")
    assert block(ask(q="coffee sandbox:captcha", headers={"cookie": "_C_ETH=abc.123"})).kind == "captcha"
    assert block(ask(q="coffee")) is None


@pytest.mark.parametrize(("scenario", "status"), [("denied", 403), ("limited", 429)])
def test_refusals_are_blocks(scenario, status):
    """A refusal has its status and is recognised as a block."""
    reply = ask(q=f"coffee sandbox:{scenario}")
    assert (reply.status, block(reply).kind) == (status, "denied")


def test_other_markets_have_no_results():
    """The false "no results" is not reported for the market of the client's country."""
    assert links(ask(q="coffee sandbox:market")) == links(ask(q="coffee sandbox:market", mkt="de-DE")) == []
    assert parser.seen_from(ask(q="coffee sandbox:market").body) == "US"
    assert len(links(ask(q="coffee sandbox:market", mkt="en-US"))) == 10


def test_degraded_results_match_the_first_word_alone():
    """Degraded results are well-formed, and the relevance check rejects them."""
    for scenario in ("degraded", "fickle"):
        q = f"coffee grinder repair sandbox:{scenario}"
        page = read(ask(q=q), q)
        assert len(page["results"]) == 10
        assert not parser.answers(page, q)
    assert parser.answers(read(ask(q=q, mkt="en-US"), q), q)


def test_the_other_scenarios_have_their_pages():
    """The parser distinguishes empty, unknown, repeated, undecoded and failed pages."""
    assert links(ask(q="coffee sandbox:empty")) == []
    assert ask(q="coffee sandbox:repeat", first=11).body == ask(q="coffee sandbox:repeat").body
    assert ask(q="coffee sandbox:error").status == 500
    with pytest.raises(LayoutError):
        read(ask(q="coffee sandbox:layout"))
    with pytest.raises(UpstreamError):
        read(ask(q="coffee sandbox:undecoded"))
