"""Runs the sandbox alone: `webdata sandbox`."""

from pathlib import Path

import click
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import install_reactor

from webdata.sandbox.server import Sandbox

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

GREETING = """\
The sandbox listens at {url}: a proxy that answers for the sites it knows, without the internet. Try it:

    curl -x {url} -k 'https://www.google.com/search?q=coffee'

End it with Ctrl-C."""


def run(host: str = "127.0.0.1", port: int = 8081, replay: Path | None = None) -> None:
    """Serve until SIGINT or SIGTERM. Raises ConfigError where it cannot begin."""
    sandbox = Sandbox(replay)
    install_reactor(REACTOR)
    from twisted.internet import reactor  # noqa: PLC0415 - ours had to be installed first

    click.echo(GREETING.format(url=sandbox.listen(host, port)))
    reactor.addSystemEventTrigger("before", "shutdown", lambda: deferred_from_coro(sandbox.stop()))
    reactor.run()
