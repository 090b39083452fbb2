"""The rules of the ledger: what each operation does to the books. Nothing here waits, or keeps anything.

A movement takes an amount from one place of an account and gives it to another:

    credit   issued → balance      what is given to the account (the other way round: taken back)
    reserve  balance → reserved    one credit, set aside for a call
    commit   reserved → spent
    release  reserved → balance
    free     balance → spent       nothing: a call that cost no credit
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from webdata.domain.errors import OutOfCreditsError

Kind = Literal["credit", "reserve", "commit", "release", "free"]
Place = Literal["issued", "balance", "reserved", "spent"]


class Movement(NamedTuple):
    """One row of the ledger; never changed."""

    time: datetime
    kind: Kind
    account_id: str
    source: Place
    target: Place
    amount: int
    request_id: str | None = None
    key_id: str | None = None
    endpoint: str | None = None
    outcome: str | None = None
    cached: bool = False
    note: str = ""


class Reservation(NamedTuple):
    """A credit that is set aside for a call that runs."""

    request_id: str
    account_id: str
    key_id: str
    endpoint: str
    process: str
    """Whose call it is, so that what a dead process left is known."""
    time: datetime


class Credit(NamedTuple):
    """Give credits, or take them back."""

    time: datetime
    account_id: str
    amount: int
    note: str


class Reserve(NamedTuple):
    """Set a credit aside."""

    reservation: Reservation


class End(NamedTuple):
    """Spend a credit that is set aside, or give it back."""

    time: datetime
    request_id: str
    kind: Literal["commit", "release"]
    outcome: str
    cached: bool = False


class Free(NamedTuple):
    """Note a call that costs nothing."""

    time: datetime
    account_id: str
    request_id: str
    key_id: str
    endpoint: str
    outcome: str
    cached: bool


Operation = Credit | Reserve | End | Free


@dataclass
class Books:
    """Balances and reservations, or those of them that some operations need.

    `apply` changes them and tells the movement, or raises and changes nothing.
    """

    balances: dict[str, int] = field(default_factory=dict)
    """By account."""
    reservations: dict[str, Reservation] = field(default_factory=dict)
    """By request."""
    ended: set[str] = field(default_factory=set)
    """Requests that are over."""

    def apply(self, operation: Operation) -> Movement:
        """Do one operation; raises OutOfCreditsError, ValueError and LookupError as the Ledger says."""
        match operation:
            case Credit():
                return self._credit(operation)
            case Reserve(reservation):
                return self._reserve(reservation)
            case End():
                return self._end(operation)
            case Free():
                return self._free(operation)

    def _credit(self, credit: Credit) -> Movement:
        balance = self._balance(credit.account_id)
        if balance + credit.amount < 0:
            raise OutOfCreditsError(f"the account has {balance} credits, so {-credit.amount} cannot be taken back")
        self.balances[credit.account_id] = balance + credit.amount
        source, target = _direction(credit.amount)
        amount = abs(credit.amount)
        return Movement(credit.time, "credit", credit.account_id, source, target, amount, note=credit.note)

    def _reserve(self, asked: Reservation) -> Movement:
        balance = self._new(asked.account_id, asked.request_id)
        if balance < 1:
            raise OutOfCreditsError("the account has no credits left")
        self.balances[asked.account_id] = balance - 1
        self.reservations[asked.request_id] = asked
        return _of_call(asked, "reserve", "balance", "reserved")

    def _end(self, end: End) -> Movement:
        reservation = self.reservations.pop(end.request_id, None)
        if reservation is None:
            raise LookupError(f"no credit is set aside for {end.request_id}")
        self.ended.add(end.request_id)
        if end.kind == "commit":
            return _of_call(reservation, "commit", "reserved", "spent", 1, end.outcome, end.cached, end.time)
        self.balances[reservation.account_id] += 1
        return _of_call(reservation, "release", "reserved", "balance", 1, end.outcome, time=end.time)

    def _free(self, call: Free) -> Movement:
        self._new(call.account_id, call.request_id)
        self.ended.add(call.request_id)
        return _of_call(call, "free", "balance", "spent", 0, call.outcome, call.cached)

    def _new(self, account_id: str, request_id: str) -> int:
        """The balance of the account, for a request that was not there before."""
        if request_id in self.reservations or request_id in self.ended:
            raise ValueError(f"{request_id} was there before")
        return self._balance(account_id)

    def _balance(self, account_id: str) -> int:
        if account_id not in self.balances:
            raise LookupError(f"there is no account {account_id}")
        return self.balances[account_id]


def sums(movements: Iterable[Movement]) -> Counter[tuple[str, Place]]:
    """What the places of accounts hold, after these movements from the first on; all of them together hold nothing."""
    held: Counter[tuple[str, Place]] = Counter()
    for movement in movements:
        held[movement.account_id, movement.source] -= movement.amount
        held[movement.account_id, movement.target] += movement.amount
    return held


def _direction(amount: int) -> tuple[Place, Place]:
    return ("issued", "balance") if amount >= 0 else ("balance", "issued")


def _of_call(
    call: Reservation | Free,
    kind: Kind,
    source: Place,
    target: Place,
    amount: int = 1,
    outcome: str | None = None,
    cached: bool = False,
    time: datetime | None = None,
) -> Movement:
    of = (call.request_id, call.key_id, call.endpoint)
    return Movement(time or call.time, kind, call.account_id, source, target, amount, *of, outcome, cached)
