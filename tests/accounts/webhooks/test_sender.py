"""One attempt of a delivery, to real receivers."""

import asyncio
import ipaddress
import ssl
from contextlib import asynccontextmanager

import pytest
import trustme

from tests.accounts.webhooks.conftest import NAMES
from tests.fetching.egress.test_hostile import LITERALS
from webdata.accounts.webhooks import sender as webhook_sender
from webdata.domain.errors import UpstreamTimeoutError

pytestmark = pytest.mark.task


@asynccontextmanager
async def sending(urls):
    sender = webhook_sender.WebhookSender(urls)
    try:
        yield lambda url: sender.send(url, {"webhook-id": "msg_1"}, b'{"type": "webhook.test"}')
    finally:
        await sender.close()


async def test_an_event_is_posted_with_its_headers(receivers, make_urls):
    """The body is POSTed as JSON with the headers, over one connection that stays open."""
    receiver = await receivers()
    async with sending(make_urls(receiver.port)) as send:
        answers = [await send(receiver.url) for _ in range(2)]
    assert [(one.status, one.body, one.failure) for one in answers] == [(200, b"fine", None)] * 2
    (headers, body), _ = receiver.received
    assert body == b'{"type": "webhook.test"}'
    assert (headers["content-type"], headers["webhook-id"]) == ("application/json", "msg_1")
    assert receiver.connections == 1


async def test_a_name_in_any_script_is_reached(receivers, make_urls):
    """A host and a path with letters beyond ASCII are sent as browsers send them."""
    receiver = await receivers()
    async with sending(make_urls(receiver.port)) as send:
        assert (await send(f"http://bücher.example:{receiver.port}/café?q=東京#x")).status == 200
    assert receiver.received[0][0]["host"] == f"xn--bcher-kva.example:{receiver.port}"


async def test_redirects_are_not_followed(receivers, make_urls):
    """A redirect is an answer: its target receives nothing."""
    receiver, inside = await receivers(), await receivers("127.0.0.1")
    receiver.status(307, f"Location: {inside.url}")
    async with sending(make_urls(receiver.port, inside.port)) as send:
        assert (await send(receiver.url)).status == 307
    assert (inside.connections, len(receiver.received)) == (0, 1)


async def test_a_silent_receiver_ends_after_the_time_limit(receivers, make_urls, monkeypatch):
    """A receiver that does not answer is a failure; one that has sent its status has answered."""
    monkeypatch.setattr(webhook_sender, "ATTEMPT_SECONDS", 0.3)
    silent, slow = await receivers(), await receivers()
    silent.hangs = True
    slow.answer = b"HTTP/1.1 202 Taken\r\nContent-Length: 100\r\n\r\nthe beginning"
    async with sending(make_urls(silent.port, slow.port)) as send:
        assert (await send(silent.url)).failure == "there was no answer within 0 seconds"
        assert await send(slow.url) == webhook_sender.ReceiverAnswer(202, b"the beginning")


async def test_an_answer_is_read_up_to_its_bound(receivers, make_urls):
    """64 KB of an answer are read, and the connection of an endless one is closed."""
    receiver = await receivers()
    receiver.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"a" * 1_000_000
    async with sending(make_urls(receiver.port)) as send:
        answer = await send(receiver.url)
    assert (answer.status, len(answer.body)) == (200, 64 * 1024)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (b"", "the connection was closed before there was an answer"),
        (b"no HTTP\r\n\r\n", "the answer is no HTTP, or has more headers than are read"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 300, "the answer is no HTTP, or has more headers than are read"),
        (b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 100_000, "the answer is no HTTP, or has more headers than are read"),
    ],
)
async def test_a_broken_answer_is_a_failure(receivers, make_urls, answer, failure):
    """What is no answer is a failure that says so."""
    receiver = await receivers()
    receiver.answer, receiver.closes = answer, not answer
    async with sending(make_urls(receiver.port)) as send:
        assert (await send(receiver.url)).failure == failure


