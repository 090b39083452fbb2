"""The interfaces of the stores. All implementations of an interface pass the same tests.

Times are aware, in UTC.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

GroupBy = Literal["day", "engine", "key"]
"""How usage is grouped; an engine is named by its endpoint, such as `web_search`."""

DEFAULT_ACCOUNT = "acc_default"
"""The id of the account of a new database, which owns the keys that are made without an account."""
TRIAL_CREDITS = 1000
"""The credits it starts with."""


@dataclass(frozen=True)
class Plan:
    """The rate limit of each key of an account: `requests` in any `seconds`, and calls in flight at once."""

    name: str
    requests: int
    seconds: int
    in_flight: int
    low_credits: int = 100
    """Credits at which an account gets the event `credits.low`; 0 for never."""


DEFAULT_PLAN = Plan("default", requests=60, seconds=60, in_flight=32)
"""The plan of a new database."""


@dataclass(frozen=True)
class Account:
    """The owner of keys and credits."""

    id: str
    name: str
    plan: Plan
    created: datetime
    closed: datetime | None = None
    """When it was deleted: its keys are revoked and it has no members, and its ledger stays."""


@dataclass(frozen=True)
class Key:
    """An API key without its secret."""

    id: str
    name: str
    test: bool
    """A test key is answered from the sandbox, a live key from the internet (docs/api.md)."""
    created: datetime
    digest: str = field(repr=False)
    """The hash of the secret (see `webdata.access.api_keys.digest`)."""
    account_id: str = DEFAULT_ACCOUNT
    prefix: str = ""
    """The beginning of the secret, to recognise a key by; empty where it was not stored."""
    scopes: frozenset[str] = frozenset()
    """The endpoints that the key may call, such as `web_search`; empty for all."""
    expires: datetime | None = None
    """The key is refused from this time on."""
    revoked: datetime | None = None
    last_used: datetime | None = None
    """To the minute or so."""
    replaced_by: str | None = None
    """The id of its successor."""


def rotatable(key_id: str, key: Key | None) -> Key:
    """The key, if it may be replaced by another one; else raises ValueError with the reason."""
    if key is None:
        raise ValueError(f"there is no key {key_id}")
    if key.revoked:
        raise ValueError(f"the key {key_id} is revoked: make a new one")
    if key.replaced_by:
        raise ValueError(f"the key {key_id} is followed by {key.replaced_by} already: rotate that one")
    return key


@dataclass(frozen=True)
class Caller:
    """The key of a call with its account, at the time of the look-up."""

    key: Key
    account: Account
    balance: int
    """Credits that can be spent."""


@dataclass(frozen=True)
class Usage:
    """What an account used in one group: a day (`2026-07-01`, in UTC), an endpoint, or a key (its id)."""

    group: str
    calls: int
    """Calls that ended."""
    credits: int
    """Credits spent."""
    cached: int
    """Calls that were answered from the cache."""
    released: int
    """Calls whose credit was released."""


class KeyStore(Protocol):
    """API keys by the digest of their secret; the secret itself is not stored."""

    async def add(self, key: Key) -> None:
        """Add a key; raises ValueError if its id or digest is taken, or its account does not exist."""
        ...

    async def find(self, digest: str) -> Caller | None:
        """The caller with the key of this digest, also a revoked or expired key.

        Changes by other processes are visible at once.
        """
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key from a time on; returns False, and changes nothing, if it does not exist or is revoked."""
        ...

    async def rotate(self, key_id: str, successor: Key, until: datetime) -> None:
        """Add the successor of a key, which expires at `until`, if not earlier.

        Raises ValueError if the key does not exist, is revoked or has a successor.
        """
        ...

    async def touch(self, used: Mapping[str, datetime]) -> None:
        """Set the last use of keys, by id, unless the stored time is later."""
        ...

    async def all(self) -> list[Key]:
        """Every key, also revoked ones, oldest first."""
        ...

    async def of(self, account_id: str) -> list[Key]:
        """Every key of an account, also revoked ones, oldest first."""
        ...


