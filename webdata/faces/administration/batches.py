"""`webdata batches`: submit files of queries to a service, follow them, and fetch their results."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import update_wrapper
from pathlib import Path
from shlex import quote
from typing import Any, Protocol
from uuid import uuid4

import click
import orjson
from tqdm import tqdm

from webdata.faces.administration.api_client import ApiClient, ApiError, Server, at_service, in_session, key_of
from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.faces.administration.query_files import check_file, pieces
from webdata.faces.administration.table_files import TABLE_FILES, form_of, table_file
from webdata.faces.administration.tables import print_table
from webdata.resources import all_resources

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


@click.group(cls=DocumentedGroup)
@at_service
@click.pass_context
def batches(context: click.Context, server: Callable[..., Server]) -> None:
    """Run files of queries on a service, with the key in WEBDATA_KEY."""
    context.obj = server


Command = Callable[..., Coroutine[Any, Any, None]]


def _over_api(command: Command) -> Callable[..., None]:
    """A command that asks the service."""

    @click.option("--api-key", envvar="WEBDATA_KEY", hidden=True)
    @click.pass_obj
    def run(server: Callable[..., Server], /, api_key: str | None, **options: Any) -> None:
        in_session(server(key=key_of(api_key)), lambda client: command(client, **options))

    return update_wrapper(run, command)


@batches.command("submit")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--resource", required=True, help="The endpoint that answers the queries, such as web_search.")
@click.option("--field", default="q", show_default=True, help="The field that a line of plain text holds.")
@click.option("--region", help="The region of queries that name none.")
@click.option("--device", help="The device of queries that name none.")
@click.option("--label", help="What it is for.")
@click.option("--priority", type=click.IntRange(1, 9), help="Those with a higher one go first.")
@click.option(
    "--retries",
    type=click.IntRange(0, 10),
    help="How often a query that was blocked is tried again, later each time (default: 4).",
)
@click.option("--no-retry", is_flag=True, help="A query that was blocked is a failure at once: as --retries 0.")
@click.option("--webhook", help="The id of a webhook that receives its events.")
@click.option("--skip-invalid", is_flag=True, help="Leave out queries that cannot be run, instead of refusing all.")
@click.option("--wait", is_flag=True, help="Show its progress until it has ended, and write its results meanwhile.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where --wait writes them.")
@_over_api
async def submit(
    client: ApiClient,
    file: Path,
    field: str,
    skip_invalid: bool,
    wait: bool,
    output: Path | None,
    retries: int | None,
    no_retry: bool,
    **parameters: Any,
) -> None:
    """Submit FILE: a query a line, as text, JSON (.jsonl) or CSV (.csv). Prints the id of the batch."""
    if output and not wait:
        raise click.UsageError("-o is where --wait writes the results: give --wait, too")
    if no_retry and retries:
        raise click.UsageError("--no-retry is --retries 0: give one of the two")
    size, form = check_file(file), form_of(output, None)
    given = {
        **parameters,
        "retries": 0 if no_retry else retries,
        "on_invalid": "skip" if skip_invalid else "reject",
    }
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": str(uuid4())}
    with (
        _bar(size, "sent", unit="B", unit_scale=True) as bar,
        _on_interrupt("`webdata batches list` shows whether it was taken"),
    ):
        batch = await client.ask("POST", PATH, given, lambda: pieces(file, field, bar.update), headers)
    click.echo(batch["id"])
    _print_problems(batch)
    if wait:
        path = output or file.with_suffix(".results.jsonl")
        path.unlink(missing_ok=True)  # else the results of another batch would be taken for the first of this one
        await _fetch(client, batch["id"], path, form, wait=True)


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
@click.option(
    "--format",
    "form",
    type=click.Choice(["records", "rows", "csv", *TABLE_FILES]),
    help="What is written (default: by the file's name, .csv, .parquet or .xlsx, else records).",
)
@click.option("--wait", is_flag=True, help="Until the batch has ended.")
@_over_api
async def results(client: ApiClient, batch: str, output: Path | None, form: str | None, wait: bool) -> None:
    """Fetch the results of BATCH so far."""
    await _fetch(client, batch, output, form_of(output, form), wait=wait)


@batches.command("cancel")
@click.argument("batch")
@_over_api
async def cancel(client: ApiClient, batch: str) -> None:
    """End BATCH: what runs is finished, nothing else begins, and what is done stays."""
    _print_change(await client.ask("POST", f"{PATH}/{batch}/cancel"), "is cancelled")


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


@contextmanager
def _on_interrupt(how: str) -> Iterator[None]:
    """Say how to go on, where Ctrl-C ends what is done here."""
    try:
        yield
    except asyncio.CancelledError:
        click.echo(f"\ninterrupted: {how}", err=True)
        raise


async def _fetch(client: ApiClient, batch_id: str, output: Path | None, form: str, *, wait: bool) -> None:
    """Write results to a file, after those that it has already; with `wait` until the batch has ended, as they come.

    Raises ApiError where it is paused and does not go on by itself, and where it was cancelled.
    """
    after = _cut_to_last_row(output) if output and form == "records" else 0
    again = f"webdata batches results {batch_id} --wait --format {form}"
    again += f" -o {quote(str(output))}" if output else ""
    how = f"the batch goes on. `{again}` waits for it, `webdata batches cancel {batch_id}` ends it"
    opened = await _opened(client, batch_id, output, form, after)
    with _on_interrupt(how), opened as file:
        sent_form = "rows" if form in TABLE_FILES else form
        batch = await _follow(client, _Results(f"{PATH}/{batch_id}", sent_form, file, after), wait=wait)
    if output:
        click.echo(f"results are in {output}", err=True)
    if batch["rows_failed"]:
        click.echo(f"{batch['rows_failed']} failed: GET {PATH}/{batch_id}/failures tells why", err=True)
    if wait and batch["state"] == "cancelled":
        raise ApiError(f"{batch_id} was cancelled: {batch['rows_ended']} of {batch['rows']} queries have ended")


class _Sink(Protocol):
    """Where results are written."""

    def write(self, piece: bytes, /) -> Any: ...

    def flush(self) -> None: ...


async def _opened(
    client: ApiClient, batch_id: str, output: Path | None, form: str, after: int
) -> AbstractContextManager[_Sink]:
    """What the results are written to; raises ApiError for a batch whose results have no known columns."""
    if output is None:
        return nullcontext(sys.stdout.buffer)
    if form not in TABLE_FILES:
        return output.open("ab" if after else "wb")
    name = (await client.ask("GET", f"{PATH}/{batch_id}"))["resource"]
    if name not in (known := all_resources()):
        raise ApiError(f"the columns of {name} are not known here: fetch the results with --format records")
    return table_file(output, form, known[name])


@dataclass
class _Results:
    """The results of a batch, on their way to a file."""

    path: str
    form: str
    file: _Sink
    after: int
    """The row up to which the file has them."""
    has_head: bool = False
    """Whether the names of columns are written."""


async def _follow(client: ApiClient, results: _Results, *, wait: bool) -> dict[str, Any]:
    """Write the results of a batch so far, or until it has ended; returns the batch as it is then."""
    said = ""
    with _bar(None, "ended", unit=" queries") as bar:
        while True:
            batch: dict[str, Any] = await client.ask("GET", results.path)
            bar.total = batch["rows"]
            bar.set_postfix_str(_progress(batch), refresh=False)
            bar.update(batch["rows_ended"] - bar.n)
            bar.refresh()
            if bar.disable and wait and (waiting := _waiting_text(batch)) != said:
                said = waiting
                click.echo(waiting, err=True, nl=bool(waiting))
            await _fetch_new(client, results)
            if batch["state"] in ENDS or not wait:
                return batch
            if batch["state"] == "paused" and batch["reason"] != GOES_ON:
                name = batch["id"]
                raise ApiError(f"{name} is paused: resume it, and fetch its results by `webdata batches results`")
            await asyncio.sleep(LOOK_SECONDS)


def _progress(batch: dict[str, Any]) -> str:
    shown = f"state={batch['state']}, failed={batch['rows_failed']}, cost={batch['cost']}"
    return ", ".join(filter(None, (shown, _waiting_text(batch))))


def _waiting_text(batch: dict[str, Any]) -> str:
    """What of a batch waits for another try, in words; empty where nothing does."""
    waiting = batch["waiting"]
    if waiting is None:
        return ""
    what = "1 query waits" if waiting["rows"] == 1 else f"{waiting['rows']:,} queries wait"
    return f"{what} for another try at {datetime.fromisoformat(waiting['next_try']).astimezone():%H:%M:%S}"


async def _fetch_new(client: ApiClient, results: _Results) -> None:
    """Write the results that the file does not have yet."""
    while True:
        following = await _fetch_page(client, results)
        if following is None or following == results.after:
            return
        results.after = following


async def _fetch_page(client: ApiClient, results: _Results) -> int | None:
    """Write one page of results; returns where the next begins, None after the last."""
    params = {"after": results.after, "limit": PAGE, "format": results.form}
    async with client.response("GET", f"{results.path}/results", params) as response:
        skip = results.form == "csv" and results.has_head  # its first line names the columns again
        results.has_head = True
        async for piece in response.content.iter_chunked(PIECE):
            rest = piece
            if skip:
                _, found, rest = piece.partition(b"\n")
                skip = not found
            results.file.write(rest)
        following = response.headers.get("x-next-after")
    results.file.flush()
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
