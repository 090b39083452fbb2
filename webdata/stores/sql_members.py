"""Members, invitations and sessions of the dashboard, in an SQL database."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from webdata.stores.database import Database
from webdata.stores.interfaces_dashboard import Invitation, Member, Session, SignedIn
from webdata.stores.sql import ACCOUNT, OWNERS, PLAN, account_of
from webdata.stores.tables import ACCOUNTS
from webdata.stores.tables_dashboard import BROWSERS, INVITATIONS, MEMBERS, SESSIONS

MEMBER = [column.label(f"member_{column.name}") for column in MEMBERS.c]
SESSION = [column.label(f"session_{column.name}") for column in SESSIONS.c]
SIGNED_IN = select(*SESSION, *MEMBER, *ACCOUNT, *PLAN).select_from(
    SESSIONS.join(MEMBERS, SESSIONS.c.member_id == MEMBERS.c.id).join(OWNERS, SESSIONS.c.account_id == ACCOUNTS.c.id)
)


class SqlMembers:
    """A MemberStore in the tables `members`, `invitations`, `sessions` and `browsers`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def invite(self, invitation: Invitation) -> None:
        try:
            await self._database.write(lambda on: _invite(on, invitation))
        except IntegrityError:
            raise ValueError(f"nobody can be invited: there is no account {invitation.account_id}") from None

    async def invitation(self, digest: str, now: datetime) -> Invitation | None:
        query = select(INVITATIONS).where(INVITATIONS.c.digest == digest, INVITATIONS.c.expires > now)
        row = await self._database.read(lambda on: on.execute(query).first())
        return None if row is None else Invitation(**row._asdict())

    async def accept(self, digest: str, member: Member, now: datetime) -> bool:
        try:
            return await self._database.write(lambda on: _accept(on, digest, member, now))
        except IntegrityError:
            raise ValueError(f"the name {member.name!r} is taken") from None

    async def find(self, name: str) -> Member | None:
        query = select(*MEMBER).where(MEMBERS.c.folded == name.casefold())
        row = await self._database.read(lambda on: on.execute(query).first())
        return None if row is None else _member(row)

    async def members(self, account_id: str) -> list[Member]:
        query = select(*MEMBER).where(MEMBERS.c.account_id == account_id).order_by(MEMBERS.c.created, MEMBERS.c.id)
        return await self._database.read(lambda on: [_member(row) for row in on.execute(query)])

    async def any(self) -> bool:
        query = select(exists(select(MEMBERS.c.id)))
        return bool(await self._database.read(lambda on: on.execute(query).scalar()))

    async def remove(self, account_id: str, member_id: str) -> bool:
        removal = delete(MEMBERS).where(MEMBERS.c.id == member_id, MEMBERS.c.account_id == account_id)
        return await self._database.write(lambda on: on.execute(removal).rowcount > 0)

    async def set_password(self, member_id: str, password: str) -> None:
        await self._change(member_id, password=password)

    async def set_second_factor(self, member_id: str, totp_secret: str | None, recovery_codes: frozenset[str]) -> None:
        await self._change(
            member_id, totp_secret=totp_secret, totp_step=0, recovery_codes=" ".join(sorted(recovery_codes))
        )

    async def use_step(self, member_id: str, step: int) -> bool:
        change = update(MEMBERS).where(MEMBERS.c.id == member_id, MEMBERS.c.totp_step < step).values(totp_step=step)
        return await self._database.write(lambda on: on.execute(change).rowcount > 0)

    async def use_recovery_code(self, member_id: str, digest: str) -> bool:
        return await self._database.write(lambda on: _use_recovery_code(on, member_id, digest))

    async def begin(self, session: Session) -> None:
        await self._database.write(lambda on: on.execute(insert(SESSIONS), vars(session)))

    async def signed_in(self, digest: str, seen_since: datetime) -> SignedIn | None:
        query = SIGNED_IN.where(SESSIONS.c.digest == digest, SESSIONS.c.last_seen >= seen_since)
        row = await self._database.read(lambda on: on.execute(query).first())
        return None if row is None else SignedIn(_session(row), _member(row), account_of(row))

    async def see(self, session_id: str, now: datetime) -> None:
        change = update(SESSIONS).where(SESSIONS.c.id == session_id).values(last_seen=now)
        await self._database.write(lambda on: on.execute(change), durable=False)

    async def show(self, session_id: str, account_id: str) -> None:
        change = update(SESSIONS).where(SESSIONS.c.id == session_id).values(account_id=account_id)
        await self._database.write(lambda on: on.execute(change))

    async def sessions(self, member_id: str, seen_since: datetime) -> list[Session]:
        query = select(*SESSION).where(SESSIONS.c.member_id == member_id, SESSIONS.c.last_seen >= seen_since)
        query = query.order_by(SESSIONS.c.last_seen.desc(), SESSIONS.c.id)
        return await self._database.read(lambda on: [_session(row) for row in on.execute(query)])

    async def end(self, member_id: str, session_id: str) -> bool:
        removal = delete(SESSIONS).where(SESSIONS.c.id == session_id, SESSIONS.c.member_id == member_id)
        return await self._database.write(lambda on: on.execute(removal).rowcount > 0)

    async def end_all(self, member_id: str, but: str | None = None) -> None:
        await self._database.write(lambda on: _end_all(on, member_id, but))

    async def remember_browser(self, digest: str, member_id: str, now: datetime) -> None:
        await self._database.write(lambda on: _remember_browser(on, digest, member_id, now))

    async def knows_browser(self, digest: str, name: str) -> bool:
        joined = BROWSERS.join(MEMBERS, BROWSERS.c.member_id == MEMBERS.c.id)
        known = select(BROWSERS.c.digest).select_from(joined)
        known = known.where(BROWSERS.c.digest == digest, MEMBERS.c.folded == name.casefold())
        return await self._database.read(lambda on: on.execute(known).first() is not None)

    async def remove_old(self, now: datetime, seen_since: datetime) -> None:
        await self._database.write(lambda on: _remove_old(on, now, seen_since), durable=False)

    async def _change(self, member_id: str, **values: Any) -> None:
        change = update(MEMBERS).where(MEMBERS.c.id == member_id).values(**values)
        await self._database.write(lambda on: on.execute(change))


