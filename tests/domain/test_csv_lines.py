"""Lines of CSV."""

import csv
import io

import pytest

from webdata.domain.csv_lines import csv_line


def read(line):
    return next(csv.reader(io.StringIO(line.decode(), newline="")))


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1+1", "-1+1", "@SUM(A1)", '=HYPERLINK("https://a.example/","x")', "-5"),
        *("\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\x00=1", "\ufeff=1", "\r\ntext"),
        *("＝1", "＋1", "－1", "＠1"),
    ],
)
def test_a_text_that_a_spreadsheet_would_calculate_is_defused(text):
    """An apostrophe stands before it, so that a spreadsheet shows it as text; the text itself is whole."""
    assert read(csv_line([text, "after"])) == [f"'{text}", "after"]


@pytest.mark.parametrize("text", ["coffee", "a=b", "1-2", "a@b.example", "'quoted'", 'say "x", then\ny', "", "é 日本"])
def test_other_texts_are_left_as_they_are(text):
    """A sign within a text is no formula, and commas, quotes and line ends are escaped as in RFC 4180."""
    assert read(csv_line([text, "after"])) == [text, "after"]


def test_numbers_stay_numbers_and_other_values_are_json():
    """A negative number has no apostrophe; booleans, objects and arrays are JSON, and None is an empty cell."""
    line = csv_line([-5, -0.5, 1e21, True, None, {"a": ["é", None]}, ["=1"]])
    assert read(line) == ["-5", "-0.5", "1e+21", "true", "", '{"a":["é",null]}', '["=1"]']
    assert line.endswith(b"\r\n")


def test_half_a_surrogate_pair_does_not_break_a_line():
    """Text that UTF-8 cannot represent is escaped."""
    assert read(csv_line(["a\ud83d", ["\ud83d"]])) == ["a\\ud83d", '["\\ud83d"]']
