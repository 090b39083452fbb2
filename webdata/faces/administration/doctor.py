"""`webdata doctor`: whether this machine has what a service needs, and what each engine answers from here."""

import logging
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import click
import orjson

from webdata.config.config import Config
from webdata.crawling.engine import EngineSpider
from webdata.crawling.warm_crawlers import load_spiders
from webdata.faces.administration.docs_pages import DocumentedCommand
from webdata.faces.administration.engine_checks import engine_findings
from webdata.faces.administration.local_calls import in_reactor
from webdata.faces.administration.machine_checks import Finding, here, outside

MARKS = {"ok": "ok", "warning": "WARN", "failed": "FAIL"}


class EngineNames(click.ParamType[tuple[str, ...]]):
    """Names of engines with commas between them."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        known = [spider.name for spider in load_spiders()]
        names = tuple(filter(None, map(str.strip, str(value).split(","))))
        if wrong := [name for name in names if name not in known]:
            self.fail(f"{wrong[0]!r} is not an engine: the engines are {', '.join(sorted(known))}", param, ctx)
        return names


@click.command(cls=DocumentedCommand)
@click.option("--engines", type=EngineNames(), help="The engines to ask, with commas between them (default: all).")
@click.option("--offline", is_flag=True, help="Check only this machine: no name, proxy or engine is asked.")
@click.option("--json", "as_json", is_flag=True, help="One object with all findings, for programs.")
@click.pass_obj
def doctor(config: Config, engines: tuple[str, ...] | None, offline: bool, as_json: bool) -> None:
    """Check database, folders, ports, browser, proxies, DNS, clock and disk, and send each engine one live query.

    Engines of APIs with a price are asked, too. The exit status is 1 if anything has failed.
    """
    if offline and engines:
        raise click.UsageError("--engines asks the internet, and --offline does not: leave one of them out")
    chosen = [spider for spider in load_spiders() if engines is None or spider.name in engines]
    findings: list[Finding] = []
    logging.disable(logging.CRITICAL)  # the findings say it
    try:
        in_reactor(_collect(config, [] if offline else chosen, findings, as_json, offline))
    finally:
        logging.disable(logging.NOTSET)
    failed = any(finding.state == "failed" for finding in findings)
    if as_json:
        click.echo(orjson.dumps({"ok": not failed, "findings": [asdict(one) for one in findings]}))
    sys.exit(1 if failed else 0)


async def _collect(
    config: Config, chosen: list[type[EngineSpider]], findings: list[Finding], as_json: bool, offline: bool
) -> None:
    async for finding in _all(config, chosen, offline):
        findings.append(finding)
        if not as_json:
            click.echo(f"{MARKS[finding.state]:<5} {finding.subject:<16} {finding.text}")


async def _all(config: Config, chosen: list[type[EngineSpider]], offline: bool) -> AsyncIterator[Finding]:
    async for finding in here(config):
        yield finding
    if offline:
        return
    async for finding in outside(config, _hosts(chosen)):
        yield finding
    async for finding in engine_findings(config, chosen):
        yield finding


def _hosts(engines: list[type[EngineSpider]]) -> list[str]:
    """A host of each engine's site."""
    return list(dict.fromkeys(engine.allowed_domains[0] for engine in engines if engine.allowed_domains))
