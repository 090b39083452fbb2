"""Google's video search in the sandbox."""

from urllib.parse import urlencode

import pytest

from webdata.domain.errors import LayoutError
from webdata.pages import google_video as parser
from webdata.resources.web_search import WebQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import google_video, site_that_takes

PHONE = {"user-agent": "Mozilla/5.0 (Linux; Android 14) Chrome/140.0 Mobile Safari/537.36"}
DEVICES = pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])


def request(headers=None, **query):
    return SandboxRequest("GET", "https", "www.google.com", f"/search?{urlencode(query)}", headers or {})


def ask(headers=None, **query):
    return google_video.answer(request(headers, tbm="vid", **query))


def record(reply):
    return parser.record(reply.body, WebQuery(q="coffee"))


@pytest.mark.parametrize("query", [{"tbm": "vid"}, {"udm": "7"}])
def test_it_takes_searches_for_videos(query):
    """The site takes searches for videos, by the old parameter and the new one."""
    assert site_that_takes(request(q="coffee", **query)) is google_video.answer


@DEVICES
def test_there_are_three_pages_of_ten(headers):
    """There are thirty different videos, ten a page, then the page that reports no results."""
    pages = [record(ask(q="coffee", start=start, headers=headers))["results"] for start in (0, 10, 20, 30)]
    assert [len(page) for page in pages] == [10, 10, 10, 0]
    assert len({one["link"] for page in pages for one in page}) == 30
    assert len(record(ask(q="coffee", num=3, headers=headers))["results"]) == 3


@DEVICES
def test_every_video_is_read_by_the_parser(headers):
    """The parser reads all fields of every video."""
    for one in record(ask(q="coffee", headers=headers))["results"]:
        assert one["metadata"].keys() >= {"duration", "channel", "source", "date", "thumbnail"}
        assert one["metadata"]["source"] == "Example Video"
        assert one["metadata"]["channel"] in google_video.CHANNELS
        assert one["description"]


@DEVICES
def test_an_unknown_layout_is_a_layout_error(headers):
    """A page in an unknown layout is not empty."""
    with pytest.raises(LayoutError):
        record(ask(q="coffee sandbox:layout", headers=headers))
