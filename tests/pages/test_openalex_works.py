"""OpenAlex's pages of works, real and composed, whole and broken."""

import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError, LayoutError, UpstreamError
from webdata.pages.openalex_works import abstract, page, record
from webdata.resources.scholar_search import ScholarQuery

ANY = ScholarQuery(q="mills")
ID = "https://openalex.org/W1"
PDF = "https://archive.example.org/1.pdf"
CUTS, SEED = 30, 7
PAGES = ("openalex-search-2026.json", "openalex-works-selected-fields-2026.json")
SINGLE = (
    "openalex-work-2025-a.json",
    "openalex-work-2025-b-green-oa.json",
    "openalex-work-full-2026.json",
    "openalex-work-select-oa-2025.json",
)


def told(results, **meta):
    return orjson.dumps({"meta": meta, "results": results})


def one(**work):
    (article,) = record(told([{"id": ID, **work}], count=1), ANY)["articles"]
    return article


def of_capture(captures, name):
    found = orjson.loads((captures / "scholar" / name).read_bytes())
    works = found.get("results", [found])
    return works, page((captures / "scholar" / name).read_bytes())["articles"]


@pytest.mark.parametrize("name", PAGES + SINGLE)
def test_real_works(captures, name):
    """Every work of a real page has its DOI, identifier, authors, year and citations, and its free full text alone."""
    works, articles = of_capture(captures, name)
    assert len(works) == len(articles)
    for work, article in zip(works, articles, strict=True):
        assert article["link"] == work.get("doi") == article["ids"]["doi"]
        assert article["id"] == (work.get("id") or work["doi"])
        assert article["title"] or not work.get("display_name")
        names = [row["author"]["display_name"] for row in work.get("authorships") or []]
        assert [author["name"] for author in article["author"]["authors"]] == names
        cited = article["extras"].get("citations", {}).get("count")
        assert cited == work.get("cited_by_count")
        shown = (work.get("open_access") or {}).get("oa_url")
        if work.get("open_access"):
            assert ("doc" in article) == work["open_access"]["is_oa"]
            assert not shown or article["doc"]["link"].startswith("https://")
        assert bool(article["abstract"]) == bool(work.get("abstract_inverted_index"))


def test_a_real_page_that_is_none(captures):
    """The real 404 is no page of works."""
    with pytest.raises(UpstreamError):
        record((captures / "scholar" / "openalex-404-html-2025.html").read_bytes(), ANY)


@pytest.mark.parametrize("name", PAGES + SINGLE)
def test_real_pages_in_pieces(captures, name):
    """A page that was cut off is an error with an outcome; a scrambled one is that, or a record."""
    body = (captures / "scholar" / name).read_bytes()
    dice = random.Random(SEED)
    for _ in range(CUTS):
        at = dice.randrange(len(body) - 1)
        with pytest.raises(UpstreamError):
            record(body[:at], ANY)
        judged(body[:at] + body[at + dice.randrange(40) :])


def judged(body):
    try:
        return record(body, ANY)
    except FetchError as error:
        return error.outcome


def test_an_empty_page_tells_that_there_is_nothing():
    """No works of none are nothing found; so are none behind the last."""
    assert record(told([], count=0), ANY) == {"articles": [], "total": 0}
    assert record(told([], count=27, page=4, per_page=10), ANY)["articles"] == []


@pytest.mark.parametrize("meta", [{"count": 4_000_000}, {"count": 27, "page": 2, "per_page": 25}])
def test_a_false_empty_page(meta):
    """No works where there are some is a failure of the upstream."""
    with pytest.raises(UpstreamError) as caught:
        record(told([], **meta), ANY)
    assert caught.value.kind == "false_empty"


@pytest.mark.parametrize(
    "body",
    [
        told([]),
        told([], count=-1),
        told([None, {}], count=2),
        told(None, count=1),
        told({}, count=1),
        b"[]",
        b"{}",
        b"null",
    ],
)
def test_unknown_shapes(body):
    """A page that tells neither works nor that there are none is of an unknown shape."""
    with pytest.raises(LayoutError):
        record(body, ANY)


def test_num_cuts():
    """So many works are given as were asked for, all where no number was given."""
    body = told([{"id": f"{ID}{number}"} for number in range(25)], count=25)
    assert len(record(body, ScholarQuery(q="x", num=3))["articles"]) == 3
    assert len(record(body, ANY)["articles"]) == 25


@pytest.mark.parametrize(
    ("work", "doc"),
    [
        ({"open_access": {"is_oa": True}, "best_oa_location": {"is_oa": True, "pdf_url": PDF}}, ("PDF", PDF)),
        ({"open_access": {"is_oa": False, "oa_url": PDF}, "best_oa_location": {"pdf_url": PDF}}, None),
        ({"best_oa_location": {"is_oa": False, "pdf_url": PDF}}, None),
        ({"open_access": {"is_oa": True, "oa_url": PDF}}, ("HTML", PDF)),
        ({"open_access": {"is_oa": True, "oa_url": PDF}, "locations": [{"is_oa": True, "pdf_url": PDF}]}, ("PDF", PDF)),
        ({"open_access": {"is_oa": True}, "locations": [{"is_oa": False, "pdf_url": PDF}]}, None),
        ({"open_access": None, "best_oa_location": None}, None),
    ],
)
def test_free_full_texts(work, doc):
    """A full text is given only where it is free, and is a PDF only where the index lists it as one."""
    found = one(**work).get("doc")
    assert (found and (found["type"], found["link"])) == doc


def test_a_link_without_a_doi():
    """Without a DOI the link is the landing page, else the index's own."""
    assert one(primary_location={"landing_page_url": "https://example.org/1"})["link"] == "https://example.org/1"
    assert one()["link"] == ID


def test_an_abstract_is_put_together():
    """Words come back to their places; what is no place of an abstract is passed over."""
    assert abstract({"by": [2], "mills": [1, 4], "Tidal": [0], "more": [3]}) == "Tidal mills by more mills"
    assert abstract({"a": [10**12, -1, None, "1"], "b": None, "c": 3}) is None
    assert [abstract(index) for index in (None, {}, [], "text")] == [None] * 4


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "id",
    "doi",
    "display_name",
    "publication_year",
    "publication_date",
    "ids",
    "authorships",
    "primary_location",
    "best_oa_location",
    "open_access",
    "biblio",
    "cited_by_count",
    "abstract_inverted_index",
]


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_value_anywhere(work):
    """Whatever stands in a work, it is read or has an outcome."""
    judged(told([{"id": ID, **work}], count=1))


@given(st.binary())
def test_any_bytes(body):
    """Whatever the body is, it has an outcome."""
    judged(body)
