"""Video search: the resource of `/v1/video`."""

from webdata.domain.records import WebPage
from webdata.resources import Resource, ResultFields
from webdata.resources.web_search import GoogleQuery

VIDEO_SEARCH = Resource(
    name="video_search",
    path="/v1/video",
    summary="Video results",
    query=GoogleQuery,
    record=WebPage,
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
