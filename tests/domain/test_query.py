"""The parser of packed queries, and the validation of queries."""

import string
from datetime import datetime
from urllib.parse import quote, quote_plus, unquote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.domain.query import MAX_LENGTH, Device, Query, Region, Remarks, SearchQuery, decode, unpack
from webdata.resources.bing_search import BingQuery
from webdata.resources.image_search import ImageQuery
from webdata.resources.news_search import NewsQuery
from webdata.resources.scholar_search import ScholarQuery
from webdata.resources.web_search import WebQuery

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PAIRS = st.lists(st.tuples(TEXT.filter(bool), TEXT))
SEGMENT = st.text(st.sampled_from(string.printable + "%%%%&&==++éß東"))
KEYS = st.sampled_from([*WebQuery.model_fields, "colour", ""])


def wrong(values) -> list[str]:
    with pytest.raises(QueryError) as caught:
        WebQuery.check({"q": "coffee", **values})
    return [problem["msg"] for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("segment", "pairs"),
    [
        ("", []),
        ("q=coffee+shops&num=5", [("q", "coffee shops"), ("num", "5")]),
        ("q=coffee%20shops", [("q", "coffee shops")]),
        ("q=a%2Bb", [("q", "a+b")]),
        ("q=AT%26T", [("q", "AT&T")]),
        ("q=a%3Db=c", [("q", "a=b=c")]),
        ("q=%2F%3F%23%25", [("q", "/?#%")]),
        ("q=%2f", [("q", "/")]),
        ("q=100%", [("q", "100%")]),
        ("q=%zz%4", [("q", "%zz%4")]),
        ("q=%2526", [("q", "%26")]),
        ("q=%FF", [("q", "\ufffd")]),
        ("q=%E2%82", [("q", "\ufffd")]),
        ("q=%00", [("q", "\0")]),
        ("q=東%E4%BA%AC", [("q", "東京")]),
        ("coffee", [("coffee", "")]),
        ("=coffee", [("", "coffee")]),
        ("&&q=a&", [("q", "a")]),
        ("q=a&q=b", [("q", "a"), ("q", "b")]),
        ("%71=a", [("q", "a")]),
        ("q=a;b", [("q", "a;b")]),
    ],
)
def test_a_packed_segment_is_split_before_it_is_decoded(segment, pairs):
    """An escaped separator is part of its value."""
    assert pairs == unpack(segment)


@given(PAIRS)
def test_packed_pairs_round_trip(pairs):
    """Any pairs are unpacked unchanged, with + or %20 for spaces."""
    assert pairs == unpack(urlencode(pairs))
    assert pairs == unpack(urlencode(pairs, quote_via=quote, safe=""))


@given(TEXT)
def test_decoding_reverses_both_kinds_of_quoting(text):
    """Spaces may be + or %20."""
    assert text == decode(quote_plus(text)) == decode(quote(text, safe=""))


@given(SEGMENT)
def test_unpack_never_fails(segment):
    """Any segment can be unpacked, into text that can be encoded as UTF-8."""
    for key, value in unpack(segment):
        assert (key + value).encode().decode() == key + value


@given(st.text(st.sampled_from("ab%zZ%09%")))
def test_a_percent_sign_without_an_escape_is_literal(text):
    """Decoding does not change it."""
    literal = text.replace("%", "%~")
    assert literal == decode(literal)


@given(SEGMENT, st.dictionaries(st.sampled_from(["region", "device"]), SEGMENT | st.none()))
def test_any_request_is_read_or_refused(segment, headers):
    """The only error is QueryError."""
    try:
        query, remarks = WebQuery.read(unpack(segment), headers)
    except QueryError as error:
        assert error.problems  # noqa: PT017  # either end is right
    else:
        assert query.q.strip()
        assert not set(remarks.ignored) & set(WebQuery.keys())


