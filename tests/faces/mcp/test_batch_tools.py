"""The tools that submit batches and read their results, over a database."""

import asyncio
from datetime import UTC, datetime

import orjson
import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from tests.faces.mcp.conftest import RESOURCES, Message
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.model import EndedRow, RowResult

LONG = "word " * 1000
RECORDS = {
    "web_search": {"results": [{"title": f"Result {n}", "link": f"https://a.example/{n}"} for n in range(8)]},
    "url_request": {
        "data": LONG,
        "status": 200,
        "config": {"url": "https://a.example/", "response_type": "markdown", "truncated": False},
    },
}

pytestmark = pytest.mark.task

COMMON_KEYWORDS = {
    *("type", "description", "enum", "default", "items", "properties", "required", "anyOf", "additionalProperties"),
    *("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern"),
}


@pytest_twisted.async_yield_fixture
async def door(starts, admission, stores, tmp_path):
    from webdata.batches.intake import Intake
    from webdata.batches.submissions import Submissions
    from webdata.faces.api.calls import ApiCalls
    from webdata.faces.mcp import server  # which takes long to import  # noqa: F401
    from webdata.faces.mcp.batch_tools import BatchTools
    from webdata.faces.mcp.door import McpDoor

    queries = {one.name: one.query for one in RESOURCES}
    submissions = Submissions(Intake(tmp_path / "intake", queries), stores.batches, stores.webhooks)
    one = McpDoor(RESOURCES, admission, ApiCalls(admission), [], BatchTools(submissions, stores.batches))
    yield one
    await deferred_from_coro(one.close())


@pytest.fixture
def call(send, test_secret):
    """The result of a call of a tool."""

    async def called(name, arguments, secret=test_secret):
        message = Message("tools/call", {"name": name, "arguments": arguments})
        headers = {"Authorization": f"Bearer {secret}", **message.headers}
        sent = send("/mcp?tools=all", "POST", headers, orjson.dumps(message.body))
        return (await sent.asFuture(asyncio.get_running_loop())).json["result"]

    return called


async def end(stores, batch_id, row, outcome="ok"):
    """End a row as a worker does."""
    batch = await stores.batches.find(DEFAULT_ACCOUNT, batch_id)
    record = orjson.dumps(RECORDS[batch.resource])
    given = {"record": record} if outcome == "ok" else {"kind": "captcha", "error": "a captcha"}
    result = RowResult(row, outcome, datetime.now(UTC), "url", 1, **given)
    number = await stores.batches.chunk_after(batch_id, row - 1)
    await stores.chunks.end_row(EndedRow(batch, number, result))


async def submitted(call, tool, count):
    queries = [{"url" if tool == "fetch_page" else "q": f"https://a.example/{n}"} for n in range(count)]
    made = await call("submit_batch", {"tool": tool, "queries": queries, "label": "for a report"})
    assert not made["isError"], made
    return made["structuredContent"]["batch"]


async def test_the_tools_are_offered_by_name(send, test_secret):
    """They are not among the usual ones, and the one that submits is not said to read only."""
    message = Message("tools/list", {})
    headers = {"Authorization": f"Bearer {test_secret}", **message.headers}
    found = {}
    for query in ("", "?tools=submit_batch,batch_results"):
        sent = send(f"/mcp{query}", "POST", headers, orjson.dumps(message.body))
        tools = (await sent.asFuture(asyncio.get_running_loop())).json["result"]["tools"]
        found[query] = {one["name"]: one["annotations"]["readOnlyHint"] for one in tools}
    assert "submit_batch" not in found[""]
    assert found["?tools=submit_batch,batch_results"] == {"submit_batch": False, "batch_results": True}


async def test_schemas_have_only_keywords_that_every_model_takes(send, test_secret):
    """Gemini's client refuses a list of tools with any other: https://ai.google.dev/api/caching#Schema."""
    headers = {"Authorization": f"Bearer {test_secret}", **Message("tools/list", {}).headers}
    body = orjson.dumps(Message("tools/list", {}).body)
    sent = send("/mcp?tools=all", "POST", headers, body).asFuture(asyncio.get_running_loop())
    tools = (await sent).json["result"]["tools"]
    assert {word for tool in tools for word in keywords(tool["inputSchema"])} <= COMMON_KEYWORDS


