"""The sandbox's Crossref."""

from urllib.parse import urlencode

import pytest

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import crossref_works as parser
from webdata.pages import openalex_works as other_parser
from webdata.resources.scholar_search import ScholarQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import _scholar_works, crossref_works, openalex_works, site_for


def ask(query="mills", path="/works", **fields):
    target = f"{path}?{urlencode({'query': query, **fields})}"
    return crossref_works.answer(SandboxRequest("GET", "https", "api.crossref.org", target, {}))


def articles(query="mills", **fields):
    return parser.record(ask(query, **fields).body, ScholarQuery(q="mills"))["articles"]


def test_it_is_the_site_of_its_host():
    """It answers for the API's host, with the same bytes for the same search."""
    assert site_for("api.crossref.org") is crossref_works.answer
    assert ask() == ask() != ask("tea")


def test_all_works():
    """There are 347, each once, and none behind the last."""
    ids = [article["id"] for offset in range(0, 500, 100) for article in articles(rows=100, offset=offset)]
    assert len(ids) == len(set(ids)) == _scholar_works.WORKS


def test_both_indexes_know_the_same_works():
    """Its works have the DOIs, titles and authors that OpenAlex's have."""
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
def test_what_it_refuses(fields, status):
    """Wrong sizes, offsets behind the last and other addresses are refused as on the site."""
    assert ask(**fields).status == status


@pytest.mark.parametrize(
    ("word", "status"),
    [("budget", 200), ("limited", 429), ("denied", 403), ("error", 500), ("notfound", 404), ("nonsense", 400)],
)
def test_words(word, status):
    """Each word for the sandbox has its status; OpenAlex's budget is none of its business."""
    assert ask(f"mills sandbox:{word}").status == status


def test_what_stands_on_pages_of_their_own():
    """Nothing found is empty, works without anything have a link, other shapes and hollow pages are refused."""
    assert articles("sandbox:empty") == []
    assert {article["title"] for article in articles("sandbox:nulls")} == {""}
    with pytest.raises(LayoutError):
        articles("sandbox:layout")
    with pytest.raises(UpstreamError):
        articles("sandbox:hollow")
