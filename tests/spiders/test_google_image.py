"""Requests for Google's page of images."""

from urllib.parse import parse_qs, urlsplit

from webdata.resources.image_search import ImageQuery
from webdata.spiders.google_image import GoogleImageSpider


def request(**fields):
    return GoogleImageSpider().request(ImageQuery(**fields))


def asked(**fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(request(**fields).url).query).items()}


def test_the_smallest_query():
    """Terms alone are asked for in English, of no country, in the vertical of images."""
    assert request(q="coffee").url.startswith("https://www.google.com/search?")
    assert asked(q="coffee & tea") == {"q": "coffee & tea", "tbm": "isch", "hl": "en", "ie": "utf8", "oe": "utf8"}


def test_a_region_has_a_country_and_a_language():
    """A region is asked for as Google names it, in the language of its browsers."""
    assert asked(q="coffee", region="GB").items() >= {"gl": "uk", "hl": "en"}.items()
    assert request(q="coffee", region="DE").headers["Accept-Language"] == b"de,en;q=0.9"


def test_the_packed_query_is_not_sent():
    """How the caller wrote the query changes nothing of the request."""
    assert request(q="coffee", packed="q=coffee&num=5").url == request(q="coffee").url


def test_a_saved_page_tells_its_terms():
    """The terms of a saved page are read from its search box or title."""
    shown = GoogleImageSpider().shown_query
    assert shown(b"<textarea name=q>blue bowls</textarea>") == {"q": "blue bowls"}
    assert shown(b"<title>blue bowls - Google Search</title>") == {"q": "blue bowls"}
    assert shown(b"<title>Google</title>") == {}
