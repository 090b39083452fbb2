"""Keys, accounts and links in an SQL database."""

import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from webdata.domain.events import Event, KeyCreated, KeyRevoked
from webdata.stores.database import Database, open_links
from webdata.stores.interfaces import Account, Caller, Key, Plan, rotatable
from webdata.stores.outbox import add_events
from webdata.stores.prepared import Prepared, Raw
from webdata.stores.sql_batches import pause_batches_of_key
from webdata.stores.tables import ACCOUNTS, KEYS, LINKS, PLANS, WEBHOOKS
from webdata.stores.tables_batches import BATCHES, SCHEDULES
from webdata.stores.tables_dashboard import INVITATIONS, MEMBERS, SESSIONS

logger = logging.getLogger(__name__)

PLAN = [PLANS.c[name].label(f"plan_{name}") for name in ("name", "requests", "seconds", "in_flight", "low_credits")]
ACCOUNT = [ACCOUNTS.c[name].label(f"owner_{name}") for name in ("id", "name", "created", "closed", "balance")]
OWNERS = ACCOUNTS.join(PLANS, ACCOUNTS.c.plan == PLANS.c.name)

BY_DIGEST = (
    select(*KEYS.c, *ACCOUNT, *PLAN)
    .select_from(KEYS.join(OWNERS, KEYS.c.account_id == ACCOUNTS.c.id))
    .where(KEYS.c.digest == bindparam("sought"))
)
BALANCE = BY_DIGEST.selected_columns.keys().index("owner_balance")
"""The index of the balance in the row; the other columns change rarely."""
CACHED_ROWS = 10_000
"""Rows whose Key and Account are cached: to construct them takes longer than to query the row."""
BY_AGE = select(KEYS).order_by(KEYS.c.created, KEYS.c.id)
KEY = select(KEYS).where(KEYS.c.id == bindparam("sought")).with_for_update()
TOUCH = (
    update(KEYS)
    .where(KEYS.c.id == bindparam("key"), or_(KEYS.c.last_used.is_(None), KEYS.c.last_used < bindparam("at")))
    .values(last_used=bindparam("at"))
)
ALL_ACCOUNTS = select(*ACCOUNT, *PLAN).select_from(OWNERS).order_by(ACCOUNTS.c.created, ACCOUNTS.c.id)
BY_NAME = ALL_ACCOUNTS.where(or_(ACCOUNTS.c.name == bindparam("sought"), ACCOUNTS.c.id == bindparam("sought")))

BY_IDS = select(LINKS).where(LINKS.c.id.in_(bindparam("ids", expanding=True)))
ADD_LINK = text("INSERT INTO links (id, address) VALUES (:id, :address) ON CONFLICT DO NOTHING")


class SqlKeys:
    """A KeyStore in the table `keys`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._by_digest = Prepared(BY_DIGEST, database.reads.dialect, "sought")
        self._constructed = lru_cache(CACHED_ROWS)(self._construct)

    async def add(self, key: Key) -> None:
        try:
            await self._database.write(lambda on: _add_key(on, key))
        except IntegrityError:
            raise ValueError(f"the key {key.id} cannot be added: it is there already, or its account is not") from None

    async def find(self, digest: str) -> Caller | None:
        raw = await self._database.look_up(lambda on: self._by_digest.one(on, digest))
        return None if raw is None else Caller(*self._constructed(raw[:BALANCE] + raw[BALANCE + 1 :]), raw[BALANCE])

    async def revoke(self, key_id: str, at: datetime) -> bool:
        return await self._database.write(lambda on: _revoke(on, key_id, at))

    async def rotate(self, key_id: str, successor: Key, until: datetime) -> None:
        await self._database.write(lambda on: _rotate(on, key_id, successor, until))

    async def touch(self, used: Mapping[str, datetime]) -> None:
        rows = [{"key": key_id, "at": used[key_id]} for key_id in sorted(used)]
        if rows:
            await self._database.write(lambda on: on.execute(TOUCH, rows))

    async def all(self) -> list[Key]:
        return await self._database.read(lambda on: [_key(row) for row in on.execute(BY_AGE)])

    async def of(self, account_id: str) -> list[Key]:
        query = BY_AGE.where(KEYS.c.account_id == account_id)
        return await self._database.read(lambda on: [_key(row) for row in on.execute(query)])

    def _construct(self, raw: Raw) -> tuple[Key, Account]:
        row = self._by_digest.read((*raw[:BALANCE], 0, *raw[BALANCE:]))
        return _key(row), account_of(row)


class SqlAccounts:
    """An AccountStore in the tables `accounts` and `plans`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account: Account) -> None:
        row = {**vars(account), "plan": account.plan.name, "balance": 0}
        try:
            await self._database.write(lambda on: on.execute(insert(ACCOUNTS), row))
        except IntegrityError:
            reason = "it is there already, or its plan is not"
            raise ValueError(f"the account {account.name} cannot be added: {reason}") from None

    async def find(self, name: str) -> Account | None:
        row = await self._database.read(lambda on: on.execute(BY_NAME, {"sought": name}).first())
        return None if row is None else account_of(row)

    async def all(self) -> list[Account]:
        return await self._database.read(lambda on: [account_of(row) for row in on.execute(ALL_ACCOUNTS)])

    async def change(self, account_id: str, *, name: str | None = None, plan: str | None = None) -> None:
        values = {column: value for column, value in (("name", name), ("plan", plan)) if value is not None}
        change = update(ACCOUNTS).where(ACCOUNTS.c.id == account_id).values(**values)
        try:
            await self._database.write(lambda on: on.execute(change))
        except IntegrityError:
            raise ValueError("the name is taken" if plan is None else f"there is no plan {plan!r}") from None

    async def delete(self, account_id: str, at: datetime) -> None:
        await self._database.write(lambda on: _delete_account(on, account_id, at))

    async def put_plan(self, plan: Plan) -> None:
        await self._database.write(lambda on: _put_plan(on, plan))

    async def plans(self) -> list[Plan]:
        query = select(PLANS).order_by(PLANS.c.name)
        return await self._database.read(lambda on: [Plan(**row._asdict()) for row in on.execute(query)])


