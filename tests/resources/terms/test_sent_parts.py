"""What a caller may send to a site, and the words for what it may not."""

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.shown_queries import shown_query
from webdata.resources.terms.sent_parts import LONGEST_BODY, MOST_COOKIES, MOST_HEADERS
from webdata.resources.url_request import UrlQuery

SECRET = "s3cret"


def query(**given):
    return UrlQuery.check({"url": "http://example.com/", "response_type": "full", **given})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"headers": {"X-One": "1", "Accept": " a \t"}}, {"X-One": "1", "Accept": "a"}),
        ({"headers": "X-One: 1\n\nAccept: a:b"}, {"X-One": "1", "Accept": "a:b"}),
        ({"headers": ["X-One: 1"]}, {"X-One": "1"}),
        ({"headers": {}}, None),
        ({"cookies": {"a": "1", "b": '"x=y"'}}, {"a": "1", "b": '"x=y"'}),
        ({"cookies": "a=1; b=2"}, {"a": "1", "b": "2"}),
        ({"cookies": "a=1\nb="}, {"a": "1", "b": ""}),
        ({"method": "post", "body": "text"}, "text"),
        ({"method": "POST", "body": {"a": [None]}}, {"a": [None]}),
        ({"method": "POST", "body": {}}, {}),
    ],
)
def test_parts_are_objects_or_texts(given, expected):
    """Headers a line each, cookies as in their header; what is empty is nothing."""
    assert getattr(query(**given), list(given)[-1]) == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"headers": {"Cookie": SECRET}}, "give it as cookies"),
        *(({"headers": {name: SECRET}}, f"has {name}, which belongs to a connection") for name in
          ("Host", "Content-Length", "Transfer-Encoding", "connection", "TE", "Proxy-A", "proxy-x", "Sec-Fetch-Site")),
        *(({"headers": {name: SECRET}}, f"has {name}, which no client sends") for name in ("Set-Cookie", "Cookie2")),
        *(({"headers": {name: SECRET}}, f"has {name}, which is of this service") for name in
          ("X-Api-Key", "api-key", "X-Proxy-Location", "x-user-agent", "X-Session", "X-Engine")),
        ({"headers": {"X-One": f"{SECRET}\r\nX-Two: 2"}}, "on one line"),
        ({"headers": {"X-One": f"{SECRET}é"}}, "than those of ASCII"),
        ({"headers": {f"X {SECRET}": "1"}}, "has a name that is none"),
        ({"headers": {"X-One": 1}}, "has X-One without a text as its value"),
        ({"headers": {"X-One": SECRET, "x-one": SECRET}}, "twice, in other letters"),
        ({"headers": f"X-One: {SECRET}\nX-One: {SECRET}"}, "has X-One twice"),
        ({"headers": {"X-One": SECRET * 1000}}, "has X-One with 6000 characters: give at most 4096"),
        ({"headers": {f"X-{n}": SECRET * 600 for n in range(3)}}, "characters together: give at most 8192"),
        ({"headers": {f"X-{n}": SECRET for n in range(MOST_HEADERS + 1)}}, "has 21 names: give at most 20"),
        ({"headers": SECRET}, "has s3cret without a text"),
        ({"headers": 7}, "is an object of names and texts"),
        ({"headers": [{"X-One": SECRET}]}, "is an object of names and texts"),
        ({"headers": {"Authorization": f"Bearer wd_live_{SECRET}"}}, "with a key of this service"),
        ({"headers": {"Referer": f"https://{SECRET}.example/"}, "render": "always"}, "has Referer, which a browser"),
        ({"cookies": {"a": f"{SECRET};b"}}, "a character that no cookie has"),
        ({"cookies": {"a": f"{SECRET}é"}}, "a character that no cookie has"),
        ({"cookies": {"a b": SECRET}}, "has a name that is none"),
        ({"cookies": f"a={SECRET}; Path=/"}, "has Path, which a site gives to a cookie"),
        ({"cookies": {"__Host-a": SECRET}}, "is sent by https alone"),
        ({"cookies": {f"c{n}": SECRET for n in range(MOST_COOKIES + 1)}}, "has 51 names: give at most 50"),
        ({"body": SECRET}, "goes with method POST"),
        ({"method": "GET", "body": {"a": SECRET}}, "goes with method POST"),
        ({"method": "PUT"}, "is GET or POST"),
        ({"method": "POST", "body": [SECRET]}, "is a text, or a JSON object"),
        ({"method": "POST", "body": SECRET * LONGEST_BODY}, "give at most 65536"),
        ({"method": "POST", "body": {SECRET: "é" * LONGEST_BODY}}, "give at most 65536"),
        ({"method": "POST", "body": f"{SECRET}\ud800"}, "half a character"),
        ({"method": "POST", "render": "always"}, "has POST, which a browser"),
    ],
)  # fmt: skip
def test_parts_that_are_not_sent_are_refused_without_their_values(given, words):
    """The message names the part and what would be right; a value may be a secret."""
    with pytest.raises(QueryError) as caught:
        query(**given)
    (problem,) = caught.value.problems
    assert words in problem["msg"]
    assert SECRET not in problem["msg"].replace("has s3cret without", "")


def test_a_part_that_is_given_twice_is_refused_without_its_values():
    """As members of a body: another field's values are in the message."""
    sent = [("url", "https://example.com/"), ("response_type", "full")]
    with pytest.raises(QueryError, match="cookies is given twice: give it once"):
        UrlQuery.read([*sent, ("cookies", {"a": SECRET}), ("cookies", {"a": f"{SECRET}2"})])


@pytest.mark.parametrize(
    "given", [{"headers": {"A": SECRET}}, {"cookies": {"a": SECRET}}, {"method": "POST", "body": SECRET}]
)
def test_the_log_of_calls_has_the_names_of_what_was_sent(given):
    """That there were headers, cookies or a body, and nothing of them."""
    shown = shown_query(query(**given))
    assert {name: shown[name] for name in given} == {name: "POST" if name == "method" else "…" for name in given}


@pytest.mark.parametrize("given", [{"headers": {"A": "b"}}, {"method": "POST", "body": "b"}, {"method": "POST"}])
def test_no_batch_has_them(given):
    """Batches store their queries."""
    with pytest.raises(QueryError, match="is of single calls, since batches store their queries"):
        UrlQuery.refuse_in_batches(given)


@pytest.mark.parametrize(
    ("given", "private"),
    [({}, False), ({"method": "GET"}, False), ({"headers": {}}, False), ({"method": "POST"}, True)]
    + [({name: {"a": "b"}}, True) for name in ("headers", "cookies")],
)
def test_an_answer_to_them_is_for_their_caller_alone(given, private):
    """A query with any of them is private, and so is a POST."""
    assert query(**given).is_private is private