@given(st.dictionaries(KEYS, TEXT | st.integers() | st.none() | st.lists(st.integers())))
def test_any_row_is_a_query_or_refused(values):
    """The only error is QueryError, and each of its messages begins with the name of a field."""
    try:
        WebQuery.check(values)
    except QueryError as error:
        assert all(problem["msg"].startswith(str(problem["loc"][-1])) for problem in error.problems)  # noqa: PT017  # ditto


def test_reading_returns_the_query_and_the_unknown_keys():
    """The unknown keys are in the order of the request."""
    pairs = [("x", "1"), ("q", "coffee"), ("region", "DE"), ("x", "2"), ("num", "5"), ("a", "")]
    query, remarks = WebQuery.read(pairs, {"region": "fr", "device": None})

    assert WebQuery(q="coffee", num=5, region=Region.FR) == query
    assert remarks == Remarks(ignored=("x", "region", "a"))


@pytest.mark.parametrize(
    ("query", "sent", "value", "adjusted"),
    [
        (WebQuery, "100", 100, ()),
        (WebQuery, "101", 100, ("num=100",)),
        (WebQuery, " 1000 ", 100, ("num=100",)),
        (WebQuery, "9" * 100, 100, ("num=100",)),
        (WebQuery, 200, 100, ("num=100",)),
        (BingQuery, "51", 50, ("num=50",)),
        (ScholarQuery, "1000", 200, ("num=200",)),
    ],
)
def test_a_number_of_results_above_the_bound_is_the_bound(query, sent, value, adjusted):
    """HTTP callers get the bound, and learn of it."""
    read, remarks = query.read([("q", "a"), ("num", sent)])
    assert (read.num, remarks.adjusted) == (value, adjusted)


@pytest.mark.parametrize("sent", ["0", "-1", "", "1e9", "101.0", "9" * 101])
def test_other_wrong_numbers_of_results_are_refused(sent):
    """Below 1, and what is no whole number, is an error; so is any number above the bound in a batch."""
    with pytest.raises(QueryError, match="num "):
        WebQuery.read([("q", "a"), ("num", sent)])
    with pytest.raises(QueryError, match="num cannot be '101'"):
        WebQuery.check({"q": "a", "num": "101"})


@pytest.mark.parametrize(
    "pairs",
    [
        [("num", "10"), ("count", "20")],
        [("start", "10"), ("first", "10")],
        [("hl", "de"), ("setlang", "fr")],
        [("gl", "de"), ("cc", "at")],
    ],
)
def test_two_names_of_a_parameter_have_one_value(pairs):
    """Two values are an error that names both; the same value twice has no effect."""
    (other, _), (name, _) = pairs
    with pytest.raises(QueryError, match=f"^{name} is .* beside {other}=.*: give one of them") as caught:
        BingQuery.read([("q", "a"), *pairs])
    assert caught.value.problems[0]["loc"] == ["query", name]
    same = {"num": "20", "start": "9", "hl": "lang_FR", "gl": "AT"}
    assert BingQuery.read([("q", "a"), (other, same[other]), pairs[1]])


def test_odd_values_of_headers_without_effect_are_dropped():
    """Clients send their library's name as X-User-Agent; other errors stay errors."""
    headers = {"region": "US-EAST", "device": "python-requests/2.32"}
    query, _ = ScholarQuery.read([("q", "a")], headers)
    assert (query.region, query.device) == (None, None)
    assert ScholarQuery.read([("q", "a")], {**headers, "region": "us"})[0].region is Region.US
    with pytest.raises(QueryError, match=r"^num cannot be 'x'[^;]*$"):
        ScholarQuery.read([("q", "a"), ("num", "x")], headers)


def test_a_parameter_may_repeat_its_value():
    """The same value twice has no effect."""
    assert WebQuery.read([("q", "a"), ("q", "a")])[0].q == "a"


def test_a_parameter_with_two_values_is_refused():
    """The message has both values, truncated."""
    with pytest.raises(QueryError) as caught:
        WebQuery.read([("q", "a"), ("q", "b" * 100), ("num", "1")])

    assert str(caught.value) == f"q is given twice, as 'a' and as '{'b' * 60}…': give it once"
    assert [(row["type"], row["loc"]) for row in caught.value.problems] == [("duplicate", ["query", "q"])]


