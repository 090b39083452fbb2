"""The calls of dialects."""

import asyncio

import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import ENGINES, page_answer
from webdata.domain.errors import QueryError
from webdata.faces.api.side_calls import AT_ONCE
from webdata.faces.dialects.calls import located, read_query, search_query
from webdata.faces.dialects.openwebui import OpenWebui
from webdata.faces.dialects.searxng import Searxng
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.web_search import WEB_SEARCH


def test_a_wrong_field_has_the_name_of_the_dialect():
    """Messages and places name what the caller has written, also for a field that `/v1` has as a header."""
    with pytest.raises(QueryError) as raised:
        read_query(WEB_SEARCH, {"q": "a", "hl": "<b>", "region": "XX"}, {"hl": "language", "region": "country"})
    assert [problem["loc"][1] for problem in raised.value.problems] == ["country", "language"]
    assert [problem["msg"].split()[0] for problem in raised.value.problems] == ["country", "language"]
    assert "such as language=de" in raised.value.problems[1]["msg"]


def test_what_a_search_lacks_is_refused_or_named():
    """A preference is named as ignored, anything else is an error; the number of results is cut by the dialect."""
    values = {"q": "a", "num": 5, "hl": "de", "tbs": None}
    _, remarks = search_query(IMAGE_SEARCH, values, {"hl": "language"}, ("hl",))
    assert remarks.ignored == ("language",)
    with pytest.raises(QueryError, match="language is nothing that /v1/image knows"):
        search_query(IMAGE_SEARCH, values, {"hl": "language"})


def test_a_country_is_a_region_where_a_search_has_no_countries():
    """Of papers neither means anything."""
    assert located(WEB_SEARCH, "de") == {"gl": "de"}
    assert located(IMAGE_SEARCH, "de") == {"region": "DE"}
    assert located(SCHOLAR_SEARCH, "de") == {"gl": "de"}
    assert located(IMAGE_SEARCH, None) == {"gl": None}


@ensureDeferred
async def test_a_key_in_the_url_is_refused(speak, dialect_calls, test_secret):
    """A key in a parameter is told where it belongs, as everywhere."""
    send = speak(Searxng(dialect_calls, ENGINES).door())
    response = await send(f"/searxng/search?q=a&format=json&api_key={test_secret}", headers={})
    assert (response.status, "does not belong" in response.json["error"]) == (401, True)


@pytest.mark.task
async def test_many_pages_are_fetched_a_few_at_a_time(speak, dialect_calls, calls, test_secret):
    """One request takes a bounded share of what runs, and each call has an id of its own."""
    send = speak(OpenWebui(dialect_calls).door())
    urls = [f"https://a.example/{number}" for number in range(2 * AT_ONCE)]
    calls.pages = {url: page_answer(url, "x") for url in urls}
    calls.gate = asyncio.Event()
    body = b'{"urls": ["%s"]}' % b'","'.join(url.encode() for url in urls)
    pending = send("/openwebui/load", "POST", {"X-Api-Key": test_secret}, body).asFuture(asyncio.get_running_loop())
    await calls.begun.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(calls.calls) == AT_ONCE
    calls.gate.set()
    response = await pending
    assert [one["metadata"]["source"] for one in response.json] == urls


@ensureDeferred
async def test_another_method_is_refused_in_the_shape_of_the_dialect(speak, dialect_calls):
    """A 405 has the error's form of the service that the client knows."""
    send = speak(Searxng(dialect_calls, ENGINES).door())
    response = await send("/searxng/search", "DELETE")
    assert (response.status, response.json["code"], response.headers["allow"]) == (
        405,
        "method_not_allowed",
        "GET, HEAD, OPTIONS, POST",
    )
