"""Templates of the sites' pages."""

import pytest
from jinja2 import UndefinedError

from webdata.sandbox.templates import ENVIRONMENT, html, render


def page(source, **values):
    """The page of a template that is not in a file."""
    return str(ENVIRONMENT.from_string("{% macro page(q) %}\n" + source + "\n{% endmacro %}").module.page(**values))


def test_values_are_escaped():
    """Values are escaped, quotes too."""
    assert page('<a title="{{ q }}">{{ q }}</a>', q="<b>\"'&") == (
        '<a title="&lt;b&gt;&#34;&#39;&amp;">&lt;b&gt;&#34;&#39;&amp;</a>'
    )


def test_a_missing_value_is_an_error():
    """A page without one of its values raises UndefinedError."""
    with pytest.raises(UndefinedError):
        page("{{ q }}")


def test_indentation_is_no_part_of_a_page():
    """A line break between tags is removed, one within text is not."""
    assert page("<p>\n  {{ q }}\n</p>\n<pre>a\n  b</pre>", q=1) == "<p>1</p><pre>a\n  b</pre>"


def test_a_page_becomes_a_reply():
    """A reply has its page in UTF-8; a surrogate, which has no bytes in it, becomes a question mark."""
    assert render("sites/_google_interstitials", "home").startswith(b"<!doctype html><html")
    reply = html("sites/_google_interstitials", "sorry", 429, url="\ud800", challenge="ab", cookie="")
    assert (reply.status, b"<title>?</title>" in reply.body) == (429, True)


@pytest.mark.parametrize("name", ENVIRONMENT.list_templates(["j2"]))
def test_every_template_compiles(name):
    """Every template of the sandbox compiles and has a page."""
    assert [page for page in vars(ENVIRONMENT.get_template(name).module) if not page.startswith("_")]
