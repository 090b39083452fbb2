"""The floor, a call without Scrapy and without the service: `floor UPSTREAM_URL`.

A bare Twisted web server that fetches with a bare Twisted agent and parses the page with the same page module.
"""

import sys
from typing import Any, cast

import orjson
from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import Deferred, ensureDeferred

from webdata.pages import google_web
from webdata.resources.web_search import WebQuery

install_reactor(TWISTED_REACTOR)

from twisted.internet import reactor as installed_reactor  # noqa: E402  # after the reactor's installation
from twisted.web.client import Agent, HTTPConnectionPool, readBody  # noqa: E402
from twisted.web.resource import Resource  # noqa: E402
from twisted.web.server import NOT_DONE_YET, Request, Site  # noqa: E402

reactor = cast(Any, installed_reactor)


class Floor(Resource):
    """Fetches and parses one page a request."""

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(self, upstream: bytes):
        super().__init__()
        pool = HTTPConnectionPool(reactor)
        pool.maxPersistentPerHost = 64
        self.agent = Agent(reactor, pool=pool)
        self.upstream = upstream

    def render_GET(self, request: Request) -> int:  # noqa: N802  # Twisted's name
        """Answer asynchronously."""
        ensureDeferred(self.answer(request))
        return NOT_DONE_YET

    async def answer(self, request: Request) -> None:
        """Fetch and parse the page, and write its record."""
        response = await self.agent.request(b"GET", self.upstream)
        body = await cast("Deferred[bytes]", readBody(response))
        record = google_web.record(body, WebQuery(q="coffee"))
        request.setHeader(b"content-type", b"application/json")
        request.write(orjson.dumps(record))
        request.finish()


if __name__ == "__main__":
    port = reactor.listenTCP(0, Site(Floor(sys.argv[1].encode())), interface="127.0.0.1")
    print(port.getHost().port, flush=True)
    reactor.run()
