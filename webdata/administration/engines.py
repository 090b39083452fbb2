"""`webdata new engine` and `webdata fixture`: what a new engine begins with."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import click

from webdata.administration.options import Engine, Pair, Pairs
from webdata.administration.skeletons import case, new_engine, source_tree, write
from webdata.crawling.offline import SavedPage, parsed_page
from webdata.domain.errors import FetchError
from webdata.domain.items import as_record
from webdata.pipelines.envelope import envelope
from webdata.pipelines.validate import validate
from webdata.spiders.base import EngineSpider


@click.group()
def new() -> None:
    """Write the files that something new begins with."""


@new.command("engine")
@click.argument("name")
@click.option("--resource", help="The resource that it answers; one that does not exist is made (default: NAME).")
@click.option("--host", help="The host of its site (default: www.NAME.example).")
def engine(name: str, resource: str | None, host: str | None) -> None:
    """Write an engine that reads a page without results, and passes its tests."""
    root = source_tree()
    texts = new_engine(name, resource or name, host or f"www.{name.replace('_', '-')}.example")
    write(root, texts)
    click.echo("\n".join(texts))
    click.echo(
        f"Next: the request in webdata/spiders/{name}.py, the results in webdata/pages/{name}.py, a page in "
        f"webdata/sandbox/sites, then webdata fixture {name} PAGE, make docs, make test (docs/add-an-engine.md)."
    )


@click.command()
@click.argument("spider", metavar="ENGINE", type=Engine())
@click.argument("page", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-a", "given", type=Pair("="), multiple=True, help="A field of the query, besides those the page shows.")
@click.option("--name", help="The name of the case (default: that of the file).")
@click.option("--url", help="The URL of the page (default: that of the query).")
@click.option("--status", type=click.IntRange(100, 999), default=200, show_default=True, help="The response's status.")
@click.option("--header", "headers", type=Pair(":"), multiple=True, help="A header of the response.")
@click.option("--yes", is_flag=True, help="The record has been read: do not ask.")
def fixture(
    spider: type[EngineSpider],
    page: Path,
    given: Pairs,
    name: str | None,
    url: str | None,
    status: int,
    headers: Pairs,
    yes: bool,
) -> None:
    """Make a case of an engine's fixtures from a page of your own making, with the record that you have read."""
    root, engine, body = source_tree(), spider(), page.read_bytes()
    query = {**engine.shown_query(body), **dict(given)}
    resource, fields = engine.chosen(query)
    url = url or engine.request(resource.query.check(fields)).url
    end = asyncio.run(_end(engine, SavedPage(page, url, status, dict(headers)), query))
    click.echo(json.dumps(end, indent=2, ensure_ascii=False))
    if not yes:
        question = "Is this what the page says, every value of it, and is the page of your own making?"
        click.confirm(question, abort=True)
    response = {"origin": "composed", "url": url, "status": status, "headers": dict(headers)}
    path = f"fixtures/{engine.name}/{_case_name(name or page.stem)}.case"
    write(root, {path: case(query, response, end, body)})
    click.echo(path)


async def _end(spider: EngineSpider, page: SavedPage, query: dict[str, str]) -> dict[str, Any]:
    """What a case expects: the page's record, without the envelope, or its error."""
    try:
        resource, found = await parsed_page(spider, page, query)
    except FetchError as error:
        return {"error": {"outcome": error.outcome, "kind": error.kind, "reason": error.reason}}
    validate(resource, envelope(found))
    return {"expected": as_record(found.page)}


def _case_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "page"
