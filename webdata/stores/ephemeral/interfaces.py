"""The interfaces of the stores of limits and cached answers. All that implement one pass the same tests."""

from dataclasses import dataclass
from typing import Literal, Protocol

from webdata.stores.accounts.model import Plan

Refusal = Literal["requests", "in_flight"]
"""The limit that a refused call exceeds."""


@dataclass(frozen=True)
class Limit:
    """The limit of a key after a call was counted or refused. Times are in seconds from now."""

    plan: Plan
    remaining: int
    """Requests that are allowed at once."""
    reset: float
    """Until the oldest request leaves the window, which allows one more."""
    refused: Refusal | None = None
    """The limit that the call exceeds; None for a call that is admitted."""
    retry_after: float = 0
    """Until a refused call should be tried again."""


class LimitStore(Protocol):
    """The recent requests and the calls in flight of each key.

    The window slides: a request counts for exactly `plan.seconds`. Refused calls are not counted.
    """

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit | None:
        """Count a call that begins, unless it is refused; None while the store is away.

        The call is in flight until `leave`, or until the store's longest time for a call, if it has one.
        """
        ...

    async def leave(self, key_id: str, call_id: str) -> None:
        """End a call; a call that was refused or has ended before changes nothing."""
        ...


class CacheStore(Protocol):
    """Bytes by key that expire.

    No answer depends on it: a store that fails logs the error, returns nothing and stores nothing.

    Processes that share a store fill a missing key one at a time: the owner of the key, named by its process, fetches
    the value, and the others wait for it.
    """

    shared: bool
    """Whether other processes may use it too."""

    async def get(self, key: str) -> bytes | None:
        """The value of the key, unless it has expired or was evicted."""
        ...

    def takes(self, size: int) -> bool:
        """Whether a value of so many bytes is stored."""
        ...

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        """Store a value for some seconds, if it is not too large; it replaces the one before."""
        ...

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        """The value that stays for more than `beyond` seconds; without one, whether the owner may fill the key.

        One owner may at a time, until it releases the key or its claim expires after `seconds`; it may renew the claim.
        In a store that fails or is not shared every owner may.
        """
        ...

    async def release(self, key: str, owner: str) -> None:
        """Give up a key, unless another owner has claimed it meanwhile."""
        ...
