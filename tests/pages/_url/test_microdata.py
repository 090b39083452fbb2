"""Microdata of a page."""

import json
from time import process_time

import pytest

from webdata.pages._url.markdown import tree
from webdata.pages._url.microdata import MOST_CHARACTERS, items

BASE = "https://a.example/shop/"


def found(html):
    return items(tree(f"<body>{html}"), BASE)


def test_an_item_has_its_properties_by_name():
    """Each has a list of values: texts, addresses, the content of an attribute, other items."""
    html = (
        '<div itemscope itemtype="https://schema.org/Product" itemid="urn:1"><b itemprop="name"> A  pot </b>'
        '<img itemprop="image" src="p.png"><meta itemprop="sku" content="7"><time itemprop="date" datetime="2026">now'
        '</time><p itemprop="offers" itemscope><i itemprop="price" content="5.00">5</i></p>'
        '<a itemprop="name url" href="/pot">Pot</a></div>'
    )
    assert found(html) == [
        {
            "type": ["https://schema.org/Product"],
            "id": "urn:1",
            "properties": {
                "name": ["A pot", "https://a.example/pot"],
                "image": ["https://a.example/shop/p.png"],
                "sku": ["7"],
                "date": ["2026"],
                "offers": [{"type": [], "properties": {"price": ["5.00"]}}],
                "url": ["https://a.example/pot"],
            },
        }
    ]


def test_an_inner_item_without_a_name_is_an_item_of_its_own():
    """Its properties are not those of the item around it."""
    html = '<div itemscope><p itemprop="a">1</p><div itemscope><p itemprop="b">2</p></div></div>'
    assert [one["properties"] for one in found(html)] == [{"a": ["1"]}, {"b": ["2"]}]


def test_texts_are_those_that_readers_see():
    """Lines and blocks are apart; what is for programs is in no text."""
    html = "A<br>pot<p>of</p>iron<style>p {}</style> and<!-- c --> te<b>a</b><script>1</script><template>x</template>."
    [item] = found(f'<div itemscope><div itemprop="name">{html}</div></div>')
    assert item["properties"]["name"] == ["A pot of iron and tea."]


def test_an_item_has_the_properties_that_it_refers_to():
    """They may be alone, in an element of that name, or items; unknown names and circles are none."""
    html = (
        '<div itemscope itemref="a b c none me a"><i itemprop="own">0</i></div><p id="a" itemprop="x">1</p>'
        '<div id="b"><b itemprop="y">2</b></div><div id="c" itemprop="z" itemscope itemref="c d"></div>'
        '<div id="d"><b itemprop="v">3</b></div><div id="me" itemscope itemref="me"><b itemprop="w">4</b></div>'
    )
    inner = {"type": [], "properties": {"v": ["3"]}}
    expected = [{"own": ["0"], "x": ["1"], "y": ["2"], "z": [inner]}, {"w": ["4"]}]
    assert [one["properties"] for one in found(html)] == expected


@pytest.mark.parametrize(
    "html",
    [
        '<p itemscope itemref="a"></p>' * 500 + '<div id="a">' + "<b itemprop=a>1</b>" * 50_000,
        '<div id="a">' + '<p itemscope itemprop="x" itemref="a">' * 400,
        '<p itemscope itemref="a b"></p><div id="a">' + '<p itemscope itemprop="x" itemref="b"></p>' * 200 + '</div>'
        '<div id="b">' + '<p itemscope itemprop="x" itemref="a"></p>' * 200,
    ],
    ids=["many items", "items in each other", "in turn"],
)  # fmt: skip
def test_references_do_not_multiply_what_a_page_says(html):
    """What items refer to is read for all of them up to a limit."""
    assert len(json.dumps(found(html))) < 2 * MOST_CHARACTERS


def test_deep_items_end():
    """Below some levels an item is its text."""
    html = '<div itemprop="a" itemscope>' * 60 + "x"
    value, levels = found(f"<div itemscope>{html}")[0], 0
    while isinstance(value, dict):
        value, levels = value["properties"]["a"][0], levels + 1
    assert (value, levels) == ("x", 21)


@pytest.mark.parametrize(
    "html",
    [
        '<div itemscope itemprop="a b c">' * 20 + "<b itemprop=d>x",
        f'<b itemprop="{" ".join(f"n{number}" for number in range(2000))}">{"x" * 9000}</b>' * 50,
        f'<base href="https://a.example/{"y" * 3900}/">' + "<a itemprop=a href=x>x</a>" * 5000,
    ],
    ids=["items in each other", "one value", "addresses"],
)
def test_names_do_not_multiply_what_a_page_says(html):
    """Each value is written under each of its names, and items in items would be without an end."""
    assert len(json.dumps(found(f"<div itemscope>{html}"))) < 2 * MOST_CHARACTERS


@pytest.mark.timed
def test_properties_in_each_other_are_short():
    """The text of each is read no further than its longest value."""
    root = tree("<div itemscope>" + "<b itemprop=a>" * 200 + "word " * 500_000)
    began = process_time()
    [item] = items(root, BASE)
    assert process_time() - began < 3
    assert {len(value) for value in item["properties"]["a"]} == {10_000}
