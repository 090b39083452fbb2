"""No request of a dialect makes the service fail."""

from urllib.parse import quote_from_bytes

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import ENGINES
from webdata.faces.dialects.firecrawl import Firecrawl
from webdata.faces.dialects.firecrawl_options import FirecrawlScrape, FirecrawlSearch
from webdata.faces.dialects.openwebui import OpenWebui, OpenWebuiPages, OpenWebuiSearch
from webdata.faces.dialects.reader import Reader
from webdata.faces.dialects.searxng import Searxng
from webdata.faces.dialects.serper import Serper, SerperQuery

BODIES = {
    "/firecrawl/v2/scrape": FirecrawlScrape,
    "/firecrawl/v1/search": FirecrawlSearch,
    "/firecrawl/v2/search": FirecrawlSearch,
    "/openwebui/search": OpenWebuiSearch,
    "/openwebui/load": OpenWebuiPages,
    "/serper/search": SerperQuery,
    "/serper/images": SerperQuery,
    "/reader/": None,
}
PLAIN = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN | st.sampled_from(["web", "images", "markdown", "screenshot", "https://a.example/", "pdf", "de", "qdr:d"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "country", "quality", "x"]), inner)
    ),
    max_leaves=4,
)
ANYTHING = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def send(speak, dialect_calls):
    known = (Firecrawl(dialect_calls), OpenWebui(dialect_calls), Serper(dialect_calls), Reader(dialect_calls))
    return speak(Searxng(dialect_calls, ENGINES).door(), *(one.door() for one in known))


def bodies(path):
    query = BODIES[path]
    names = query.keys() if query else ["url"]
    likely = {"url": "https://a.example/", "query": "a", "q": "a", "urls": ["https://a.example/"]}
    given = {name: value for name, value in likely.items() if name in names}
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=5), VALUES, max_size=4).map(
        lambda body: (
            orjson.dumps({**given, **body}, option=orjson.OPT_NON_STR_KEYS, default=str)
            if all(abs(one) < 2**63 for one in _integers(body))
            else b'{"q": 1e400}'
        )
    )


def _integers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for one in value for number in _integers(one)]
    return [value] if isinstance(value, int) else []


@settings(ANYTHING, max_examples=4 * settings().max_examples)
@given(case=st.sampled_from(list(BODIES)).flatmap(lambda path: st.tuples(st.just(path), bodies(path))))
@ensureDeferred
async def test_any_body_is_answered(send, case):
    """Whatever its members are, it is answered, or refused as the caller's mistake."""
    path, body = case
    response = await send(path, "POST", body=body)
    assert response.status in {200, 400, 404, 422}, (case, response.body)


@ANYTHING
@given(value=st.binary(max_size=12), name=st.sampled_from(["q", "pageno", "language", "categories", "engines", "x"]))
@ensureDeferred
async def test_any_parameter_is_answered(send, name, value):
    """Also what is no UTF-8, and a URL that is none."""
    text = quote_from_bytes(value)
    assert (await send(f"/searxng/search?q=a&{name}={text}")).status in {200, 400}
    assert (await send(f"/reader/{text}x")).status in {200, 400, 404}
