"""Web search (spec.md, web search response)."""

from webdata.domain.query import WebQuery
from webdata.resources import Resource

WEB_SEARCH = Resource(
    name="web_search",
    path="/v1/search",
    summary="Web results",
    query=WebQuery,
    content=("results", "answers", "places", "local_businesses", "carousel"),
    rows="results",
)
