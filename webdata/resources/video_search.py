"""Video search: the resource of `/v1/video`."""

from webdata.resources import Resource
from webdata.resources.web_search import WebQuery

VIDEO_SEARCH = Resource(
    name="video_search",
    path="/v1/video",
    summary="Video results",
    query=WebQuery,
    content=("results", "carousel"),
    rows="results",
)