async def test_failures_name_their_reason(receivers, make_urls):
    """A refused connection, an unknown certificate and unknown names are failures that name their reason."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.2").configure_cert(tls)
    receiver, gone = await receivers(tls=tls), await receivers()
    gone.stop()

    async def away(name, caller):
        raise UpstreamTimeoutError("the name servers did not answer")

    async with sending(make_urls(receiver.port, gone.port)) as send:
        assert (await send(gone.url)).failure == "the connection was refused"
        assert "no TLS connection was made" in (await send(receiver.url.replace("http:", "https:"))).failure
        assert (await send("https://none.example/")).failure == "the name of the host has no address"
    async with sending(make_urls(resolver=away)) as send:
        assert (await send("https://any.example/")).failure == "the name of the host could not be resolved"


HOSTILE = [
    *LITERALS,
    "http://[::ffff:127.0.0.2]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://any.localhost:PORT/",
    "http://private.example:PORT/",
    "http://metadata.example:PORT/",
    "http://mixed.example:PORT/",
    "http://six.example:PORT/",
    "http://mapped.example:PORT/",
    "http://0000000.example:PORT/",
    "http://user@127.0.0.2:PORT/",
    "http://127.0.0.2:22/",
    "ftp://127.0.0.2:PORT/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/_x",
    "javascript:alert(1)",
    "//127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http://127.0.0.1:PORT#@127.0.0.2/",
    "http://127.0.0.1:PORT\\@127.0.0.2/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.1:PORT/",
    "http://127.0.0.1%00.example:PORT/",
    "http://127.0.0.1\t:PORT/",
    "",
    "x",
    *(
        f"http://{address}:PORT/"
        for address in (
            "127.0.0.53",
            "127.1.2.3",
            "127.255.255.254",
            "0x7f.1",
            "0177.1",
            "2130706434",
            "0b1.0.0.1",
            "10.255.255.255",
            "172.16.0.1",
            "192.168.0.1",
            "192.168.65535",
            "169.254.1.1",
            "169.254.169.254.",
            "100.127.255.255",
            "198.19.0.1",
            "203.0.113.1",
            "239.255.255.255",
            "255.255.255.255",
            "[::ffff:10.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[::10.0.0.1]",
            "[64:ff9b::a00:1]",
            "[2002:a00:1::]",
            "[fe80::a00:1]",
            "[fc00::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[100::1]",
        )
    ),
]


@pytest.fixture
def private_names(monkeypatch):
    addresses = {
        "metadata.example": ["169.254.169.254"],
        "mixed.example": ["127.0.0.2", "127.0.0.1"],
        "six.example": ["::1"],
        "mapped.example": ["::ffff:127.0.0.1"],
        "0000000.example": ["0.0.0.0"],
    }
    for name, texts in addresses.items():
        monkeypatch.setitem(NAMES, name, [ipaddress.ip_address(text) for text in texts])


async def test_no_hostile_url_reaches_anything(receivers, make_urls, private_names):
    """Addresses inside in every spelling, and names that resolve to them: not one byte arrives."""
    inside = [await receivers("127.0.0.1")]
    ports = [one.port for one in inside]
    assert len(HOSTILE) >= 100
    async with sending(make_urls(*ports)) as send:
        for url in HOSTILE:
            answer = await send(url.replace("PORT", str(ports[0])))
            assert (answer.status, bool(answer.failure)) == (None, True), url
            assert "127.0.0" not in answer.failure.partition("give ")[2], url
    assert [one.connections for one in inside] == [0]


async def test_a_name_that_turns_private_is_refused(receivers, make_urls):
    """The address that is connected to is the one that was checked, at each new connection."""
    outside, inside = await receivers(), await receivers("127.0.0.1")
    outside.answer = outside.answer.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n")
    answers = [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"]]

    async def turning(name, caller):
        return map(ipaddress.ip_address, answers.pop(0))

    async with sending(make_urls(outside.port, inside.port, resolver=lambda *_: listed(turning))) as send:
        url = f"http://turning.example:{outside.port}/"
        statuses = [(await send(url)).status for _ in range(4)]
        await asyncio.sleep(0)
    assert (statuses, inside.connections) == ([200, None, 200, None], 0)


async def listed(resolver):
    return list(await resolver("", ""))


async def test_plain_http_only_where_the_operator_says_so(receivers, make_urls):
    """Without the setting an `http://` URL is refused, also one that was stored before."""
    receiver = await receivers()
    async with sending(make_urls(receiver.port, http=False)) as send:
        assert "give an https:// URL" in (await send(receiver.url)).failure
    assert receiver.connections == 0
