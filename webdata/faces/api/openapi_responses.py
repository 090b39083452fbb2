"""The responses of the OpenAPI document: headers, records, and one error body for every status."""

from http import HTTPStatus
from typing import Any, get_args

from webdata.domain.attempts import TRANSPORTS
from webdata.domain.outcome import Outcome
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.openapi_schemas import component_name, reference
from webdata.faces.api.problems import BAD_REQUEST, KINDS
from webdata.faces.api.replies import PHASES
from webdata.resources import Resource
from webdata.runtime.server.replies import JSON, PROBLEM_JSON
from webdata.stores.answers.model import PageState

UNAUTHORIZED = 401
METHOD_NOT_ALLOWED, TOO_SLOW, CONFLICT, PAYLOAD_TOO_LARGE, UNPROCESSABLE, BAD_GATEWAY = 405, 408, 409, 413, 422, 502
GATEWAY_STATUSES = (501, 504)
"""Statuses that only the gateway has."""
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "format": "date-time"}

HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "x-request-id": (
        {"type": "string", "pattern": "^req_[0-9A-HJKMNP-TV-Z]{26}$"},
        "The id of this request, also in the service's log.",
    ),
    "x-outcome": ({"type": "string", "enum": list(Outcome)}, "How the fetch ended, by positive evidence."),
    "x-transport": ({"type": "string", "enum": list(TRANSPORTS)}, "How the page was fetched."),
    "x-engine": (TEXT, "The name of the engine that answered, such as `google_web`."),
    "x-missing-parts": (
        TEXT,
        "Only from an engine that cannot know all: the parts of the record that are empty for it, such as `places`.",
    ),
    "x-region-mode": (
        {"type": "string", "enum": ["proxy", "parameters"]},
        "How the site was given the region: the call went out from there, or by parameters alone.",
    ),
    "x-partial": (
        TEXT,
        (
            "Only with an incomplete record: `atom` from a feed, `html` from a page of a forum, `scripts` without the "
            "content that scripts would add, "
            "`items:2` where two items of the page could not be read, or had characters that no text has."
        ),
    ),
    "x-ignored-params": (TEXT, "Keys and headers of the request without effect."),
    "x-adjusted-params": (TEXT, "Parameters above their bound, with the bound that was used instead: `num=100`."),
    "server-timing": (
        TEXT,
        f"Milliseconds of {', '.join(PHASES)}; then all attempts, with their engine.",
    ),
    "x-cache": (
        {"type": "string", "enum": ["HIT", "MISS", "STALE"]},
        "`HIT`: from the cache, or by another caller's fetch. `STALE`: expired, as the fetch failed. `MISS`: fetched.",
    ),
    "age": (COUNT, "Seconds since an answer that is not a `MISS` was fetched."),
    "x-archived-until": (TIME, "Only of an answer that is archived: until when `GET /v1/answers` gives it again."),
    "x-archived-page": (
        {"type": "string", "enum": list(get_args(PageState))},
        "Only of an answer that is archived: whether its page is, too; else why not.",
    ),
    "x-not-archived": (TEXT, "Why an answer that was to be archived is not."),
    "x-credits-cost": ({"type": "integer", "enum": [0, 1]}, "Credits that this call has cost; test keys pay nothing."),
    "x-credits-remaining": (COUNT, "Credits that the account has left."),
    "x-ratelimit-requests-limit": (COUNT, "Requests that the key may make in a window."),
    "x-ratelimit-requests-remaining": (COUNT, "Requests that it may make now."),
    "x-ratelimit-requests-reset": (COUNT, "Seconds until there is room for one more."),
    "ratelimit-policy": (TEXT, 'The limit, by the IETF\'s draft: `"requests";q=60;w=60`.'),
    "ratelimit": (TEXT, 'What is left of it: `"requests";r=59;t=60`.'),
    "retry-after": ({"type": "integer", "minimum": 1}, "Seconds after which to try again."),
    "www-authenticate": (TEXT, "The scheme by which a key may be sent, beside `X-Api-Key`."),
}
"""The schema and the description of every header, by its name in lower case."""
ACCOUNT_HEADERS = (
    "x-credits-cost",
    "x-credits-remaining",
    "x-ratelimit-requests-limit",
    "x-ratelimit-requests-remaining",
    "x-ratelimit-requests-reset",
    "ratelimit-policy",
    "ratelimit",
)
"""The credits and the rate limit of the account: headers of every response to a valid key."""
ARCHIVE_HEADERS = ("x-archived-until", "x-archived-page", "x-not-archived")
"""The headers of answers that are archived, or were to be."""
REQUIRED = ("x-request-id", "x-outcome", "x-engine", "x-transport", "x-cache", *ACCOUNT_HEADERS)
"""The headers of every record."""
RECORD_HEADERS = (
    *REQUIRED,
    "age",
    "x-region-mode",
    "x-partial",
    "x-missing-parts",
    "x-ignored-params",
    "x-adjusted-params",
    "server-timing",
    *ARCHIVE_HEADERS,
)
"""All headers of records."""
RETRY_STATUSES = (429, 502, 503)
"""Statuses that may have `Retry-After`; a 502 has the site's."""
FETCH_STATUSES = (404, 502)
"""Statuses of a failed fetch, which may have FETCH_HEADERS."""
FETCH_HEADERS = ("x-outcome", "x-transport", "x-cache", "x-region-mode", "server-timing")
"""The headers that describe a fetch."""
UNAUTHENTICATED = (METHOD_NOT_ALLOWED, TOO_SLOW, PAYLOAD_TOO_LARGE)
"""Statuses of requests that are refused before their key is checked."""
PLAIN_HTTP = (308, 403)
"""Statuses of the port of plain HTTP, which is not in the document."""

