"""The sandbox's OpenAlex."""

from urllib.parse import urlencode

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import openalex_works as parser
from webdata.resources.scholar_search import ScholarQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import _scholar_works, openalex_works, site_for


def ask(search="mills", path="/works", **fields):
    target = f"{path}?{urlencode({'search': search, **fields})}"
    return openalex_works.answer(SandboxRequest("GET", "https", "api.openalex.org", target, {}))


def articles(search="mills", **fields):
    return parser.record(ask(search, **fields).body, ScholarQuery(q="mills"))["articles"]


def test_it_serves_the_host_of_the_api():
    """The API's host has this site."""
    assert site_for("api.openalex.org") is openalex_works.answer


def test_pages_end_after_the_last_work():
    """There are 347 different works, and none past the last."""
    ids = [article["id"] for page in range(1, 6) for article in articles(per_page=100, page=page)]
    assert len(ids) == len(set(ids)) == _scholar_works.WORKS


def test_works_have_the_fields_of_real_ones():
    """Works have authors with profiles, venues, abstracts and years; some have a free PDF."""
    works = articles(per_page=50)
    assert {article.get("doc", {}).get("type") for article in works} == {None, "PDF"}
    assert all(article["author"]["authors"][0]["link"] for article in works)
    assert all(article["abstract"] and article["venue"] and article["year"] for article in works)


def test_select_limits_the_fields():
    """A work has the fields of `select` alone."""
    (work, *_) = orjson.loads(ask(select="id,doi,unknown").body)["results"]
    assert set(work) == {"id", "doi"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"per_page": 201}, 400),
        ({"per-page": 0}, 400),
        ({"per_page": "x"}, 400),
        ({"page": 0}, 400),
        ({"per_page": 200, "page": 51}, 400),
        ({"api_key": " "}, 401),
        ({"path": "/wörks"}, 404),
    ],
)
def test_invalid_requests_are_errors(fields, status):
    """Pages past the last, wrong sizes, blank keys and other paths have the errors of the site."""
    assert ask(**fields).status == status


@pytest.mark.parametrize(
    ("scenario", "status"),
    [
        ("budget", 429), ("limited", 429), ("paused", 503), ("key", 401), ("denied", 403), ("error", 500),
        ("timeout", 504), ("notfound", 404), ("empty", 200), ("nulls", 200), ("encoding", 200), ("nonsense", 400),
    ],
)  # fmt: skip
def test_each_scenario_has_its_status(scenario, status):
    """Each scenario has its status."""
    assert ask(f"mills sandbox:{scenario}").status == status


def test_scenarios_are_read_by_the_parser():
    """No results are empty, null fields are read, other layouts and totals without works are rejected."""
    assert articles("sandbox:empty") == []
    assert {article["title"] for article in articles("sandbox:nulls")} == {""}
    assert "�" in articles("sandbox:encoding")[0]["title"]
    with pytest.raises(LayoutError):
        articles("sandbox:layout")
    with pytest.raises(UpstreamError):
        articles("sandbox:hollow")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_all_terms_have_a_readable_page(search):
    """Any terms have a page that the parser reads, or the 400 of an unknown scenario."""
    reply = ask(search)
    assert reply.status == 400 or articles(search) is not None
