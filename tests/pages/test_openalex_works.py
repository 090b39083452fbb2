"""OpenAlex's pages of works, real and composed, whole and broken."""

import random

import orjson
import pytest

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


def body_of(results, **meta):
    return orjson.dumps({"meta": meta, "results": results})


def one(**work):
    (article,) = record(body_of([{"id": ID, **work}], count=1), ANY)["articles"]
    return article


def of_capture(captures, name):
    found = orjson.loads((captures / "scholar" / name).read_bytes())
    works = found.get("results", [found])
    return works, page((captures / "scholar" / name).read_bytes())["articles"]


@pytest.mark.parametrize("name", PAGES + SINGLE)
def test_saved_works_have_their_fields(captures, name):
    """Every saved work has its DOI, identifier, authors, year and citations, and a full text only if it is free."""
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
        listed = (work.get("open_access") or {}).get("oa_url")
        if work.get("open_access"):
            assert ("doc" in article) == work["open_access"]["is_oa"]
            assert not listed or article["doc"]["link"].startswith("https://")
        assert bool(article["abstract"]) == bool(work.get("abstract_inverted_index"))


def test_a_saved_error_page_is_an_error(captures):
    """The upstream's 404 is HTML."""
    with pytest.raises(UpstreamError):
        record((captures / "scholar" / "openalex-404-html-2025.html").read_bytes(), ANY)


@pytest.mark.parametrize("name", PAGES + SINGLE)
def test_truncated_pages_are_errors(captures, name):
    """A truncated page is an error; a page with missing bytes is a record or an error."""
    body = (captures / "scholar" / name).read_bytes()
    generator = random.Random(SEED)
    for _ in range(CUTS):
        at = generator.randrange(len(body) - 1)
        with pytest.raises(UpstreamError):
            record(body[:at], ANY)
        judged(body[:at] + body[at + generator.randrange(40) :])


def judged(body):
    try:
        return record(body, ANY)
    except FetchError as error:
        return error.outcome


def test_a_page_without_works_is_empty_if_its_total_says_so():
    """The total is zero, or the page is after the last work."""
    assert record(body_of([], count=0), ANY) == {"articles": [], "total": 0}
    assert record(body_of([], count=27, page=4, per_page=10), ANY)["articles"] == []


@pytest.mark.parametrize("meta", [{"count": 4_000_000}, {"count": 27, "page": 2, "per_page": 25}])
def test_a_page_without_works_is_an_error_if_its_total_says_otherwise(meta):
    """Missing works are a failure of the upstream."""
    with pytest.raises(UpstreamError) as caught:
        record(body_of([], **meta), ANY)
    assert caught.value.kind == "false_empty"


@pytest.mark.parametrize(
    "body",
    [
        body_of([]),
        body_of([], count=-1),
        body_of([None, {}], count=2),
        body_of(None, count=1),
        body_of({}, count=1),
        b"[]",
        b"{}",
        b"null",
    ],
)
def test_a_page_of_an_unknown_shape_is_an_error(body):
    """A page has works or a total of zero; any other is of an unknown shape."""
    with pytest.raises(LayoutError):
        record(body, ANY)


def test_num_limits_the_works():
    """Without `num` all works of the page are returned."""
    body = body_of([{"id": f"{ID}{number}"} for number in range(25)], count=25)
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
def test_only_a_free_full_text_is_listed(work, doc):
    """A full text is a PDF only where the index lists it as one."""
    found = one(**work).get("doc")
    assert (found and (found["type"], found["link"])) == doc


def test_the_link_of_a_work_without_a_doi():
    """It is the landing page, else the index's own page."""
    assert one(primary_location={"landing_page_url": "https://example.org/1"})["link"] == "https://example.org/1"
    assert one()["link"] == ID


def test_an_abstract_is_made_from_its_index():
    """Words are ordered by their positions; invalid positions are ignored."""
    assert abstract({"by": [2], "mills": [1, 4], "Tidal": [0], "more": [3]}) == "Tidal mills by more mills"
    assert abstract({"a": [10**12, -1, None, "1"], "b": None, "c": 3}) is None
    assert [abstract(index) for index in (None, {}, [], "text")] == [None] * 4
