"""Results of any search in one form."""

import subprocess
import sys

import pytest

from tests.faces.dialects.conftest import RECORDS, SEARCHES
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.query import SearchQuery
from webdata.faces.dialects.plain_results import iso_date, plain_results, without_markup
from webdata.resources import Resource, ResultFields
from webdata.resources.maps_search import MAPS_SEARCH


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Dec 16, 2022", "2022-12-16T00:00:00+00:00"),
        ("Fri, 16 Dec 2022 10:00:00 GMT", "2022-12-16T10:00:00+00:00"),
        ("16 Dec 2022 10:00:00 +0200", "2022-12-16T10:00:00+02:00"),
        ("2022-12-16", "2022-12-16T00:00:00+00:00"),
        ("2022-12-16T10:00:00Z", "2022-12-16T10:00:00+00:00"),
        ("2021", None),
        ("3 days ago", None),
        ("vor 3 Tagen", None),
        ("2 日前", None),
        ("Dec 99, 2022", None),
        ("", None),
        ("x" * 100, None),
    ],
)
def test_a_date_is_iso_8601_or_none(text, date):
    """A date of a known form is one of ISO 8601; an age or a year is none."""
    assert iso_date(text) == date


@pytest.mark.parametrize("text", ["a < b", "Café & co.", "two  blanks"])
def test_text_without_tags_is_unchanged(text):
    """Only tags are taken out, with the entities around them."""
    assert without_markup(text) == text
    assert without_markup("<b>a</b>&amp;<br>b") == "a & b"


@pytest.mark.parametrize("resource", SEARCHES, ids=lambda one: one.name)
def test_every_search_has_results_in_one_form(resource):
    """Each result has a title and an address of the web."""
    (first, *_) = plain_results(resource, RECORDS[resource.name])
    assert first.title
    assert first.url.startswith("https://")


def test_the_first_value_of_several_paths_counts():
    """A place without a website has its page on the map as its address."""
    (place,) = plain_results(MAPS_SEARCH, RECORDS["maps_search"])
    assert (place.url, place.text, place.thumbnail) == ("https://maps.example/1", "1 Bean Row", "")


def test_a_result_without_an_address_is_left_out():
    """There is nothing to link to."""
    resource = Resource("x", "/v1/x", "X", SearchQuery, dict, rows="rows", result_fields=ResultFields(text=("a.b",)))
    rows = [{"title": "A", "link": None}, {"title": "B", "link": "https://b.example/", "a": None}]
    assert [one.title for one in plain_results(resource, {"rows": rows})] == ["B"]


def test_every_resource_of_search_terms_says_what_its_results_have():
    """A new search is found by the dialects because its resource says where titles and addresses are."""
    resources = {resource for spider in load_spiders() for resource in spider.resources}
    lacking = [one.name for one in resources if "q" in one.query.fields() and not one.result_fields]
    assert lacking == []
    categories = [one.category for one in resources if one.category]
    assert len(categories) == len(set(categories))


def test_a_date_is_read_where_no_file_can_be_opened(starts):
    """What answers a call is imported before it: the call has been paid by then."""
    program = (
        "import resource; from webdata.faces.dialects.plain_results import iso_date; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); print(iso_date('Dec 16, 2022'))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("2022-12-16T00:00:00+00:00\n", "")
