"""Files of queries."""

import csv
import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.crawling.jobs import files
from webdata.crawling.jobs.files import Row
from webdata.domain.errors import ConfigError

SUFFIXES = st.sampled_from([".txt", ".csv", ".json", ".jsonl"])


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def read(path):
    return list(files.rows(path, "q"))


def test_a_line_of_text_is_a_query(write):
    """Each line of text is a query with its line number; blank lines are skipped."""
    assert read(write("q.txt", b"coffee\n\n  tea \n")) == [Row(1, {"q": "coffee"}), Row(3, {"q": "tea"})]


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfcaf\xc3\xa9\r\n\r\ntea", b"caf\xc3\xa9\n\ntea\n", b"caf\xc3\xa9\r\rtea"]
)
def test_byte_order_marks_and_line_ends_do_not_matter(write, content):
    """A byte order mark, CRLF, CR and a missing last line end have no effect."""
    assert [row.values["q"] for row in read(write("q.txt", content))] == ["café", "tea"]


def test_a_row_of_csv_is_a_query(write):
    """CSV names its columns in the first line; blank cells are absent, quoted ones may hold commas and line ends."""
    path = write("q.csv", b'q , num\r\n"coffee, black", 5\r\n\r\n,\r\n"two\nlines",\r\n')
    assert read(path) == [Row(2, {"q": "coffee, black", "num": "5"}), Row(6, {"q": "two\nlines"})]


@pytest.mark.parametrize(
    "content", [b"q;num\ncoffee, tea;3\n", b"sep=;\nq;num;;\ncoffee, tea;3;;\n", b"q\tnum\ncoffee, tea\t3"]
)
def test_tables_of_spreadsheets_are_read(write, content):
    """The separator is that of the first line, or the one that Excel names; columns without a name are left out."""
    path = write("q.csv", content)
    assert (files.columns(path), [row.values for row in read(path)]) == (
        ["q", "num"],
        [{"q": "coffee, tea", "num": "3"}],
    )


@pytest.mark.parametrize("content", [b'[{"q": "a"},\n {"q": "b"}]', b'{"q": "a"}\n{"q": "b"}\n'])
def test_a_file_of_json_is_an_array_or_lines(write, content):
    """A file of JSON is no text with a query a line."""
    assert read(write("q.json", content)) == [Row(1, {"q": "a"}), Row(2, {"q": "b"})]
    assert "is no JSON" in (read(write("q.json", b"[{]"))[0].problem or "")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"coffee, black,5", "3 cells for 2 columns: put quotes"),
        (b'"coffee" black,5', "cannot be read as CSV"),
        (b'"coffee', "cannot be read as CSV"),
    ],
)
def test_a_malformed_row_of_csv_has_a_problem(write, row, problem):
    """A malformed row has no values, and the rows before it are read."""
    first, second = read(write("q.csv", b"q,num\ntea,1\n" + row))
    assert first == Row(2, {"q": "tea", "num": "1"})
    assert second.line == 3
    assert problem in second.problem
    assert second.values == {}


def test_an_object_of_jsonl_is_a_query(write):
    """Each object of JSON Lines is a query; numbers stay numbers, nulls are skipped."""
    path = write("q.jsonl", b'{"q": "coffee", "num": 5, "region": null}\n\n{"q": "tea"}')
    assert read(path) == [Row(1, {"q": "coffee", "num": 5}), Row(3, {"q": "tea"})]


@pytest.mark.parametrize(
    ("line", "problem"),
    [(b"coffee", "is no JSON ("), (b'["coffee"]', "is no JSON object"), (b'{"q": "\\ud800"}', "is no JSON (")],
)
def test_a_malformed_line_of_jsonl_has_a_problem(write, line, problem):
    """The rows after a line that is no object are read."""
    first, second = read(write("q.jsonl", line + b'\n{"q": "tea"}\n'))
    assert problem in first.problem
    assert second == Row(2, {"q": "tea"})


def test_only_csv_names_its_columns(write):
    """The columns are the names in the first line, each of which must be unique."""
    assert files.columns(write("q.csv", b"q, num\n")) == ["q", "num"]
    assert files.columns(write("empty.csv", b"")) == []
    assert files.columns(write("q.txt", b"q, num\n")) is None
    with pytest.raises(ConfigError, match="names the column q twice"):
        files.columns(write("twice.csv", b"q,num,q\n"))
    with pytest.raises(ConfigError, match="first line cannot be read as CSV"):
        files.columns(write("torn.csv", b'"q'))


def test_the_digest_identifies_the_content(write):
    """Equal contents have equal digests, different contents different ones."""
    same = {files.digest(write(name, b"coffee\n")) for name in ("a.txt", "b.txt")}
    assert len(same) == 1
    assert files.digest(write("c.txt", b"coffee \n")) not in same


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("tea\ncaf\xe9\n".encode("latin-1"), 2),
        ("tea\ncoffee\n".encode("utf-16"), 1),
        ("tea\ncoffee\n".encode("utf-16-le"), 1),
        (b"tea\n\xc3", 2),
        (b"x" * (files.CHUNK - 1) + b"\n\n\xff", 3),
    ],
)
def test_another_encoding_is_refused(write, content, line):
    """A file that is not UTF-8 is refused; the message names the first wrong line."""
    with pytest.raises(ConfigError, match=rf"is not UTF-8 text \(line {line}\): save it as UTF-8"):
        files.digest(write("q.txt", content))


def test_a_character_may_span_two_chunks(write):
    """UTF-8 is decoded as one stream, whatever the size of the chunks."""
    assert files.digest(write("q.txt", b"x" * (files.CHUNK - 1) + "é".encode()))


def test_standard_input_can_be_read_twice(monkeypatch):
    """Standard input is copied into a file of text."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"coffee\ntea\n")))
    path = files.standard_input()
    assert [row.values["q"] for row in read(path)] == ["coffee", "tea"]
    assert read(path) == read(path)
    path.unlink()


@given(content=st.binary() | st.text().map(str.encode), suffix=SUFFIXES)
def test_any_content_is_read_or_refused(content, suffix):
    """Any file gives rows with unique lines, or a ConfigError."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"q{suffix}"
        path.write_bytes(content)
        try:
            files.digest(path)
            files.columns(path)
        except ConfigError:
            return
        lines = [row.line for row in read(path)]
        assert lines == sorted(set(lines))


CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and text
)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_csv_round_trips(pairs):
    """Every pair of cells that Python's csv module writes is read back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "q.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("q", "tbs"), *pairs])
        assert [(row.values["q"], row.values["tbs"]) for row in read(path)] == pairs


@given(st.lists(st.dictionaries(CELLS, CELLS | st.integers(-(2**53), 2**53)), max_size=5))
def test_jsonl_round_trips(objects):
    """Every object that is written as a line of JSON is read back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "q.jsonl"
        path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in objects))
        assert [row.values for row in read(path)] == objects
