"""`webdata diff`: what a parser's change did."""

import json

import pytest
from click.testing import CliRunner

from webdata.main import main


@pytest.fixture
def compared(tmp_path):
    """The result of the command on two lists of lines."""

    def compare(old, new, *options):
        for name, lines in (("old", old), ("new", new)):
            (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return CliRunner().invoke(main, ["diff", str(tmp_path / "old"), str(tmp_path / "new"), *options])

    return compare


def line(number, **record):
    return {"id": f"page {number}", "date": "today", "outcome": "ok", "record": {"parsed_at": "now", **record}}


def test_equal_records_have_the_status_0(compared):
    """Times and orders of lines make no difference."""
    other = {**line(1, a=1), "date": "tomorrow", "record": {"parsed_at": "later", "a": 1}}
    result = compared([line(1, a=1), line(2)], [line(2), other])
    assert (result.exit_code, result.output) == (0, "2 equal, 0 different\n")


def test_fields_are_counted_by_their_paths(compared):
    """What was gained, lost or changed stands with its path, the most frequent first, and with examples."""
    old = [line(n, results=[{"link": "a", "title": "A", "date": "1"}], total=None) for n in range(2)]
    new = [line(n, results=[{"link": "a", "title": "B", "date": None}], total=n or None) for n in range(2)]
    result = compared(old, new)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "0 equal, 2 different",
        "record.results[].title: 2 changed",
        '    page 0: "A" -> "B"',
        '    page 1: "A" -> "B"',
        "record.results[].date: 2 lost",
        '    page 0: "1" -> null',
        '    page 1: "1" -> null',
        "record.total: 1 gained",
        "    page 1: null -> 1",
    ]


def test_items_are_compared_by_their_identity(compared):
    """A new result before the others changes none of them."""
    items = [{"link": name, "title": name} for name in "ab"]
    result = compared([line(1, results=items)], [line(1, results=[{"link": "c", "title": "c"}, *items])], "--json")
    found = json.loads(result.output)
    assert list(found["paths"]) == ["record.results[]"]
    assert found["paths"]["record.results[]"]["gained"] == 1


def test_lines_without_a_match_are_named(compared):
    """Pages that only one file has are counted, and named."""
    result = compared([line(1), line(2)], [line(2), line(3)])
    assert result.exit_code == 1
    assert "1 only in the old file: page 1\n1 only in the new file: page 3" in result.output


def test_lines_of_a_batch_are_found_by_their_query(compared):
    """Records without an id have that of their query; the second of a query is another."""
    records = [{"query": "tea", "results": []}, {"query": "tea", "results": [1]}]
    assert compared(records, records).exit_code == 0


def test_what_is_no_record_is_refused(compared):
    """The message names the file and the line."""
    result = compared([[1]], [])
    assert result.exit_code == 2
    assert "line 1 is no JSON object: give a file of JSON Lines" in result.output
