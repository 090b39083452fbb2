"""A bare Klein route over the service's own TLS: `hello`, with its settings."""

import os

from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor

from webdata.config.config import Config
from webdata.runtime.server.listening import Listening

install_reactor(TWISTED_REACTOR)

from klein import Klein  # noqa: E402  # after the reactor's installation
from twisted.internet import reactor as installed_reactor  # noqa: E402
from twisted.protocols.tls import TLSMemoryBIOFactory  # noqa: E402
from twisted.web.server import Request, Site  # noqa: E402

from webdata.runtime.server.tls import ServerTLS  # noqa: E402

reactor = installed_reactor
app = Klein()


@app.route("/")
def hello(request: Request) -> bytes:
    """A constant response."""
    request.setHeader(b"content-type", b"text/plain")
    return b"hello"


if __name__ == "__main__":
    config = Config.from_environ(os.environ)
    with Listening.of(config) as listening:
        factory = TLSMemoryBIOFactory(ServerTLS(config), False, Site(app.resource()), reactor)
        reactor.adoptStreamPort(listening.api.fileno(), listening.api.family, factory)
        reactor.run()
