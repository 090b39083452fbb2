"""What may stand before any site."""

import pytest
import pytest_twisted
from pytest_twisted import ensureDeferred

from webdata.pages import blocked
from webdata.sandbox import challenges
from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.server import Sandbox

UA = "Mozilla/5.0 Chrome/156.0.0.0"
RAY = "0123456789abcdef"


def asked(**headers):
    return SandboxRequest("GET", "https", "www.google.com", "/search?q=coffee", headers)


def page(_):
    return Reply(200, body=b"results")


def clearance(user_agent=UA, ray=RAY):
    return f"{challenges.CLEARANCE}={ray}.{challenges._sum(ray, user_agent)}"


def test_a_challenge_is_told_as_one():
    """The challenge is a 403 that our own judge takes for a JavaScript challenge, by header and by page."""
    reply = challenges.challenge(page)(asked())
    assert reply.status == 403
    for headers in (dict(reply.headers), {}):
        assert blocked.block(403, headers, reply.body, asked().url).kind == "javascript"


def test_the_cookie_opens_the_page():
    """What the script makes of the challenge lets its browser in."""
    reply = challenges.challenge(page)(asked(cookie=clearance(), **{"user-agent": UA}))
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
def test_no_other_cookie_does(cookie):
    """A clearance of another user agent, or a made-up one, opens nothing."""
    assert challenges.challenge(page)(asked(cookie=cookie, **{"user-agent": UA})).status == 403


def test_a_handshake_that_is_no_browsers_is_denied():
    """Without a browser's TLS there is a page that says no."""
    reply = challenges.handshake(page)(asked())
    assert reply.status == 403
    assert blocked.block(403, {}, reply.body, asked().url).kind == "denied"


@pytest_twisted.async_yield_fixture
async def walled(client):
    """A client of a sandbox whose Google and Bing are walled."""
    sandbox = Sandbox(challenges={"www.google.com": challenges.challenge, "www.bing.com": challenges.handshake})
    yield type(client)(sandbox, await sandbox.start())
    await sandbox.stop()


@ensureDeferred
async def test_a_wall_stands_before_a_whole_host(walled):
    """All of a walled host's pages are behind the wall, and no other's."""
    assert (await walled.get("https://www.google.com/search?q=coffee")).status == 403
    assert (await walled.get("http://www.google.com/")).status == 403
    assert (await walled.get("https://www.bing.com/search?q=coffee")).status == 403
    assert (await walled.get("https://www.google.de/search?q=coffee")).status == 200


@ensureDeferred
async def test_a_word_builds_a_wall(client):
    """Search terms ask for a wall on any site."""
    for url in ("https://www.google.com/search?q=", "https://www.bing.com/search?q="):
        assert (await client.get(f"{url}tea+sandbox:challenge")).headers["cf-mitigated"] == "challenge"
        assert (await client.get(f"{url}tea+sandbox:handshake")).status == 403
