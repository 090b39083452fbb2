"""Video search: the query and the resource of `/v1/video`."""

from webdata.domain.records import WebPage
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.web_search import GoogleQuery


class VideoQuery(GoogleQuery):
    """A video search, with the parameters of the web search."""


VIDEO_SEARCH = Resource(
    name="video_search",
    path="/v1/video",
    summary="Video results",
    query=VideoQuery,
    record=WebPage,
    canaries=searches_for(
        "how to tie a tie", "moon landing", "piano lesson", "pancake recipe", "chess opening", "bicycle repair"
    ),
    content=("results", "carousel"),
    rows="results",
    result_fields=ResultFields(
        text=("description",),
        date=("metadata.date",),
        source=("metadata.channel", "metadata.source"),
        thumbnail=("metadata.thumbnail",),
    ),
    category="videos",
)
