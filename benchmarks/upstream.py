"""An upstream on loopback that answers every request with one page, over persistent connections: `upstream FILE`.

Requests whose target has the word "broken" get a page in an unknown layout.
"""

import asyncio
import sys
from pathlib import Path

UNKNOWN_LAYOUT = (
    b"<!doctype html><html lang=en><head><title>coffee - Google Search</title></head><body><main>"
    + b"<p>This is a paragraph of a page that has no results where they are looked for.</p>" * 20
    + b"</main></body></html>"
)
"""A page in which no engine finds what it looks for."""


class Page(asyncio.Protocol):
    """Answers every request head with the same response, but for those of the broken page."""

    def __init__(self, response: bytes, broken: bytes):
        self.response = response
        self.broken = broken
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer all complete requests."""
        *heads, self.received = (self.received + data).split(b"\r\n\r\n")
        for head in heads:
            self.transport.write(self.broken if b"broken" in head.partition(b"\r\n")[0] else self.response)


async def serve(body: bytes) -> None:
    """Print the port, then serve until killed."""
    response, broken = _response(body), _response(UNKNOWN_LAYOUT)
    server = await asyncio.get_running_loop().create_server(lambda: Page(response, broken), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def _response(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def small_page() -> bytes:
    """A composed result page of 4 KB in the current desktop layout."""
    result = (
        '<div class="MjjYud"><div class="tF2Cxc" data-snc="{n}"><div class="yuRUbf" data-snhf="0"><a href="'
        'https://shop{n}.example/coffee"><h3 class="LC20lb">Coffee shop number {n}</h3><cite>https://shop{n}.example'
        '</cite></a></div><div class="VwiC3b" data-sncf="1"><span>Shop {n} roasts, grinds and brews.{pad}</span></div>'
        "</div></div>"
    )
    pad = " Open every day of the week." * 4
    results = "".join(result.format(n=n, pad=pad) for n in range(1, 9))
    return (
        "<!doctype html><html lang=en><head><title>coffee - Google Search</title></head><body>"
        '<form role="search" action="/search"><textarea name="q">coffee</textarea></form>'
        f'<div id="search"><div id="rso">{results}</div></div><div id="botstuff"></div></body></html>'
    ).encode()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).read_bytes()))
