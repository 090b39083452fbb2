"""Scenarios among the search terms."""

from dataclasses import replace

import pytest

from webdata.sandbox.exchange import Reply, SandboxRequest, plain
from webdata.sandbox.scenarios import HUGE_BYTES, Scenario, apply_scenarios, scenarios

REQUEST = SandboxRequest("GET", "https", "www.example.com", "/", {})


def played(terms):
    page = Reply(200, (), "<title>page</title><span>é</span>".encode())
    return apply_scenarios(REQUEST, terms, lambda request: page, {"captcha": lambda request: plain(429, "captcha")})


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("coffee", []),
        ("coffee sandbox: slow", []),
        ("mysandbox:slow", []),
        ("sandbox:slow", [Scenario("slow")]),
        ("coffee SANDBOX:Slow=2.5 shops", [Scenario("slow", 2.5)]),
        ("sandbox:slow=1.2.3", [Scenario("slow")]),
        ("sandbox:captcha x sandbox:slow=0", [Scenario("captcha"), Scenario("slow", 0)]),
    ],
)
def test_words_are_found_among_the_terms(terms, expected):
    """Scenarios are whole words `sandbox:NAME` with an optional number, in any letter case."""
    assert scenarios(terms) == expected


def test_without_a_word_the_page_is_as_it_is():
    """Ordinary terms get the site's page."""
    assert played("coffee").status == 200


def test_a_site_shows_its_own_page():
    """A scenario that the site has a page for shows that page."""
    assert played("coffee sandbox:captcha").status == 429


@pytest.mark.parametrize(("word", "seconds"), [("slow", 5), ("slow=0.5", 0.5), ("slow=0", 0), ("slow=9999", 60)])
def test_slow_is_bounded(word, seconds):
    """Slow waits five seconds or what was asked for, and a minute at most."""
    assert played(f"sandbox:{word}").delay == seconds


def test_deeds_are_done_to_the_page():
    """Reset, truncated, huge and encoding change how the page goes out."""
    assert played("sandbox:reset").reset
    assert played("sandbox:truncated").cut == len(played("coffee").body) // 2
    assert len(played("sandbox:huge").body) >= HUGE_BYTES
    with pytest.raises(UnicodeDecodeError):
        played("sandbox:encoding").body.decode()


def test_words_may_hold_once():
    """A cookie counts the answers for which the other words hold; then the page is as it is."""

    def status(request):
        page = Reply(200, (), b"page")
        reply = apply_scenarios(
            request, "sandbox:captcha sandbox:once=2", lambda _: page, {"captcha": lambda _: plain(429, "no")}
        )
        return reply.status, dict(reply.headers).get("Set-Cookie", "").partition(";")[0]

    seen, cookie = [], ""
    for _ in range(4):
        now, new = status(replace(REQUEST, headers={"cookie": cookie}))
        seen, cookie = [*seen, now], new or cookie
    assert seen == [429, 429, 200, 200]


def test_words_may_stand_together():
    """The site's own page and what is done to it are asked for at once, in any order."""
    reply = played("sandbox:slow=1 coffee sandbox:captcha")
    assert (reply.status, reply.delay) == (429, 1)


def test_an_unknown_word_is_told():
    """A scenario that nobody knows is a 400 that names those that there are."""
    reply = played("sandbox:capcha")
    assert reply.status == 400
    assert b"capcha" in reply.body
    assert b"captcha, challenge, encoding, handshake, huge, once, reset, slow, truncated" in reply.body
