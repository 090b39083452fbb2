"""Blocks with holes."""

import pytest

from webdata.sandbox.templates import Block, Html, blocks, joined


def test_holes_are_filled_and_escaped():
    """What is filled in is escaped, quotes too; the same hole may come twice."""
    assert Block('<a title="${q}">${q}</a> $5 {}').fill(q="<b>\"'&") == (
        '<a title="&lt;b&gt;&quot;&#x27;&amp;">&lt;b&gt;&quot;&#x27;&amp;</a> $5 {}'
    )


def test_markup_stays_markup():
    """Html is filled in as it is, and so is what blocks give."""
    assert Block("<p>${inner}</p>").fill(inner=Block("<i>${n}</i>").fill(n=3)) == "<p><i>3</i></p>"
    assert joined([Html("<i>"), Html("</i>")]) == "<i></i>"


def test_an_empty_hole_is_an_error():
    """A hole without a value raises KeyError instead of leaving a gap."""
    with pytest.raises(KeyError):
        Block("${a}").fill(b=1)


@pytest.mark.parametrize("name", ["google_web_desktop.html", "google_web_mobile.html", "google_interstitials.html"])
def test_files_are_read_as_blocks(name):
    """Every file of pages is a row of blocks, none of them empty."""
    assert blocks(name)
    assert all(block._texts[0] or block._holes for block in blocks(name).values())
