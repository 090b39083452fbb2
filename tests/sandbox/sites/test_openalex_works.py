"""The sandbox's OpenAlex."""

from urllib.parse import urlencode

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import openalex_works as parser
from webdata.resources.scholar_search import ScholarQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import _scholar_works, openalex_works, site_for


def ask(search="mills", path="/works", **fields):
    target = f"{path}?{urlencode({'search': search, **fields})}"
    return openalex_works.answer(SandboxRequest("GET", "https", "api.openalex.org", target, {}))


def articles(search="mills", **fields):
    return parser.record(ask(search, **fields).body, ScholarQuery(q="mills"))["articles"]


def test_it_is_the_site_of_its_host():
    """It answers for the API's host."""
    assert site_for("api.openalex.org") is openalex_works.answer


def test_the_same_search_gets_the_same_bytes():
    """A search is answered with the same bytes, also when its works were not kept."""
    first = ask()
    _scholar_works.work.cache_clear()
    assert ask() == first
    assert ask("tea").body != first.body != ask(page=2).body


def test_all_works():
    """There are 347, each once, and none behind the last; the count is always told."""
    ids = [article["id"] for page in range(1, 6) for article in articles(per_page=100, page=page)]
    assert len(ids) == len(set(ids)) == _scholar_works.WORKS


def test_works_tell_what_real_ones_do():
    """Works have authors with profiles, venues, abstracts and citations; some a free PDF, some none."""
    found = articles(per_page=50)
    assert {article.get("doc", {}).get("type") for article in found} == {None, "PDF"}
    assert all(article["author"]["authors"][0]["link"] for article in found)
    assert all(article["abstract"] and article["venue"] and article["year"] for article in found)


def test_fields_are_chosen():
    """Only what is asked for is told."""
    (work, *_) = orjson.loads(ask(select="id,doi,unheard_of").body)["results"]
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
def test_what_it_refuses(fields, status):
    """Pages behind the last, wrong sizes, blank keys and other addresses are refused as on the site."""
    assert ask(**fields).status == status


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("budget", 429), ("limited", 429), ("paused", 503), ("key", 401), ("denied", 403), ("error", 500),
        ("timeout", 504), ("notfound", 404), ("empty", 200), ("nulls", 200), ("encoding", 200), ("nonsense", 400),
    ],
)  # fmt: skip
def test_words(word, status):
    """Each word for the sandbox has its status."""
    assert ask(f"mills sandbox:{word}").status == status


def test_what_stands_on_pages_of_their_own():
    """Nothing found is empty, works without anything have a link, other shapes and hollow pages are refused."""
    assert articles("sandbox:empty") == []
    assert {article["title"] for article in articles("sandbox:nulls")} == {""}
    assert "�" in articles("sandbox:encoding")[0]["title"]
    with pytest.raises(LayoutError):
        articles("sandbox:layout")
    with pytest.raises(UpstreamError):
        articles("sandbox:hollow")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_terms_are_answered(search):
    """Whatever is searched, the answer is one that can be read."""
    reply = ask(search)
    assert reply.status == 400 or articles(search) is not None
