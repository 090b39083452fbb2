"""Runs the sandbox alone: `webdata sandbox`."""

from collections.abc import Iterable
from pathlib import Path

import click
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import install_reactor

from webdata.sandbox.proxies import region_proxies
from webdata.sandbox.server import Sandbox

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

BANNER = """\
The sandbox listens at {url}: a proxy that answers for the sites it knows, without the internet. Try it:

    curl -x {url} -k 'https://www.google.com/search?q=coffee'

End it with Ctrl-C."""
PROXIES = "Region proxies in front of it, as lines for WEBDATA_PROXIES_FILE:\n"


def run(host: str = "127.0.0.1", port: int = 8081, replay: Path | None = None, proxies: Iterable[str] = ()) -> None:
    """Serve until SIGINT or SIGTERM, with region proxies such as `DE` or `DE flaky=0.5`.

    Raises ConfigError when the sandbox cannot start.
    """
    sandbox = Sandbox(replay)
    running = region_proxies(sandbox, proxies)
    install_reactor(REACTOR)
    from twisted.internet import reactor  # noqa: PLC0415 - ours had to be installed first

    click.echo(BANNER.format(url=sandbox.listen(host, port)))
    if running:
        click.echo("\n".join(["", PROXIES, *(f"    {proxy.region} {proxy.start()}" for proxy in running)]))
    reactor.addSystemEventTrigger("before", "shutdown", lambda: deferred_from_coro(sandbox.stop()))
    reactor.run()
