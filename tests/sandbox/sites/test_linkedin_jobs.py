"""LinkedIn's job search, as the sandbox plays it."""

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import blocked
from webdata.pages import linkedin_jobs as parser
from webdata.resources.job_search import JobQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import linkedin_jobs, site_for
from webdata.sandbox.sites.linkedin_jobs import PART, POSTINGS, WHOLE

ANY = JobQuery(q="nurse")


def ask(path=PART, **query):
    target = f"{path}?{urlencode(query)}"
    return linkedin_jobs.answer(SandboxRequest("GET", "https", "www.linkedin.com", target, {}))


def obstacle(reply, path=PART):
    found = blocked.block(reply.status, dict(reply.headers), reply.body, f"https://www.linkedin.com{path}")
    return found and found.kind


def test_it_answers_for_every_linkedin():
    """The site's own domain and those of countries are one site, and nobody else's is."""
    assert all(site_for(host) is linkedin_jobs.answer for host in ("www.linkedin.com", "ca.linkedin.com"))
    assert site_for("linkedin.evil.example") is not linkedin_jobs.answer


def test_the_same_search_gets_the_same_bytes():
    """A search is answered with the same bytes, also when its page was not kept."""
    before = ask(keywords="nurse")
    linkedin_jobs.part.cache_clear()
    assert ask(keywords="nurse") == before


def test_parts_follow_each_other_to_the_end():
    """All postings come once, ten at a time, and then a list of nothing."""
    parts = [parser.postings(ask(keywords="nurse", start=start).body) for start in range(0, 60, 10)]
    assert [len(part) for part in parts] == [10, 10, 10, 10, POSTINGS - 40, 0]
    assert len({job["link"] for part in parts for job in part}) == POSTINGS
    assert ask(keywords="nurse", start=1000).status == 400


def test_the_whole_page_has_the_parts_postings():
    """The page and the list agree."""
    page = parser.record(ask(WHOLE, keywords="nurse", location="Austin").body, ANY)
    assert page["jobs"][:10] == parser.postings(ask(keywords="nurse", location="Austin").body)
    assert page["metadata"]["data_query_location"] == "Austin"


def test_postings_differ_in_what_they_show():
    """There are postings with and without a company page, remarks, and ways of working."""
    jobs = parser.record(ask(WHOLE, keywords="nurse").body, ANY)["jobs"]
    for field in ("employer_link", "highlights", "is_remote", "is_hybrid"):
        assert {bool(job[field]) for job in jobs} == {True, False}, field
    assert all(job["position"] and job["employer"] and job["location"] and job["posted_at"] for job in jobs)


@pytest.mark.parametrize(
    ("word", "status", "kind"),
    [("captcha", 302, "captcha"), ("login", 302, "login"), ("denied", 999, "login"), ("limited", 429, "denied")],
)
@pytest.mark.parametrize("path", [PART, WHOLE])
def test_obstacles(path, word, status, kind):
    """What stands in the way is known as such."""
    reply = ask(path, keywords=f"sandbox:{word}")
    assert (reply.status, obstacle(reply, path)) == (status, kind)


@pytest.mark.parametrize(("path", "kind"), [("/authwall", "login"), ("/checkpoint/challenge/sandbox", "captcha")])
def test_where_redirects_lead(path, kind):
    """The wall and the security check are pages of their own."""
    reply = ask(path)
    assert (reply.status, obstacle(reply, path)) == (200, kind)


def test_empty():
    """The list holds nothing, and the whole page says why."""
    assert parser.postings(ask(keywords="sandbox:empty").body) == []
    assert parser.record(ask(WHOLE, keywords="sandbox:empty").body, ANY)["error"]


def test_another_layout():
    """Neither page is known to the parser."""
    for path in (PART, WHOLE):
        with pytest.raises(LayoutError):
            parser.record(ask(path, keywords="sandbox:layout").body, ANY)


def test_what_is_not_there():
    """An unknown path is a 404, an unknown word a 400, a failure a 500."""
    replies = (ask("/feed"), ask(keywords="sandbox:nonsense"), ask(keywords="sandbox:error"))
    assert [reply.status for reply in replies] == [404, 400, 500]


@given(keywords=st.text(max_size=60).filter(lambda text: "sandbox:" not in text.lower()), start=st.text(max_size=6))
@settings(max_examples=50, deadline=None)
def test_terms_are_text_and_nothing_else(keywords, start):
    """Whatever is searched for, from wherever, adds no markup."""
    page = ask(WHOLE, keywords=keywords, start=start)
    assert len(LexborHTMLParser(page.body).css("li")) == POSTINGS
