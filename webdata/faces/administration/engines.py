"""`webdata new engine` and `webdata fixture`: what a new engine begins with; `webdata parse`: saved pages, read."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import orjson

from webdata.config.config import Config
from webdata.crawling.cases import SUFFIX, Case
from webdata.crawling.engine import EngineSpider
from webdata.crawling.offline import SavedPage, judge, left_out, page_of, valid_page
from webdata.crawling.rereading import Rereading
from webdata.crawling.warm_crawlers import known_spiders
from webdata.domain.errors import FetchError, RecordError
from webdata.domain.items import as_record
from webdata.domain.secrets import MASK
from webdata.faces.administration.docs_pages import DocumentedCommand, DocumentedGroup
from webdata.faces.administration.options import Pair, Pairs
from webdata.faces.administration.samples import sample_of
from webdata.faces.administration.skeletons import new_engine, source_tree, write
from webdata.runtime.archives.reader import is_archive

OK = 200
TRANSFERS = ("content-encoding", "content-length", "transfer-encoding", "connection", "date")
UNREAD = """Its page is of others: make one of your own of it, with the same structure and other texts, before you
commit it. Its record is what the parser says today: correct it to what the page says, and take "unread" out of {path};
its test fails until then."""


class Engine(click.ParamType[type[EngineSpider]]):
    """The name of an engine."""

    name = "engine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> type[EngineSpider]:
        spiders = {spider.name: spider for spider in known_spiders()}
        if value not in spiders:
            self.fail(f"{value!r} is not an engine: the engines are {', '.join(sorted(spiders))}", param, ctx)
        return spiders[value]


@click.group(cls=DocumentedGroup)
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
        f"webdata/sandbox/sites, then make docs, webdata fixture {name} PAGE, make test (docs/add-an-engine.md)."
    )


@click.command(cls=DocumentedCommand)
@click.argument("spider", metavar="ENGINE", type=Engine())
@click.argument("page", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sample", help="Instead of a page: the sample that it is made of, with its query and response.")
@click.option("-a", "given", type=Pair("="), multiple=True, help="A field of the query, besides those the page shows.")
@click.option("--name", help="The name of the case (default: that of the file).")
@click.option("--url", help="The URL of the page (default: that of the query).")
@click.option("--status", type=click.IntRange(100, 999), default=200, show_default=True, help="The response's status.")
@click.option("--header", "headers", type=Pair(":"), multiple=True, help="A header of the response.")
@click.option("--yes", is_flag=True, help="The record has been read: do not ask.")
@click.pass_obj
def fixture(
    config: Config, /, spider: type[EngineSpider], page: Path | None, sample: str | None, yes: bool, **options: Any
) -> None:
    """Make a case of an engine's fixtures from a page of your own making, with the record that you have read.

    Of a sample, which is a page of others, it makes a case whose test fails until somebody has read it.
    """
    if (page is None) == (sample is None):
        raise click.UsageError("give either a PAGE or --sample ID")
    root = source_tree()
    if sample is not None:
        if options["url"] or options["headers"] or options["status"] != OK:
            raise click.UsageError("a sample has its own URL, status and headers: leave --url, --status, --header out")
        facts, body = sample_of(config, sample)
        saved, given, name = _of_sample(spider, facts, body), facts.get("query", {}), Path(facts["file"]).stem
    else:
        assert page
        saved = SavedPage(page.read_bytes(), options["url"], options["status"], dict(options["headers"]))
        given, name = {}, page.stem
    case = _case(spider, saved, {**given, **dict(options["given"])}, unread=sample is not None and not yes)
    if sample is None and not yes:
        question = "Is this what the page says, every value of it, and is the page of your own making?"
        click.confirm(question, abort=True)
    path = f"fixtures/{spider.name}/{_case_name(options['name'] or name)}{SUFFIX}"
    write(root, {path: case.written()})
    click.echo(path)
    if case.unread:
        click.echo(UNREAD.format(path=path), err=True)


@click.command(cls=DocumentedCommand)
@click.argument("spider", type=Engine())
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-a", "given", type=Pair("="), multiple=True, help="A field of the query; without q it is read from the page."
)
@click.option("--url", help="The URL of the page.")
@click.option(
    "--status", type=click.IntRange(100, 999), default=OK, show_default=True, help="The status of its response."
)
@click.option(
    "--header", "headers", type=Pair(":"), multiple=True, help="A header of its response, such as 'Server: gws'."
)
@click.option(
    "--explain", is_flag=True, help="Of Markdown: print each part of the page that is left out, after its rule."
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=len(os.sched_getaffinity(0)),
    help="Of an archive: how many processes read its pages (default: as there are processors).",
)
def parse(
    spider: type[EngineSpider],
    files: tuple[Path, ...],
    given: Pairs,
    url: str | None,
    status: int,
    headers: Pairs,
    explain: bool,
    processes: int,
) -> None:
    """Read saved pages of an engine, without a network: one line of JSON a file.

    A file of `webdata fixture` (`.case`) has the query, the URL, the status and the headers of its page; an archive
    (`.warc`, `.warc.gz`) has them of many pages, and gets a line for each.
    """
    engine = spider()
    judged_all = True
    for file in files:
        try:
            if is_archive(file):
                _check_of_one_page(url=url, headers=headers, explain=explain, status=status != OK)
                judged_all &= _parse_archive(Rereading(spider, file, dict(given), processes), file)
                continue
            if file.suffix == SUFFIX:
                case = Case.read(file)
                page, query = page_of(case), {**case.query, **dict(given)}
            else:
                page, query = SavedPage(file.read_bytes(), url, status, dict(headers)), dict(given)
            if explain:
                for rule, text in left_out(engine, page, query):
                    click.echo(f"{rule}: {text}")
                continue
            verdict = asyncio.run(judge(engine, page, query))
        except RecordError as error:
            judged_all = False
            click.echo(f"{file}: {error}", err=True)
        else:
            click.echo(orjson.dumps({"file": str(file), **verdict}))
    if not judged_all:
        sys.exit(1)


def _of_sample(spider: type[EngineSpider], facts: Mapping[str, Any], body: bytes) -> SavedPage:
    """The page of a sample as it came; raises UsageError for one of another engine, or without its query."""
    if facts["engine"] != spider.name:
        raise click.UsageError(f"that sample is of {facts['engine']}: give it as ENGINE")
    if "query" not in facts:
        raise click.UsageError("that sample was redacted, or is an old one without its query: give the page and -a")
    return SavedPage(body, facts["url"], facts["status"], _plain(facts["headers"]))


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without those that say how the page came, or are masked."""
    return {name: value for name, value in headers.items() if value != MASK and name not in TRANSFERS}