@pytest.mark.parametrize(
    ("name", "sent", "value"),
    [
        ("gl", "DE", "de"),
        ("gl", " de ", "de"),
        ("hl", "lang_de", "de"),
        ("hl", "LANG_de", "de"),
        ("hl", "pt-BR", "pt-BR"),
        ("lr", "lang_de|lang_fr", "lang_de|lang_fr"),
        ("cr", "countryDE|countryAT", "countryDE|countryAT"),
        ("safe", "Active", "active"),
        ("tbs", "qdr:w", "qdr:w"),
        ("filter", "0", "0"),
        ("domain", "Google.co.uk", "google.co.uk"),
        ("num", "10", 10),
        ("start", "0", 0),
        ("region", "de", Region.DE),
        ("region", " ", None),
        ("device", "MOBILE", Device.MOBILE),
        ("device", "", None),
    ],
)
def test_right_values_are_normalised(name, sent, value):
    """Letter case, spaces and the engine's prefixes have no effect."""
    assert value == getattr(WebQuery.check({"q": "coffee", name: sent}), name)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"q": "\t "}, "q is blank: give the search terms, such as q=coffee+shops"),
        ({"q": None}, "q cannot be 'None': give the search terms, such as q=coffee+shops"),
        ({"num": "abc"}, "num cannot be 'abc': give a whole number from 1 to 100, such as num=10"),
        ({"num": "101"}, "num cannot be '101': give a whole number from 1 to 100, such as num=10"),
        ({"num": ""}, "num is blank: give a whole number from 1 to 100, such as num=10"),
        ({"gl": "x" * 70}, f"gl cannot be '{'x' * 60}…': give a two-letter country code, such as gl=de"),
        ({"filter": "2"}, "filter cannot be '2': give 1 to leave similar results out, 0 to keep them"),
        ({"device": "tablet"}, "device cannot be 'tablet': give one of desktop, mobile"),
        (
            {"q": "x" * (MAX_LENGTH + 1)},
            "q is too long, 2049 characters where 2048 are allowed: give the search terms, such as q=coffee+shops",
        ),
        (
            {"colour": "red"},
            f"colour is not a parameter here: the parameters are {', '.join(WebQuery.fields())}",
        ),
    ],
)
def test_wrong_values_are_refused(values, message):
    """The message has the name of the field, what was wrong and what would be right."""
    assert [message] == wrong(values)


def test_a_wrong_header_is_named_as_such():
    """The problem of a header has the header's name instead of the field's."""
    with pytest.raises(QueryError) as caught:
        SearchQuery.read([("q", "a")], {"device": "tablet"})

    [problem] = caught.value.problems
    assert problem["loc"] == ["header", "X-User-Agent"]
    assert problem["msg"] == "X-User-Agent cannot be 'tablet': give one of desktop, mobile"


def test_every_field_is_a_key_or_a_header():
    """Region, device, session and engines are headers."""
    assert SearchQuery.keys() == ["q", "archive"]
    assert SearchQuery.header_names() == {
        "region": "X-Proxy-Location",
        "device": "X-User-Agent",
        "session": "X-Session",
        "engines": "X-Engine",
    }
    assert {*WebQuery.keys(), *WebQuery.header_names()} == set(WebQuery.model_fields)


@pytest.mark.parametrize("name", WebQuery.model_fields)
def test_every_field_has_a_description(name):
    """The message for a wrong value contains it."""
    assert WebQuery.model_fields[name].description


def test_an_image_search_stores_the_packed_query():
    """It is stored verbatim, in a field that callers cannot set."""
    query, remarks = ImageQuery.read([("q", "a b"), ("packed", "x")], {}, "q=a+b&packed=x")
    assert (query.q, query.packed, query.as_text) == ("a b", "q=a+b&packed=x", "q=a+b&packed=x")
    assert remarks == Remarks(ignored=("packed",))
    assert "packed" not in ImageQuery.fields()
    assert ImageQuery.keys() == ["q", "archive"]


