"""Challenges in front of any site."""

import pytest
import pytest_twisted
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from webdata.pages.blocked import block_of
from webdata.runtime.wire.exchange import SandboxRequest, SiteReply
from webdata.sandbox import challenges
from webdata.sandbox.server import Sandbox

UA = "Mozilla/5.0 Chrome/156.0.0.0"
RAY = "0123456789abcdef"


def request(**headers):
    return SandboxRequest("GET", "https", "www.google.com", "/search?q=coffee", headers)


def page(_):
    return SiteReply(200, body=b"results")


def clearance(user_agent=UA, ray=RAY):
    return f"{challenges.CLEARANCE}={ray}.{challenges._sum(ray, user_agent)}"


def test_a_challenge_is_recognised():
    """The challenge is a 403 that is classified as a JavaScript challenge, by its header and by its page."""
    reply = challenges.challenge(page)(request())
    assert reply.status == 403
    for headers in (dict(reply.headers), {}):
        assert block_of(403, headers, reply.body, request().url, "google_web").kind == "javascript"


def test_a_clearance_opens_the_page():
    """The clearance that the script computes opens the page to the same browser."""
    reply = challenges.challenge(page)(request(cookie=clearance(), **{"user-agent": UA}))
    assert reply.body == b"results"


@pytest.mark.parametrize(
    "cookie",
    [
        clearance("Mozilla/5.0 Chrome/150.0.0.0"),
        f"{challenges.CLEARANCE}={RAY}.1",
        f"{challenges.CLEARANCE}=.",
        "other=1",
        "",
    ],
)
def test_an_invalid_clearance_is_refused(cookie):
    """A clearance of another user agent, or a made-up one, gets the challenge."""
    assert challenges.challenge(page)(request(cookie=cookie, **{"user-agent": UA})).status == 403


def test_other_tls_handshakes_are_denied():
    """A client without a browser's TLS handshake gets a denial."""
    reply = challenges.handshake(page)(request())
    assert reply.status == 403
    assert block_of(403, {}, reply.body, request().url, "google_web").kind == "denied"


@pytest_twisted.async_yield_fixture
async def protected(client):
    """A client of a sandbox with challenges in front of Google and Bing."""
    sandbox = Sandbox(challenges={"www.google.com": challenges.challenge, "www.bing.com": challenges.handshake})
    yield type(client)(sandbox, await deferred_from_coro(sandbox.start()))
    await deferred_from_coro(sandbox.stop())


@ensureDeferred
async def test_a_challenge_protects_a_whole_host(protected):
    """All pages of the host are behind the challenge, those of other hosts are not."""
    assert (await protected.get("https://www.google.com/search?q=coffee")).status == 403
    assert (await protected.get("http://www.google.com/")).status == 403
    assert (await protected.get("https://www.bing.com/search?q=coffee")).status == 403
    assert (await protected.get("https://www.google.de/search?q=coffee")).status == 200


@ensureDeferred
async def test_scenarios_challenge_on_any_site(client):
    """A scenario in the search terms puts a challenge in front of any site."""
    for url in ("https://www.google.com/search?q=", "https://www.bing.com/search?q="):
        assert (await client.get(f"{url}tea+sandbox:challenge")).headers["cf-mitigated"] == "challenge"
        assert (await client.get(f"{url}tea+sandbox:handshake")).status == 403
