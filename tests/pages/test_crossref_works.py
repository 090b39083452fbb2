"""Crossref's pages of works, real and composed, whole and broken."""

import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def told(items, total=None, start=0):
    query = {"start-index": start, "search-terms": "mills"}
    return orjson.dumps({"status": "ok", "message": {"items": items, "total-results": total, "query": query}})


def one(**work):
    (article,) = record(told([{"DOI": "10.5555/1", **work}], 1), ANY)["articles"]
    return article


def judged(body):
    try:
        return record(body, ANY)
    except FetchError as error:
        return error.outcome


@pytest.mark.parametrize("name", PAGES)
def test_real_works(captures, name):
    """Every work of a real page has its DOI, title, authors, year and citations, and no tags in its texts."""
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


def test_a_real_empty_page(captures):
    """The real page without works is empty."""
    found = record((captures / "scholar" / "crossref-empty-2025.json").read_bytes(), ANY)
    assert found == {"articles": [], "total": 0}


@pytest.mark.parametrize("name", PAGES)
def test_real_pages_in_pieces(captures, name):
    """A page that was cut off is an error with an outcome; a scrambled one is that, or a record."""
    body = (captures / "scholar" / name).read_bytes()
    dice = random.Random(SEED)
    for _ in range(CUTS):
        at = dice.randrange(len(body) - 1)
        with pytest.raises(UpstreamError):
            record(body[:at], ANY)
        judged(body[:at] + body[at + dice.randrange(40) :])


def test_an_empty_page_tells_that_there_is_nothing():
    """No works of none are nothing found, so are none behind the last; none of many are a failure."""
    assert record(told([], 0), ANY)["articles"] == []
    assert record(told([], 27, start=30), ANY)["articles"] == []
    with pytest.raises(UpstreamError) as caught:
        record(told([], 4_000_000), ANY)
    assert caught.value.kind == "false_empty"


@pytest.mark.parametrize("body", [told([]), told([{}], 1), told(None, 1), b"{}", b"[]", b'{"message": "x"}'])
def test_unknown_shapes(body):
    """A page that tells neither works nor that there are none is of an unknown shape."""
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
def test_free_full_texts(license_, link, free):
    """A PDF is given only under an open license that holds now, and where no key is asked for."""
    license_ = {"URL": CC, "content-version": "vor", "delay-in-days": 0, **license_}
    article = one(license=[license_], link=[{"URL": PDF, "content-type": "application/pdf", **link}])
    assert ("doc" in article) is free


def test_an_abstract():
    """Its heading is left out, its paragraphs are parted, and signs of comparison stay."""
    markup = (
        "<jats:title>Abstract</jats:title><jats:p>Of n &lt; 30.</jats:p><jats:p>By <jats:sub>2</jats:sub>.</jats:p>"
    )
    assert one(abstract=markup)["abstract"] == "Of n < 30. By 2."


def test_the_terms_that_a_page_repeats():
    """A page tells what was searched for; a broken one tells nothing."""
    assert shown_terms(told([], 0)) == "mills"
    assert [shown_terms(body) for body in (b"", b"{}", b"[]")] == [None] * 3


KEYS = [
    "DOI",
    "URL",
    "title",
    "author",
    "container-title",
    "institution",
    "issued",
    "published",
    "page",
    "volume",
    "abstract",
    "license",
    "link",
    "is-referenced-by-count",
    "resource",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "date-parts"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_value_anywhere(work):
    """Whatever stands in a work, it is read or has an outcome."""
    judged(told([{"DOI": "10.5555/1", **work}], 1))


@given(st.binary())
def test_any_bytes(body):
    """Whatever the body is, it has an outcome."""
    judged(body)