class SqlLinks:
    """A LinkStore in the table `links` of the database at `url`. Raises ConfigError if it cannot be opened."""

    def __init__(self, url: str) -> None:
        self._database = open_links(url)

    def find(self, ids: Collection[str]) -> dict[str, str]:
        try:
            with self._database.reads.connect() as connection:
                return {row.id: row.address for row in connection.execute(BY_IDS, {"ids": list(ids)})}
        except SQLAlchemyError:
            logger.exception("The store of news links could not be read")
            return {}

    def add(self, addresses: Mapping[str, str]) -> None:
        rows = [{"id": one, "address": address} for one, address in addresses.items()]
        try:
            with self._database.writes.begin() as connection:
                connection.execute(ADD_LINK, rows)
        except SQLAlchemyError:
            logger.exception("The store of news links could not be written")

    def close(self) -> None:
        self._database.close()


def _key_row(key: Key) -> dict[str, Any]:
    return {**vars(key), "scopes": " ".join(sorted(key.scopes))}


def _key(row: Row[Any]) -> Key:
    return Key(
        row.id,
        row.name,
        row.test,
        row.created,
        row.digest,
        row.account_id,
        row.prefix,
        frozenset(row.scopes.split()),
        row.expires,
        row.revoked,
        row.last_used,
        row.replaced_by,
    )


def account_of(row: Row[Any]) -> Account:
    """The account of a row with the columns ACCOUNT and PLAN."""
    plan = Plan(row.plan_name, row.plan_requests, row.plan_seconds, row.plan_in_flight, row.plan_low_credits)
    return Account(row.owner_id, row.owner_name, plan, row.owner_created, row.owner_closed)


def _add_key(connection: Connection, key: Key, replaces: str | None = None) -> None:
    closed = connection.execute(select(ACCOUNTS.c.closed).where(ACCOUNTS.c.id == key.account_id)).scalar()
    if closed:
        raise ValueError(f"the account {key.account_id} was deleted: its ledger is kept, and it gets no keys")
    connection.execute(insert(KEYS), _key_row(key))
    data = KeyCreated(**_shown(key), scopes=sorted(key.scopes), expires=key.expires, replaces=replaces)
    add_events(connection, [Event(key.account_id, data, datetime.now(UTC))])


def _delete_account(connection: Connection, account_id: str, at: datetime) -> None:
    running = update(BATCHES).where(BATCHES.c.account_id == account_id, BATCHES.c.ended.is_(None))
    connection.execute(running.values(state="cancelled", reason=None, ended=at))
    keys = select(KEYS.c.id).where(KEYS.c.account_id == account_id, KEYS.c.revoked.is_(None)).order_by(KEYS.c.id)
    for key_id in connection.execute(keys).scalars().all():
        _revoke(connection, key_id, at)
    for table in (SESSIONS, INVITATIONS, MEMBERS, SCHEDULES, WEBHOOKS):
        connection.execute(delete(table).where(table.c.account_id == account_id))
    connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == account_id).values(closed=at))


def _revoke(connection: Connection, key_id: str, at: datetime) -> bool:
    change = update(KEYS).where(KEYS.c.id == key_id, KEYS.c.revoked.is_(None)).values(revoked=at)
    row = connection.execute(change.returning(*KEYS.c)).first()
    if row is None:
        return False
    key = _key(row)
    add_events(connection, [Event(key.account_id, KeyRevoked(**_shown(key)), datetime.now(UTC))])
    pause_batches_of_key(connection, key_id, at)
    return True


def _shown(key: Key) -> dict[str, Any]:
    """What events say of a key."""
    return {"id": key.id, "name": key.name, "prefix": key.prefix, "test": key.test}


def _rotate(connection: Connection, key_id: str, successor: Key, until: datetime) -> None:
    row = connection.execute(KEY, {"sought": key_id}).first()
    key = rotatable(key_id, None if row is None else _key(row))
    expires = min(until, key.expires or until)
    _add_key(connection, successor, replaces=key_id)
    connection.execute(update(KEYS).where(KEYS.c.id == key_id).values(expires=expires, replaced_by=successor.id))


def _put_plan(connection: Connection, plan: Plan) -> None:
    change = update(PLANS).where(PLANS.c.name == plan.name).values(**vars(plan))
    if not connection.execute(change).rowcount:
        connection.execute(insert(PLANS), vars(plan))
