"""What the rules ask of a store; every store passes the same tests.

Times are aware, in UTC. Times without a date, such as overlaps, are timedeltas.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

GroupBy = Literal["day", "engine", "key"]
"""What a usage is told by; an engine is told by the name of its endpoint, such as `web_search`."""

DEFAULT_ACCOUNT = "acc_default"
"""The id of the account that is there from the start, and has the keys that were made without one."""
TRIAL_CREDITS = 1000
"""What it begins with."""


@dataclass(frozen=True)
class Plan:
    """How fast the keys of an account may call: so many requests in so many seconds, so many in flight, each key."""

    name: str
    requests: int
    seconds: int
    in_flight: int


DEFAULT_PLAN = Plan("default", requests=60, seconds=60, in_flight=32)
"""The plan that is there from the start."""


@dataclass(frozen=True)
class Account:
    """Who pays: the owner of keys and credits."""

    id: str
    name: str
    plan: Plan
    created: datetime


@dataclass(frozen=True)
class Key:
    """Everything about an API key but its secret."""

    id: str
    name: str
    test: bool
    """A test key is answered from the sandbox, a live key from the internet (contract.md 7)."""
    created: datetime
    digest: str = field(repr=False)
    """The hash that the key is found by (see `webdata.access.api_keys.digest`)."""
    account_id: str = DEFAULT_ACCOUNT
    prefix: str = ""
    """The beginning of the secret, to tell keys apart by; empty where it was not kept."""
    scopes: frozenset[str] = frozenset()
    """The endpoints that it opens, such as `web_search`; empty for all."""
    expires: datetime | None = None
    """From when on it does not open."""
    revoked: datetime | None = None
    last_used: datetime | None = None
    """To the minute or so."""
    replaced_by: str | None = None
    """The id of the key that follows it."""


def rotatable(key_id: str, key: Key | None) -> Key:
    """A key that may be followed by another one; raises ValueError that says why it may not."""
    if key is None:
        raise ValueError(f"there is no key {key_id}")
    if key.revoked:
        raise ValueError(f"the key {key_id} is revoked: make a new one")
    if key.replaced_by:
        raise ValueError(f"the key {key_id} is followed by {key.replaced_by} already: rotate that one")
    return key


@dataclass(frozen=True)
class Caller:
    """Who calls, as of now."""

    key: Key
    account: Account
    balance: int
    """Credits that can be spent."""


@dataclass(frozen=True)
class Usage:
    """What an account used in one day (`2026-07-01`, in UTC), at one endpoint, or with one key (its id)."""

    group: str
    calls: int
    """Calls that ended."""
    credits: int
    """What they cost."""
    cached: int
    """Those among them that were answered from the cache."""
    released: int
    """Those among them that gave their credit back."""


class KeyStore(Protocol):
    """Keys by the digest of their secret; the secret itself is never kept."""

    async def add(self, key: Key) -> None:
        """Keep a key; raises ValueError if its id or digest is taken, or its account is not there."""
        ...

    async def find(self, digest: str) -> Caller | None:
        """Who calls with the key of this digest, as of now: what another process changed is seen at once.

        Keys that are revoked or expired are found too.
        """
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Close a key from then on; tells whether it was open. One that is revoked already stays as it is."""
        ...

    async def rotate(self, key_id: str, successor: Key, until: datetime) -> None:
        """Add the key that follows this one, which expires then, if not earlier.

        Raises ValueError if the key is not there, is revoked or was followed already.
        """
        ...

    async def touch(self, used: Mapping[str, datetime]) -> None:
        """Remember when keys, by id, were last used; an earlier time than the one known changes nothing."""
        ...

    async def all(self) -> list[Key]:
        """Every key, revoked ones too, oldest first."""
        ...


class AccountStore(Protocol):
    """Accounts and their plans. The account `default` and the plan `default` are there from the start."""

    async def add(self, account: Account) -> None:
        """Keep an account, without credits; raises ValueError if its id or name is taken, or its plan not there."""
        ...

    async def find(self, name: str) -> Account | None:
        """The account of this name or id."""
        ...

    async def all(self) -> list[Account]:
        """Every account, oldest first."""
        ...

    async def put_plan(self, plan: Plan) -> None:
        """Keep a plan; one of the same name is replaced, for all its accounts at once."""
        ...

    async def plans(self) -> list[Plan]:
        """Every plan, by name."""
        ...


