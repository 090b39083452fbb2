"""The validation of submitted queries."""

from io import BytesIO

import orjson
import pytest

from webdata.batches import validation, validation_process
from webdata.batches.validation import Task, validated
from webdata.batches.validation_process import error_of
from webdata.domain.errors import BodyTooLargeError, BrokenBodyError, OverloadedError, QueryError
from webdata.resources.job_search import JOB_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH

QUERIES = {one.name: one.query for one in (WEB_SEARCH, URL_REQUEST, JOB_SEARCH)}


def submit(body, ndjson=True, **given):
    """The result, and the numbers and queries that were written."""
    file = BytesIO()
    task = Task(QUERIES, {"resource": "web_search", **given} if ndjson else given, ndjson)
    result = validated(task, BytesIO(body), file)
    written = [line.split(b"\t", 1) for line in file.getvalue().splitlines()]
    return result, [(int(number), orjson.loads(query)) for number, query in written]


def lines(*queries):
    return b"".join(orjson.dumps(query) + b"\n" for query in queries)


def refused(body, ndjson=True, error=QueryError, **given):
    with pytest.raises(error) as caught:
        submit(body, ndjson, **given)
    return str(caught.value)


def test_queries_are_written_with_their_numbers_and_the_defaults_of_the_batch():
    """Right queries are written in order, with region and device where they have none of their own."""
    result, queries = submit(lines({"q": "a"}, {"q": "b", "region": "us", "num": None}), region="DE", device="mobile")
    assert (result.accepted, result.rejected) == (2, 0)
    assert queries == [
        (1, {"region": "DE", "device": "mobile", "q": "a"}),
        (2, {"region": "us", "device": "mobile", "q": "b"}),
    ]


def test_blank_lines_and_a_byte_order_mark_are_skipped():
    """Blank lines, Windows' line ends, a missing last line end and a byte order mark change nothing."""
    result, queries = submit(b'\xef\xbb\xbf{"q":"a"}\r\n\n  \n{"q":"b"}')
    assert queries == [(1, {"q": "a"}), (4, {"q": "b"})]
    assert result.rejected == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"q": "a", "num": "ten"}', "line 2 cannot be run: num cannot be 'ten': give a whole number from 1 to 100"),
        (b'{"num": 5}', "line 2 cannot be run: q is missing: give the search terms"),
        (b'{"q": "a"', 'line 2 is no JSON (unexpected end of data, column 10): give one object a line, such as {"q"'),
        (b'["a"]', 'line 2 is no JSON object: give one such as {"q":"coffee shops"}'),
        (b'{"q": "caf\xe9"}', "line 2 is not UTF-8 (byte 11): send JSON in UTF-8, one object a line"),
        (b"\x1f\x8b\x08\x00\x00", "line 2 is not UTF-8 (byte 2)"),
        (b'{"q": "' + b"a" * 70_000 + b'"}', "line 2 is longer than 65,536 bytes"),
    ],
)
def test_a_wrong_line_is_named_with_what_would_be_right(line, message):
    """A line that cannot be run is counted, and described with its number; the others are written."""
    result, queries = submit(b'{"q":"first"}\n' + line + b'\n{"q":"third"}\n')
    assert queries == [(1, {"q": "first"}), (3, {"q": "third"})]
    assert (result.accepted, result.rejected) == (2, 1)
    [problem] = result.problems
    assert problem["msg"].startswith(message)
    assert problem["loc"][:2] == ["line", 2]


def test_of_many_wrong_lines_the_first_hundred_are_described():
    """All wrong lines are counted, and the first 100 are described."""
    result, _ = submit(lines(*[{"num": number} for number in range(250)]))
    assert (result.accepted, result.rejected, len(result.problems)) == (0, 250, 100)


def test_unknown_fields_are_ignored_and_named():
    """A field that the resource does not have is left out of the query, and named once."""
    result, queries = submit(lines({"q": "a", "colour": "red"}, {"q": "b", "colour": "blue"}))
    assert (queries, list(result.ignored)) == ([(1, {"q": "a"}), (2, {"q": "b"})], ["colour"])


def test_a_body_that_ends_in_a_line_is_refused_as_a_whole():
    """A last line without its end, at which the JSON is incomplete, is a truncated body."""
    assert "ends in the middle of line 3" in refused(b'{"q":"a"}\n{"q":"b"}\n{"q":"c', error=BrokenBodyError)


