"""The rules of the ledger: how each operation changes balances and reservations. No I/O.

A movement transfers an amount between two buckets of an account:

    credit   issued → balance      credits given to the account (balance → issued: taken back)
    reserve  balance → reserved    one credit, reserved for a call
    reprice  balance → reserved    what the call costs more by the engine that is asked (reserved → balance: less)
    commit   reserved → spent
    release  reserved → balance
    charge   balance → spent       what a row of a batch costs, spent at once
    free     balance → spent       zero: a call that cost no credit
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from webdata.domain.errors import OutOfCreditsError
from webdata.stores.ledger.model import Bucket, Kind, Movement


class Reservation(NamedTuple):
    """Credits reserved for a call that runs."""

    request_id: str
    account_id: str
    key_id: str
    endpoint: str
    process: str
    """The process that runs the call (see `webdata.runtime.process.names`)."""
    time: datetime
    amount: int = 1


class Credit(NamedTuple):
    """Give credits; take them back where `amount` is negative."""

    time: datetime
    account_id: str
    amount: int
    note: str


class Reserve(NamedTuple):
    """Reserve a credit."""

    reservation: Reservation


class Reprice(NamedTuple):
    """Have so many credits reserved for a call."""

    time: datetime
    request_id: str
    amount: int


class End(NamedTuple):
    """Spend a reserved credit, or return it to the balance."""

    time: datetime
    request_id: str
    kind: Literal["commit", "release"]
    outcome: str


class Free(NamedTuple):
    """Record a call that costs nothing."""

    time: datetime
    account_id: str
    request_id: str
    key_id: str
    endpoint: str
    outcome: str
    cached: bool


class Charge(NamedTuple):
    """Spend credits that were not reserved."""

    time: datetime
    account_id: str
    request_id: str
    key_id: str
    endpoint: str
    outcome: str
    amount: int = 1


Operation = Credit | Reserve | Reprice | End | Charge | Free


@dataclass
class LedgerState:
    """Balances and reservations: all of them, or those that some operations need."""

    balances: dict[str, int] = field(default_factory=dict)
    """The balance of each account."""
    reservations: dict[str, Reservation] = field(default_factory=dict)
    """The open reservation of each request."""
    ended: set[str] = field(default_factory=set)
    """Requests that have ended."""

    def apply(self, operation: Operation) -> Movement:
        """Apply one operation and return its movement.

        Raises OutOfCreditsError, ValueError and LookupError as the methods of Ledger do; nothing is changed then.
        """
        match operation:
            case Credit():
                return self._credit(operation)
            case Reserve(reservation):
                return self._reserve(reservation)
            case Reprice():
                return self._reprice(operation)
            case End():
                return self._end(operation)
            case Charge():
                return self._charge(operation)
            case Free():
                return self._free(operation)

    def _credit(self, credit: Credit) -> Movement:
        balance = self._balance(credit.account_id)
        amount = credit.amount
        if balance + amount < 0:
            raise OutOfCreditsError(f"the account has {balance} credits, so {-amount} cannot be taken back")
        self.balances[credit.account_id] = balance + amount
        buckets: tuple[Bucket, Bucket] = ("issued", "balance") if amount >= 0 else ("balance", "issued")
        return Movement(credit.time, "credit", credit.account_id, *buckets, abs(amount), note=credit.note)

    def _reserve(self, reservation: Reservation) -> Movement:
        balance = self._balance_for_new(reservation)
        if balance < 1:
            raise OutOfCreditsError("the account has no credits left")
        self.balances[reservation.account_id] = balance - 1
        self.reservations[reservation.request_id] = reservation
        return _movement(reservation, "reserve", "balance", "reserved")

    def _reprice(self, price: Reprice) -> Movement:
        reservation = self.reservations.get(price.request_id)
        if reservation is None:
            raise LookupError(f"no credit is set aside for {price.request_id}")
        more, account = price.amount - reservation.amount, reservation.account_id
        if self._balance(account) < more:
            raise OutOfCreditsError(f"the account has too few credits for a call that costs {price.amount}")
        self.balances[account] -= more
        self.reservations[price.request_id] = reservation._replace(amount=price.amount)
        buckets: tuple[Bucket, Bucket] = ("balance", "reserved") if more >= 0 else ("reserved", "balance")
        return Movement(price.time, "reprice", account, *buckets, abs(more), note=price.request_id)

    def _end(self, end: End) -> Movement:
        reservation = self.reservations.pop(end.request_id, None)
        if reservation is None:
            raise LookupError(f"no credit is set aside for {end.request_id}")
        self.ended.add(end.request_id)
        amount = reservation.amount
        if end.kind == "commit":
            return _movement(reservation, "commit", "reserved", "spent", amount, end.outcome, time=end.time)
        self.balances[reservation.account_id] += amount
        return _movement(reservation, "release", "reserved", "balance", amount, end.outcome, time=end.time)

    def _charge(self, call: Charge) -> Movement:
        balance = self._balance_for_new(call)
        if balance < call.amount:
            raise OutOfCreditsError("the account has too few credits left")
        self.balances[call.account_id] = balance - call.amount
        self.ended.add(call.request_id)
        return _movement(call, "charge", "balance", "spent", call.amount, call.outcome)

    def _free(self, call: Free) -> Movement:
        self._balance_for_new(call)
        self.ended.add(call.request_id)
        return _movement(call, "free", "balance", "spent", 0, call.outcome, call.cached)

    def _balance_for_new(self, call: Reservation | Charge | Free) -> int:
        """The balance of a call's account; raises ValueError where the request was recorded before."""
        if call.request_id in self.reservations or call.request_id in self.ended:
            raise ValueError(f"{call.request_id} was there before")
        return self._balance(call.account_id)

    def _balance(self, account_id: str) -> int:
        if account_id not in self.balances:
            raise LookupError(f"there is no account {account_id}")
        return self.balances[account_id]


def _movement(
    call: Reservation | Charge | Free,
    kind: Kind,
    source: Bucket,
    target: Bucket,
    amount: int = 1,
    outcome: str | None = None,
    cached: bool = False,
    time: datetime | None = None,
) -> Movement:
    ids = (call.request_id, call.key_id, call.endpoint)
    return Movement(time or call.time, kind, call.account_id, source, target, amount, *ids, outcome, cached)
