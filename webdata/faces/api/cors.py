"""Calls from pages of other origins, in a browser (https://fetch.spec.whatwg.org/#http-cors-protocol).

The only credential is a header that a page has to have, so any page may call. Pages for people are not among what may
be called.
"""

import re
from collections.abc import Callable, Collection

from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import NONE, Reply

METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH")
"""The methods of the API, beside HEAD; a route without one of them answers 405."""
MAX_AGE = 7200
"""Seconds for which a browser need not ask again; the most that Chromium heeds."""
NAMES = re.compile(r"[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*", re.ASCII)
VARY = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"


class Cors:
    """Who may call from a browser, and what.

    `origins` may be `*` alone; `exposed` are the response headers that pages can read; `is_closed` says of a path that
    other origins cannot call it.
    """

    def __init__(self, origins: Collection[str], exposed: Collection[str], is_closed: Callable[[str], bool]) -> None:
        self._origins = frozenset(origins)
        self._exposed = ", ".join(exposed)
        self._is_closed = is_closed

    def headers(self, incoming: Incoming) -> dict[str, str]:
        """The headers of a response to a page of the request's origin."""
        origin = incoming.header("origin")
        if not origin or not self._opens(incoming.path) or incoming.method == "OPTIONS":
            return {}
        allowed = self._allowed(origin)
        return {"vary": "Origin", **({**allowed, "access-control-expose-headers": self._exposed} if allowed else NONE)}

    def preflight(self, incoming: Incoming) -> Reply | None:
        """The answer to the question of a browser whether a page may send a request; None if it is no such question."""
        if not self._asks(incoming):
            return None
        headers = {"vary": VARY}
        if allowed := self._allowed(incoming.header("origin")):
            headers |= {**allowed, "access-control-allow-methods": ", ".join(("HEAD", *METHODS))}
            headers["access-control-max-age"] = str(MAX_AGE)
            asked = incoming.header("access-control-request-headers")
            if asked and NAMES.fullmatch(asked):
                headers["access-control-allow-headers"] = asked
        return Reply(200, b"", headers)

    def _asks(self, incoming: Incoming) -> bool:
        if incoming.method != "OPTIONS" or not self._opens(incoming.path):
            return False
        return bool(incoming.header("origin") and incoming.header("access-control-request-method"))

    def _opens(self, path: str) -> bool:
        return bool(self._origins) and not self._is_closed(path)

    def _allowed(self, origin: str | None) -> dict[str, str]:
        if "*" in self._origins:
            return {"access-control-allow-origin": "*"}
        return {"access-control-allow-origin": origin} if origin and origin in self._origins else {}
