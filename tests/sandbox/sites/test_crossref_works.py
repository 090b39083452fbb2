"""The sandbox's Crossref."""

from urllib.parse import urlencode

import pytest

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import crossref_works as parser
from webdata.pages import openalex_works as other_parser
from webdata.resources.scholar_search import ScholarQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import _scholar_works, crossref_works, openalex_works, site_for


def ask(query="mills", path="/works", **fields):
    target = f"{path}?{urlencode({'query': query, **fields})}"
    return crossref_works.answer(SandboxRequest("GET", "https", "api.crossref.org", target, {}))


def articles(query="mills", **fields):
    return parser.record(ask(query, **fields).body, ScholarQuery(q="mills"))["articles"]


def test_it_serves_the_host_of_the_api():
    """The API's host has this site, with the same bytes for the same search."""
    assert site_for("api.crossref.org") is crossref_works.answer
    assert ask() == ask() != ask("tea")


def test_pages_end_after_the_last_work():
    """There are 347 different works, and none past the last."""
    ids = [article["id"] for offset in range(0, 500, 100) for article in articles(rows=100, offset=offset)]
    assert len(ids) == len(set(ids)) == _scholar_works.WORKS


def test_both_indexes_have_the_same_works():
    """Its works have the DOIs, titles, authors and abstracts of OpenAlex's."""
    target = "/works?search=mills&per_page=20"
    reply = openalex_works.answer(SandboxRequest("GET", "https", "api.openalex.org", target, {}))
    others = other_parser.record(reply.body, ScholarQuery(q="mills"))["articles"]
    for article, other in zip(articles(), others, strict=True):
        assert article["link"] == other["link"]
        assert (article["title"], article["description"]) == (other["title"], other["description"])
        assert article.get("doc") == other.get("doc")
        assert article["abstract"] == other["abstract"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"rows": 1001}, 400), ({"rows": "x"}, 400), ({"offset": 10_001}, 400), ({"path": "/members"}, 404)],
)
def test_invalid_requests_are_errors(fields, status):
    """Wrong sizes, offsets past the last and other paths have the errors of the site."""
    assert ask(**fields).status == status


@pytest.mark.parametrize(
    ("scenario", "status"),
    [("budget", 200), ("limited", 429), ("denied", 403), ("error", 500), ("notfound", 404), ("nonsense", 400)],
)
def test_each_scenario_has_its_status(scenario, status):
    """Each scenario has its status; OpenAlex's budget has no effect."""
    assert ask(f"mills sandbox:{scenario}").status == status


def test_scenarios_are_read_by_the_parser():
    """No results are empty, null fields are read, other layouts and totals without works are rejected."""
    assert articles("sandbox:empty") == []
    assert {article["title"] for article in articles("sandbox:nulls")} == {""}
    with pytest.raises(LayoutError):
        articles("sandbox:layout")
    with pytest.raises(UpstreamError):
        articles("sandbox:hollow")