class AccountStore(Protocol):
    """Accounts and their plans. A new database has the account `default` and the plan `default`."""

    async def add(self, account: Account) -> None:
        """Add an account without credits; raises ValueError if its id or name is taken, or its plan does not exist."""
        ...

    async def find(self, name: str) -> Account | None:
        """The account of this name or id."""
        ...

    async def all(self) -> list[Account]:
        """Every account, oldest first."""
        ...

    async def change(self, account_id: str, *, name: str | None = None, plan: str | None = None) -> None:
        """Change the name or the plan of an account; raises ValueError if the name is taken, or there is no such plan.

        An account that does not exist changes nothing.
        """
        ...

    async def delete(self, account_id: str, at: datetime) -> None:
        """Revoke the keys of an account, remove its members and webhooks, and close it; its ledger stays."""
        ...

    async def put_plan(self, plan: Plan) -> None:
        """Add a plan, or replace the one of this name for all its accounts at once."""
        ...

    async def plans(self) -> list[Plan]:
        """Every plan, by name."""
        ...


class Ledger(Protocol):
    """The credits of accounts, with every movement.

    Append-only double entry: each movement takes an amount from one bucket and adds it to another, so that all buckets
    add up to zero and a balance is the sum of its movements. Writes, except `note`, are durable when a method returns.
    Balances are never negative, also with several processes.
    """

    async def credit(self, account_id: str, amount: int, note: str = "") -> int:
        """Give credits, or take them back where `amount` is negative; returns the new balance.

        Raises OutOfCreditsError where the balance is too small to take them back, LookupError for an unknown account.
        """
        ...

    async def reserve(self, account_id: str, request_id: str, endpoint: str, key_id: str) -> int:
        """Reserve one credit for a call; returns the new balance.

        Raises OutOfCreditsError where there is none, ValueError for a request that was recorded before, LookupError for
        an unknown account. After any other error it is unknown whether the credit is reserved: release it.
        """
        ...

    async def commit(self, request_id: str, outcome: str, *, cached: bool = False) -> int:
        """Spend the reserved credit of a call; returns the balance.

        Raises LookupError where no credit is reserved: the call has ended before, or was settled.
        """
        ...

    async def release(self, request_id: str, outcome: str) -> int:
        """Return the reserved credit of a call to the balance; returns the new balance. Raises as `commit`."""
        ...

    def note(
        self, account_id: str, request_id: str, endpoint: str, key_id: str, outcome: str, *, cached: bool = False
    ) -> None:
        """Queue the record of a call that costs nothing, such as one answered from the cache.

        It is durable some 20 ms later. A record that cannot be written, also of a request that was recorded before, is
        logged as an error and dropped; a process that is killed loses its queue.
        """
        ...

    async def flush(self) -> None:
        """Wait until the queued records are durable."""
        ...

    async def balance(self, account_id: str) -> int:
        """Credits that can be spent; raises LookupError for an unknown account."""
        ...

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        """What an account used from `since` to just before `until`, by group, without empty groups."""
        ...

    async def settle(self, dead: Callable[[str], bool], before: datetime) -> int:
        """Release the reservations of dead processes, and all that are older than `before`; returns how many.

        `dead` is called with names of processes (see `webdata.stores.processes`).
        """
        ...

    def close(self) -> None:
        """Take no more records; `flush` before, or queued ones are lost."""
        ...


class LinkStore(Protocol):
    """Publishers' addresses by the ids of the news aggregator. They do not expire: an id never changes its meaning.

    It saves fetches, but no answer depends on it: a store that fails logs the error and returns nothing.
    """

    def find(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of the ids that are stored."""
        ...

    def add(self, addresses: Mapping[str, str]) -> None:
        """Add addresses by their ids; an id that is stored already keeps its address."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


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
