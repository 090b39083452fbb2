"""Chromium behind the guard's proxy."""

import asyncio
import ipaddress
import json
import socket
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Error, async_playwright

from webdata.config.chromium import find_chromium
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.proxy import BROWSER_ARGUMENTS, GuardProxy
from webdata.fetching.egress.rule import Rule
from webdata.sandbox.names import sandbox_resolver

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: `make setup` installs one")

QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
LENIENT = ("--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessChecks",)
"""Disables Chromium's own checks of requests to loopback, so that only the proxy protects it."""

PAGE = """<!doctype html><html><head><title>start</title>
<link rel=dns-prefetch href="//prefetched.example"><link rel=preconnect href="http://TARGET/preconnect">
<link rel=preload as=script href="http://TARGET/preload"><link rel=prefetch href="http://TARGET/prefetch">
<link rel=stylesheet href="http://TARGET/css"><link rel=icon href="http://TARGET/icon">
<style>body { background: url(http://TARGET/background) }
@font-face { font-family: f; src: url(http://TARGET/font) }
p { font-family: f }</style></head><body><p>text</p>
<img src="http://TARGET/img"><img src="https://TARGET/tls"><img src="http://[::1]:PORT/six">
<img src="//localhost:PORT/name">
<img src="http://2130706433:PORT/decimal"><img src="http://10-0-0-1.trap.example:PORT/trap">
<iframe src="http://TARGET/iframe"></iframe><object data="http://TARGET/object"></object>
<video src="http://TARGET/video" preload=auto></video><script src="http://TARGET/script"></script>
<form id=form method=post action="http://TARGET/form" target=frame><input name=a value=b></form>
<iframe name=frame></iframe>
<script>
const quiet = (act) => { try { const done = act(); if (done && done.catch) done.catch(() => 0); } catch {} };
quiet(() => fetch("http://TARGET/fetch", {mode: "no-cors"}));
quiet(() => fetch("http://TARGET/post", {method: "POST", mode: "no-cors", body: "x", keepalive: true}));
quiet(() => { const x = new XMLHttpRequest(); x.open("GET", "http://TARGET/xhr"); x.send(); });
quiet(() => { window.ws = new WebSocket("ws://TARGET/ws"); window.wss = new WebSocket("wss://TARGET/wss"); });
quiet(() => { window.es = new EventSource("http://TARGET/events"); });
quiet(() => navigator.sendBeacon("http://TARGET/beacon", "x"));
quiet(() => window.open("http://TARGET/window"));
quiet(() => document.getElementById("form").submit());
quiet(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://TARGET/worker', {mode: 'no-cors'})"]))));
quiet(async () => {
  const peer = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"}, {urls: "stun:rtc.example:UDP"},
    {urls: "turn:127.0.0.1:PORT?transport=tcp", username: "a", credential: "b"}]});
  peer.createDataChannel("c");
  await peer.setLocalDescription(await peer.createOffer());
});
</script></body></html>"""

KINDS = [
    "img",
    "script",
    "iframe",
    "css",
    "preload",
    "fetch",
    "post",
    "xhr",
    "ws",
    "events",
    "beacon",
    "form",
    "window",
]
"""Requests of the page that always arrive when they are allowed."""


@asynccontextmanager
async def browsing(guard, *arguments):
    proxy = GuardProxy(guard)
    url = await proxy.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=CHROMIUM,
                args=[*QUIET, *LENIENT, *BROWSER_ARGUMENTS, *arguments],
                proxy={"server": url, "username": proxy.username, "password": proxy.password},
            )
            try:
                yield await browser.new_page(), urlsplit(url).netloc
            finally:
                await browser.close()
    finally:
        await proxy.stop()


def rule(listener, site, network):
    return Rule(frozenset({80, 443, listener.port, site.port}), (ipaddress.ip_network(network),))


async def eventually(done, seconds):
    for _ in range(int(seconds * 20)):
        if done():
            return
        await asyncio.sleep(0.05)


async def visited(page, listener, site, seconds=1.5):
    """Visit the page, then a redirect and a refresh to the target; return a received UDP packet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        aimed = PAGE.replace("TARGET", f"127.0.0.1:{listener.port}").replace("PORT", str(listener.port))
        site.pages["/"] = aimed.replace("UDP", str(udp.getsockname()[1])).encode()
        await page.goto(site.url)
        assert await page.title() == "start"
        await eventually(lambda: set(KINDS) <= arrived(listener), seconds)
        for hop in ("302", "refresh"):
            try:
                await page.goto(f"{site.url}/{hop}?to=http://127.0.0.1:{listener.port}/{hop}")
            except Error:
                continue
        await asyncio.sleep(0.3)
        try:
            return udp.recv(2048)
        except BlockingIOError:
            return b""


def arrived(listener):
    return {head.split()[1].decode("latin-1").strip("/") for head in listener.received if len(head.split()) > 1}


def net_events(log):
    """The events of Chromium's network log: pairs of a name and its parameters."""
    net = json.loads(log.read_text(encoding="utf-8"))
    names = {number: name for name, number in net["constants"]["logEventTypes"].items()}
    for event in net["events"]:
        yield names[event["type"]], event.get("params", {})


@pytest.mark.slow
@pytest.mark.task
async def test_no_request_of_a_page_reaches_loopback(ground, tmp_path):
    """The proxy refuses subresources, scripts' requests, sockets, forms, windows and redirects of an allowed page.

    The browser connects to nothing but the proxy, resolves no name, and sends no UDP packet.
    """
    log = tmp_path / "net.json"
    async with ground() as (listener, site):
        guard = Guard(rule(listener, site, "127.0.0.2/32"), sandbox_resolver)
        async with browsing(guard, f"--log-net-log={log}") as (page, proxy):
            packets = await visited(page, listener, site)
    assert not listener.received
    assert not packets
    events = list(net_events(log))
    assert {p["address"] for name, p in events if name == "TCP_CONNECT_ATTEMPT" and "address" in p} == {proxy}
    looked_up = {p["host"] for name, p in events if name == "HOST_RESOLVER_MANAGER_REQUEST" and "host" in p}
    assert {urlsplit(host).hostname for host in looked_up} <= {"~notfound", "127.0.0.1"}
    assert not [p for name, p in events if name == "UDP_BYTES_SENT"]


@pytest.mark.slow
@pytest.mark.task
async def test_allowed_requests_of_a_page_reach_loopback(ground):
    """The same page reaches the same listener when the rule allows all of loopback."""
    async with ground() as (listener, site):
        guard = Guard(rule(listener, site, "127.0.0.0/8"), sandbox_resolver)
        async with browsing(guard) as (page, _):
            await visited(page, listener, site, seconds=10)
    assert set(KINDS) | {"302", "refresh"} <= arrived(listener)
