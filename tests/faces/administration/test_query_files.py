"""Files of queries, as they are sent."""

import orjson
import pytest

from webdata.domain.errors import ConfigError
from webdata.faces.administration.query_files import check_file, pieces


@pytest.mark.task
@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("queries.txt", "pottery\n\nglass\n", [{"q": "pottery"}, None, {"q": "glass"}]),
        ("queries.csv", 'q,gl\n"a\nb",de\nc,fr\n', [None, None, {"q": "a\nb", "gl": "de"}, {"q": "c", "gl": "fr"}]),
        ("queries.jsonl", '{"q": "pottery"}\n{"q": "glass"}\n', [{"q": "pottery"}, {"q": "glass"}]),
    ],
)
async def test_a_line_of_a_file_is_a_line_of_the_body(tmp_path, name, text, rows):
    """So problems with a row are told by the line that a reader finds; what was sent is told in bytes."""
    path = tmp_path / name
    path.write_text(text)
    sent = []
    body = b"".join([piece async for piece in pieces(path, "q", sent.append)])
    lines = body.splitlines()
    assert check_file(path) == len(text)
    assert [orjson.loads(line) if line else None for line in lines] == rows
    assert sum(sent) == len(body)


@pytest.mark.task
async def test_a_file_that_cannot_be_sent_is_refused(tmp_path):
    """One that is not there, by its path; one with a broken row, by its line."""
    with pytest.raises(ConfigError, match=r"gone\.txt cannot be read: No such file"):
        check_file(tmp_path / "gone.txt")
    path = tmp_path / "queries.csv"
    path.write_text("q,gl\na,de\nb,de,more\n")
    with pytest.raises(ConfigError, match=r"queries\.csv, line 3: "):
        [piece async for piece in pieces(path, "q", len)]
