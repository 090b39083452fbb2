"""Google's video results."""

from scrapy import Request

from webdata.pages import google_video
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import GoogleQuery
from webdata.spiders.google_web import GoogleWebSpider


class GoogleVideoSpider(GoogleWebSpider):
    """Google's video results, from the HTML results page."""

    name = "google_video"
    site = "Google"
    page_module = google_video
    resources = (VIDEO_SEARCH,)

    def request(self, query: GoogleQuery) -> Request:
        request = super().request(query)
        return request.replace(url=f"{request.url}&tbm=vid")
