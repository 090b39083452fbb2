"""What pages hold, by the schemas of their resources."""

import pytest

from webdata.resources import all_resources
from webdata.resources.forum import FORUM_SUBFORUM
from webdata.resources.web_search import WEB_SEARCH
from webdata.watch.layout import is_new, layout, similarity
from webdata.watch.measuring import MOST_FIELDS, fields_of, fill, measured

RESULT = {"title": "a", "description": "", "position": 1, "metadata": {"date": "2026"}}


def test_fields_are_counted_by_path():
    """A field counts once for each place: for each item of its array, for each page otherwise."""
    counts = fill(WEB_SEARCH, {"results": [RESULT, {"title": "b", "description": "c"}], "ads": []})
    assert counts["results"] == (1, 1)
    assert counts["ads"] == (0, 1)
    assert counts["results[].title"] == (2, 2)
    assert counts["results[].description"] == (1, 2)
    assert counts["results[].metadata.date"] == (1, 2)
    assert "ads[].title" not in counts


def test_names_that_a_page_has_chosen_are_no_metrics():
    """Keys that the schema does not know are counted for canaries alone, and only those that look like names."""
    record = {"data": {"children": [{"kind": "t3", "data": {"ups": 3, "x y": 1}}]}}
    assert "data.children[].data.ups" not in fill(FORUM_SUBFORUM, record)
    assert fill(FORUM_SUBFORUM, record, open_names=True)["data.children[].data.ups"] == (1, 1)
    assert "data.children[].data.x y" not in fill(FORUM_SUBFORUM, record, open_names=True)


@pytest.mark.parametrize("resource", all_resources().values(), ids=lambda one: one.name)
def test_every_resource_has_bounded_fields(resource):
    """Each resource has fields to measure, of a bounded number, and no part of the envelope among them."""
    _, containers = fields_of(resource)
    assert 0 < len(containers) <= MOST_FIELDS
    assert not containers.keys() & {"query", "ts", "device_type"}


def test_a_page_without_a_record_has_no_fields():
    """Of a page that could not be read only the outcome and the fingerprint are known."""
    page = measured("a", WEB_SEARCH, "blocked", None, b'<p class="wall">', 0.5)
    assert (page.outcome, page.results, dict(page.fields), len(page.layout)) == ("blocked", 0, {}, 1)


def test_fingerprints_follow_structure_not_texts():
    """Texts and numbers do not change a fingerprint, names of classes and keys do."""
    assert layout(b'<p class="result r12">tea</p>') == layout(b'<p class="result r7">coffee</p>')
    assert layout(b'{"title": 1}') != layout(b'{"name": 1}')
    assert similarity((1, 2), (1, 2)) == 1
    assert similarity((1, 2), (3, 4)) == 0


def test_a_layout_is_new_where_it_is_unlike_all_before():
    """A page half as similar to those before as they are among themselves has another layout."""
    before = [tuple(range(60)), tuple(range(2, 62))]
    assert is_new([tuple(range(100, 160))], before)
    assert not is_new([tuple(range(4, 64))], before)
    assert not is_new([tuple(range(100, 160))], [])
