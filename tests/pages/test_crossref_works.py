"""Crossref's pages of works, real and composed, whole and broken."""

import random

import orjson
import pytest

from webdata.domain.errors import FetchError, LayoutError, UpstreamError
from webdata.pages.crossref_works import page, record, shown_terms
from webdata.resources.scholar_search import ScholarQuery

ANY = ScholarQuery(q="mills")
CC = "https://creativecommons.org/licenses/by/4.0/"
PDF = "https://journal.northwind.example/1.pdf"
CUTS, SEED = 30, 7
PAGES = (
    "crossref-query-title-2025.json",
    "crossref-search-2026.json",
    "crossref-works-cursor.json",
    "crossref-works-field-queries.json",
)


def body_of(items, total=None, start=0):
    query = {"start-index": start, "search-terms": "mills"}
    return orjson.dumps({"status": "ok", "message": {"items": items, "total-results": total, "query": query}})


def one(**work):
    (article,) = record(body_of([{"DOI": "10.5555/1", **work}], 1), ANY)["articles"]
    return article


def judged(body):
    try:
        return record(body, ANY)
    except FetchError as error:
        return error.outcome


@pytest.mark.parametrize("name", PAGES)
def test_saved_works_have_their_fields(captures, name):
    """Every saved work has its DOI, title, authors, year and citations, and no tags in its texts."""
    body = (captures / "scholar" / name).read_bytes()
    works = orjson.loads(body)["message"]["items"]
    articles = page(body)["articles"]
    for work, article in zip(works, articles, strict=True):
        assert article["id"] == article["link"] == f"https://doi.org/{work['DOI']}"
        assert article["title"] or not work.get("title")
        assert len(article["author"]["authors"]) == len(work.get("author", []))
        assert article["extras"]["citations"]["count"] == work["is-referenced-by-count"]
        assert article["year"] == work["issued"]["date-parts"][0][0]
        assert "<jats" not in (article["abstract"] or "")
        assert bool(article["abstract"]) == bool(work.get("abstract"))


def test_a_saved_empty_page_is_empty(captures):
    """Its total is zero."""
    found = record((captures / "scholar" / "crossref-empty-2025.json").read_bytes(), ANY)
    assert found == {"articles": [], "total": 0}


@pytest.mark.parametrize("name", PAGES)
def test_truncated_pages_are_errors(captures, name):
    """A truncated page is an error; a page with missing bytes is a record or an error."""
    body = (captures / "scholar" / name).read_bytes()
    generator = random.Random(SEED)
    for _ in range(CUTS):
        at = generator.randrange(len(body) - 1)
        with pytest.raises(UpstreamError):
            record(body[:at], ANY)
        judged(body[:at] + body[at + generator.randrange(40) :])


def test_a_page_without_works_is_empty_if_its_total_says_so():
    """The total is zero, or the page is after the last work; else missing works are a failure."""
    assert record(body_of([], 0), ANY)["articles"] == []
    assert record(body_of([], 27, start=30), ANY)["articles"] == []
    with pytest.raises(UpstreamError) as caught:
        record(body_of([], 4_000_000), ANY)
    assert caught.value.kind == "false_empty"


@pytest.mark.parametrize("body", [body_of([]), body_of([{}], 1), body_of(None, 1), b"{}", b"[]", b'{"message": "x"}'])
def test_a_page_of_an_unknown_shape_is_an_error(body):
    """A page has works or a total of zero; any other is of an unknown shape."""
    with pytest.raises(LayoutError):
        record(body, ANY)


@pytest.mark.parametrize(
    ("license_", "link", "free"),
    [
        ({}, {}, True),
        ({"delay-in-days": 365}, {}, False),
        ({"content-version": "tdm"}, {}, False),
        ({"content-version": "am"}, {}, True),
        ({"URL": "https://www.northwind.example/license"}, {}, False),
        ({}, {"URL": "https://api.northwind.example/1.pdf"}, False),
        ({}, {"content-type": "unspecified"}, True),
        ({}, {"content-type": "text/xml"}, False),
        ({}, {"URL": "https://[broken/1.pdf"}, False),
    ],
)
def test_only_a_free_full_text_is_listed(license_, link, free):
    """A PDF is listed only under an open license without an embargo, and if it needs no key."""
    license_ = {"URL": CC, "content-version": "vor", "delay-in-days": 0, **license_}
    article = one(license=[license_], link=[{"URL": PDF, "content-type": "application/pdf", **link}])
    assert ("doc" in article) is free


def test_an_abstract_has_no_markup():
    """Its heading is left out, its paragraphs are separated, and signs of comparison stay."""
    markup = (
        "<jats:title>Abstract</jats:title><jats:p>Of n &lt; 30.</jats:p><jats:p>By <jats:sub>2</jats:sub>.</jats:p>"
    )
    assert one(abstract=markup)["abstract"] == "Of n < 30. By 2."


def test_the_search_terms_of_a_page_are_recognised():
    """A page repeats its search terms; a broken one has none."""
    assert shown_terms(body_of([], 0)) == "mills"
    assert [shown_terms(body) for body in (b"", b"{}", b"[]")] == [None] * 3
