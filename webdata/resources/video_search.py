"""Video search (spec.md, video response): a web search in videos."""

from webdata.domain.query import WebQuery
from webdata.resources import Resource

VIDEO_SEARCH = Resource(
    name="video_search",
    path="/v1/video",
    summary="Video results",
    query=WebQuery,
    content=("results", "carousel"),
    rows="results",
)
