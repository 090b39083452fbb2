import pytest

from webdata.pages._google.links import advertised, destination, host, outside, search_terms, target
from webdata.pages._google.tree import page


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://kilnlane.example/a?b=1", "https://kilnlane.example/a?b=1"),
        ("/url?q=https://kilnlane.example/%3Fa%3D1&sa=U&ved=2", "https://kilnlane.example/?a=1"),
        ("/url?esrc=s&q=&rct=j&sa=U&url=https://kilnlane.example/&ved=2", "https://kilnlane.example/"),
        ("https://www.google.com/url?sa=t&url=https%3A%2F%2Fkilnlane.example", "https://kilnlane.example"),
        ("/goto?url=https%3A%2F%2Fkilnlane.example&sa=t", "https://kilnlane.example"),
        ("/goto?url=CAESxyz", "https://www.google.com/goto?url=CAESxyz"),
        ("/interstitial?url=http://kilnlane.example/", "http://kilnlane.example/"),
        ("https://www.google.com/amp/s/kilnlane.example/a?b=1", "https://kilnlane.example/a?b=1"),
        ("/amp/kilnlane.example/a", "http://kilnlane.example/a"),
        ("https://kilnlane.example/a#:~:text=clay", "https://kilnlane.example/a"),
        ("https://kilnlane.example/a#glazes", "https://kilnlane.example/a#glazes"),
        ("/search?q=clay", "https://www.google.com/search?q=clay"),
        ("//kilnlane.example/a", "https://kilnlane.example/a"),
        ("#top", None),
        ("javascript:void(0)", None),
        ("mailto:potter@kilnlane.example", None),
        ("http://[", None),
        ("", None),
        (None, None),
        ("/url?q=https://kilnlane.example/%1b[2J", "https://kilnlane.example/[2J"),
        ("https://kiln\x7flane.example/", "https://kilnlane.example/"),
    ],
)
def test_redirects_of_google_are_undone(href, expected):
    """The target of a redirect is read from its parameters; an invalid address has none."""
    assert expected == target(href)


@pytest.mark.parametrize(
    "href",
    [
        "/search?q=clay",
        "https://www.google.com/search?q=clay",
        "/imgres?imgurl=x",
        "https://maps.google.com/?q=clay",
        "https://accounts.google.com/x",
        "https://webcache.googleusercontent.com/search?q=cache:x",
        "/travel/search?q=x",
        "https://www.google.com/flights?source=flun&sa=X&ved=2ahUKE",
        "https://scholar.google.com/scholar?q=clay&hl=en&oi=scholart",
    ],
)
def test_pages_of_google_about_the_search_are_not_outside(href):
    """Links to other pages of the search, to maps and to accounts have no target outside."""
    assert outside(href) is None


@pytest.mark.parametrize(
    "href",
    [
        "https://support.google.com/chrome",
        "https://www.google.com/chrome/",
        "/goto?url=CAESxyz",
        "/amp/s/kilnlane.example/a",
        "/interstitial?url=http://kilnlane.example/",
    ],
)
def test_other_pages_of_google_may_be_results(href):
    """Google's other sites can be results like any site."""
    assert outside(href) is not None


def test_the_target_of_an_opaque_link_is_read_from_its_click_report():
    """The attribute for click reports contains the address."""
    attributes = {"href": "/goto?url=CAESxyz", "ping": "/url?sa=t&url=https://kilnlane.example/&ved=2"}
    assert target(destination(attributes)) == "https://kilnlane.example/"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/search?sca=1&q=air+dry+clay&sa=X", "air dry clay"),
        ("/search?q=clay&stick=H4", None),
        ("/search?q=clay&tbm=isch", None),
        ("/search?q=clay&tbs=ctr:countryUS&gl=us", "clay"),
        ("/search?q=clay&tbs=qdr:d", None),
        ("https://kilnlane.example/search?q=clay", None),
        ("/maps?q=clay", None),
    ],
)
def test_only_plain_searches_have_terms(href, expected):
    """Links to entities and other verticals are no suggestions; a country restriction is no vertical."""
    assert expected == search_terms(href)


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ('<a href="https://depot.example/sale" data-rw="https://www.google.com/aclk?x">', "https://depot.example/sale"),
        ('<a href="/aclk?sa=l&adurl=https://depot.example/ad">', "https://depot.example/ad"),
        (
            '<a href="https://www.google.com/aclk?sa=l" data-pcu="https://depot.example/,https://t.example/">',
            "https://depot.example/",
        ),
        ('<a href="https://www.google.com/aclk?sa=l">', "https://www.google.com/aclk?sa=l"),
        ('<a href="/aclk?sa=l" data-pcu="https٣://depot.example/">', "https://www.google.com/aclk?sa=l"),
        ('<a href="HTTPS://depot.example/">', "https://depot.example/"),
        ('<a href="\x02httxs://depot.example/">', None),
    ],
)
def test_an_ad_has_its_direct_link(anchor, expected):
    """The direct link or the written destination is preferred to the tracker."""
    assert expected == advertised(page(f"{anchor}x</a>".encode()).of("link")[0].node)


def test_a_host_has_no_www():
    """An invalid address has no host."""
    assert (host("https://www.kilnlane.example/a"), host("http://[")) == ("kilnlane.example", "")
