"""What a caller may want of a page, and the errors of what is wrong."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.resources.url_request import UrlQuery

URL = "https://example.com/"


def wanted(extract, **options):
    return UrlQuery.check({"url": URL, "extract": extract, **options})


def test_a_text_is_a_css_selector():
    """It is short for an object, also in the JSON that a column or an argument holds; no response type is needed."""
    query = wanted('{"title": "h1", "price": {"jsonld": "Product.offers.price", "type": "price"}}')
    assert (query.extract["title"].css, query.extract["price"].type) == ("h1", "price")
    assert (query.response_type, query.is_in_formats) == ("markdown", True)
    stored = query.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    assert UrlQuery.check(stored) == query


@pytest.mark.parametrize(
    ("extract", "message"),
    [
        ("h1", "is no JSON object"),
        (["h1"], "is no object of names"),
        ({"a": 5}, "has 'a', which is '5': give a CSS selector"),
        ({"a": {}}, "has 'a', which has no selector: give one of css, xpath, jsonld"),
        ({"a": {"css": "b", "xpath": "//b"}}, "has css and xpath: give one"),
        ({"a": {"selector": "b"}}, "has 'a' with 'selector', the nearest member is"),
        ({"a": {"css": "b", "type": "money"}}, "has 'a', whose type cannot be 'money': give text, number"),
        ({"a": {"css": "p ["}}, r"has the css 'p \[', which is no CSS selector"),
        ({"a": {"xpath": "//a["}}, r"has the xpath '//a\[', which is no XPath"),
        ({"a": {"xpath": "document('/etc/passwd')"}}, r"document\(\) is none of the functions"),
        ({"a": {"xpath": "//a[re:test(., 'x')]"}}, r"re:test\(\) is none of the functions"),
        ({"a": {"xpath": "//svg:path"}}, r"no namespace is called 'svg'"),
        ({"a": {"xpath": "//a[. = $x]"}}, "no variables"),
        ({"a": {"xpath": "\0"}}, "which is no XPath expression"),
        ({"a": {"jsonld": "Product..x"}}, "whose jsonld cannot be"),
        ({"a": {"jsonld": "A.b", "attribute": "c"}}, "has attribute, which data in JSON-LD have not"),
        ({"a": {"jsonld": "A.b", "type": "html"}}, "has type html, which"),
        ({"a": {"css": "b", "attribute": "c", "type": "html"}}, "has an attribute, which is no HTML"),
        ({"a/b": "c"}, "has the name 'a/b'"),
        ({str(number): "p" for number in range(31)}, "has 31 names, and 30 are allowed"),
    ],
)
def test_what_cannot_be_extracted_is_refused(extract, message):
    """The error names the value and its wrong part, and says what would be right."""
    with pytest.raises(QueryError, match=message):
        wanted(extract)


@pytest.mark.parametrize("xpath", ["//a[.='re:x(']/@href", "a/ancestor::div[2 and (1)]", "count(//a) * 2", "//*[@id]"])
def test_an_expression_may_be_any_of_xpath(xpath):
    """Axes, operators before brackets and texts that look like functions are no functions."""
    assert wanted({"a": {"xpath": xpath}}).extract["a"].expression == xpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"content": "main"}, "content is of Markdown"),
        ({"max_chars": 500}, "max_chars is of Markdown and text"),
    ],
)
def test_options_of_texts_have_no_effect_on_values(options, message):
    """They are refused by name, where values alone are wanted."""
    with pytest.raises(QueryError, match=message):
        wanted({"a": "b"}, **options)
    assert wanted({"a": "b"}, include=["p"], formats=["text"], max_chars=500).max_chars == 500


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_anything_is_read_or_refused(extract):
    """No value raises another error."""
    with suppress(QueryError):
        assert wanted(extract, response_type="full").is_in_formats == bool(extract)


@given(st.text("ab()[]/@*.:$='\" and-1", max_size=60))
def test_any_expression_is_read_or_refused(xpath):
    """No expression raises another error."""
    with suppress(QueryError):
        assert wanted({"a": {"xpath": xpath}}).extract["a"].expression == xpath
