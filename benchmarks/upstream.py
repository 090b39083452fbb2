"""An upstream on loopback that answers every request with one page, over persistent connections: `upstream FILE`."""

import asyncio
import sys
from pathlib import Path


class Page(asyncio.Protocol):
    """Answers every request head with the same response."""

    def __init__(self, response: bytes):
        self.response = response
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer all complete requests."""
        *heads, self.received = (self.received + data).split(b"\r\n\r\n")
        for _ in heads:
            self.transport.write(self.response)


async def serve(body: bytes) -> None:
    """Print the port, then serve until killed."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Length: {len(body)}\r\n\r\n"
    server = await asyncio.get_running_loop().create_server(lambda: Page(head.encode() + body), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).read_bytes()))
