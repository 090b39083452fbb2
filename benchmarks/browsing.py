"""Pages that a browser shows, as Markdown: pages a second through one Chromium with four places, beside crawl4ai's.

The pages come from a server on loopback; whatever else they name cannot be reached by either.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import NamedTuple

from benchmarks import peers
from benchmarks.serving import Server, service
from webdata.config.chromium import find_chromium

PLACES = 4
"""Pages that are open at once."""
ANSWERED_WITHIN = 120.0


class Shown(NamedTuple):
    """A program over all pages, once its browser runs."""

    name: str
    read: int
    """Of the pages, those whose text came."""
    pages_per_second: float


def measure(folder: Path, with_peers: bool, most: int) -> Iterator[Shown]:
    """The first pages of a folder through each program; none without a folder, or a browser."""
    files = sorted(folder.glob("*.html"))[:most]
    if not files or not find_chromium():
        return
    with _site(folder) as port:
        urls = [f"http://127.0.0.1:{port}/{file.name}" for file in files]
        yield _webdata(urls, port)
        if with_peers and (found := peers.answers(peers.CRAWL4AI_BROWSER, urls)):
            seconds = max(one.ms for one in found) / 1000
            yield Shown("crawl4ai", sum(bool(one.found) for one in found), len(urls) / seconds)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def _site(folder: Path) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def _webdata(urls: Sequence[str], port: int) -> Shown:
    settings = {
        "WEBDATA_SAMPLES": "",
        "WEBDATA_TRANSPORTS": "http,browser",
        "WEBDATA_BROWSER_PAGES": str(PLACES),
        "WEBDATA_EGRESS_PORTS": str(port),
        "WEBDATA_EGRESS_ALLOW": "127.0.0.1/32",
    }
    with (
        tempfile.TemporaryDirectory() as name,
        service("", Path(name), module="whole_service", settings=settings) as server,
        ThreadPoolExecutor(PLACES) as callers,
    ):
        _is_read(server, urls[0])
        began = monotonic()
        read = sum(callers.map(partial(_is_read, server), urls))
        return Shown("webdata", read, len(urls) / (monotonic() - began))


def _is_read(server: Server, url: str) -> bool:
    body = json.dumps({"url": url, "response_type": "markdown", "render": "always", "max_age": 0})
    headers = {"X-Api-Key": server.target.key, "Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", server.target.port, timeout=ANSWERED_WITHIN)
    connection.request("POST", "/v1/request", body, headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status == 200 and bool(text)
