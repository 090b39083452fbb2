"""Long texts in parts."""

import orjson
import pytest

from webdata.domain.errors import QueryError
from webdata.domain.query import Query
from webdata.faces.mcp.documents import PartShape, document
from webdata.faces.mcp.tools import tools_of
from webdata.resources import Resource
from webdata.resources.url_request import URL_REQUEST

PAGE = tools_of([URL_REQUEST])["fetch_page"]
MOST_TOKENS = 20_000


def record(text):
    config = {"url": "https://a.example/", "response_type": "markdown", "truncated": False}
    return {"data": text, "status": 200, "config": config}


def parts(text, **arguments):
    """All parts of a text, by the cursors of the answers."""
    cursor = None
    while True:
        shown = document(PAGE, record(text), PartShape.read({**arguments, "cursor": cursor}))
        yield shown.structured
        cursor = shown.structured.get("next_cursor")
        if cursor is None:
            return


def test_a_short_page_is_one_part():
    """It has its address, its status and no cursor."""
    (only,) = parts("# A\n\nText")
    assert only == {"url": "https://a.example/", "status": 200, "text": "# A\n\nText", "length": 9}


@pytest.mark.parametrize("text", ["word " * 5000, "x" * 25_000, "Ж" * 25_000, "😀" * 9000, "a paragraph\n\n" * 2000])
def test_all_parts_together_are_the_text(text):
    """Nothing is lost between two parts, whatever the script, and none is too long."""
    found = list(parts(text))
    assert "".join(one["text"] for one in found) == text
    assert len(found) > 1
    assert max(len(orjson.dumps(one).decode().encode("ascii", "backslashreplace")) for one in found) <= 2 * MOST_TOKENS


def test_a_part_ends_at_a_paragraph():
    """Where there is an end of a paragraph, a line or a word in the last quarter, a part ends there."""
    first = next(parts("a line\n\n" * 500, max_chars=1000))
    assert first["text"].endswith("\n\n")


def test_the_text_names_the_cursor():
    """A model that reads the text alone can go on."""
    shown = document(PAGE, record("x" * 3000), PartShape.read({"max_chars": 1000}))
    assert shown.text.startswith("Characters 0 to 1000 of 3000.")
    assert shown.text.endswith(f"cursor {shown.structured['next_cursor']}")


def test_a_cursor_of_another_text_is_refused():
    """A page that has changed is not continued in the middle."""
    cursor = next(parts("a" * 3000, max_chars=1000))["next_cursor"]
    with pytest.raises(QueryError, match="cursor is of a text that has changed since: begin again without it"):
        document(PAGE, record("b" * 3000), PartShape.read({"cursor": cursor}))


@pytest.mark.parametrize("cursor", ["", "1", "99999999999-00000000", "x", 5, "1-00000000\n"])
def test_a_made_up_cursor_is_refused(cursor):
    """A cursor is one that an answer had."""
    with pytest.raises(QueryError, match="cursor is"):
        document(PAGE, record("a" * 3000), PartShape.read({"cursor": cursor}))


@pytest.mark.parametrize("most", [0, 999, 30_001, "many", True, 1e4])
def test_a_wrong_size_is_refused(most):
    """The message names the bounds."""
    with pytest.raises(QueryError, match="max_chars is no whole number from 1000 to 30000"):
        PartShape.read({"max_chars": most})


def test_a_record_without_text_is_its_json():
    """What is neither a list of results nor a text is given as JSON, in parts as well."""
    tool = tools_of([Resource("tide_table", "/v1/tides", "Tides", Query, dict)])["tide_table"]
    assert document(tool, {"tides": [1, 2]}, PartShape()).structured == {"text": '{"tides":[1,2]}', "length": 15}
