"""What the API, the gateway and the dashboard know of each other: requests of people in a browser."""

from typing import Protocol

from webdata.accounts.access.invitations import DASHBOARD
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply

SECURE_COOKIES, PLAIN_COOKIES = "__Host-webdata-", "webdata-plain-"
"""The beginnings of the names of the dashboard's cookies by HTTPS, and by plain HTTP on loopback."""
OWN_COOKIES = (SECURE_COOKIES, PLAIN_COOKIES)
"""Names of cookies that are for nobody else."""
MOST_FORM = 65_536
"""Bytes of a form, which needs no key."""


def is_of_dashboard(path: str) -> bool:
    """Whether a path is one of the dashboard's."""
    return path == DASHBOARD or path.startswith(f"{DASHBOARD}/")


class Browsing(Protocol):
    """Answers requests of the dashboard's paths."""

    async def answer(self, incoming: Incoming) -> Reply:
        """The page, or another one that says what is wrong. Raises nothing."""
        ...
