"""Charts as SVG."""

import pytest
from lxml import etree

from tests.logged_calls import HOSTILE
from webdata.faces.dashboard.charts import NARROW, WIDE, Series, _ticks, stacked_bars, timing_bar

SVG = "{http://www.w3.org/2000/svg}"


def rects(svg):
    return etree.fromstring(svg).findall(".//rect")


def test_bars_are_stacked_within_the_chart():
    """Each number that is not zero has a part of its bar, on top of those before, and its value as a title."""
    chart = stacked_bars("Calls", ["Mon", "Tue"], [Series("ok", "ok", [30, 0]), Series("lost", "blocked", [10, 5])])
    found = rects(chart)
    assert [one.findtext("title") for one in found] == ["Mon: ok 30", "Mon: lost 10", "Tue: lost 5"]
    below, above = found[0], found[1]
    assert float(above.get("y")) + float(above.get("height")) == pytest.approx(float(below.get("y")), abs=0.2)
    assert float(below.get("height")) == pytest.approx(3 * float(above.get("height")), abs=0.3)
    assert all(0 <= float(one.get("y")) <= WIDE.height for one in found)


def test_a_chart_ends_with_a_label_on_any_screen():
    """The last bar, which is today's, has its label and is within the chart, on phones, too, with fewer labels."""
    days = [f"{day} Nov" for day in range(1, 31)]
    for size, most in ((WIDE, 8), (NARROW, 4)):
        chart = etree.fromstring(stacked_bars("Calls", days, [Series("ok", "ok", [1] * 30)], size))
        labels = [one for one in chart.findall(".//text") if one.get("class") == "x"]
        assert labels[0].text == "30 Nov"
        assert float(labels[0].get("x")) + 20 <= size.width
        assert len(labels) <= most
        assert float(chart.findall(".//rect")[-1].get("x")) < size.width


def test_nothing_is_a_chart_too():
    """A chart without numbers, or without series, has no bars."""
    assert rects(stacked_bars("Calls", ["Mon"], [Series("ok", "ok", [0])])) == []
    assert rects(stacked_bars("Calls", ["Mon"], [])) == []


def test_texts_are_no_markup():
    """Names from outside are texts of the chart, whatever they hold; there are no scripts and no styles."""
    chart = stacked_bars(HOSTILE, [HOSTILE], [Series(HOSTILE, "series-0", [1])])
    assert {one.tag for one in etree.fromstring(chart).iter()} == {"svg", "path", "text", "rect", "title"}
    assert "style" not in chart


@pytest.mark.parametrize(("most", "last"), [(0, 4), (1, 4), (5, 8), (9, 20), (1000, 2000), (1_388_888, 2_000_000)])
def test_ticks_are_round(most, last):
    """The labels of the axis are round numbers that reach over the largest bar."""
    assert _ticks(most)[-1] == last


def test_phases_fill_the_bar():
    """The phases of a call fill its bar, in proportion; one without times is empty."""
    found = rects(timing_bar({"queue": 0.1, "fetch": 0.3}))
    assert [(one.get("class"), one.get("width")) for one in found] == [
        ("phase-queue", "250.0"),
        ("phase-fetch", "750.0"),
    ]
    assert rects(timing_bar({})) == []
