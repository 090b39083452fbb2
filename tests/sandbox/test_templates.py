"""Templates: blocks with placeholders."""

import pytest

from webdata.sandbox.templates import Block, Html, blocks, joined


def test_values_are_escaped():
    """Values are escaped, quotes too; a placeholder may occur twice."""
    assert Block('<a title="${q}">${q}</a> $5 {}').fill(q="<b>\"'&") == (
        '<a title="&lt;b&gt;&quot;&#x27;&amp;">&lt;b&gt;&quot;&#x27;&amp;</a> $5 {}'
    )


def test_markup_is_not_escaped():
    """Html is inserted unchanged, so that blocks can be nested."""
    assert Block("<p>${inner}</p>").fill(inner=Block("<i>${n}</i>").fill(n=3)) == "<p><i>3</i></p>"
    assert joined([Html("<i>"), Html("</i>")]) == "<i></i>"


def test_a_missing_value_is_an_error():
    """A placeholder without a value raises KeyError."""
    with pytest.raises(KeyError):
        Block("${a}").fill(b=1)


@pytest.mark.parametrize("name", ["google_web_desktop.html", "google_web_mobile.html", "google_interstitials.html"])
def test_files_consist_of_blocks(name):
    """A file has named blocks, none of them empty."""
    assert blocks(name)
    assert all(block._texts[0] or block._names for block in blocks(name).values())
