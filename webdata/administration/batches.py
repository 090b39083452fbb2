"""`webdata batches`: submit files of queries to a service, follow them, and fetch their results."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from functools import partial, update_wrapper
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import click
import orjson
from tqdm import tqdm

from webdata.administration.api_client import ApiClient, ApiError, Server
from webdata.administration.query_files import check_file, pieces
from webdata.administration.tables import print_table
from webdata.config.config import Config

PATH = "/v1/batches"
PAGE = 10_000
"""Results that are asked for at once."""
LOOK_SECONDS = 2.0
"""Between two looks at a batch that is waited for."""
PIECE = 64 * 1024
TAIL = 1 << 20
"""Bytes from the end of a file in which its last whole line is looked for at first."""
ENDS = ("done", "cancelled")
GOES_ON = "out_of_credits"
"""Why a batch is paused that goes on by itself, when there are some."""


@click.group()
@click.option(
    "--url",
    envvar="WEBDATA_URL",
    default="https://127.0.0.1:8443",
    show_default=True,
    help="Where the service is (or WEBDATA_URL).",
)
@click.option(
    "--ca",
    envvar="WEBDATA_CA",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Certificates to trust (or WEBDATA_CA); by default also that of a service started in this folder.",
)
@click.pass_context
def batches(context: click.Context, url: str, ca: Path | None) -> None:
    """Run files of queries on a service, with the key in WEBDATA_API_KEY."""
    config: Config = context.obj
    own = config.tls_folder / "cert.pem"
    context.obj = partial(Server, url.rstrip("/"), certificate=ca or (own if own.exists() else None))


Command = Callable[..., Coroutine[Any, Any, None]]


def _over_api(command: Command) -> Callable[..., None]:
    """A command that asks the service."""

    @click.option("--api-key", envvar="WEBDATA_API_KEY", hidden=True)
    @click.pass_obj
    def run(server: Callable[..., Server], /, api_key: str | None, **options: Any) -> None:
        if not api_key:
            raise click.UsageError("give an API key in the variable WEBDATA_API_KEY")
        asyncio.run(_run(server(key=api_key), options))

    async def _run(server: Server, options: dict[str, Any]) -> None:
        async with ApiClient(server) as client:
            await command(client, **options)

    return update_wrapper(run, command)


@batches.command("submit")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--resource", required=True, help="The endpoint that answers the queries, such as web_search.")
@click.option("--field", default="q", show_default=True, help="The field that a line of plain text holds.")
@click.option("--region", help="The region of queries that name none.")
@click.option("--device", help="The device of queries that name none.")
@click.option("--label", help="What it is for.")
@click.option("--priority", type=click.IntRange(1, 9), help="Those with a higher one go first.")
@click.option("--webhook", help="The id of a webhook that receives its events.")
@click.option("--skip-invalid", is_flag=True, help="Leave out queries that cannot be run, instead of refusing all.")
@click.option("--wait", is_flag=True, help="Show its progress until it has ended, and write its results.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where --wait writes them.")
@_over_api
async def submit(
    client: ApiClient,
    file: Path,
    field: str,
    skip_invalid: bool,
    wait: bool,
    output: Path | None,
    **parameters: Any,
) -> None:
    """Submit FILE: a query a line, as text, JSON (.jsonl) or CSV (.csv). Prints the id of the batch."""
    size = check_file(file)
    given = {**parameters, "on_invalid": "skip" if skip_invalid else "reject"}
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": str(uuid4())}
    with _bar(size, "sent", unit="B", unit_scale=True) as bar:
        batch = await client.ask("POST", PATH, given, lambda: pieces(file, field, bar.update), headers)
    click.echo(batch["id"])
    _print_problems(batch)
    if wait:
        await _wait(client, batch["id"])
        await _fetch(client, batch["id"], output or file.with_suffix(".results.jsonl"), "records")


@batches.command("list")
@click.option("--state", help="Only those that are queued, running, paused, done or cancelled.")
@_over_api
async def list_batches(client: ApiClient, state: str | None) -> None:
    """List the latest batches of the account."""
    found = await client.ask("GET", PATH, {"state": state, "limit": 100})
    rows = [
        (
            one["id"],
            one["state"],
            one["resource"],
            str(one["rows_ended"]),
            str(one["rows"]),
            str(one["rows_failed"]),
            str(one["cost"]),
            one["created"][:16].replace("T", " "),
            one["label"],
        )
        for one in found["batches"]
    ]
    print_table(("id", "state", "resource", "ended", "rows", "failed", "cost", "created", "label"), rows)


@batches.command("show")
@click.argument("batch")
@_over_api
async def show(client: ApiClient, batch: str) -> None:
    """Show a batch as JSON."""
    found = await client.ask("GET", f"{PATH}/{batch}")
    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2))


@batches.command("results")
@click.argument("batch")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file: what it has already is not fetched again (default: standard output).",
)
@click.option("--format", "form", type=click.Choice(["records", "rows", "csv"]), default="records", show_default=True)
@click.option("--wait", is_flag=True, help="Until the batch has ended.")
@_over_api
async def results(client: ApiClient, batch: str, output: Path | None, form: str, wait: bool) -> None:
    """Fetch the results of BATCH so far."""
    if wait:
        await _wait(client, batch)
    await _fetch(client, batch, output, form)


@batches.command("cancel")
@click.argument("batch")
@_over_api
async def cancel(client: ApiClient, batch: str) -> None:
    """End BATCH: what runs is finished, nothing else begins, and what is done stays."""
    _print_change(await client.ask("DELETE", f"{PATH}/{batch}"), "is cancelled")


@batches.command("pause")
@click.argument("batch")
@_over_api
async def pause(client: ApiClient, batch: str) -> None:
    """Begin no further query of BATCH: what runs is finished."""
    _print_change(await client.ask("POST", f"{PATH}/{batch}/pause"), "is paused")


@batches.command("resume")
@click.argument("batch")
@_over_api
async def resume(client: ApiClient, batch: str) -> None:
    """Go on with BATCH, which is paused."""
    _print_change(await client.ask("POST", f"{PATH}/{batch}/resume"), "goes on")


@batches.command("retry")
@click.argument("batch")
@_over_api
async def retry(client: ApiClient, batch: str) -> None:
    """Run the failures of BATCH again."""
    found = await client.ask("POST", f"{PATH}/{batch}/retry-failures")
    _print_change(found, f"is {found['state']}")


def _print_change(batch: dict[str, Any], what: str) -> None:
    click.echo(f"{batch['id']} {what}: {batch['rows_ended']} of {batch['rows']} queries have ended.")


async def _wait(client: ApiClient, batch_id: str) -> None:
    """Show the progress of a batch until it has ended; raises ApiError where it is paused and does not go on itself."""
    with _bar(None, "ended", unit=" queries") as bar:
        while True:
            batch = await client.ask("GET", f"{PATH}/{batch_id}")
            bar.total = batch["rows"]
            bar.set_postfix(state=batch["state"], failed=batch["rows_failed"], cost=batch["cost"], refresh=False)
            bar.update(batch["rows_ended"] - bar.n)
            bar.refresh()
            if batch["state"] in ENDS:
                return
            if batch["state"] == "paused" and batch["reason"] != GOES_ON:
                raise ApiError(f"{batch_id} is paused: resume it, and fetch its results by `webdata batches results`")
            await asyncio.sleep(LOOK_SECONDS)


async def _fetch(client: ApiClient, batch_id: str, output: Path | None, form: str) -> None:
    """Write results to a file, after those that it has already."""
    after = _cut_to_last_row(output) if output and form == "records" else 0
    mode = "ab" if after else "wb"
    with output.open(mode) if output else nullcontext(sys.stdout.buffer) as file:
        batch = await client.ask("GET", f"{PATH}/{batch_id}")
        with _bar(batch["rows"], "fetched", unit=" queries", initial=min(after, batch["rows"])) as bar:
            while True:
                following = await _fetch_page(client, f"{PATH}/{batch_id}/results", after, form, file)
                if following is None or following == after:
                    break
                bar.update(min(following, batch["rows"]) - bar.n)
                after = following
    if output:
        click.echo(f"results are in {output}", err=True)
    if batch["rows_failed"]:
        click.echo(f"{batch['rows_failed']} failed: GET {PATH}/{batch_id}/failures tells why", err=True)


async def _fetch_page(client: ApiClient, path: str, after: int, form: str, file: IO[bytes]) -> int | None:
    """Write one page of results; returns where the next begins, None after the last."""
    params = {"after": after, "limit": PAGE, "format": form}
    async with client.response("GET", path, params) as response:
        skip = form == "csv" and after > 0  # its first line names the columns again
        async for piece in response.content.iter_chunked(PIECE):
            rest = piece
            if skip:
                _, found, rest = piece.partition(b"\n")
                skip = not found
            file.write(rest)
        following = response.headers.get("x-next-after")
    file.flush()
    return int(following) if following else None


def _cut_to_last_row(path: Path) -> int:
    """Cut a half-written line off the end of a file; returns the row of its last line, 0 without one."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size, tail = file.seek(0, os.SEEK_END), TAIL
        while True:
            begin = max(0, size - tail)
            file.seek(begin)
            lines = file.read().split(b"\n")
            if len(lines) > 2 or begin == 0:
                break
            tail *= 4
        file.truncate(size - len(lines[-1]))
    if len(lines) < 2:
        return 0
    try:
        return int(orjson.loads(lines[-2])["row"])
    except (ValueError, KeyError, TypeError) as error:
        raise ApiError(f"{path} has other lines than results: give another file by -o") from error


def _print_problems(batch: dict[str, Any]) -> None:
    if batch["rejected"]:
        click.echo(f"{batch['rejected']} queries were left out:", err=True)
    for problem in batch["problems"][:20]:
        click.echo(problem["msg"], err=True)
    if batch["ignored"]:
        click.echo(f"fields without effect: {', '.join(batch['ignored'])}", err=True)


def _bar(total: int | None, what: str, **options: Any) -> "tqdm[Any]":
    return tqdm(total=total, desc=what, file=sys.stderr, dynamic_ncols=True, disable=not sys.stderr.isatty(), **options)
