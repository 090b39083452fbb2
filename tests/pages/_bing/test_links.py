"""The targets of links on Bing's pages."""

import string
from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._bing.links import absolute, is_paid, leads_away, target


def redirect(address: str) -> str:
    encoded = urlsafe_b64encode(address.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&&p=x&ptn=3&ver=2&hsh=4&u=a1{encoded}&ntb=1"


@pytest.mark.parametrize(
    ("href", "leads_to"),
    [
        ("https://kettlelane.example/?a=b", "https://kettlelane.example/?a=b"),
        (redirect("https://kettlelane.example/?a=b&c=ä~ÿ"), "https://kettlelane.example/?a=b&c=ä~ÿ"),
        (redirect("/videos/riverview?q=x"), "https://www.bing.com/videos/riverview?q=x"),
        ("/ck/a?!&&u=a1aHR0cHM6Ly9hLmV4YW1wbGUv&ntb=1", "https://a.example/"),
        ("https://cn.bing.com/ck/a?!&&u=a1aHR0cHM6Ly9hLmV4YW1wbGUv", "https://a.example/"),
        ("https://www.bing.com/rebates/welcome?url=https%3a%2f%2fa.example%2f&murl=x", "https://a.example/"),
        ("https://www.bing.com/alink/link?url=https%3a%2f%2fa.example%2f", "https://a.example/"),
        ("https://www.bing.com/alink/link?url=https%3a%2f%2fa.example%2f%1b%7f", "https://a.example/"),
        ("//a.example/x", "https://a.example/x"),
        ("https://a.example/ck/a?u=a1aHR0cHM6Ly9i", "https://a.example/ck/a?u=a1aHR0cHM6Ly9i"),
        ("https://notbing.com/ck/a?u=a1aHR0cHM6Ly9i", "https://notbing.com/ck/a?u=a1aHR0cHM6Ly9i"),
        ("javascript:void(0)", None),
        ("#top", None),
        ("", None),
        (None, None),
        ("https://[", None),
    ],
)
def test_the_target_of_a_link_is_its_site(href, leads_to):
    """Redirects are resolved if their target can be decoded; a link without an address has no target."""
    assert target(href) == leads_to


@pytest.mark.parametrize("u", ["a1!!!", "a1_w", "nonsense", "a1" + "%00", "a1" + "amF2YXNjcmlwdDphbGVydCgxKQ"])
def test_a_redirect_with_an_unreadable_target_is_unchanged(u):
    """A redirect whose target is no address of the web is its own target."""
    href = f"https://www.bing.com/ck/a?u={u}"
    assert target(href) == href


@given(st.text(string.ascii_letters + string.digits + "/?&=%-_.~äé漢", max_size=60))
def test_every_address_survives_the_redirect(path):
    """An address is decoded as it was encoded, with any length of padding."""
    assert target(redirect(f"https://a.example/{path}")) == f"https://a.example/{path}"


@given(st.text(max_size=80))
def test_any_text_is_a_link_with_or_without_a_target(href):
    """Any text gives an address or None."""
    for prefix in ("", "https://www.bing.com/ck/a?u=a1", "/ck/a?u="):
        assert target(prefix + href) is None or absolute(target(prefix + href))
        is_paid(prefix + href)


@pytest.mark.parametrize(
    ("href", "paid"),
    [
        ("https://www.bing.com/aclk?ld=x&u=" + b64encode(b"https%3a%2f%2fa.example").decode(), True),
        ("https://www.bing.com/aclick?ld=x", True),
        ("/aclk?ld=x", True),
        ("https://a.example/aclk?ld=x", False),
        ("https://www.bing.com/search?q=/aclk", False),
    ],
)
def test_ads_link_to_a_tracker(href, paid):
    """An ad's link is recognised by the tracker on Bing's own host."""
    assert is_paid(href) is paid


def test_bings_own_pages_are_not_elsewhere():
    """Only an address on another host is external."""
    assert leads_away("https://a.example/")
    assert not leads_away("https://cn.bing.com/search?q=a")
    assert not leads_away(None)
