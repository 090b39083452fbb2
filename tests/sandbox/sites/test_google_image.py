"""Google's image search in the sandbox."""

import re
from urllib.parse import urlencode, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages import google_image as parser
from webdata.resources.image_search import ImageQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import google_image, google_web, site_for, site_that_takes

PHONE = {"user-agent": "Mozilla/5.0 (Linux; Android 14) Chrome/140.0 Mobile Safari/537.36"}
DEVICES = pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")
SCRIPT = re.compile(rb"<script.*?</script>", re.DOTALL)


def request(path="/search", headers=None, *, host="www.google.com", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return SandboxRequest("GET", "https", host, target, headers or {})


def ask(headers=None, **query):
    return google_image.answer(request(headers=headers, tbm="isch", **query))


def record(reply, q="coffee"):
    return parser.record(reply.body, ImageQuery(q=q))


@pytest.mark.parametrize("query", [{"tbm": "isch"}, {"udm": "2"}])
def test_it_takes_searches_for_images(query):
    """The site takes searches for images, by the old parameter and the new one, on every Google."""
    assert site_that_takes(request(q="coffee", **query)) is google_image.answer
    assert site_that_takes(request(q="coffee", host="www.google.de", **query)) is google_image.answer


@pytest.mark.parametrize("query", [{}, {"tbm": "nws"}, {"udm": "14"}])
def test_it_takes_nothing_else(query):
    """The web search answers all other requests."""
    assert site_that_takes(request(q="coffee", **query)) is None
    assert site_that_takes(request("/sorry/index", q="coffee", tbm="isch")) is None
    assert site_for("www.google.com") is google_web.answer


@DEVICES
@pytest.mark.parametrize("q", ["coffee", "</script>\"' & 東京 🏺"])
def test_every_image_is_read_by_the_parser(headers, q):
    """A page has more images than a record, and the parser reads the data of each."""
    images = record(ask(q=q, headers=headers))["image_results"]
    assert len({one["image"]["src"] for one in images}) == len(images) == 20
    for one in images:
        assert one["original_image"]["file_format"] != "image/"
        assert one["link"]["title"] == one["image"]["alt"] != ""
        assert one["link"]["domain"] == urlsplit(one["link"]["href"]).hostname
        for link in (one["image"]["src"], one["link"]["href"], one["original_image"]["src"]):
            assert RESERVED.fullmatch(urlsplit(link).hostname)


@DEVICES
def test_tiles_and_data_have_the_same_images(headers):
    """The tiles have the same pages and titles as the script data."""
    reply = ask(q="coffee", headers=headers)
    tiles = parser.record(SCRIPT.sub(b"", reply.body), ImageQuery(q="coffee"))["image_results"]
    assert [one["link"] for one in tiles] == [one["link"] for one in record(reply)["image_results"]]


@DEVICES
def test_an_empty_page_is_an_empty_record(headers):
    """The page that reports no results gives an empty record."""
    assert record(ask(q="coffee sandbox:empty", headers=headers))["total"] == 0


@DEVICES
def test_an_unknown_layout_is_a_layout_error(headers):
    """A page in an unknown layout is not empty."""
    with pytest.raises(LayoutError):
        record(ask(q="coffee sandbox:layout", headers=headers))


def test_the_captcha_continues_to_the_search():
    """The captcha redirects to the same search for images."""
    parts = urlsplit(dict(ask(q="coffee sandbox:captcha").headers)["Location"])
    sorry = google_web.answer(request(f"{parts.path}?{parts.query}"))
    address = LexborHTMLParser(sorry.body).css_first("[name=continue]").attributes["value"]
    assert sorry.status == 429
    assert address == "https://www.google.com/search?tbm=isch&q=coffee+sandbox%3Acaptcha"


def test_a_search_without_terms_redirects_home():
    """Without terms Google redirects the client to its home page."""
    assert dict(ask(q=" ").headers)["Location"] == "https://www.google.com/"


def test_markup_in_terms_is_escaped():
    """Terms that are markup are text on the page, in the data too."""
    page = LexborHTMLParser(ask(q="</script><img src=x onerror=alert(1)>").body)
    assert page.css("img[onerror]") == []
    assert len(page.css("script")) == 1
