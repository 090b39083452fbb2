"""`webdata sandbox`: the offline internet alone."""

import asyncio
import signal
from collections.abc import Iterable
from pathlib import Path

import click

from webdata.config.config import Config
from webdata.faces.administration.docs_pages import DocumentedCommand
from webdata.sandbox.proxies import RegionProxy, region_proxies
from webdata.sandbox.server import Sandbox

BANNER = """\
The sandbox listens at {url}: a proxy that answers for the sites it knows, without the internet. Try it:

    curl -x {url} -k 'https://www.google.com/search?q=coffee'

End it with Ctrl-C."""
PROXIES = "Region proxies in front of it, as lines for WEBDATA_PROXIES_FILE:\n"


@click.command(cls=DocumentedCommand)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; a loopback address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8081, show_default=True, help="Which port.")
@click.option(
    "--replay", type=click.Path(path_type=Path), help="A folder of saved pages, or an archive, to answer from."
)
@click.option(
    "--proxy", "proxies", multiple=True, help="A region proxy in front of it: 'DE', 'DE dead', 'US flaky=0.5'."
)
@click.pass_obj
def sandbox(config: Config, host: str, port: int, replay: Path | None, proxies: tuple[str, ...]) -> None:
    """Run the offline internet alone: a forward proxy."""
    alone = Sandbox(replay or config.sandbox_replay)
    asyncio.run(_serve(alone, host, port, region_proxies(alone, proxies)))


async def _serve(sandbox: Sandbox, host: str, port: int, proxies: Iterable[RegionProxy]) -> None:
    """Serve until SIGINT or SIGTERM."""
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
