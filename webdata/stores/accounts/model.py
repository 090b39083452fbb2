"""Accounts, their plans and keys, and those who sign in to the dashboard. Times are aware, in UTC."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

DEFAULT_ACCOUNT = "acc_default"
"""The id of the account of a new database, which owns the keys that are made without an account."""
TRIAL_CREDITS = 1000
"""The credits it starts with."""

TEST_SHARE = 100
"""The test keys of an account have this part of its quotas."""


@dataclass(frozen=True)
class Plan:
    """The rate limit of each key of an account: `requests` in any `seconds`, and calls in flight at once.

    And its quotas: what the account may store, of which its test keys have a hundredth.
    """

    name: str
    requests: int
    seconds: int
    in_flight: int
    low_credits: int = 100
    """Credits at which an account gets the event `credits.low`; 0 for never."""
    batch_rows: int = 100_000_000
    """Queries of batches that have not ended: a test key can try one batch of the largest size."""
    batch_bytes: int = 10 * 1024**3
    """Bytes of the queries and results of batches, as they are stored, compressed."""
    batches: int = 10_000
    """Batches, until they are removed."""
    schedules: int = 100
    archive_days: int = 0
    """For how many days answers are archived where neither the call nor its key says so; 0: they are not."""
    archive_bytes: int = 1024**3
    """Bytes of archived answers, as they are stored."""


DEFAULT_PLAN = Plan("default", requests=60, seconds=60, in_flight=32)
"""The plan of a new database."""


@dataclass(frozen=True)
class Account:
    """The owner of keys and credits."""

    id: str
    name: str
    plan: Plan
    created: datetime
    closed: datetime | None = None
    """When it was deleted: its keys are revoked and it has no members, and its ledger stays."""


@dataclass(frozen=True)
class Key:
    """An API key without its secret."""

    id: str
    name: str
    test: bool
    """A test key is answered from the sandbox, a live key from the internet (docs/api.md)."""
    created: datetime
    digest: str = field(repr=False)
    """The hash of the secret (see `webdata.accounts.access.api_keys.digest`)."""
    account_id: str = DEFAULT_ACCOUNT
    prefix: str = ""
    """The beginning of the secret, to recognise a key by; empty where it was not stored."""
    scopes: frozenset[str] = frozenset()
    """The endpoints that the key may call, such as `web_search`; empty for all."""
    expires: datetime | None = None
    """The key is refused from this time on."""
    revoked: datetime | None = None
    last_used: datetime | None = None
    """To the minute or so."""
    replaced_by: str | None = None
    """The id of its successor."""
    engines: tuple[str, ...] = ()
    """The engines that its calls ask, in their order, where they name none; of endpoints with none of them all."""
    archive_days: int | None = None
    """For how many days its answers are archived where the call says nothing; 0: they are not; None: as the plan says.
    """


def rotatable(key_id: str, key: Key | None) -> Key:
    """The key, if it may be replaced by another one; else raises ValueError with the reason."""
    if key is None:
        raise ValueError(f"there is no key {key_id}")
    if key.revoked:
        raise ValueError(f"the key {key_id} is revoked: make a new one")
    if key.replaced_by:
        raise ValueError(f"the key {key_id} is followed by {key.replaced_by} already: rotate that one")
    return key


@dataclass(frozen=True)
class Caller:
    """The key of a call with its account, at the time of the look-up."""

    key: Key
    account: Account
    balance: int
    """Credits that can be spent."""


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
