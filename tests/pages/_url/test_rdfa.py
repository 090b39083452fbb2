"""RDFa of a page."""

import json

import pytest

from webdata.pages._url import rdfa
from webdata.pages._url.markdown import tree
from webdata.pages._url.microdata import MOST_CHARACTERS

BASE = "https://a.example/d/"


def items(html):
    return rdfa.items(tree(html), BASE)


def test_an_item_has_its_type_and_its_properties():
    """Types are whole by the vocabulary around them; values are addresses, contents or texts; items are in items."""
    html = (
        '<div vocab="https://schema.org/" typeof="Product" resource="#p"><h1 property="name"> A <b>pot</b></h1>'
        '<a property="url" href="/p">it</a><div property="offers" typeof="Offer">'
        '<span property="price" content="5.00">5</span></div><img property="image" src="i.png"></div>'
    )
    offer = {"type": ["https://schema.org/Offer"], "properties": {"price": ["5.00"]}}
    assert items(html) == [
        {
            "type": ["https://schema.org/Product"],
            "id": "#p",
            "properties": {
                "name": ["A pot"],
                "url": ["https://a.example/p"],
                "offers": [offer],
                "image": ["https://a.example/d/i.png"],
            },
        }
    ]


@pytest.mark.parametrize(
    ("html", "types"),
    [
        ('<p typeof="schema:Person foaf:Agent"><b property="schema:name">A</b></p>',
         ["https://schema.org/Person", "http://xmlns.com/foaf/0.1/Agent"]),
        ('<p typeof="v:Breadcrumb"><b property="v:title">A</b></p>', ["v:Breadcrumb"]),
        ('<p typeof="Person"><b property="name">A</b></p>', ["Person"]),
        ('<div prefix="s: https://schema.org/ v: //v/ odd:"><p typeof="s:A v:B schema:C"><b property="s:name">A</b>',
         ["https://schema.org/A", "//v/B", "https://schema.org/C"]),
        ('<div prefix="s: https://far.example/"><p typeof="s:A" prefix="s: https://near.example/"><b property="n">A',
         ["https://near.example/A"]),
        ('<div xmlns:v="https://v.example/#"><p typeof="v:A https://b.example/C"><b property="v:name">A</b></p></div>',
         ["https://v.example/#A", "https://b.example/C"]),
    ],
)  # fmt: skip
def test_a_type_with_a_prefix_is_whole(html, types):
    """Prefixes are those that a page declares, the nearest first, or that all know; others stay."""
    assert items(html)[0]["type"] == types


def test_a_property_may_be_a_resource():
    """It is what an element names before what the element shows, but not before what it says."""
    html = '<p typeof="A"><b property="a" resource="/r">text</b><b property="b" resource="/r" content="c">text</b>'
    assert items(html)[0]["properties"] == {"a": ["https://a.example/r"], "b": ["c"]}


def test_an_item_without_properties_is_none():
    """Wikis mark each picture as an item, and say nothing of it."""
    assert items('<span typeof="mw:File"><img src="a"></span><meta property="og:title" content="x">') == []


def test_items_within_items_are_bounded():
    """Below a depth an item is its text."""
    found = items('<i typeof="T" property="p">' * 200 + "x")
    assert found == []
    assert items('<b typeof="T">' + '<i typeof="T" property="p">' * 200 + "x")[0]["type"] == ["T"]


def test_names_do_not_multiply_what_a_page_says():
    """Each value is written under each of its names, and items in items would be without an end."""
    found = items('<i typeof="T">' + '<i typeof="T" property="a b c">' * 20 + "<i property=d>x")
    assert found[0]["properties"]["a"]
    assert len(json.dumps(found)) < 2 * MOST_CHARACTERS
