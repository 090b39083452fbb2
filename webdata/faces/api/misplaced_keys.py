"""API keys that callers send in the URL or the body of a request, where none belongs: a URL ends in logs."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

import orjson

from webdata.accounts.access.api_keys import LOOKS, is_key
from webdata.domain.api_key import AUTHORIZATION, HEADERS
from webdata.domain.errors import UnauthorizedError
from webdata.domain.query import decode
from webdata.runtime.server.incoming import Incoming

NAMES = re.compile(r"(?:x-?)?(?:(?:api|access|auth|secret)-?)?(?:key|token)|authorization|auth|bearer|api-?secret")
"""Names of parameters, with hyphens for underscores, in which clients of other services send their key."""
MOST_READ = 65_536
"""Bytes of a body that are searched; one with a key in it is short."""
RIGHT = f"send it in the header {HEADERS[0]}, or as {AUTHORIZATION}: Bearer KEY"


def check_places(incoming: Incoming) -> None:
    """Raise UnauthorizedError for a key in a parameter of the URL, or in a member of a JSON body.

    Where no header has a key, also for what is no key of this service but is called so.
    """
    has_header = any(map(incoming.headers.hasHeader, (*HEADERS, AUTHORIZATION)))
    if has_header and not incoming.has_key and b"wd_" not in incoming.body[:MOST_READ]:
        return
    for place, value in _called_keys(incoming):
        if is_key(value):
            raise UnauthorizedError(
                f"An API key is in {place}, where it does not belong: {RIGHT}. One in a URL ends in logs: have it "
                "replaced (`webdata keys rotate`)."
            )
        if not has_header:
            raise UnauthorizedError(
                f"The API key is missing: {place} is no place for one. Make it a header, and {RIGHT}; {LOOKS}."
            )


def _called_keys(incoming: Incoming) -> Iterator[tuple[str, str]]:
    """The places in the URL and the body whose names say that they hold a key, and their values."""
    for part in re.split(r"[/?&]", f"{incoming.path}?{incoming.query}"):
        name, equals, value = part.partition("=")
        if equals and _is_name(decode(name)):
            yield f"the parameter {decode(name)} of the URL", decode(value).strip()
    for name, value in _members(incoming.body).items():
        if isinstance(value, str) and _is_name(name):
            yield f"the member {name} of the body", value.strip()


def _is_name(text: str) -> bool:
    return NAMES.fullmatch(text.strip().lower().replace("_", "-")) is not None


def _members(body: bytes) -> dict[str, object]:
    """The members of a JSON object; none for another body."""
    if not body or len(body) > MOST_READ:
        return {}
    try:
        members = orjson.loads(body.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError:
        return {}
    return members if isinstance(members, dict) else {}
