"""One call of a resource over the API, with the values of its query by their fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import click
import orjson

from webdata.domain.outcome import Outcome
from webdata.faces.administration.api_client import ApiClient, ApiError
from webdata.resources import Resource

JSON_BODY = {"Content-Type": "application/json"}
WRONG_PARAMETERS = (400, 422)
WORST_STATUS = 400
"""From which on a page's own status is told."""


class ParametersError(ApiError):
    """What is wrong with the parameters of a call: bad usage, as of any command."""

    exit_code = 2


def call_error(message: str, status: int) -> ApiError:
    """The error of a call with this status."""
    return ParametersError(message, status) if status in WRONG_PARAMETERS else ApiError(message, status)


@dataclass(frozen=True)
class CallReply:
    """The answer to a call."""

    body: bytes
    headers: Mapping[str, str]

    @property
    def found(self) -> bool:
        """Whether there is what was asked for."""
        return self.headers.get("x-outcome", Outcome.OK) == Outcome.OK

    @property
    def remarks(self) -> list[str]:
        """What its caller should know beside it."""
        return list(_remarks(self.headers))


def _remarks(headers: Mapping[str, str]) -> Iterator[str]:
    if adjusted := headers.get("x-adjusted-params"):
        yield f"taken instead of a larger number: {adjusted}"
    if ignored := headers.get("x-ignored-params"):
        yield f"without effect: {ignored}"
    if (outcome := headers.get("x-outcome", Outcome.OK)) != Outcome.OK:
        yield f"the outcome is {outcome}"
    if int(headers.get("x-upstream-status", 0)) >= WORST_STATUS:
        yield f"the page itself has the status {headers['x-upstream-status']}"
    if cursor := headers.get("x-next-cursor"):
        yield f"there is more: --cursor {cursor}"


async def asked_of_service(client: ApiClient, resource: Resource, values: Mapping[str, Any]) -> CallReply:
    """The reply of a service; raises ApiError."""
    keys = frozenset(resource.query.keys())
    in_headers = {name: header for name, header in resource.query.header_names().items() if name not in keys}
    headers = {header: str(values[name]) for name, header in in_headers.items() if name in values}
    if wrong := [header for header, value in headers.items() if not value.isprintable()]:
        raise click.UsageError(f"{wrong[0]} cannot have control characters: leave them out")
    sent = {name: value for name, value in values.items() if name in keys}
    if resource.method == "POST":
        body = orjson.dumps(sent)
        request = client.response("POST", resource.path, None, lambda: body, {**headers, **JSON_BODY})
    else:
        in_path = {segment: quote(str(values[name]), safe="") for segment, name in resource.segments.items()}
        params = {name: _as_text(sent[name]) for name in sent if name not in resource.segments.values()}
        request = client.response("GET", resource.path.format(**in_path), params, None, headers)
    try:
        async with request as response:
            return CallReply(await response.read(), {name.lower(): value for name, value in response.headers.items()})
    except ApiError as error:
        raise call_error(error.message, error.status) from error


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
