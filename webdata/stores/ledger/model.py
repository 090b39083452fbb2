"""What people see of the ledger: movements, their sums, and usage. Times are aware, in UTC."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

Kind = Literal["credit", "reserve", "reprice", "commit", "release", "charge", "free"]
Bucket = Literal["issued", "balance", "reserved", "spent"]
GroupBy = Literal["day", "engine", "key"]
"""How usage is grouped; an engine is named by its endpoint, such as `web_search`."""


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


class Movement(NamedTuple):
    """One row of the ledger, immutable."""

    time: datetime
    kind: Kind
    account_id: str
    source: Bucket
    target: Bucket
    amount: int
    request_id: str | None = None
    key_id: str | None = None
    endpoint: str | None = None
    outcome: str | None = None
    cached: bool = False
    note: str = ""


@dataclass(frozen=True)
class MovementFilter:
    """Which movements are wanted."""

    kind: Kind | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Only movements that are earlier."""


class Cursor(NamedTuple):
    """The place of a movement in the ledger."""

    time: datetime
    id: int


class MovementSum(NamedTuple):
    """The movements of one kind out of one bucket."""

    kind: Kind
    source: Bucket
    movements: int
    amount: int

    @property
    def change(self) -> int:
        """How they have changed the balance."""
        if self.source == "balance":
            return -self.amount
        return 0 if self.kind == "commit" else self.amount


class AccountSums(NamedTuple):
    """The balance of an account, and the sums of all its movements, which add up to it."""

    balance: int
    sums: Sequence[MovementSum]