def _invite(on: Connection, invitation: Invitation) -> None:
    if on.execute(select(ACCOUNTS.c.closed).where(ACCOUNTS.c.id == invitation.account_id)).scalar():
        raise ValueError(f"nobody can be invited: the account {invitation.account_id} was deleted")
    on.execute(insert(INVITATIONS), vars(invitation))


def _accept(on: Connection, digest: str, member: Member, now: datetime) -> bool:
    using = delete(INVITATIONS).where(INVITATIONS.c.digest == digest, INVITATIONS.c.expires > now)
    if not on.execute(using).rowcount:
        return False
    codes = " ".join(sorted(member.recovery_codes))
    on.execute(insert(MEMBERS), {**vars(member), "recovery_codes": codes, "folded": member.name.casefold()})
    return True


def _use_recovery_code(on: Connection, member_id: str, digest: str) -> bool:
    row = on.execute(select(MEMBERS.c.recovery_codes).where(MEMBERS.c.id == member_id).with_for_update()).first()
    codes = row.recovery_codes.split() if row else []
    if digest not in codes:
        return False
    left = " ".join(code for code in codes if code != digest)
    on.execute(update(MEMBERS).where(MEMBERS.c.id == member_id).values(recovery_codes=left))
    return True


def _end_all(on: Connection, member_id: str, but: str | None) -> None:
    ending = delete(SESSIONS).where(SESSIONS.c.member_id == member_id)
    on.execute(ending if but is None else ending.where(SESSIONS.c.id != but))
    on.execute(delete(BROWSERS).where(BROWSERS.c.member_id == member_id))


def _remember_browser(on: Connection, digest: str, member_id: str, now: datetime) -> None:
    on.execute(delete(BROWSERS).where(BROWSERS.c.digest == digest))
    on.execute(insert(BROWSERS), {"digest": digest, "member_id": member_id, "created": now})


def _remove_old(on: Connection, now: datetime, seen_since: datetime) -> None:
    on.execute(delete(INVITATIONS).where(INVITATIONS.c.expires <= now))
    on.execute(delete(SESSIONS).where(SESSIONS.c.last_seen < seen_since))


def _member(row: Row[Any]) -> Member:
    values = {name: getattr(row, f"member_{name}") for column in MEMBERS.c if (name := column.name) != "folded"}
    return Member(**{**values, "recovery_codes": frozenset(row.member_recovery_codes.split())})


def _session(row: Row[Any]) -> Session:
    return Session(**{column.name: getattr(row, f"session_{column.name}") for column in SESSIONS.c})
