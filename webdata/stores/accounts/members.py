"""Members, invitations and sessions of the dashboard, in an SQL database.

Secrets (of invitations, sessions and browsers) are random; only their digests are stored.
"""

from contextlib import suppress
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, exists, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from webdata.domain.account_names import folded_name
from webdata.stores.accounts.locks import lock_account
from webdata.stores.accounts.model import Invitation, Member, Session, SignedIn
from webdata.stores.accounts.sql import ACCOUNT, OWNERS, PLAN, account_of
from webdata.stores.accounts.tables import ACCOUNTS, Moment
from webdata.stores.accounts.tables_dashboard import BROWSERS, INVITATIONS, MEMBERS, SESSIONS
from webdata.stores.database.store import Store, writing

MEMBER = [column.label(f"member_{column.name}") for column in MEMBERS.c]
SESSION = [column.label(f"session_{column.name}") for column in SESSIONS.c]
SIGNED_IN = select(*SESSION, *MEMBER, *ACCOUNT, *PLAN).select_from(
    SESSIONS.join(MEMBERS, SESSIONS.c.member_id == MEMBERS.c.id).join(OWNERS, SESSIONS.c.account_id == ACCOUNTS.c.id)
)

REMEMBER_BROWSER = text(
    "INSERT INTO browsers (digest, member_id, created) VALUES (:digest, :member_id, :created) "
    "ON CONFLICT (digest) DO UPDATE SET member_id = excluded.member_id, created = excluded.created"
).bindparams(bindparam("created", type_=Moment))


