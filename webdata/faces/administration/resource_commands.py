"""`webdata fetch`, `webdata search` and a command for each other resource: one call, over the API or in this process.

A command is made of its resource: the required parameters are its arguments, the others its options.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click
import orjson

from webdata.config.config import Config
from webdata.domain.query_schema import plain_description, resolved_schema
from webdata.faces.administration.api_client import Server, at_service, in_session, key_of
from webdata.faces.administration.command_names import resource_of
from webdata.faces.administration.result_tables import print_results
from webdata.faces.administration.single_calls import CallReply, asked_of_service
from webdata.resources import Resource, all_resources, example

OPTIONS = {"formats": "--format", "include": "--select"}
"""Options whose names differ from their field of the query: they are given once for each value."""
FIELD = "field_"
"""The beginning of the names of what is a field of the query, apart from the command's own options."""
EXITS = "Exit status: 0 found; 1 nothing found, blocked or failed; 2 wrong parameters; 130 interrupted."
FORMATS = "formats"
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def resource_command(name: str) -> click.Command:
    """The command of a resource, by its own name."""
    resource = all_resources()[resource_of(name)]
    query = resource.query
    arguments = [field for field in query.fields() if _is_argument(resource, field)]
    options = [field for field in query.fields() if field not in arguments]
    given = " ".join(json.dumps(str(value)) for field, value in example(resource).items() if field in arguments)
    return click.command(
        name,
        params=[*map(_argument, arguments), *(_option(resource, field) for field in options)],
        help=f"{resource.summary}.",
        epilog=f"Example: webdata {name} {given}\n\n{EXITS}\n\nMore: webdata docs command-line",
    )(_runner(resource))


def _is_argument(resource: Resource, field: str) -> bool:
    return resource.query.model_fields[field].is_required() and "enum" not in resolved_schema(resource.query, field)


def _argument(field: str) -> click.Argument:
    return click.Argument([f"{FIELD}{field}"], metavar=field.upper())


def _option(resource: Resource, field: str) -> click.Option:
    kind = resolved_schema(resource.query, field).get("type")
    flag = f"--{field.replace('_', '-')}"
    about = plain_description(resource.query, field)
    help_text = f"{about[:1].upper()}{about[1:]}."
    if kind == "boolean":
        negative = f"--no-{field.replace('_', '-')}"
        return click.Option([f"{flag}/{negative}", f"{FIELD}{field}"], default=None, help=help_text)
    return click.Option(
        [OPTIONS.get(field, flag), f"{FIELD}{field}"],
        multiple=kind == "array",
        type=str if kind in ("string", "integer", "number") else Json(),
        metavar="TEXT" if kind in ("string", "array") else "NUMBER" if kind in ("integer", "number") else "JSON",
        help=help_text,
    )


class Json(click.ParamType[Any]):
    """An object or a list as JSON; any other text is itself."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
            return value
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError as error:
            if value.lstrip().startswith("["):  # a selector such as [data-price] begins like a list
                return value
            return self.fail(f"{value!r} is no JSON: {error}", param, ctx)


def _runner(resource: Resource) -> Callable[..., None]:
    @click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file for the answer.")
    @click.option("--json", "shape", flag_value="json", help=_json_help(resource))
    @click.option("--local", is_flag=True, help="Fetch in this process, without a service and a key.")
    @click.option("--api-key", envvar="WEBDATA_KEY", hidden=True)
    @at_service
    @click.pass_context
    def run(
        context: click.Context,
        /,
        server: Callable[..., Server],
        api_key: str | None,
        local: bool,
        output: Path | None,
        shape: str | None,
        **given: Any,
    ) -> None:
        if output and shape == "table":
            raise click.UsageError("--table is for a terminal: leave it out, or leave -o out")
        values = _values(resource, given, as_json=shape == "json")
        reply = (
            _asked_here(context.obj, resource, values)
            if local
            else in_session(
                server(key=key_of(api_key)), lambda client: asked_of_service(client, resource, values), tries=1
            )
        )
        for remark in reply.remarks:
            click.echo(remark, err=True)
        _write(resource, values, reply, output, shape)
        if not reply.found:
            sys.exit(1)

    if resource.result_fields:
        return click.option("--table", "shape", flag_value="table", help="A table, as a terminal gets.")(run)
    return run


def _json_help(resource: Resource) -> str:
    return "A line of JSON, as a file or a pipe gets." if resource.result_fields else "The answer as a line of JSON."


def _values(resource: Resource, given: Mapping[str, Any], *, as_json: bool) -> dict[str, Any]:
    """The fields of the query that were given, and those that are required and were not, by their example."""
    named = {name.removeprefix(FIELD): value for name, value in given.items() if value not in (None, ())}
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in named.items()}
    if as_json and resource.text_type and FORMATS not in values:
        values[FORMATS] = ["markdown"]
    return {**example(resource), **values}


def _asked_here(config: Config, resource: Resource, values: Mapping[str, Any]) -> CallReply:
    from webdata.faces.administration.local_calls import asked_here  # noqa: PLC0415  # it installs a reactor

    return asked_here(config, resource, values)


def _write(
    resource: Resource, values: Mapping[str, Any], reply: CallReply, output: Path | None, shape: str | None
) -> None:
    if output:
        _write_file(output, _text(values, reply, shape))
    elif resource.result_fields and (shape or ("table" if sys.stdout.isatty() else "json")) == "table":
        print_results(resource, orjson.loads(reply.body), get_terminal_size().columns)
    else:
        text = _text(values, reply, shape)
        shown = _without_controls(text) if sys.stdout.isatty() else text
        click.echo(shown, nl=not shown.endswith(b"\n"))


def _write_file(path: Path, text: bytes) -> None:
    try:
        path.write_bytes(text)
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from error


def _without_controls(text: bytes) -> bytes:
    """Text without the characters of a page that a terminal would obey."""
    return CONTROLS.sub("\ufffd", text.decode("utf-8", "replace")).encode()


def _text(values: Mapping[str, Any], reply: CallReply, shape: str | None) -> bytes:
    """The body, or the only text that was asked for in it."""
    formats = values.get(FORMATS, ())
    if shape != "json" and len(formats) == 1:
        found = orjson.loads(reply.body).get(formats[0])
        if isinstance(found, str):
            return found.encode()
    return reply.body
