"""The packed-query parser, and queries that explain themselves."""

import string
from urllib.parse import quote, quote_plus, unquote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.domain.query import MAX_LENGTH, Device, Region, SearchQuery, decode, unpack
from webdata.resources.image_search import ImageQuery
from webdata.resources.news_search import NewsQuery
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
def test_unpack(segment, pairs):
    """A packed segment is split before it is decoded, so that an escaped separator stays in its value."""
    assert pairs == unpack(segment)


@given(PAIRS)
def test_round_trip(pairs):
    """Whatever pairs a client packs are what is unpacked, with + or %20 for spaces."""
    assert pairs == unpack(urlencode(pairs))
    assert pairs == unpack(urlencode(pairs, quote_via=quote, safe=""))


@given(TEXT)
def test_decode_undoes_quote(text):
    """Decoding undoes both ways of quoting."""
    assert text == decode(quote_plus(text)) == decode(quote(text, safe=""))


@given(SEGMENT)
def test_unpack_never_fails(segment):
    """Any segment can be unpacked, into text that can be written out again."""
    for key, value in unpack(segment):
        assert (key + value).encode().decode() == key + value


@given(st.text(st.sampled_from("ab%zZ%09%")))
def test_no_escape_no_change(text):
    """A % that begins no escape stands for itself."""
    literal = text.replace("%", "%~")
    assert literal == decode(literal)


@given(SEGMENT, st.dictionaries(st.sampled_from(["region", "device"]), SEGMENT | st.none()))
def test_read_never_fails_otherwise(segment, headers):
    """Whatever a caller sends, it is read or it is a QueryError."""
    try:
        query, ignored = WebQuery.read(unpack(segment), headers)
    except QueryError as error:
        assert error.problems  # noqa: PT017  # either end is right
    else:
        assert query.q.strip()
        assert not set(ignored) & set(WebQuery.keys())


@given(st.dictionaries(KEYS, TEXT | st.integers() | st.none() | st.lists(st.integers())))
def test_check_never_fails_otherwise(values):
    """Whatever a batch file holds, it is a query or a QueryError whose every message names its field."""
    try:
        WebQuery.check(values)
    except QueryError as error:
        assert all(problem["msg"].startswith(str(problem["loc"][-1])) for problem in error.problems)  # noqa: PT017  # ditto


def test_read():
    """Reading gives the query and, in order, the names of what meant nothing."""
    pairs = [("x", "1"), ("q", "coffee"), ("region", "DE"), ("x", "2"), ("num", "5"), ("a", "")]
    query, ignored = WebQuery.read(pairs, {"region": "fr", "device": None})

    assert WebQuery(q="coffee", num=5, region=Region.FR) == query
    assert ignored == ["x", "region", "a"]


def test_same_twice():
    """A parameter that is given twice alike is given once."""
    assert WebQuery.read([("q", "a"), ("q", "a")])[0].q == "a"


def test_different_twice():
    """A parameter that is given twice, differently, is refused with both values, cut to a readable length."""
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
def test_right_values(name, sent, value):
    """Values are taken in the forms that callers use."""
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
            f"colour is not a parameter here: the parameters are {', '.join(WebQuery.model_fields)}",
        ),
    ],
)
def test_wrong_values(values, message):
    """A message says what was wrong and what would be right, in the words of whoever gave the fields by name."""
    assert [message] == wrong(values)


def test_headers_by_their_names():
    """HTTP callers are told about headers by the names they sent."""
    with pytest.raises(QueryError) as caught:
        SearchQuery.read([("q", "a")], {"device": "tablet"})

    [problem] = caught.value.problems
    assert problem["loc"] == ["header", "X-User-Agent"]
    assert problem["msg"] == "X-User-Agent cannot be 'tablet': give one of desktop, mobile"


def test_keys_and_headers():
    """Every field comes either as a key or as a header."""
    assert SearchQuery.keys() == ["q"]
    assert SearchQuery.headers() == {"region": "X-Proxy-Location", "device": "X-User-Agent", "session": "X-Session"}
    assert {*WebQuery.keys(), *WebQuery.headers()} == set(WebQuery.model_fields)


@pytest.mark.parametrize("name", WebQuery.model_fields)
def test_described(name):
    """Every field describes itself, since that is what callers read when they got it wrong."""
    assert WebQuery.model_fields[name].description


def test_the_packed_query_is_kept_where_a_record_repeats_it():
    """An image search keeps what its caller wrote, under no name that callers could use."""
    query, ignored = ImageQuery.read([("q", "a b"), ("packed", "x")], {}, "q=a+b&packed=x")
    assert (query.q, query.packed, query.as_text, ignored) == ("a b", "q=a+b&packed=x", "q=a+b&packed=x", ["packed"])
    assert "packed" not in ImageQuery.fields()
    assert ImageQuery.keys() == ["q"]


def test_a_query_is_shown_as_its_terms():
    """Other searches, and an image search that no URL asked for, repeat the terms."""
    assert WebQuery.read([("q", "a b")], {}, "q=a+b")[0].as_text == "a b"
    assert ImageQuery.check({"q": "a b"}).as_text == "a b"


def test_a_packed_query_may_be_longer_than_a_value():
    """Terms of the greatest length are still allowed when every character of theirs is percent-encoded."""
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
def test_wrong_news(pair, message):
    """A news search says which editions and which words of truth there are."""
    with pytest.raises(QueryError) as caught:
        NewsQuery.read([("q", "coffee"), pair])
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", pair[0]]
    assert problem["msg"].startswith(message)


@pytest.mark.parametrize(("given", "meant"), [("true", True), ("False", False), (" TRUE ", True), (True, True)])
def test_words_of_truth(given, meant):
    """True and false are understood in any letter case, and as a row of a file has them."""
    assert NewsQuery.check({"q": "coffee", "resolve_links": given}).resolve_links is meant


@pytest.mark.parametrize("q", ["\x00", "\u200e", "\u00ad", "\u202e \u200b", "\x1f"])
def test_terms_that_show_nothing_are_blank(q):
    """A search for characters that nobody sees is refused as blank."""
    with pytest.raises(QueryError, match="q is blank"):
        WebQuery.read([("q", q)])


@pytest.mark.parametrize("num", ["1_0", "5.0", "1e1", "0x5", "५_0"])
def test_numbers_are_written_as_digits(num):
    """What only a programming language reads as a whole number is refused."""
    with pytest.raises(QueryError, match="num cannot be"):
        WebQuery.read([("q", "x"), ("num", num)])


def test_terms_may_look_like_numbers():
    """Search terms are text, however they look."""
    assert WebQuery.read([("q", "1_0")])[0].q == "1_0"
