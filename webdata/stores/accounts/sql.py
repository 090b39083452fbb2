"""Keys, accounts and links in an SQL database."""

import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, exists, func, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from webdata.domain.account_names import folded_name
from webdata.domain.events import Event, KeyCreated, KeyRevoked
from webdata.stores.accounts.locks import hold_accounts, lock_account
from webdata.stores.accounts.model import Account, Caller, Key, Plan, rotatable
from webdata.stores.accounts.tables import ACCOUNTS, KEYS, LINKS, PLANS, WEBHOOKS
from webdata.stores.accounts.tables_dashboard import INVITATIONS, MEMBERS, SESSIONS
from webdata.stores.batches.sql import OPEN_STATES, pause_batches_of_key
from webdata.stores.batches.tables import BATCHES, SCHEDULES
from webdata.stores.database.database import Database, open_links
from webdata.stores.database.prepared import Prepared, Raw
from webdata.stores.database.store import Store, writing
from webdata.stores.webhooks.outbox import add_events

logger = logging.getLogger(__name__)

PLAN = [column.label(f"plan_{column.name}") for column in PLANS.c]
ACCOUNT = [ACCOUNTS.c[name].label(f"owner_{name}") for name in ("id", "name", "created", "closed", "balance")]
OWNERS = ACCOUNTS.join(PLANS, ACCOUNTS.c.plan == PLANS.c.name)

WITH_OWNER = select(*KEYS.c, *ACCOUNT, *PLAN).select_from(KEYS.join(OWNERS, KEYS.c.account_id == ACCOUNTS.c.id))
BY_DIGEST = WITH_OWNER.where(KEYS.c.digest == bindparam("sought"))
BALANCE = BY_DIGEST.selected_columns.keys().index("owner_balance")
"""The index of the balance in the row; the other columns change rarely."""
CACHED_KEYS = 10_000
"""Keys that are cached with their Account: to construct them takes longer than to query the row."""
BY_AGE = select(KEYS).order_by(KEYS.c.created, KEYS.c.id)
KEY = select(KEYS).where(KEYS.c.id == bindparam("sought")).with_for_update()
TOUCH = (
    update(KEYS)
    .where(KEYS.c.id == bindparam("key"), or_(KEYS.c.last_used.is_(None), KEYS.c.last_used < bindparam("at")))
    .values(last_used=bindparam("at"))
)
ALL_ACCOUNTS = select(*ACCOUNT, *PLAN).select_from(OWNERS).order_by(ACCOUNTS.c.created, ACCOUNTS.c.id)
BY_NAME = ALL_ACCOUNTS.where(or_(ACCOUNTS.c.name == bindparam("sought"), ACCOUNTS.c.id == bindparam("sought")))

PLAN_FIELDS = [column.name for column in PLANS.c if column.name != "name"]
PUT_PLAN = text(
    f"INSERT INTO plans (name, {', '.join(PLAN_FIELDS)}) "  # noqa: S608  # the table's own columns
    f"VALUES (:name, {', '.join(f':{field}' for field in PLAN_FIELDS)}) ON CONFLICT (name) DO UPDATE "
    f"SET {', '.join(f'{field} = excluded.{field}' for field in PLAN_FIELDS)}"
)
BY_IDS = select(LINKS).where(LINKS.c.id.in_(bindparam("ids", expanding=True)))
ADD_LINK = text("INSERT INTO links (id, address) VALUES (:id, :address) ON CONFLICT DO NOTHING")