def _case(spider: type[EngineSpider], saved: SavedPage, given: Mapping[str, Any], *, unread: bool) -> Case:
    """The case of a page, whose end is what the parser says today, printed."""
    engine = spider()
    query = {**engine.shown_query(saved.body), **given}
    resource, fields = engine.chosen(query)
    url = saved.url or engine.request(resource.query.check(fields)).url
    page = replace(saved, url=url)
    end = asyncio.run(_end(engine, page, query))
    click.echo(json.dumps(end, indent=2, ensure_ascii=False))
    response = {"origin": "composed", "url": url, "status": page.status, "headers": dict(page.headers)}
    return Case(query, response, page.body, **end, unread=unread)


def _check_of_one_page(**given: object) -> None:
    """Raise UsageError for options that an archive does not take."""
    if wrong := [name.removesuffix("s") if name == "headers" else name for name, value in given.items() if value]:
        raise click.UsageError(f"--{wrong[0]} is of single pages, and an archive has many: leave it out")


def _parse_archive(pages: Rereading, file: Path) -> bool:
    """Print a line for each page, and what was left out to standard error; returns whether all were judged."""
    read, faults = 0, 0
    for page in pages:
        read += 1
        if isinstance(page.end, str):
            faults += 1
            click.echo(f"{file}: {page.id!r}: {page.end}", err=True)
        else:
            found = {"file": str(file), "id": page.id, "url": page.url, "date": page.date, **page.end}
            click.echo(orjson.dumps(found))
    others = ", ".join(f"{count} {reason}" for reason, count in pages.left_out.most_common())
    click.echo(f"{file}: {read} pages{others and f'; left out: {others}'}", err=True)
    return not faults


async def _end(spider: EngineSpider, page: SavedPage, query: dict[str, str]) -> dict[str, Any]:
    """What a case expects: the page's record, without the envelope, or its error."""
    try:
        found = await valid_page(spider, page, query)
    except FetchError as error:
        return {"error": {"outcome": error.outcome, "kind": error.kind, "reason": error.reason}}
    return {"expected": as_record(found.page)}


def _case_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "page"
