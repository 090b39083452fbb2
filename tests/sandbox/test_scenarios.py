"""Scenarios in the search terms."""

from dataclasses import replace

import pytest

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, plain
from webdata.sandbox.scenarios import HUGE_BYTES, UNKNOWN_WORD, Scenario, apply_scenarios, scenarios

REQUEST = SandboxRequest("GET", "https", "www.example.com", "/", {})


def reply_to(terms):
    page = SiteReply(200, (), "<title>page</title><span>é</span>".encode())
    return apply_scenarios(REQUEST, terms, lambda request: page, {"captcha": lambda request: plain(429, "captcha")})


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("coffee", []),
        ("coffee sandbox: slow", []),
        ("mysandbox:slow", []),
        ("sandbox:slow", [Scenario("slow")]),
        ("coffee sandbox:google.slow=2", [Scenario("slow", 2.0, "google")]),
        ("coffee SANDBOX:Slow=2.5 shops", [Scenario("slow", 2.5)]),
        ("sandbox:slow=1.2.3", [Scenario("slow")]),
        ("sandbox:captcha x sandbox:slow=0", [Scenario("captcha"), Scenario("slow", 0)]),
    ],
)
def test_scenarios_are_read_from_the_terms(terms, expected):
    """A scenario is a whole term `sandbox:NAME` with an optional number, in any letter case."""
    assert scenarios(terms) == expected


def test_terms_without_a_scenario_get_the_page():
    """Ordinary terms get the site's page unchanged."""
    assert reply_to("coffee").status == 200


def test_a_site_has_its_own_pages():
    """A scenario for which the site has a page gets that page."""
    assert reply_to("coffee sandbox:captcha").status == 429


def test_a_scenario_of_a_site_concerns_no_other():
    """`sandbox:SITE.NAME` changes the replies of hosts with that part in their name."""
    assert reply_to("coffee sandbox:example.captcha").status == 429
    assert reply_to("coffee sandbox:google.captcha").status == 200


@pytest.mark.parametrize(("scenario", "seconds"), [("slow", 5), ("slow=0.5", 0.5), ("slow=0", 0), ("slow=9999", 60)])
def test_slow_is_bounded(scenario, seconds):
    """The delay is five seconds or the requested number, and a minute at most."""
    assert reply_to(f"sandbox:{scenario}").delay == seconds


def test_effects_change_the_page():
    """Reset, truncated, huge and encoding change the reply."""
    assert reply_to("sandbox:reset").reset
    assert reply_to("sandbox:truncated").cut == len(reply_to("coffee").body) // 2
    assert len(reply_to("sandbox:huge").body) >= HUGE_BYTES
    with pytest.raises(UnicodeDecodeError):
        reply_to("sandbox:encoding").body.decode()


def test_scenarios_may_end():
    """A cookie counts the answers to which the other scenarios apply; then the page is unchanged."""

    def status(request):
        page = SiteReply(200, (), b"page")
        reply = apply_scenarios(
            request, "sandbox:captcha sandbox:once=2", lambda _: page, {"captcha": lambda _: plain(429, "no")}
        )
        return reply.status, dict(reply.headers).get("Set-Cookie", "").partition(";")[0]

    statuses, cookie = [], ""
    for _ in range(4):
        code, new = status(replace(REQUEST, headers={"cookie": cookie}))
        statuses, cookie = [*statuses, code], new or cookie
    assert statuses == [429, 429, 200, 200]


def test_scenarios_combine():
    """A page of the site and an effect on it can be requested at once, in any order."""
    reply = reply_to("sandbox:slow=1 coffee sandbox:captcha")
    assert (reply.status, reply.delay) == (429, 1)


def test_an_unknown_scenario_is_refused():
    """An unknown scenario is a 400 that lists the known ones, and is marked as the caller's mistake."""
    reply = reply_to("sandbox:capcha")
    assert reply.status == 400
    assert b"capcha" in reply.body
    assert reply.body.endswith(b"sandbox:reset, sandbox:slow, sandbox:truncated\n")
    assert dict(reply.headers)[UNKNOWN_WORD] == "capcha"
