"""Runs the sandbox alone: `webdata sandbox`."""

import asyncio
import signal
from collections.abc import Iterable
from pathlib import Path

import click

from webdata.sandbox.proxies import RegionProxy, region_proxies
from webdata.sandbox.server import Sandbox

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
    asyncio.run(_serve(sandbox, host, port, region_proxies(sandbox, proxies)))


async def _serve(sandbox: Sandbox, host: str, port: int, proxies: Iterable[RegionProxy]) -> None:
    url = await sandbox.start(host, port)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    click.echo(BANNER.format(url=url))
    if lines := [f"    {proxy.region} {await proxy.start()}" for proxy in proxies]:
        click.echo("\n".join(["", PROXIES, *lines]))
    await stopped.wait()
    for proxy in proxies:
        await proxy.stop()
    await sandbox.stop()