class Ledger(Protocol):
    """Who has how many credits, and how that came about.

    Append-only double entry: every movement takes from one place what it gives to another, so all places together
    hold nothing, and a balance is the sum of its rows. What a method has done, but for `note`, is durable when it
    returns. Balances are never negative, whatever other processes do meanwhile.
    """

    async def credit(self, account_id: str, amount: int, note: str = "") -> int:
        """Give credits, or take them back where `amount` is negative; gives the balance after it.

        Raises OutOfCreditsError where there are fewer to take back, LookupError where there is no such account.
        """
        ...

    async def reserve(self, account_id: str, request_id: str, endpoint: str, key_id: str) -> int:
        """Set one credit aside for a call; gives the balance after it.

        Raises OutOfCreditsError where there is none, ValueError if the request was there before, LookupError where
        there is no such account. After any other error it is not known whether the credit is set aside: release it.
        """
        ...

    async def commit(self, request_id: str, outcome: str, *, cached: bool = False) -> int:
        """Spend the credit that is set aside for a call; gives the balance.

        Raises LookupError when none is: the call ended before, or was settled.
        """
        ...

    async def release(self, request_id: str, outcome: str) -> int:
        """Give back the credit that is set aside for a call; gives the balance after it. Raises as `commit`."""
        ...

    def note(
        self, account_id: str, request_id: str, endpoint: str, key_id: str, outcome: str, *, cached: bool = False
    ) -> None:
        """Note a call that costs nothing, such as one answered from the cache.

        Nobody waits for it: it is durable some 20 ms later, or lost, which the log tells, as with a request that was
        there before. A process that is killed loses the last ones.
        """
        ...

    async def flush(self) -> None:
        """Wait until what was noted is durable."""
        ...

    async def balance(self, account_id: str) -> int:
        """Credits that can be spent; raises LookupError where there is no such account."""
        ...

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        """What an account used from `since` to just before `until`, by group; groups without calls are left out."""
        ...

    async def settle(self, dead: Callable[[str], bool], before: datetime) -> int:
        """Release what processes that are dead had set aside, and what anybody had before that time; tells how much.

        `dead` is asked with the names of processes that ledgers were made with (see `webdata.stores.processes`).
        """
        ...

    def close(self) -> None:
        """Finish what was begun, and let go of everything."""
        ...


class LinkStore(Protocol):
    """Publishers' addresses by the news aggregator's ids, kept for ever: an id never changes its meaning.

    It spares fetches and is never needed for an answer: a store that fails says so in its log and finds nothing.
    """

    def find(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of those of the ids that are known."""
        ...

    def add(self, addresses: Mapping[str, str]) -> None:
        """Keep addresses by their ids; one that is there already stays as it is."""
        ...

    def close(self) -> None:
        """Let go of every connection."""
        ...


Refusal = Literal["requests", "in_flight"]
"""What a call may be too many of."""


@dataclass(frozen=True)
class Limit:
    """How a key stands with its plan, once a call of it was counted or refused. Times are in seconds from now."""

    plan: Plan
    remaining: int
    """Requests that may still be made at once."""
    reset: float
    """Until the oldest request of the window leaves it, so that there is room for one more than now."""
    refused: Refusal | None = None
    """What the call was one too many of; None for a call that may go on."""
    retry_after: float = 0
    """Until a refused call is worth another try."""


class LimitStore(Protocol):
    """How many requests each key made lately and has in flight.

    The window slides: a request counts for exactly `plan.seconds`. Refused calls count for nothing.
    """

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit | None:
        """Count a call that begins, unless it is refused; None while the store does not answer.

        It is in flight until `leave`, but no longer than the store's longest time for a call, where it has one.
        """
        ...

    async def leave(self, key_id: str, call_id: str) -> None:
        """End a call; one that was refused, or has ended before, changes nothing."""
        ...


class CacheStore(Protocol):
    """Bytes by their keys, for a while.

    Never needed for an answer: a store that fails says so in its log, finds nothing and keeps nothing.

    Processes that share a store take turns to bring what is not there, by owning its key. An owner is the name of a
    process.
    """

    shared: bool
    """Whether other processes may use it too."""

    async def get(self, key: str) -> bytes | None:
        """What was put under the key, unless its time is over or room was needed."""
        ...

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        """Keep bytes for so long, instead of what was under the key before."""
        ...

    async def claim(self, key: str, owner: str, seconds: float, beyond: float) -> bytes | bool:
        """What is kept under the key for more than `beyond` seconds from now, else whether the owner may bring it.

        One owner may at a time, until it releases the key or for so many seconds, which begin anew when it claims the
        key again. Everyone may in a store that fails, or that no other process shares.
        """
        ...

    async def release(self, key: str, owner: str) -> None:
        """Leave a key to the next who claims it; one that another owner has claimed meanwhile stays with that one."""
        ...
