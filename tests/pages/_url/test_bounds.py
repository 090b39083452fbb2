"""Bounds of the pages that are parsed."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import fromstring

from webdata.pages._url.bounds import bound_tables, is_too_large, plain_text
from webdata.pages._url.markdown import converted

URL = "https://example.com/"
MANY = 12_000
WORDS = "many words " * 9
HOSTILE = {
    "a list of links": "<ul>" + '<li><a href="/x">a b c</a>' * MANY + "</ul>",
    "a longer one": "<ul>" + '<li><a href="/x">a b c</a>' * 60_000 + "</ul>",
    "links that lead nowhere": "<p>" + "<a><b>x</b></a>y" * MANY,
    "empty items": "<ul>" + "<li></li>\n" * 25_000 + "</ul>",
    "scripts between text": "<script></script>xyz " * 25_000,
    "listings": "<pre>a</pre>" * MANY,
    "formulas": "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>" * 6_000,
    "formulas in a text": "<script src=katex.js></script><p>" + r"\(a\)" * 100_000,
    "formulas that do not end": "<script src=katex.js></script><p>" + r"\(a\[a$$a\begin{align}a" * 50_000,
    "nested headers": "<header>" * 200 + "<p>x</p>" * 30_000,
    "nested quotes": "<blockquote>" * 240 + "<p>x</p>" * 15_000,
    "cells that span all": "<table>" + "<tr><td rowspan=60000 colspan=1000>a</td></tr>" * 2000 + "</table>",
    "a long row among short ones": "<table>" + "<tr><td>a" * 15_000 + "<tr>" + "<td>b" * 5_000 + "</table>",
    "a row": "<table><tr>" + "<td>a" * 30_000 + "</table>",
    "quotes that do not end": '<a href="' * 100_000,
    "quotes of two kinds": '<a href="x" b=\'' * 300_000,
    "underscores": "<p>" + "_" * 300_000,
    "brackets": "<pre>" + "[](" * 200_000,
    "self-descriptions": f'<meta name=description content="{WORDS}">' * 8000 + "<p>x</p>" * MANY,
    "notes": "".join(f'<a href="#n{n}"><sup>{n}</sup></a>' for n in range(5000)) + "<p id=n1>note</p>" * 5000,
    "notes of one paragraph": "".join(f'<a href="#n{n}">1</a>' for n in range(9000))
    + "<p>"
    + "".join(f"<br><a id=n{n}>1</a>" for n in range(9000)),
    "notes beside a sentence": "<p>a" + "<label>1</label><span class=sidenote>n</span>b" * MANY,
    "parts of one bold text": "<b>a<br><br>" + "<span>x</span>y" * 30_000,
    "references to one note": '<a href="#n">[1]</a>' * MANY + "<p id=n>" + "<i>1</i>" * MANY,
    "attributes": f"<p {' '.join(f'a{n}=1' for n in range(290))}>x</p>" * 1000,
    "too many attributes": f"<p {' '.join(f'a{n}=1' for n in range(1990))}>x</p>" * 90,
    "a long class": f'<div class="{"a-nav " * 3000}">text</div>' * 300,
    "headings and chrome": "<div class=nav><span>x</span></div>" * MANY + "<h1>t</h1>",
    "buttons of one answer": f"<h3>{'<button>a</button>' * 9000}</h3><div>{'<a href=/x>b</a> ' * 20_000}</div>",
    "items in a cell": f"<table><tr><th>a<th>b<tr><td>x<td><ol>{'<li>a' * MANY * 3}</ol></table>",
    "tabs of one panel": f"<p id=p>{'word ' * MANY}</p><div role=tablist>{'<a role=tab href=#p>word</a>' * MANY}</div>",
    "references in one mark": f"<p id=n>a</p><sup>{'<a href=#n>1</a>' * MANY * 3}</sup>",
    "listings of one table": "<table>" + "<tr><td class=lineno>1<td class=code><pre>a</pre>" * MANY + "</table>",
    "listings behind text": "<br>" * MANY * 2 + "<pre>a</pre>" * MANY,
    "formulas behind text": "<br>" * MANY * 2 + "<math><mi>a</mi></math>" * MANY,
    "signs of currencies behind a long text": f"{'x' * 1_000_000}{'<i>$</i>' * MANY}",
    "sources of pictures": f"<picture>{'<source></source>' * MANY}{'<img src=a>' * MANY}</picture>",
    "commas of a set of pictures": f"<img srcset='{',' * 600_000}'>",
    "attributes like addresses": f"<img data-x='{'.jpg?' * 790}!<' src=a.png>" * 1500,
    "formatting that stays open": f"<p>{''.join(f'<font size={n}>' for n in range(200))}{'<p>x' * 5000}",
    "elements that are held": f"<ul>{'<form>a</form>' * 12_000}{'<b><p>a</p></b>' * 12_000}</ul>",
    "levels": "<div>" * 79_000,
    "labels of one field": f"<span id=f>{'word ' * 200_000}</span>{'<label for=f>a</label>' * MANY * 2}",
    "pairs in one element": f"<div>{'<div><p class=a>b<p>c</div>' * MANY}</div>",
    "buttons of one cell": f"<table><tr><td>{'<button>1</button>' * MANY * 2}</table>",
    "options": f"<select>{'<option>a' * 79_000}",
    "headings in a text for browsers without scripts": f"<body><noscript>{'<h1>' * 79_000}</noscript>",
    "a long text": "<p>" + "word " * 1_000_000,
    "20 MB": "<p>hello world this is text</p>\n" * 600_000,
}


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_are_converted_in_bounded_time(html):
    """The slowest page takes about a second of a processor, or four with coverage on a slow machine; quadratic time
    would be minutes."""
    begun = process_time()
    written = converted(f"<html><body>{html}", URL).markdown
    assert process_time() - begun < 12
    assert len(written) < 3 * len(html) + 1000


@given(st.text("<>/=\"' abp!-&;\n", max_size=200))
def test_any_text_is_plain_text(text):
    """Plain text ends in one line end and has no tags."""
    found = plain_text(text)
    assert found.endswith("\n")
    assert "<p>" not in found


def test_plain_text_has_no_control_characters():
    """None that a page has, and none that a reference names."""
    assert plain_text("<p>a\x1b[2J\x00 b&#8;</p>") == "a[2J b\n"


def test_the_largest_real_tables_are_not_too_large():
    """A table of the size of the largest real pages is parsed."""
    assert not is_too_large("<table>" + "<tr><td class='a b'>a</td><td>b</td></tr>" * 5000 + "</table>")


def test_a_table_without_most_of_its_cells_is_no_table():
    """A table that is only long stays unchanged."""
    holes = fromstring("<table>" + "<tr><td>a" * 1000 + "<tr>" + "<td>b" * 500 + "</table>")
    full = fromstring("<table>" + "<tr><td>a<td rowspan=2>b" * 30_000 + "</table>")
    for table in (holes, full):
        bound_tables(table)
    assert (holes.get("role"), full.get("role")) == ("presentation", None)
    assert full.find(".//td[@rowspan]") is not None