def test_the_text_of_other_queries_is_their_terms():
    """So is that of an image search without a packed query."""
    assert WebQuery.read([("q", "a b")], {}, "q=a+b")[0].as_text == "a b"
    assert ImageQuery.check({"q": "a b"}).as_text == "a b"


def test_a_packed_query_may_be_longer_than_a_value():
    """Terms of the greatest length are allowed even if all their characters are percent-encoded."""
    q = "\N{AMPHORA}" * MAX_LENGTH
    query, _ = ImageQuery.read([("q", q)], {}, f"q={quote(q)}")
    assert unquote(query.as_text) == f"q={q}"


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("ceid", "xx"), "ceid cannot be 'xx': give a country and a language with a colon between, such as ceid=US:en"),
        (("ceid", ""), "ceid is blank: give a country and a language with a colon between, such as ceid=US:en"),
        (("ceid", "USA:en"), "ceid cannot be 'USA:en': give a country and a language with a colon between"),
        (("ceid", "US:en-4190"), "ceid cannot be 'US:en-4190': give a country and a language with a colon between"),
        (("resolve_links", "maybe"), "resolve_links cannot be 'maybe': give one of true, false"),
        (("resolve_links", "1"), "resolve_links cannot be '1': give one of true, false"),
        (("resolve_links", ""), "resolve_links is blank: give one of true, false"),
    ],
)
def test_wrong_values_of_a_news_search_are_refused(pair, message):
    """The message describes editions and flags."""
    with pytest.raises(QueryError) as caught:
        NewsQuery.read([("q", "coffee"), pair])
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", pair[0]]
    assert problem["msg"].startswith(message)


@pytest.mark.parametrize(("given", "value"), [("true", True), ("False", False), (" TRUE ", True), (True, True)])
def test_a_flag_may_have_any_letter_case(given, value):
    """The booleans of a JSON file are accepted too."""
    assert NewsQuery.check({"q": "coffee", "resolve_links": given}).resolve_links is value


@pytest.mark.parametrize("q", ["\x00", "\u200e", "\u00ad", "\u202e \u200b", "\x1f"])
def test_terms_of_invisible_characters_are_blank(q):
    """They are refused like spaces."""
    with pytest.raises(QueryError, match="q is blank"):
        WebQuery.read([("q", q)])


@pytest.mark.parametrize("num", ["1_0", "5.0", "1e1", "0x5", "५_0"])
def test_numbers_are_written_as_digits(num):
    """Other notations of whole numbers are refused."""
    with pytest.raises(QueryError, match="num cannot be"):
        WebQuery.read([("q", "x"), ("num", num)])


def test_terms_may_look_like_numbers():
    """Search terms are text in any notation."""
    assert WebQuery.read([("q", "1_0")])[0].q == "1_0"


class Looked(Query):
    """A query with each kind of field that is looked up in a database."""

    id: str = ""
    after: int = 0
    before: datetime | None = None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", "a\0b", "id holds the character NUL, which no text here has: leave it out (in a URL it is %00)"),
        ("after", "9" * 60, f"after is too large: give a number up to {2**63 - 1}"),
        ("after", -(2**70), f"after is too large: give a number up to {2**63 - 1}"),
        ("before", "0001-01-01T00:00:00+23:59", "before is no time in UTC: give one such as 2026-11-30T12:00:00Z"),
        ("before", "9999-12-31T23:59:59-23:59", "before is no time in UTC: give one such as 2026-11-30T12:00:00Z"),
    ],
)
def test_what_no_database_takes_is_refused(name, value, message):
    """Ids, cursors and texts that a database cannot take are refused where they are read, with words."""
    with pytest.raises(QueryError) as caught:
        Looked.check({name: value})
    assert [message] == [problem["msg"] for problem in caught.value.problems]