def keywords(schema):
    """The keywords of a JSON Schema and of those in it."""
    items = [schema["items"]] if "items" in schema else []
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *items]
    return {*schema, *(word for one in below for word in keywords(one))}


async def test_searches_are_read_a_few_at_a_time(call, stores):
    """Each with its query and its first results; the cursor leads on, also while the batch runs."""
    batch = await submitted(call, "web_search", 12)
    stored = await stores.batches.find(DEFAULT_ACCOUNT, batch)
    assert (stored.rows, stored.label, stored.resource) == (12, "for a report", "web_search")
    for row in range(1, 12):
        await end(stores, batch, row, "blocked" if row == 2 else "ok")

    first = await call("batch_results", {"batch": batch})
    shown = first["structuredContent"]
    assert (shown["state"], shown["queries"], shown["ended"], shown["failed"]) == ("queued", 12, 11, 1)
    assert [one["row"] for one in shown["results"]] == list(range(1, 11))
    assert shown["results"][0]["query"]["q"] == "https://a.example/0"
    assert [one["title"] for one in shown["results"][0]["results"]] == [f"Result {n}" for n in range(5)]
    assert (shown["results"][1]["outcome"], "results" in shown["results"][1]) == ("blocked", False)

    rest = await call("batch_results", {"batch": batch, "cursor": shown["next_cursor"]})
    assert [one["row"] for one in rest["structuredContent"]["results"]] == [11]
    assert rest["structuredContent"]["next_cursor"] == "11"
    await end(stores, batch, 12)
    last = await call("batch_results", {"batch": batch, "cursor": "11"})
    assert (last["structuredContent"]["state"], "next_cursor" in last["structuredContent"]) == ("done", False)
    assert last["content"][0]["text"].endswith("These are all results.")


async def test_a_page_is_shown_in_part(call, stores):
    """The cursor beside it is one of fetch_page, which gives the rest."""
    from webdata.domain.text_parts import part_begin

    batch = await submitted(call, "fetch_page", 1)
    await end(stores, batch, 1)
    (row,) = (await call("batch_results", {"batch": batch}))["structuredContent"]["results"]
    assert (LONG.startswith(row["text"]), row["length"]) == (True, len(LONG))
    assert part_begin(LONG, row["next_cursor"]) == len(row["text"])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("submit_batch", {"tool": "tea_search", "queries": [{"q": "a"}]}, "tool cannot be 'tea_search': the tools are"),
        ("submit_batch", {"tool": "submit_batch", "queries": [{"q": "a"}]}, "tool cannot be 'submit_batch'"),
        ("submit_batch", {"tool": "web_search", "queries": []}, "queries cannot be"),
        (
            "submit_batch",
            {"tool": "web_search", "queries": [{"q": "a"}, {"max_results": 3}]},
            "'max_results' in query 2",
        ),
        ("submit_batch", {"tool": "web_search", "queries": [{"q": ""}]}, "q is blank"),
        (
            "submit_batch",
            {"tool": "fetch_page", "queries": [{"url": "https://a.example/", "cursor": "x"}]},
            "queries have 'cursor' in query 1",
        ),
        ("submit_batch", {"tool": "web_search", "queries": [{"q": "a"}], "when": "now"}, "when is not a parameter"),
        ("batch_results", {"batch": "bat_1"}, "The key reaches no batch with this id"),
        ("batch_results", {"batch": "bat_1", "cursor": "next"}, "cursor cannot be 'next'"),
    ],
)
async def test_what_cannot_be_run_is_an_error_of_the_tool(call, stores, name, arguments, message):
    """It names what was wrong, and no batch is made."""
    result = await call(name, arguments)
    assert (result["isError"], message in result["content"][0]["text"]) == (True, True), result
    assert "\nNext: " in result["content"][0]["text"]
    assert await stores.batches.page(DEFAULT_ACCOUNT, 10, None, None, None) == []


async def test_a_message_for_a_batch_is_counted(send, test_secret):
    """As any request; the calls of its queries are those of workers."""
    message = Message("tools/call", {"name": "batch_results", "arguments": {"batch": "bat_1"}})
    headers = {"Authorization": f"Bearer {test_secret}", **message.headers}
    sent = send("/mcp?tools=all", "POST", headers, orjson.dumps(message.body))
    answer = await sent.asFuture(asyncio.get_running_loop())
    assert int(answer.headers["x-ratelimit-requests-remaining"]) < int(answer.headers["x-ratelimit-requests-limit"])
