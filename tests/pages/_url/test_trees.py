"""The tree of a page is the one of browsers."""

import pytest
from lxml.html import tostring

from webdata.pages._url.trees import tree

CASES = {
    "paragraphs in a heading": ("<h2><p>a</p><p>b</p></h2><p>c", "<h2><p>a</p><p>b</p></h2><p>c</p>"),
    "blocks in emphasis": ("<b>a<p>b</p></b>c<u><p>d</p></u>", "<b>a<p>b</p></b>c<u><p>d</p></u>"),
    "a table in a link": (
        "<!doctype html><a href=x>a<table><tr><td>b</table>c</a>d",
        '<a href="x">a<table><tbody><tr><td>b</td></tr></tbody></table>c</a>d',
    ),
    "forms in lists": (
        "<ul><form><li>a</li></form>b<form>c</form></ul>",
        "<ul><form><li>a</li></form>b<form>c</form></ul>",
    ),
    "lists in a listing": ("<pre>a<ul><li>b</ul></pre>", "<pre>a<ul><li>b</li></ul></pre>"),
    "terms in a term": ("<dl><dt>a<dl><dt>b</dl><dd>c</dl>", "<dl><dt>a<dl><dt>b</dt></dl></dt><dd>c</dd></dl>"),
    "elements without content": (
        "<video><source src=a><track>x</video><p>a<wbr>b",
        '<video><source src="a"></source><track></track>x</video><p>a<wbr></wbr>b</p>',
    ),
    "text behind the end": ("<body><p>a</body></html><p>b", "<p>a</p><p>b</p>"),
    "ends that have not begun": ("a</p>b</br>c", "a<p></p>b<br>c"),
    "a picture by its old name": ("<image src=a>", '<img src="a">'),
    "terms and headings without ends": (
        "<dl><dt>a<dd>b</dl><h2>c<h3>d",
        "<dl><dt>a</dt><dd>b</dd></dl><h2>c</h2><h3>d</h3>",
    ),
    "emphasis that crosses a paragraph": ("<p><b>a</p><p>b</b>c", "<p><b>a</b></p><p><b>b</b>c</p>"),
    "text in a table": ("<table>a<tr><td>b</table>", "a<table><tbody><tr><td>b</td></tr></tbody></table>"),
    "cells in a list": ("<ul><li><td>a</td><li>b", "<ul><li>a</li><li>b</li></ul>"),
    "frames": ("<frameset><frame src=a></frameset>", '<frame src="a">'),
}


@pytest.mark.parametrize(("html", "body"), CASES.values(), ids=CASES)
def test_a_page_is_read_as_browsers_read_it(html, body):
    """Ends are implied, put off and left out as https://html.spec.whatwg.org/#parsing has it."""
    assert tostring(tree(html).find("body"), encoding="unicode") == f"<body>{body}</body>"


OPEN = "".join(f"<font size={number}>" for number in range(200))


@pytest.mark.parametrize("html", ["<div>" * 30_000, f"<p>{OPEN}{'<p>x' * 1_000}"], ids=["levels", "open formatting"])
def test_a_small_page_of_a_large_tree_has_none(html):
    """Neither one of many levels nor one whose open formatting begins anew in each paragraph."""
    assert tree(html) is None
