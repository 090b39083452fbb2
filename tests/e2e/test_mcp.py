"""Language models' tools, as the protocol's own client reaches them: by HTTP in both eras, and by a program."""

import asyncio
import os
import ssl
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

OLD, NEW = "legacy", "2026-07-28"
MORE_FILES = 12
"""Files that two workers may open late, for their stores and threads; calls that left theirs open would have 200."""
WEBDATA = Path(sys.executable).with_name("webdata")
NAMES = ["web_search", "news_search", "image_search", "places_search", "scholar_search", "fetch_page"]
OF_BATCHES = ("submit_batch", "batch_results")
MOST_TOKENS, MOST_TOKENS_OF_TOOLS = 1000, 3000
"""Of an answer of ten results as text, and of the list of tools; a token has four bytes."""


@asynccontextmanager
async def client(running, mode, path="/mcp"):
    """The protocol's own client, at a service."""
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    trust = ssl.create_default_context(cafile=running.certificate)
    headers = {"Authorization": f"Bearer {running.test_key}"}
    async with (
        httpx2.AsyncClient(headers=headers, verify=trust, timeout=60) as http,
        Client(streamable_http_client(running.url + path, http_client=http), mode=mode) as one,
    ):
        yield one


def text_of(result):
    (content,) = result.content
    return content.text


@pytest.mark.task
@pytest.mark.parametrize("mode", [OLD, NEW, "auto"])
async def test_the_client_of_the_sdk_uses_the_tools(running, mode):
    """It lists the six tools, calls each, and holds what each gives against its schema."""
    arguments = {"places_search": {"q": "cafes in Porto"}, "fetch_page": {"url": "https://example.com/article"}}
    async with client(running, mode) as one:
        listed = await one.list_tools()
        assert [tool.name for tool in listed.tools] == NAMES
        assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 4 <= MOST_TOKENS_OF_TOOLS
        for name in NAMES:
            result = await one.call_tool(name, arguments.get(name, {"q": "coffee"}))
            assert not result.is_error, text_of(result)
            assert result.meta["webdata/outcome"] == "ok"
            if name != "fetch_page":
                assert len(result.structured_content["results"]) == 10
                assert len(text_of(result).encode()) / 4 <= MOST_TOKENS


@pytest.mark.task
async def test_a_long_page_is_read_in_parts(running):
    """Each answer has the cursor of the next part, and the parts together are the page."""
    async with client(running, NEW) as one:
        whole = await one.call_tool("fetch_page", {"url": "https://example.com/article"})
        cursor, parts = None, []
        while True:
            given = {"url": "https://example.com/article", "max_chars": 1000, **({"cursor": cursor} if cursor else {})}
            part = (await one.call_tool("fetch_page", given)).structured_content
            parts.append(part["text"])
            cursor = part.get("next_cursor")
            if cursor is None:
                break
    assert len(parts) > 1
    assert "".join(parts) == whole.structured_content["text"]


@pytest.mark.task
async def test_every_tool_answers_in_the_sandbox(running):
    """All tools but those of batches are made from resources, and each takes the example of its query."""
    from webdata.crawling.warm_crawlers import load_spiders
    from webdata.faces.mcp.tools import tools_of
    from webdata.resources import example

    tools = tools_of(resource for spider in load_spiders() for resource in spider.resources)
    async with client(running, NEW, "/mcp?tools=all") as one:
        assert {tool.name for tool in (await one.list_tools()).tools} == {*tools, *OF_BATCHES}
        for name, tool in tools.items():
            given = {key: value for key, value in example(tool.resource).items() if key in tool.query_fields}
            result = await one.call_tool(name, given)
            assert not result.is_error, text_of(result)


@pytest.mark.slow
@pytest.mark.task
async def test_a_batch_runs_in_the_background(running):
    """Its results are there once it is done, each with what its tool shows."""
    queries = [{"url": f"https://example.com/{name}"} for name in ("tea", "coffee")]
    async with client(running, NEW, "/mcp?tools=submit_batch,batch_results") as one:
        made = await one.call_tool("submit_batch", {"tool": "fetch_page", "queries": queries})
        state = {}
        async with asyncio.timeout(60):
            while state.get("state") != "done":
                await asyncio.sleep(0.5)
                given = {"batch": made.structured_content["batch"]}
                state = (await one.call_tool("batch_results", given)).structured_content
    assert [row["url"] for row in state["results"]] == ["https://example.com/tea", "https://example.com/coffee"]
    assert all(row["text"] for row in state["results"])


@pytest.mark.task
@pytest.mark.parametrize("mode", [OLD, NEW])
async def test_a_program_forwards_to_the_service(running, mode):
    """`webdata mcp` is a server by standard input and output, for clients that start one."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    environ = {**os.environ, "WEBDATA_KEY": running.test_key, "WEBDATA_URL": running.url}
    arguments = ["mcp", "--ca", running.certificate, "--tools", "web_search,video_search"]
    started = StdioServerParameters(command=str(WEBDATA), args=arguments, env=environ)
    async with Client(stdio_client(started), mode=mode) as one:
        assert [tool.name for tool in (await one.list_tools()).tools] == ["web_search", "video_search"]
        result = await one.call_tool("web_search", {"q": "coffee", "max_results": 2})
        assert [len(result.structured_content["results"]), result.is_error] == [2, False]
        failed = await one.call_tool("web_search", {"q": "coffee", "limit": 2})
        assert text_of(failed).startswith("validation_error: limit is no argument of web_search")


@pytest.mark.slow
@pytest.mark.task
async def test_two_workers_answer_alternately_and_leave_nothing(start, until):
    """After 200 calls of both eras over two workers both have about as many files and connections open as before."""
    with start("--workers", "2", WEBDATA_CACHE_BYTES="10000000") as running:

        async def calls(count):
            for number in range(count):
                async with client(running, (OLD, NEW)[number % 2]) as one:
                    for _ in range(5):
                        assert not (await one.call_tool("web_search", {"q": "coffee"})).is_error

        await calls(10)  # so that both workers have answered
        until(lambda: connections(running) == 0)
        before = open_files(running)
        await calls(40)
        until(lambda: connections(running) == 0)
        until(lambda: sum(open_files(running)) <= sum(before) + MORE_FILES)


def open_files(running):
    """How many each process of a service has open."""
    pid = running.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [len(list(Path(f"/proc/{one}/fd").iterdir())) for one in children]


def connections(running):
    """How many connections to the port of a service are established on this machine."""
    port = f":{running.port:04X}"
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return len([line for line in lines if line[1].endswith(port) and line[3] == "01"])


@pytest.mark.slow
def test_it_is_turned_off_by_one_setting(start):
    """With WEBDATA_MCP=off there is no such path."""
    with start(WEBDATA_MCP="off") as running:
        status, _, body = running.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert status == 404, body


def test_a_huge_message_is_refused(running):
    """A body beyond a mebibyte is a 413, and a huge argument in a shorter one an error of the tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    accept = {"Accept": "application/json, text/event-stream"}
    huge = {"name": "web_search", "arguments": {"q": "x" * 1_100_000}}
    assert running.post("/mcp", {**call, "params": huge}, **accept)[0] == 413
    large = {"name": "web_search", "arguments": {"q": "x" * 900_000}}
    status, _, body = running.post("/mcp", {**call, "params": large}, **accept)
    assert (status, b"q is too long, 900000 characters where 2048 are allowed" in body) == (200, True)