def test_bodies_that_are_too_large_or_empty_are_refused(monkeypatch):
    """Too many bytes, too many queries and no query at all are refused."""
    monkeypatch.setattr(validation, "MOST_LINES", 2)
    assert "more than 2 queries" in refused(lines(*[{"q": "a"}] * 3))
    monkeypatch.setattr(validation, "MOST_LINES_BYTES", 20)
    assert "20 bytes" in refused(lines(*[{"q": "a"}] * 3), error=BodyTooLargeError)
    assert 'has no query: give one such as {"q":"coffee shops"} a line' in refused(b"\n \n")


def test_a_body_of_json_has_the_parameters_as_members():
    """The members of a JSON object are the parameters of the batch, and its queries."""
    body = {"resource": "web_search", "queries": [{"q": "a"}, {"q": "b", "start": -1}], "region": "de", "label": "x"}
    result, queries = submit(orjson.dumps(body), ndjson=False, priority=7)
    assert (result.parameters.resource, result.parameters.label, result.parameters.priority) == ("web_search", "x", 7)
    assert queries == [(1, {"region": "DE", "q": "a"})]
    assert result.problems[0]["msg"].startswith("query 2 cannot be run: start cannot be '-1': give a whole number")
    assert result.problems[0]["loc"] == ["query", 2, "start"]


def test_a_body_of_json_may_begin_with_a_byte_order_mark():
    """Clients on Windows write one."""
    body = b'\xef\xbb\xbf{"resource": "web_search", "queries": [{"q": "a"}]}'
    assert submit(body, ndjson=False)[1] == [(1, {"q": "a"})]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "the body is no JSON object: send a JSON object such as"),
        (b"{", "the body is no JSON in UTF-8"),
        (b'{"queries": []}', "resource is missing: give the endpoint that answers the queries"),
        (b'{"resource": "web_serch", "queries": []}', "resource cannot be 'web_serch': the nearest is 'web_search'"),
        (b'{"resource": "web_search"}', "queries is no array"),
        (b'{"resource": "web_search", "queries": []}', "the body has no query"),
        (b'{"resource": "web_search", "queries": [1], "priority": 11}', "priority cannot be '11': give from 1 to 9"),
        (b'{"resource": "url_request", "queries": [{"q": 1}], "region": "XX"}', "region cannot be 'XX'"),
        (orjson.dumps({"resource": "web_search", "queries": [{}] * 10_001}), "queries has 10,001 queries"),
    ],
)
def test_a_wrong_body_of_json_is_refused(body, message):
    """What is wrong with a body is told with what would be right."""
    assert message in refused(body, ndjson=False)


def test_a_parameter_that_the_resource_does_not_have_is_refused():
    """A region for queries that have none is an error."""
    body = orjson.dumps({"resource": "job_search", "queries": [{}], "region": "DE"})
    assert "region is not a parameter of job_search" in refused(body, ndjson=False)


def test_an_unknown_member_beside_the_queries_is_refused():
    """It is no field of a query, which batches report: the nearest parameter is named."""
    body = orjson.dumps({"resource": "web_search", "queries": [{"q": "a"}], "prioritty": 1})
    assert "'prioritty' is no field here: the nearest is 'priority'" in refused(body, ndjson=False)


def test_a_field_of_single_calls_is_refused_by_name():
    """A batch stores whole records, so that a part of a text would be asked for in vain."""
    result, queries = submit(
        lines({"url": "https://example.com/", "response_type": "markdown", "max_chars": 500}), resource="url_request"
    )
    assert (queries, result.problems[0]["loc"]) == ([], ["line", 1, "max_chars"])
    assert "max_chars is of single calls" in result.problems[0]["msg"]


@pytest.mark.parametrize(
    "error",
    [
        QueryError([{"loc": ("q",), "msg": "is missing", "type": "missing"}]),
        BodyTooLargeError(1000),
        BrokenBodyError("the body ended early"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_the_validating_process_is_that_of_the_service(error):
    """It crosses the processes with all that its caller may know."""

    def fails():
        raise error

    known = error_of(validation_process._answer(fails, BytesIO()))
    assert (type(known), str(known), vars(known)) == (type(error), str(error), vars(error))


def test_a_full_disk_of_the_validating_process_is_an_overload():
    """The caller is told to come again later."""

    def fails():
        raise OSError(28, "No space left on device")

    known = error_of(validation_process._answer(fails, BytesIO()))
    assert (type(known), known.retry_after) == (OverloadedError, 60)