class KeyStore(Store):
    """API keys by the digest of their secret, in the table `keys`; the secret itself is not stored."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._by_digest = Prepared(BY_DIGEST, database.reads.dialect, "sought")
        self._callers: dict[str, tuple[Raw, Caller]] = {}
        """The last row of a digest, without its balance, and the caller that was made of it."""

    async def add(self, key: Key, most: int | None = None) -> bool:
        """Add a key; returns False if its account has `most` already that can be used.

        Raises ValueError if its id or digest is taken, or its account does not exist.
        """
        try:
            return await self._database.write(lambda connection: _add_key(connection, key, most))
        except IntegrityError:
            raise ValueError(f"the key {key.id} cannot be added: it is there already, or its account is not") from None

    async def find(self, digest: str) -> Caller | None:
        """The caller with the key of this digest, also a revoked or expired key.

        Changes by other processes are visible at once.
        """
        raw = await self._database.look_up(lambda driver_cursor: self._by_digest.one(driver_cursor, digest))
        return None if raw is None else self._caller(digest, raw)

    async def with_id(self, key_id: str) -> Caller | None:
        """The caller with the key of this id, also a revoked or expired key."""
        query = WITH_OWNER.where(KEYS.c.id == key_id)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else Caller(_key(row), account_of(row), row.owner_balance)

    @writing()
    def revoke(self, connection: Connection, key_id: str, at: datetime) -> bool:
        """Revoke a key from a time on; returns False, and changes nothing, if it does not exist or is revoked."""
        account = connection.execute(select(KEYS.c.account_id).where(KEYS.c.id == key_id)).scalars().all()
        hold_accounts(connection, account)
        return _revoke(connection, key_id, at)

    @writing()
    def rotate(self, connection: Connection, key_id: str, successor: Key, until: datetime) -> None:
        """Add the successor of a key, which expires at `until`, if not earlier.

        Raises ValueError if the key does not exist, is revoked or has a successor.
        """
        lock_account(connection, successor.account_id)
        row = connection.execute(KEY, {"sought": key_id}).first()
        key = rotatable(key_id, None if row is None else _key(row))
        expires = min(until, key.expires or until)
        _add_key(connection, successor, replaces=key_id)
        connection.execute(update(KEYS).where(KEYS.c.id == key_id).values(expires=expires, replaced_by=successor.id))

    async def touch(self, used: Mapping[str, datetime]) -> None:
        """Set the last use of keys, by id, unless the stored time is later."""
        rows = [{"key": key_id, "at": used[key_id]} for key_id in sorted(used)]
        if rows:
            await self._database.write(lambda connection: connection.execute(TOUCH, rows))

    async def all(self) -> list[Key]:
        """Every key, also revoked ones, oldest first."""
        return await self._database.read(lambda connection: [_key(row) for row in connection.execute(BY_AGE)])

    async def of(self, account_id: str) -> list[Key]:
        """Every key of an account, also revoked ones, oldest first."""
        query = BY_AGE.where(KEYS.c.account_id == account_id)
        return await self._database.read(lambda connection: [_key(row) for row in connection.execute(query)])

    def _caller(self, digest: str, raw: Raw) -> Caller:
        """The caller of a row, whose key and account are made anew once anything but the balance has changed."""
        lasting = raw[:BALANCE] + raw[BALANCE + 1 :]
        stored, caller = self._callers.get(digest, ((), None))
        if caller is None or stored != lasting:
            row = self._by_digest.read(raw)
            caller = Caller(_key(row), account_of(row), 0)
            if len(self._callers) >= CACHED_KEYS:
                del self._callers[next(iter(self._callers))]
            self._callers[digest] = (lasting, caller)
        return Caller(caller.key, caller.account, raw[BALANCE])


class AccountStore(Store):
    """Accounts and plans, in tables of these names. A new database has an account and a plan, both named `default`."""

    async def add(self, account: Account) -> None:
        """Add an account without credits; raises ValueError if its id or name is taken, or its plan does not exist.

        A name is taken, too, by one that differs from it by case alone, or looks the same.
        """
        row = {**vars(account), "plan": account.plan.name, "balance": 0, "folded": folded_name(account.name)}
        try:
            await self._database.write(lambda connection: connection.execute(insert(ACCOUNTS), row))
        except IntegrityError:
            reason = "its name is taken or looks like one that is, or its plan is not there"
            raise ValueError(f"the account {account.name} cannot be added: {reason}") from None

    async def find(self, name: str) -> Account | None:
        """The account of this name or id."""
        row = await self._database.read(lambda connection: connection.execute(BY_NAME, {"sought": name}).first())
        return None if row is None else account_of(row)

    async def all(self) -> list[Account]:
        """Every account, oldest first."""
        return await self._database.read(
            lambda connection: [account_of(row) for row in connection.execute(ALL_ACCOUNTS)]
        )

    async def balances(self) -> dict[str, int]:
        """The credits that are left, by the id of the account."""
        query = select(ACCOUNTS.c.id, ACCOUNTS.c.balance)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {row.id: row.balance for row in rows}

    async def change(self, account_id: str, *, name: str | None = None, plan: str | None = None) -> None:
        """Change the name or the plan of an account; raises ValueError if the name is taken, or there is no such plan.

        An account that does not exist changes nothing.
        """
        values = {column: value for column, value in (("name", name), ("plan", plan)) if value is not None}
        looks = {} if name is None else {"folded": folded_name(name)}
        change = update(ACCOUNTS).where(ACCOUNTS.c.id == account_id).values(**values, **looks)
        try:
            await self._database.write(lambda connection: connection.execute(change))
        except IntegrityError:
            reason = "the name is taken, or looks like one that is: give another one"
            raise ValueError(reason if plan is None else f"there is no plan {plan!r}") from None

    @writing()
    def delete(self, connection: Connection, account_id: str, at: datetime, *, with_admins: bool = True) -> bool:
        """Revoke the keys of an account, remove its members and webhooks, and close it; its ledger stays.

        Without `with_admins` an account by which an admin signs in stays. Returns whether it was deleted now.
        """
        account = ACCOUNTS.c.id == account_id
        connection.execute(select(ACCOUNTS.c.id).where(account).with_for_update())  # nobody becomes a member meanwhile
        closing = update(ACCOUNTS).where(account, ACCOUNTS.c.closed.is_(None)).values(closed=at)
        if not with_admins:
            closing = closing.where(~exists().where(MEMBERS.c.account_id == account_id, MEMBERS.c.role == "admin"))
        if not connection.execute(closing).rowcount:
            return False
        keys = select(KEYS.c.id).where(KEYS.c.account_id == account_id, KEYS.c.revoked.is_(None)).order_by(KEYS.c.id)
        for key_id in connection.execute(keys).scalars().all():
            _revoke(connection, key_id, at)
        running = BATCHES.c.account_id == account_id, BATCHES.c.ended.is_(None), BATCHES.c.state.in_(OPEN_STATES)
        connection.execute(select(BATCHES.c.id).where(*running).order_by(BATCHES.c.id).with_for_update())
        connection.execute(update(BATCHES).where(*running).values(state="cancelled", reason=None, ended=at))
        webhooks = select(WEBHOOKS.c.id).where(WEBHOOKS.c.account_id == account_id).order_by(WEBHOOKS.c.id)
        connection.execute(webhooks.with_for_update())
        for table in (SESSIONS, INVITATIONS, MEMBERS, SCHEDULES, WEBHOOKS):
            connection.execute(delete(table).where(table.c.account_id == account_id))
        return True

    async def put_plan(self, plan: Plan) -> None:
        """Add a plan, or replace the one of this name for all its accounts at once."""
        await self._database.write(lambda connection: connection.execute(PUT_PLAN, vars(plan)))

    async def plans(self) -> list[Plan]:
        """Every plan, by name."""
        query = select(PLANS).order_by(PLANS.c.name)
        return await self._database.read(
            lambda connection: [Plan(**row._asdict()) for row in connection.execute(query)]
        )


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
    return {**vars(key), "scopes": " ".join(sorted(key.scopes)), "engines": " ".join(key.engines)}


def _key(row: Row[Any]) -> Key:
    values = {column.name: getattr(row, column.name) for column in KEYS.c}
    return Key(**{**values, "scopes": frozenset(row.scopes.split()), "engines": tuple(row.engines.split())})


def account_of(row: Row[Any]) -> Account:
    """The account of a row with the columns ACCOUNT and PLAN."""
    plan = Plan(**{column.name: getattr(row, f"plan_{column.name}") for column in PLANS.c})
    return Account(row.owner_id, row.owner_name, plan, row.owner_created, row.owner_closed)


def _add_key(connection: Connection, key: Key, most: int | None = None, replaces: str | None = None) -> bool:
    lock_account(connection, key.account_id)  # one at a time counts
    if most is not None and _usable_keys(connection, key.account_id, key.created) >= most:
        return False
    connection.execute(insert(KEYS), _key_row(key))
    data = KeyCreated(**_shown(key), scopes=sorted(key.scopes), expires=key.expires, replaces=replaces)
    add_events(connection, [Event(key.account_id, data, datetime.now(UTC))])
    return True


def _usable_keys(connection: Connection, account_id: str, now: datetime) -> int:
    usable = (
        KEYS.c.account_id == account_id,
        KEYS.c.revoked.is_(None),
        or_(KEYS.c.expires.is_(None), KEYS.c.expires > now),
    )
    return connection.execute(select(func.count()).select_from(KEYS).where(*usable)).scalar_one()


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