CODES = {
    status: {code: title for code, (its_status, title) in KINDS.items() if its_status == status}
    for status in sorted({status for status, _ in KINDS.values()}.difference(PLAIN_HTTP))
}
"""The codes and titles of each status of an error."""


def header_components() -> dict[str, Any]:
    """The headers of records, by name."""
    return {name: _header(name, required=name in REQUIRED) for name in RECORD_HEADERS}


def record_response(resource: Resource) -> dict[str, Any]:
    """The response with a record, or its text."""
    record = reference("schemas", component_name((resource.name, None), [resource.name]))
    text = {resource.text_type: {"schema": TEXT}} if resource.text_type else {}
    files: dict[str, Any] = {media_type: {"schema": {}} for media_type in resource.media_types}
    return {
        "description": "The record. An empty one is true: the site itself says that nothing was found.",
        "headers": {name: reference("headers", name) for name in RECORD_HEADERS} | _further(resource.text_headers),
        "content": {JSON: {"schema": record}} | text | files,
    }


def _further(headers: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {name: {"description": f"{description}.", "schema": TEXT} for name, description in headers}


def page_responses(page: KeyPage) -> dict[str, Any]:
    """The responses of a page about the caller, by status."""
    names = ("x-request-id", *ACCOUNT_HEADERS, "x-ignored-params")
    success = {
        "description": f"{page.summary[0].upper()}{page.summary[1:]}.",
        "headers": {name: reference("headers", name) for name in names} | _further(page.headers),
        "content": {name: {"schema": TEXT} for name in page.content_types} or {JSON: {"schema": page.schema}},
    }
    never = {METHOD_NOT_ALLOWED, BAD_GATEWAY, *GATEWAY_STATUSES}
    never |= set() if page.own_body else {BAD_REQUEST}
    never |= set() if page.conflicts else {CONFLICT}
    never |= set() if page.own_body or page.has_body else {PAYLOAD_TOO_LARGE}
    errors = [status for status in CODES if status not in never]
    return {str(page.status): success, **{str(status): reference("responses", error_name(status)) for status in errors}}


def error_responses(resource: Resource) -> dict[str, Any]:
    """References to the possible errors of a call, by status."""
    return {str(status): reference("responses", error_name(status)) for status in error_statuses(resource)}


def error_statuses(resource: Resource) -> list[int]:
    """The statuses of the possible errors of a call, in order, without that of a wrong method."""
    never = {METHOD_NOT_ALLOWED, CONFLICT, *GATEWAY_STATUSES}
    if resource.method == "GET":
        never.add(PAYLOAD_TOO_LARGE)
    if resource.bad_query_status == BAD_REQUEST and not resource.text_type:
        never.add(UNPROCESSABLE)
    return [status for status in CODES if status not in never]


def error_name(status: int) -> str:
    """The component name of an error status, such as `BadGateway`."""
    return HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")


def error_components() -> dict[str, Any]:
    """The errors of all statuses, by component name."""
    return {error_name(status): _error(status) for status in CODES}


def _error(status: int) -> dict[str, Any]:
    return {
        "description": "; ".join(f"`{code}`: {title}" for code, title in CODES[status].items()),
        "headers": _error_headers(status),
        "content": {media_type: {"schema": reference("schemas", "Error")} for media_type in (JSON, PROBLEM_JSON)},
    }


def _error_headers(status: int) -> dict[str, Any]:
    fetch = FETCH_HEADERS if status in FETCH_STATUSES else ()
    challenge = ("www-authenticate",) if status == UNAUTHORIZED else ()
    names = (*fetch, *challenge, *(() if status in UNAUTHENTICATED else (*ACCOUNT_HEADERS, "x-not-archived")))
    optional = {name: _header(name, required=False) for name in names}
    return {"x-request-id": _header("x-request-id", required=True), **optional, **retry_header(status)}


def retry_header(status: int) -> dict[str, Any]:
    """The `Retry-After` of a status that may have it."""
    return {"retry-after": _header("retry-after", required=False)} if status in RETRY_STATUSES else {}


def _header(name: str, *, required: bool) -> dict[str, Any]:
    values, description = HEADERS[name]
    return {"description": description, "required": required, "schema": values}
