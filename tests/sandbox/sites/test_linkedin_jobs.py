"""The sandbox's LinkedIn."""

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import linkedin_jobs as parser
from webdata.pages.blocked import block_of
from webdata.resources.job_search import JobQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import linkedin_jobs, site_for
from webdata.sandbox.sites.linkedin_jobs import LIST, PAGE, POSTINGS

ANY = JobQuery(q="nurse")


def ask(path=LIST, **query):
    target = f"{path}?{urlencode(query)}"
    return linkedin_jobs.answer(SandboxRequest("GET", "https", "www.linkedin.com", target, {}))


def kind(reply, path=LIST):
    block = block_of(reply.status, dict(reply.headers), reply.body, f"https://www.linkedin.com{path}", "linkedin_jobs")
    return block and block.kind


def test_it_serves_the_hosts_of_linkedin():
    """LinkedIn's domain and its subdomains of countries are one site; a similar name is not."""
    assert all(site_for(host) is linkedin_jobs.answer for host in ("www.linkedin.com", "ca.linkedin.com"))
    assert site_for("linkedin.evil.example") is not linkedin_jobs.answer


def test_the_list_ends_after_the_last_posting():
    """The list has every posting once, ten a page, and none past the last."""
    pages = [parser.postings(ask(keywords="nurse", start=start).body) for start in range(0, 60, 10)]
    assert [len(page) for page in pages] == [10, 10, 10, 10, POSTINGS - 40, 0]
    assert len({job["link"] for page in pages for job in page}) == POSTINGS
    assert ask(keywords="nurse", start=1000).status == 400


def test_the_whole_page_has_the_postings_of_the_list():
    """The whole page begins with the postings of the list."""
    page = parser.record(ask(PAGE, keywords="nurse", location="Austin").body, ANY)
    assert page["jobs"][:10] == parser.postings(ask(keywords="nurse", location="Austin").body)
    assert page["metadata"]["data_query_location"] == "Austin"


def test_every_optional_field_occurs():
    """There are postings with and without a company page, highlights, and remote or hybrid work."""
    jobs = parser.record(ask(PAGE, keywords="nurse").body, ANY)["jobs"]
    for field in ("employer_link", "highlights", "is_remote", "is_hybrid"):
        assert {bool(job[field]) for job in jobs} == {True, False}, field
    assert all(job["position"] and job["employer"] and job["location"] and job["posted_at"] for job in jobs)


@pytest.mark.parametrize(
    ("scenario", "status", "expected"),
    [("captcha", 302, "captcha"), ("login", 302, "login"), ("denied", 999, "login"), ("limited", 429, "denied")],
)
@pytest.mark.parametrize("path", [LIST, PAGE])
def test_blocks_are_recognised(path, scenario, status, expected):
    """Each block page is recognised as its kind."""
    reply = ask(path, keywords=f"sandbox:{scenario}")
    assert (reply.status, kind(reply, path)) == (status, expected)


@pytest.mark.parametrize(("path", "expected"), [("/authwall", "login"), ("/checkpoint/challenge/sandbox", "captcha")])
def test_targets_of_redirects_are_recognised(path, expected):
    """The authwall and the security check have their own URLs, and are recognised as their kinds."""
    reply = ask(path)
    assert (reply.status, kind(reply, path)) == (200, expected)


def test_a_search_may_have_no_results():
    """The list is empty, and the whole page has the message for no results."""
    assert parser.postings(ask(keywords="sandbox:empty").body) == []
    assert parser.record(ask(PAGE, keywords="sandbox:empty").body, ANY)["error"]


def test_an_unknown_layout_is_rejected():
    """The parser rejects the unknown layout of the list and of the whole page."""
    for path in (LIST, PAGE):
        with pytest.raises(LayoutError):
            parser.record(ask(path, keywords="sandbox:layout").body, ANY)


def test_unknown_requests_are_errors():
    """An unknown path is a 404, an unknown scenario a 400, the error scenario a 500."""
    replies = (ask("/feed"), ask(keywords="sandbox:nonsense"), ask(keywords="sandbox:error"))
    assert [reply.status for reply in replies] == [404, 400, 500]


@given(keywords=st.text(max_size=60).filter(lambda text: "sandbox:" not in text.lower()), start=st.text(max_size=6))
@settings(max_examples=50, deadline=None)
def test_terms_are_escaped(keywords, start):
    """Neither keywords nor offset add markup."""
    page = ask(PAGE, keywords=keywords, start=start)
    assert len(LexborHTMLParser(page.body).css("li")) == POSTINGS
