"""From a request to the handler of its route on a Klein app."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache
from typing import Any, cast

from klein import Klein

from webdata.runtime.server.incoming import LONGEST_READ, Incoming
from webdata.runtime.server.replies import Reply

MOST_ROUTED = 1000
"""Paths that are remembered with their routes."""


class Routes:
    """The routes of a Klein app, all of which are declared.

    In the place of `KleinResource`, whose `render` costs 45 us a request: the app's own URL map is bound once and its
    matches are remembered.
    """

    def __init__(self, app: Klein) -> None:
        self._app = app
        self._match = app.url_map.bind("any-host").match
        self._remembered = lru_cache(MOST_ROUTED)(self._match)

    def match(self, path: str, method: str) -> tuple[str, Mapping[str, Any]]:
        """The endpoint of a request and the named segments of its path; raises Werkzeug's HTTPException."""
        match = self._remembered if len(path) <= LONGEST_READ else self._match
        return match(path, method)

    def start(self, endpoint: str, incoming: Incoming, segments: Mapping[str, Any]) -> "asyncio.Task[Reply | None]":
        """Start the endpoint's handler, which was declared with `as_task`."""
        task = self._app.execute_endpoint(endpoint, incoming, **segments)  # type: ignore[arg-type]  # any request
        return cast("asyncio.Task[Reply | None]", task)


def as_task(handler: Callable[..., Coroutine[Any, Any, Reply | None]]) -> Callable[..., Any]:
    """A handler for a Klein route, which starts a task that goes on to its end when the caller hangs up.

    Klein itself would drive a coroutine by `ensureDeferred`, in which nothing of asyncio's can be awaited.
    """

    def start(incoming: Incoming, **segments: str) -> asyncio.Task[Reply | None]:
        return asyncio.get_running_loop().create_task(handler(incoming, **segments))

    return start
