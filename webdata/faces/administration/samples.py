"""`webdata samples`: stored pages that no parser knows, or that lack something; `webdata report`: one for an issue."""

import json
import platform
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from webdata.config.config import Config
from webdata.crawling.samples import Samples
from webdata.faces.administration.docs_pages import DocumentedCommand, DocumentedGroup
from webdata.faces.administration.redaction import redacted_page
from webdata.faces.administration.tables import cut, print_table

REASON_WIDTH = 60
Found = tuple[dict[str, Any], bytes]


def sample_of(config: Config, sample_id: str) -> Found:
    """The facts and the page of a sample; raises UsageError that names where they are listed."""
    found = _folder(config).find(sample_id)
    if found is None:
        raise click.UsageError(f"there is no sample {sample_id!r}, or several: `webdata samples list` lists them")
    return found


def _folder(config: Config) -> Samples:
    if config.samples is None:
        raise click.UsageError("no samples are stored: give WEBDATA_SAMPLES a folder")
    return Samples(config.samples)


@click.group(cls=DocumentedGroup)
def samples() -> None:
    """Show the pages that were stored: of unknown layouts, and behind drifts."""


@samples.command("list")
@click.pass_obj
def list_samples(config: Config) -> None:
    """List the samples, the newest first."""
    rows = _folder(config).rows()
    if not rows:
        click.echo("There are no samples: every page had a layout that its parser knows.")
        return
    lines = [_line(row) for row in reversed(rows)]
    print_table(("sample", "time", "bytes", "reason"), lines)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    time = str(row.get("time", ""))[:16].replace("T", " ")
    return Path(row["file"]).stem, time, str(row.get("bytes", "")), cut(str(row.get("reason", "")), REASON_WIDTH)


@samples.command()
@click.argument("sample_id", metavar="ID")
@click.pass_obj
def show(config: Config, sample_id: str) -> None:
    """Print what is known of a sample: its query, its response and why it was stored."""
    facts, _ = sample_of(config, sample_id)
    click.echo(json.dumps(facts, indent=2, ensure_ascii=True))


@samples.command("open")
@click.argument("sample_id", metavar="ID")
@click.pass_obj
def open_sample(config: Config, sample_id: str) -> None:
    """Write a sample's page as it came into a pipe or a file. It is a stranger's: no browser should run it."""
    _, body = sample_of(config, sample_id)
    if sys.stdout.isatty():
        raise click.UsageError("a page may hold what terminals obey: give it to a pager or a file, such as | less")
    click.echo(body, nl=False)


@samples.command()
@click.argument("sample_id", metavar="ID")
@click.pass_obj
def redact(config: Config, sample_id: str) -> None:
    """Forget what a sample was searched for: its query, its URL and its headers. Its page stays as it came."""
    if not _folder(config).redact(sample_id):
        raise click.UsageError(f"there is no sample {sample_id!r}, or several: `webdata samples list` lists them")
    click.echo(f"Redacted {sample_id}.")


@click.command(cls=DocumentedCommand)
@click.argument("sample_id", metavar="ID")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where (default: ID.report.zip).")
@click.pass_obj
def report(config: Config, sample_id: str, output: Path | None) -> None:
    """Write a sample for a public issue: the structure of its page, with every text, address and script taken out."""
    facts, body = sample_of(config, sample_id)
    path = output or Path(f"{Path(facts['file']).stem}.report.zip")
    told = {name: facts.get(name) for name in ("engine", "resource", "status", "reason", "time", "bytes")}
    told |= {"webdata": version("webdata"), "python": platform.python_version()}
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as bundle:
            bundle.writestr("facts.json", json.dumps(told, indent=2) + "\n")
            bundle.writestr("page.txt", redacted_page(body))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}: give another -o") from error
    click.echo(f"{path}: read it before you attach it.")
