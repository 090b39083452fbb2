"""Attempts: each is one try to fetch a page, by a transport and through a proxy."""

from typing import Literal, TypedDict

Transport = Literal["http", "impersonate", "browser"]
TRANSPORTS: tuple[Transport, ...] = ("http", "impersonate", "browser")
"""How a page may be fetched, the cheapest transport first."""


class Attempt(TypedDict):
    """One try to fetch a page, once it has ended."""

    engine: str
    transport: Transport
    proxy: str | None
    """Its label; never its address."""
    outcome: str
    kind: str | None
    """What narrows the outcome down, such as `captcha`."""
    seconds: float
