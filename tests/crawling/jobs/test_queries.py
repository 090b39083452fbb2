"""The queries of a batch."""

import logging
from contextlib import suppress
from dataclasses import make_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.crawling.jobs.files import Row
from webdata.crawling.jobs.queries import RunQueries
from webdata.domain.errors import ConfigError, QueryError
from webdata.domain.failures import Failure
from webdata.domain.query import Device, Region
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH, WebQuery


@pytest.fixture
def batch(tmp_path):
    """A function that creates the batch of a file and other arguments."""

    def batch(name, content, **arguments):
        path = tmp_path / name
        path.write_bytes(content)
        return RunQueries(WEB_SEARCH, {"queries": str(path), **arguments})

    return batch


def queries(batch):
    return [batch.query(row) for row in batch.rows()]


def test_arguments_are_a_query():
    """Without a file the arguments are the one query."""
    batch = RunQueries(WEB_SEARCH, {"q": "coffee", "num": "5", "region": "de", "device": "mobile", "start": "10"})
    assert batch.total == 1
    assert queries(batch) == [WebQuery(q="coffee", num=5, region=Region.DE, device=Device.MOBILE, start=10)]


def test_arguments_are_defaults_of_a_file(batch):
    """With a file the other arguments are used where a row has no value."""
    two = batch("q.csv", b"q,num\ncoffee,\ntea,9\n", num="5", region="DE")
    assert two.total == 2
    assert queries(two) == [WebQuery(q="coffee", num=5, region=Region.DE), WebQuery(q="tea", num=9, region=Region.DE)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no query was given: give -a q=… for one, or -a queries=FILE for many"),
        ({"num": "5"}, "no query was given"),
        (
            {"q": "coffee", "nmu": "5"},
            "nmu is no argument here: the arguments are queries, q, region, device, session, engines, num",
        ),
        ({"q": "coffee", "queries": "q.txt"}, "q and queries are both given"),
        ({"queries": "nowhere.txt"}, "queries=nowhere.txt cannot be read: No such file"),
    ],
)
def test_arguments_that_make_no_batch_are_refused(arguments, message):
    """Arguments that cannot be run are refused with what would be right."""
    with pytest.raises(ConfigError, match=message):
        RunQueries(WEB_SEARCH, arguments)


@pytest.mark.parametrize("arguments", [{"q": "coffee", "num": "abc"}, {"q": " "}, {"q": "\udcff"}])
def test_a_single_query_is_validated_at_once(arguments):
    """A single query that cannot be run is refused before the batch begins."""
    with pytest.raises(QueryError, match="give "):
        RunQueries(WEB_SEARCH, arguments)


def test_defaults_are_validated_at_once(batch):
    """A wrong default is refused before any row is run."""
    with pytest.raises(QueryError, match="num cannot be 'abc'") as caught:
        batch("q.txt", b"coffee\n", num="abc")
    assert "q is missing" not in str(caught.value)


@pytest.mark.parametrize("header", [b"query,num", b"query;num", b""])
def test_csv_must_have_the_required_columns(batch, header):
    """A CSV file without a column q is refused; the message lists the possible columns."""
    with pytest.raises(ConfigError, match=r"has no column q: .* q, region, device"):
        batch("q.csv", header + b"\ncoffee,5\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", b"q,num\ncoffee,many\n", "line 2: num cannot be 'many': give a whole number"),
        ("q.csv", b"q,num\n,5\n", "line 2: q is missing: give the search terms"),
        ("q.jsonl", b'{"q": 5}\n', "line 1: q cannot be '5'"),
        ("q.jsonl", b'\n{"q": "a", "region": "XX"}\n', "line 2: region cannot be 'XX'"),
        ("q.jsonl", b"coffee\n", "line 1: is no JSON"),
    ],
)
def test_a_row_that_cannot_be_run_names_its_line(batch, name, content, message):
    """The error of a wrong row has its line number and what would be right."""
    wrong = batch(name, content)
    (row,) = wrong.rows()
    with pytest.raises(QueryError, match=message):
        wrong.query(row)


def test_unknown_columns_are_ignored_with_one_warning(batch, caplog):
    """Columns that are no fields of a query are not used; failures still repeat them."""
    two = batch("q.csv", b"id,q\n17,coffee\n18,tea\n")
    with caplog.at_level(logging.WARNING):
        assert queries(two) == [WebQuery(q="coffee"), WebQuery(q="tea")]
    assert [record.getMessage() for record in caplog.records] == ["Ignored, since they are no fields of a query: id"]
    assert two.given(next(two.rows())) == {"id": "17", "q": "coffee"}


def test_rows_that_are_done_are_skipped(batch):
    """A resumed batch has only the rows that have not ended."""
    three = batch("q.txt", b"a\nb\nc\n")
    three.done.add(2)
    assert [row.values["q"] for row in three.rows()] == ["a", "c"]
    assert three.total == 3


@pytest.mark.parametrize("item_type", [dict, make_dataclass("Record", WEB_SEARCH.content)])
def test_an_item_has_an_outcome(item_type):
    """A failure has its own, a record of any item type that of its resource."""
    one = RunQueries(WEB_SEARCH, {"q": "coffee"})
    empty = {key: [] for key in WEB_SEARCH.content}
    assert one.outcome(Failure({}, "blocked", None, "a captcha", 1)) == "blocked"
    assert one.outcome(item_type(**empty)) == "empty"
    assert one.outcome(item_type(**{**empty, "results": [{}]})) == "ok"


@given(
    st.dictionaries(
        st.sampled_from([*WebQuery.model_fields, "other"]), st.none() | st.text() | st.integers() | st.lists(st.text())
    )
)
def test_any_row_is_a_query_or_a_query_error(values):
    """Any row is validated, or refused with a QueryError."""
    with suppress(QueryError):
        assert isinstance(RunQueries(WEB_SEARCH, {"q": "coffee"}).query(Row(1, values)), WebQuery)


def test_a_field_of_single_calls_is_refused():
    """A run has whole records: a part of a text is refused by name."""
    arguments = {"url": "https://example.com/", "response_type": "markdown", "max_chars": "500"}
    with pytest.raises(QueryError, match="max_chars is of single calls"):
        RunQueries(URL_REQUEST, arguments)


def test_the_archive_of_a_service_is_no_argument():
    """A run has an archive of its own: the setting RECORD."""
    with pytest.raises(ConfigError, match="archive is no argument here"):
        RunQueries(URL_REQUEST, {"url": "https://example.com/", "response_type": "full", "archive": "true"})
