"""Requests for Google's page of images."""

from urllib.parse import parse_qs, urlsplit

from webdata.resources.image_search import ImageQuery
from webdata.spiders.google_image import GoogleImageSpider


def request(**fields):
    return GoogleImageSpider().request(ImageQuery(**fields))


def parameters(**fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(request(**fields).url).query).items()}


def test_a_minimal_query_has_default_parameters():
    """A query with only terms is for English pages of no country, in the vertical of images."""
    assert request(q="coffee").url.startswith("https://www.google.com/search?")
    assert parameters(q="coffee & tea") == {"q": "coffee & tea", "tbm": "isch", "hl": "en", "ie": "utf8", "oe": "utf8"}


def test_a_region_has_a_country_and_a_language():
    """A region sets `gl`, `hl` and the language header."""
    assert parameters(q="coffee", region="GB").items() >= {"gl": "uk", "hl": "en"}.items()
    assert request(q="coffee", region="DE").headers["Accept-Language"] == b"de,en;q=0.9"


def test_the_packed_query_is_not_sent():
    """The format of the query does not change the request."""
    assert request(q="coffee", packed="q=coffee&num=5").url == request(q="coffee").url


def test_the_query_of_a_saved_page_is_read():
    """The terms are in its search box or its title."""
    read = GoogleImageSpider().shown_query
    assert read(b"<textarea name=q>blue bowls</textarea>") == {"q": "blue bowls"}
    assert read(b"<title>blue bowls - Google Search</title>") == {"q": "blue bowls"}
    assert read(b"<title>Google</title>") == {}