class MemberStore(Store):
    """The members of accounts, invitations, sessions and known browsers, in tables of these names."""

    async def invite(self, invitation: Invitation) -> None:
        """Add an invitation; raises ValueError if its account does not exist, ConflictError if it was deleted."""
        try:
            await self._database.write(lambda connection: _invite(connection, invitation))
        except IntegrityError:
            raise ValueError(f"nobody can be invited: there is no account {invitation.account_id}") from None

    async def invitation(self, digest: str, now: datetime) -> Invitation | None:
        """The invitation of this digest, if it is neither used nor expired."""
        query = select(INVITATIONS).where(INVITATIONS.c.digest == digest, INVITATIONS.c.expires > now)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else Invitation(**row._asdict())

    async def accept(self, digest: str, member: Member, now: datetime) -> bool:
        """Add the member that an invitation made, and use it up.

        Returns False, and changes nothing, if the invitation is used or expired; raises ValueError if the name of the
        member is taken.
        """
        try:
            return await self._database.write(lambda connection: _accept(connection, digest, member, now))
        except IntegrityError:
            raise ValueError(f"the name {member.name!r} is taken") from None

    async def find(self, name: str) -> Member | None:
        """The member who signs in by this name."""
        query = select(*MEMBER).where(MEMBERS.c.folded == folded_name(name))
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else _member(row)

    async def members(self, account_id: str) -> list[Member]:
        """The members of an account, oldest first."""
        query = select(*MEMBER).where(MEMBERS.c.account_id == account_id).order_by(MEMBERS.c.created, MEMBERS.c.id)
        return await self._database.read(lambda connection: [_member(row) for row in connection.execute(query)])

    async def any(self) -> bool:
        """Whether there is a member at all."""
        query = select(exists(select(MEMBERS.c.id)))
        return bool(await self._database.read(lambda connection: connection.execute(query).scalar()))

    @writing()
    def remove(self, connection: Connection, account_id: str, member_id: str, by: str | None = None) -> bool:
        """Remove a member of an account with all sessions; returns whether there was one.

        `by` is the member who does so: one who was removed meanwhile removes nobody, so that of two who remove each
        other one stays.
        """
        connection.execute(
            select(ACCOUNTS.c.id).where(ACCOUNTS.c.id == account_id).with_for_update()
        )  # one removal at a time
        removal = delete(MEMBERS).where(MEMBERS.c.id == member_id, MEMBERS.c.account_id == account_id)
        if by is not None:
            remover = MEMBERS.alias()
            removal = removal.where(exists().where(remover.c.id == by))
        return connection.execute(removal).rowcount > 0

    async def set_password(self, member_id: str, password: str) -> None:
        """Replace the hash of a member's password."""
        await self._change(member_id, password=password)

    async def set_second_factor(self, member_id: str, totp_secret: str | None, recovery_codes: frozenset[str]) -> None:
        """Set the second factor of a member; None removes it."""
        await self._change(
            member_id, totp_secret=totp_secret, totp_step=0, recovery_codes=" ".join(sorted(recovery_codes))
        )

    async def use_step(self, member_id: str, step: int) -> bool:
        """Note that the code of a time step was used; returns False if this or a later one was used before."""
        change = update(MEMBERS).where(MEMBERS.c.id == member_id, MEMBERS.c.totp_step < step).values(totp_step=step)
        return await self._database.write(lambda connection: connection.execute(change).rowcount > 0)

    @writing()
    def use_recovery_code(self, connection: Connection, member_id: str, digest: str) -> bool:
        """Use up a recovery code; returns False if the member has no such code."""
        row = connection.execute(
            select(MEMBERS.c.recovery_codes).where(MEMBERS.c.id == member_id).with_for_update()
        ).first()
        codes = row.recovery_codes.split() if row else []
        if digest not in codes:
            return False
        left = " ".join(code for code in codes if code != digest)
        connection.execute(update(MEMBERS).where(MEMBERS.c.id == member_id).values(recovery_codes=left))
        return True

    async def begin(self, session: Session) -> bool:
        """Add a session; returns False if its member was removed meanwhile."""
        try:
            await self._database.write(lambda connection: connection.execute(insert(SESSIONS), vars(session)))
        except IntegrityError:
            return False
        return True

    async def signed_in(self, digest: str, seen_since: datetime) -> SignedIn | None:
        """The session of this digest, if it was seen since a time."""
        query = SIGNED_IN.where(SESSIONS.c.digest == digest, SESSIONS.c.last_seen >= seen_since)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else SignedIn(_session(row), _member(row), account_of(row))

    async def see(self, session_id: str, now: datetime) -> None:
        """Note that a session is in use."""
        change = update(SESSIONS).where(SESSIONS.c.id == session_id).values(last_seen=now)
        await self._database.write(lambda connection: connection.execute(change), durable=False)

    @writing()
    def show(self, connection: Connection, session_id: str, account_id: str) -> None:
        """Have a session show an account."""
        lock_account(connection, account_id)
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == session_id).values(account_id=account_id))

    async def sessions(self, member_id: str, seen_since: datetime) -> list[Session]:
        """The sessions of a member that were seen since a time, the last seen first."""
        query = select(*SESSION).where(SESSIONS.c.member_id == member_id, SESSIONS.c.last_seen >= seen_since)
        query = query.order_by(SESSIONS.c.last_seen.desc(), SESSIONS.c.id)
        return await self._database.read(lambda connection: [_session(row) for row in connection.execute(query)])

    async def end(self, member_id: str, session_id: str) -> bool:
        """End a session of a member; returns whether there was one."""
        removal = delete(SESSIONS).where(SESSIONS.c.id == session_id, SESSIONS.c.member_id == member_id)
        return await self._database.write(lambda connection: connection.execute(removal).rowcount > 0)

    @writing()
    def end_all(self, connection: Connection, member_id: str, but: str | None = None) -> None:
        """End all sessions of a member, but for one, and forget the member's browsers."""
        ending = delete(SESSIONS).where(SESSIONS.c.member_id == member_id)
        connection.execute(ending if but is None else ending.where(SESSIONS.c.id != but))
        connection.execute(delete(BROWSERS).where(BROWSERS.c.member_id == member_id))

    async def remember_browser(self, digest: str, member_id: str, now: datetime) -> None:
        """Note that a member, unless removed meanwhile, has signed in from the browser with a secret of this digest."""
        browser = {"digest": digest, "member_id": member_id, "created": now}
        with suppress(IntegrityError):
            await self._database.write(lambda connection: connection.execute(REMEMBER_BROWSER, browser))

    async def knows_browser(self, digest: str, name: str) -> bool:
        """Whether the member who signs in by this name has signed in from a browser before."""
        joined = BROWSERS.join(MEMBERS, BROWSERS.c.member_id == MEMBERS.c.id)
        known = select(BROWSERS.c.digest).select_from(joined)
        known = known.where(BROWSERS.c.digest == digest, MEMBERS.c.folded == folded_name(name))
        return await self._database.read(lambda connection: connection.execute(known).first() is not None)

    @writing(durable=False)
    def remove_old(self, connection: Connection, now: datetime, seen_since: datetime) -> None:
        """Remove invitations that have expired, and sessions that were last seen before a time."""
        connection.execute(delete(INVITATIONS).where(INVITATIONS.c.expires <= now))
        connection.execute(delete(SESSIONS).where(SESSIONS.c.last_seen < seen_since))

    async def _change(self, member_id: str, **values: Any) -> None:
        change = update(MEMBERS).where(MEMBERS.c.id == member_id).values(**values)
        await self._database.write(lambda connection: connection.execute(change))


def _invite(connection: Connection, invitation: Invitation) -> None:
    lock_account(connection, invitation.account_id)
    connection.execute(insert(INVITATIONS), vars(invitation))


def _is_closed(connection: Connection, account_id: str) -> bool:
    """Whether an account was deleted; until the transaction ends it is not."""
    account = select(ACCOUNTS.c.closed).where(ACCOUNTS.c.id == account_id)
    return connection.execute(account.with_for_update(read=True)).scalar() is not None


def _accept(connection: Connection, digest: str, member: Member, now: datetime) -> bool:
    if _is_closed(connection, member.account_id):
        return False
    using = delete(INVITATIONS).where(INVITATIONS.c.digest == digest, INVITATIONS.c.expires > now)
    if not connection.execute(using).rowcount:
        return False
    codes = " ".join(sorted(member.recovery_codes))
    connection.execute(insert(MEMBERS), {**vars(member), "recovery_codes": codes, "folded": folded_name(member.name)})
    return True


def _member(row: Row[Any]) -> Member:
    values = {name: getattr(row, f"member_{name}") for column in MEMBERS.c if (name := column.name) != "folded"}
    return Member(**{**values, "recovery_codes": frozenset(row.member_recovery_codes.split())})


def _session(row: Row[Any]) -> Session:
    return Session(**{column.name: getattr(row, f"session_{column.name}") for column in SESSIONS.c})
