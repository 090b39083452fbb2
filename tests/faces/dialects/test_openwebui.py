"""Open WebUI's external search and loader in memory."""

import orjson
import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import page_answer
from webdata.domain.errors import BlockedError, TargetError
from webdata.faces.dialects.openwebui import OpenWebui


@pytest.fixture
def send(speak, dialect_calls):
    return speak(OpenWebui(dialect_calls).door())


@pytest.fixture
def post(send, test_secret):
    def posted(path, body):
        return send(path, "POST", {"Authorization": f"Bearer {test_secret}"}, orjson.dumps(body))

    return posted


@ensureDeferred
async def test_a_search_has_links_titles_and_snippets(post, calls):
    """The results are a list of what Open WebUI reads, at most as many as it asks for."""
    response = await post("/openwebui/search", {"query": "coffee", "count": 1})
    assert (response.status, response.json) == (
        200,
        [{"link": "https://coffee.example/", "title": "Coffee", "snippet": "All about coffee."}],
    )
    assert (calls.calls[0].query.q, calls.calls[0].query.num) == ("coffee", 1)


@ensureDeferred
async def test_pages_are_loaded_as_documents(post, calls):
    """Each URL becomes a document with its main content and its metadata, in the order of the URLs."""
    calls.pages = {"https://a.example/": page_answer("https://a.example/", "# The page", "The title")}
    response = await post("/openwebui/load", {"urls": ["https://a.example"]})
    assert response.json == [
        {
            "page_content": "# The page",
            "metadata": {"source": "https://a.example/", "title": "The title", "language": "en"},
        }
    ]
    assert calls.calls[0].query.content == "main"


@ensureDeferred
async def test_a_page_that_fails_says_why(post, calls):
    """Beside others it is an empty document with the reason; alone it is an error."""
    good, bad = "https://a.example/", "https://b.example/"
    calls.pages = {good: page_answer(good, "# A", "A"), bad: BlockedError("no", "captcha")}
    response = await post("/openwebui/load", {"urls": [bad, good]})
    failed, loaded = response.json
    assert (failed["page_content"], failed["metadata"]["code"]) == ("", "blocked")
    assert loaded["metadata"]["title"] == "A"
    alone = await post("/openwebui/load", {"urls": [bad, bad]})
    assert (alone.status, alone.problem["code"]) == (502, "blocked")
    calls.pages[bad] = TargetError("10.0.0.1 is not public")
    assert (await post("/openwebui/load", {"urls": [bad]})).status == 400


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("search", {}, "query is missing"),
        ("search", {"query": " "}, "query is blank"),
        ("search", {"query": "a", "count": 0}, "count"),
        ("search", {"query": "a", "lang": "en"}, "'lang' is no field here: the nearest is"),
        ("search", ["a"], "JSON object"),
        ("load", {"urls": []}, "urls"),
        ("load", {"urls": ["https://a.example"] * 51}, "urls"),
        ("load", {"urls": "https://a.example"}, "urls"),
        ("load", {"urls": ["a.example"]}, "urls has no scheme: write https://a.example"),
    ],
)
@ensureDeferred
async def test_a_wrong_body_is_refused_by_name(post, calls, path, body, named):
    """What is wrong, missing or unknown is named; nothing is fetched."""
    response = await post(f"/openwebui/{path}", body)
    assert (response.status in (400, 422), named in response.problem["message"]) == (True, True), response.json
    assert not calls.calls


@ensureDeferred
async def test_a_missing_key_is_refused(send):
    """Without a key there is a 401."""
    for path, body in (("search", b'{"query": "a"}'), ("load", b'{"urls": ["https://a.example"]}')):
        assert (await send(f"/openwebui/{path}", "POST", {}, body)).status == 401
