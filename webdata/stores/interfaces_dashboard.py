"""The interface of the store of those who sign in to the dashboard. Times are aware, in UTC.

Secrets (of invitations, sessions and browsers) are random; only their digests are stored.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from webdata.stores.interfaces import Account

Role = Literal["admin", "member"]
"""An `admin` sees all accounts, a `member` the own one."""


@dataclass(frozen=True)
class Member:
    """A person who signs in to an account."""

    id: str
    account_id: str
    name: str
    """What the person signs in by: unique, and compared without regard to case."""
    role: Role
    created: datetime
    password: str = field(repr=False)
    """The hash of the password, with its parameters."""
    totp_secret: str | None = field(default=None, repr=False)
    """The secret of the second factor (RFC 6238), in base32; None without one."""
    totp_step: int = 0
    """The time step of the last code that was used; no code is used twice."""
    recovery_codes: frozenset[str] = field(default=frozenset(), repr=False)
    """The digests of the codes that are left in the place of the second factor."""


@dataclass(frozen=True)
class Invitation:
    """The right to become a member of an account, once."""

    digest: str = field(repr=False)
    account_id: str
    role: Role
    created: datetime
    expires: datetime


@dataclass(frozen=True)
class Session:
    """A browser in which a member is signed in."""

    id: str
    digest: str = field(repr=False)
    member_id: str
    account_id: str
    """The account that is shown."""
    created: datetime
    last_seen: datetime
    """To the minute or so."""
    address: str
    browser: str
    """What the browser said of itself."""
    needs_second_factor: bool = False
    """Whether only the password was right yet."""


@dataclass(frozen=True)
class SignedIn:
    """A session with its member and the account that is shown, at the time of the look-up."""

    session: Session
    member: Member
    account: Account


class MemberStore(Protocol):
    """The members of accounts, invitations and sessions."""

    async def invite(self, invitation: Invitation) -> None:
        """Add an invitation; raises ValueError if its account does not exist, or was deleted."""
        ...

    async def invitation(self, digest: str, now: datetime) -> Invitation | None:
        """The invitation of this digest, if it is neither used nor expired."""
        ...

    async def accept(self, digest: str, member: Member, now: datetime) -> bool:
        """Add the member that an invitation made, and use it up.

        Returns False, and changes nothing, if the invitation is used or expired; raises ValueError if the name of the
        member is taken.
        """
        ...

    async def find(self, name: str) -> Member | None:
        """The member who signs in by this name."""
        ...

    async def members(self, account_id: str) -> list[Member]:
        """The members of an account, oldest first."""
        ...

    async def any(self) -> bool:
        """Whether there is a member at all."""
        ...

    async def remove(self, account_id: str, member_id: str) -> bool:
        """Remove a member of an account with all sessions; returns whether there was one."""
        ...

    async def set_password(self, member_id: str, password: str) -> None:
        """Replace the hash of a member's password."""
        ...

    async def set_second_factor(self, member_id: str, totp_secret: str | None, recovery_codes: frozenset[str]) -> None:
        """Set the second factor of a member; None removes it."""
        ...

    async def use_step(self, member_id: str, step: int) -> bool:
        """Note that the code of a time step was used; returns False if this or a later one was used before."""
        ...

    async def use_recovery_code(self, member_id: str, digest: str) -> bool:
        """Use up a recovery code; returns False if the member has no such code."""
        ...

    async def begin(self, session: Session) -> None:
        """Add a session."""
        ...

    async def signed_in(self, digest: str, seen_since: datetime) -> SignedIn | None:
        """The session of this digest, if it was seen since a time."""
        ...

    async def see(self, session_id: str, now: datetime) -> None:
        """Note that a session is in use."""
        ...

    async def show(self, session_id: str, account_id: str) -> None:
        """Have a session show an account."""
        ...

    async def sessions(self, member_id: str, seen_since: datetime) -> list[Session]:
        """The sessions of a member that were seen since a time, the last seen first."""
        ...

    async def end(self, member_id: str, session_id: str) -> bool:
        """End a session of a member; returns whether there was one."""
        ...

    async def end_all(self, member_id: str, but: str | None = None) -> None:
        """End all sessions of a member, but for one, and forget the member's browsers."""
        ...

    async def remember_browser(self, digest: str, member_id: str, now: datetime) -> None:
        """Note that a member has signed in from the browser with a secret of this digest."""
        ...

    async def knows_browser(self, digest: str, name: str) -> bool:
        """Whether the member who signs in by this name has signed in from a browser before."""
        ...

    async def remove_old(self, now: datetime, seen_since: datetime) -> None:
        """Remove invitations that have expired, and sessions that were last seen before a time."""
        ...
