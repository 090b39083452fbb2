"""Stores of keys, accounts and credits in memory: the model that those in a database are compared with."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from webdata.domain.account_names import folded_name
from webdata.stores.accounts.model import (
    DEFAULT_ACCOUNT,
    DEFAULT_PLAN,
    TRIAL_CREDITS,
    Account,
    Caller,
    Key,
    Plan,
    rotatable,
)
from webdata.stores.ledger.ledger_state import Credit, LedgerState, Operation, Reservation
from webdata.stores.ledger.model import Bucket, GroupBy, Movement, Usage
from webdata.stores.ledger.sql import Ledger

logger = logging.getLogger(__name__)

GROUPS: dict[GroupBy, Callable[[Movement], str | None]] = {
    "day": lambda movement: movement.time.astimezone(UTC).date().isoformat(),
    "engine": lambda movement: movement.endpoint,
    "key": lambda movement: movement.key_id,
}


@dataclass
class MemoryDatabase:
    """The state that the stores share."""

    keys: dict[str, Key] = field(default_factory=dict)
    """By digest."""
    accounts: dict[str, Account] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=lambda: {DEFAULT_PLAN.name: DEFAULT_PLAN})
    ledger_state: LedgerState = field(default_factory=LedgerState)
    movements: list[Movement] = field(default_factory=list)

    def __post_init__(self) -> None:
        now = datetime.now(UTC)
        self.add(Account(DEFAULT_ACCOUNT, "default", DEFAULT_PLAN, now))
        self.write(Credit(now, DEFAULT_ACCOUNT, TRIAL_CREDITS, "trial"))

    def add(self, account: Account) -> None:
        """Add an account, without credits."""
        self.accounts[account.id] = account
        self.ledger_state.balances[account.id] = 0

    def account(self, account_id: str) -> Account:
        """The account, with the current state of its plan."""
        account = self.accounts[account_id]
        return replace(account, plan=self.plans[account.plan.name])

    def write(self, operation: Operation) -> int:
        """Write an operation; returns the new balance of its account."""
        movement = self.ledger_state.apply(operation)
        self.movements.append(movement)
        return self.ledger_state.balances[movement.account_id]


class MemoryKeys:
    """A KeyStore in a dictionary."""

    def __init__(self, database: MemoryDatabase | None = None) -> None:
        self._database = database or MemoryDatabase()
        self._keys = self._database.keys

    async def add(self, key: Key, most: int | None = None) -> bool:
        taken = key.digest in self._keys or self._by_id(key.id)
        if taken or key.account_id not in self._database.accounts:
            raise ValueError(f"the key {key.id} cannot be added: it is there already, or its account is not")
        unrevoked = [one for one in await self.of(key.account_id) if not one.revoked]
        usable = [one for one in unrevoked if not one.expires or one.expires > key.created]
        if most is not None and len(usable) >= most:
            return False
        self._keys[key.digest] = key
        return True

    async def find(self, digest: str) -> Caller | None:
        key = self._keys.get(digest)
        if key is None:
            return None
        return Caller(key, self._database.account(key.account_id), self._database.ledger_state.balances[key.account_id])

    async def revoke(self, key_id: str, at: datetime) -> bool:
        key = self._by_id(key_id)
        if key is None or key.revoked:
            return False
        self._keys[key.digest] = replace(key, revoked=at)
        return True

    async def rotate(self, key_id: str, successor: Key, until: datetime) -> None:
        key = rotatable(key_id, self._by_id(key_id))
        await self.add(successor)
        self._keys[key.digest] = replace(key, expires=min(until, key.expires or until), replaced_by=successor.id)

    async def touch(self, used: Mapping[str, datetime]) -> None:
        for key in [key for key in self._keys.values() if key.id in used]:
            latest = max(used[key.id], key.last_used or used[key.id])
            self._keys[key.digest] = replace(key, last_used=latest)

    async def all(self) -> list[Key]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    async def of(self, account_id: str) -> list[Key]:
        return [key for key in await self.all() if key.account_id == account_id]

    def _by_id(self, key_id: str) -> Key | None:
        return next((key for key in self._keys.values() if key.id == key_id), None)


class MemoryAccounts:
    """An AccountStore in dictionaries."""

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def add(self, account: Account) -> None:
        taken = {name for one in self._database.accounts.values() for name in (one.id, folded_name(one.name))}
        if taken & {account.id, folded_name(account.name)} or account.plan.name not in self._database.plans:
            reason = "it is there already, or its plan is not"
            raise ValueError(f"the account {account.name} cannot be added: {reason}")
        self._database.add(account)

    async def find(self, name: str) -> Account | None:
        return next((one for one in await self.all() if name in (one.name, one.id)), None)

    async def all(self) -> list[Account]:
        accounts = map(self._database.account, self._database.accounts)
        return sorted(accounts, key=lambda account: (account.created, account.id))

    async def balances(self) -> dict[str, int]:
        return dict(self._database.ledger_state.balances)

    async def change(self, account_id: str, *, name: str | None = None, plan: str | None = None) -> None:
        account = self._database.accounts.get(account_id)
        if account is None:
            return
        if plan is not None:
            if plan not in self._database.plans:
                raise ValueError(f"there is no plan {plan!r}")
            account = replace(account, plan=self._database.plans[plan])
        if name is not None:
            if any(
                folded_name(one.name) == folded_name(name) and one.id != account_id
                for one in self._database.accounts.values()
            ):
                raise ValueError("the name is taken")
            account = replace(account, name=name)
        self._database.accounts[account_id] = account

    async def delete(self, account_id: str, at: datetime, *, with_admins: bool = True) -> bool:
        if self._database.accounts[account_id].closed:
            return False
        for digest, key in self._database.keys.items():
            if key.account_id == account_id and not key.revoked:
                self._database.keys[digest] = replace(key, revoked=at)
        self._database.accounts[account_id] = replace(self._database.accounts[account_id], closed=at)
        return True

    async def put_plan(self, plan: Plan) -> None:
        self._database.plans[plan.name] = plan

    async def plans(self) -> list[Plan]:
        return [plan for _, plan in sorted(self._database.plans.items())]


class MemoryLedger(Ledger):
    """A Ledger in lists and dictionaries."""

    def __init__(self, database: MemoryDatabase, process: str) -> None:
        self._process = process
        self._database = database

    async def balance(self, account_id: str) -> int:
        try:
            return self._database.ledger_state.balances[account_id]
        except KeyError:
            raise LookupError(f"there is no account {account_id}") from None

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        groups = defaultdict(list)
        for movement in self._database.movements:
            ended = movement.kind in ("commit", "release", "free")
            if ended and movement.account_id == account_id and since <= movement.time < until:
                groups[str(GROUPS[group_by](movement))].append(movement)
        return [_usage(group, movements) for group, movements in sorted(groups.items())]

    def close(self) -> None:
        """There is nothing to close."""

    async def flush(self) -> None:
        """There is no queue."""

    async def _write(self, operation: Operation) -> int:
        return self._database.write(operation)

    def _post(self, operation: Operation) -> None:
        try:
            self._database.write(operation)
        except (LookupError, ValueError):
            logger.exception("%s is lost", operation)

    async def _reservations(self) -> Iterable[Reservation]:
        return list(self._database.ledger_state.reservations.values())


def sums(movements: Iterable[Movement]) -> Counter[tuple[str, Bucket]]:
    """The amount in each bucket of each account after all these movements; the total is zero."""
    amounts: Counter[tuple[str, Bucket]] = Counter()
    for movement in movements:
        amounts[movement.account_id, movement.source] -= movement.amount
        amounts[movement.account_id, movement.target] += movement.amount
    return amounts


def _usage(group: str, movements: Sequence[Movement]) -> Usage:
    return Usage(
        group,
        calls=len(movements),
        credits=sum(movement.amount for movement in movements if movement.kind == "commit"),
        cached=sum(movement.cached for movement in movements),
        released=sum(movement.kind == "release" for movement in movements),
    )
