"""Pages that anybody may ask for who reaches the service: they need no key and are there until it has stopped."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webdata.api.params import Header
from webdata.api.replies import Reply

FRESH = {"cache-control": "no-store"}
"""Headers of what is true now only."""


@dataclass(frozen=True)
class OpenPage:
    """One such page; what it tells is harmless in any hands."""

    path: str
    summary: str
    reply: Callable[[Header], Reply | Awaitable[Reply]]
    """From the request's headers to what goes back; must be quick."""
    content_types: tuple[str, ...] = ("application/json",)
    """What it may come as."""
    statuses: tuple[int, ...] = (200,)
