"""Calls of tools: their arguments, and their errors as a model reads them."""

import pytest
from pytest_twisted import ensureDeferred

from tests.faces.mcp.conftest import NEW, OLD
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError, LayoutError, OutOfCreditsError, QueryError
from webdata.domain.outcome import Outcome
from webdata.faces.mcp.tool_calls import read_arguments
from webdata.faces.mcp.tools import stated, tools_of
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH

TOOLS = tools_of([WEB_SEARCH, URL_REQUEST])
WEB, PAGE = TOOLS["web_search"], TOOLS["fetch_page"]


def test_arguments_are_those_of_the_query():
    """Headers of HTTP are arguments as any other, and what chooses what is shown is no part of the query."""
    query, _ = read_arguments(WEB, {"q": "a", "region": "de", "num": 20, "max_results": 3, "hl": None})
    assert (query.q, query.region, query.num, query.hl) == ("a", "DE", 20, None)


def test_a_model_need_not_choose_markdown():
    """A page is read as Markdown, and that is no argument."""
    query, _ = read_arguments(PAGE, {"url": "https://a.example/"})
    assert query.response_type == "markdown"
    with pytest.raises(QueryError, match="response_type is no argument of fetch_page: the arguments are url, content"):
        read_arguments(PAGE, {"url": "https://a.example/", "response_type": "full"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": "a", "limit": 5}, "limit is no argument of web_search: the arguments are q, region"),
        ({"q": "a", "packed": "b"}, "packed is no argument"),
        ({}, "q is missing"),
        ({"q": "x" * 100_000}, "q is too long, 100000 characters where 2048 are allowed"),
        ({"q": "a", "num": 500}, "num cannot be '500': give a whole number from 1 to 100"),
        ({"q": ["a"]}, "q cannot be"),
        ({"q": "a", "region": "Mars"}, "region cannot be 'MARS': give one of EU"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    """Nothing is ignored, and the message says what would be right, by the names of arguments."""
    with pytest.raises(QueryError, match=message):
        read_arguments(WEB, arguments)


def test_arguments_that_say_nothing_are_as_if_absent():
    """Clients with strict schemas have their models fill in every argument; what is required stays, to be named."""
    filled = {"q": "", "hl": "", "gl": None, "fields": [], "max_results": "3", "num": "20"}
    assert stated(WEB, filled) == {"q": "", "fields": [], "max_results": "3", "num": "20"}


@ensureDeferred
async def test_a_call_with_every_argument_is_answered(ask, calls):
    """The empty ones change nothing, and numbers may be texts."""
    calls.end = Answer({"results": []}, Outcome.OK, "http", {}, engine="google_web")
    empty = dict.fromkeys(("region", "session", "engines", "gl", "hl", "lr", "cr", "tbs", "domain"), "")
    arguments = {**empty, "q": "a", "num": "20", "start": None, "max_results": "3", "fields": []}
    result = (await ask("tools/call", {"name": "web_search", "arguments": arguments})).json["result"]
    assert (result["isError"], calls.calls[0].query.num, calls.calls[0].query.hl) == (False, 20, None), result


@ensureDeferred
@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_wrong_argument_is_an_error_of_the_tool(ask, version, calls):
    """A model can correct it: nothing is fetched, and the text says what to do."""
    found = await ask("tools/call", {"name": "web_search", "arguments": {"q": " "}}, version)
    result = found.json["result"]
    text = result["content"][0]["text"]
    assert (found.status, result["isError"], calls.calls) == (200, True, [])
    assert text.startswith("validation_error: q is blank: give the search terms")
    assert "\nNext: Correct the arguments and call again." in text


@ensureDeferred
@pytest.mark.parametrize(
    ("error", "texts"),
    [
        (BlockedError("a captcha", kind="captcha"), ("blocked: ", "(captcha)", "another region (region)", "Next: ")),
        (LayoutError("results"), ("layout_changed: ", "Next: Do not repeat this call: use another tool or site.")),
        (OutOfCreditsError("none"), ("out_of_credits: ", "Next: Do not call again: tell the user")),
        (RuntimeError("secret"), ("internal: ", "Next: Do not repeat this call: tell the user")),
    ],
)
async def test_an_error_says_what_to_do_next(ask, calls, error, texts):
    """By the code of the error; it has the id of the request, and names arguments where `/v1` names headers."""
    calls.end = error
    found = await ask("tools/call", {"name": "web_search", "arguments": {"q": "a"}})
    result = found.json["result"]
    text = result["content"][0]["text"]
    assert result["isError"]
    assert "structuredContent" not in result
    assert [part for part in texts if part not in text] == []
    assert found.headers["x-request-id"] in text
    assert "secret" not in text


@ensureDeferred
async def test_a_cursor_of_a_changed_page_is_an_error_of_the_tool(ask, calls):
    """The call has been made, and its cost stands beside the error."""
    page = {
        "data": "b" * 3000,
        "status": 200,
        "headers": {},
        "config": {"response_type": "markdown", "truncated": False},
    }
    calls.end = Answer(page, Outcome.OK, "http", {}, engine="url")
    arguments = {"url": "https://a.example/", "cursor": "1000-00000000"}
    result = (await ask("tools/call", {"name": "fetch_page", "arguments": arguments})).json["result"]
    assert result["isError"]
    assert result["content"][0]["text"].startswith("validation_error: cursor is of a text that has changed since")
    assert result["_meta"]["webdata/cost"] == 0
