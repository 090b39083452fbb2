"""Pages without a key, which are answered until the service has stopped."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webdata.accounts.access.api_keys import Header
from webdata.runtime.server.replies import Reply

FRESH = {"cache-control": "no-store"}
"""Headers of a page that is true now only."""


@dataclass(frozen=True)
class OpenPage:
    """One such page; it holds nothing that could do harm."""

    path: str
    summary: str
    """Empty for a file of another page, which is not listed in the index."""
    reply: Callable[[Header], Reply | Awaitable[Reply]]
    """From the request's headers to the reply; must be quick."""
    content_types: tuple[str, ...] = ("application/json",)
    """Its media types."""
    statuses: tuple[int, ...] = (200,)
