"""JSON as HTML that folds."""

from time import perf_counter

import lxml.html
import pytest

from webdata.faces.dashboard.playground.json_view import MOST_CHARACTERS, folded


def tree(value):
    html, whole = folded(value)
    return lxml.html.fromstring(f"<div>{html}</div>"), whole


def test_levels_open_and_close():
    """Objects and lists of more than a line fold, with how much is in them; the outermost is open."""
    root, whole = tree({"results": [{"title": "a" * 80, "n": 1}], "total": None, "short": [1, 2]})
    [outer, results, first] = root.iter("details")
    assert whole
    assert ["open" in one.attrib for one in (outer, results, first)] == [True, False, False]
    assert results.find("summary").text_content() == "results: […] 1".replace("results", '"results"')
    assert '"short": [1, 2]' in root.text_content()


def test_everything_is_text():
    """Markup is escaped; characters that are not seen or turn others around are written as escapes."""
    html, _ = folded({"<b>": "<script>alert(1)</script>", "a": "\u202eabc\u2066\x85"})
    assert "<script>" not in html
    assert '"\\u202eabc\\u2066\\u0085"' in lxml.html.fromstring(f"<div>{html}</div>").text_content()


@pytest.mark.timed
def test_large_and_deep_values_end():
    """However large, deep or wide a value is, what is shown of it has a bound and is made at once."""
    deep = []
    for _ in range(500):
        deep = [deep]
    began = perf_counter()
    for value in (["x" * 1_000_000], ["y" * 200] * 100_000, {str(n): n for n in range(200_000)}, deep, [[1]] * 100_000):
        html, whole = folded(value)
        assert len(html) < 1.2 * MOST_CHARACTERS
        assert not whole
    assert perf_counter() - began < 1.5
