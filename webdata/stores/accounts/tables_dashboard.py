"""The tables of those who sign in to the dashboard; a change of them needs a migration."""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from webdata.stores.accounts.tables import METADATA, Moment

MEMBERS = Table(
    "members",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="members_account"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("folded", String(600), nullable=False, unique=True),  # the name by how it looks
    Column("role", String(16), nullable=False),
    Column("created", Moment, nullable=False),
    Column("password", Text, nullable=False),
    Column("totp_secret", String(64)),  # in plain: it makes codes
    Column("totp_step", Integer, nullable=False),
    Column("recovery_codes", Text, nullable=False),  # digests, separated by spaces
    Index("members_by_account", "account_id"),
)

INVITATIONS = Table(
    "invitations",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="invitations_account"), nullable=False),
    Column("role", String(16), nullable=False),
    Column("created", Moment, nullable=False),
    Column("expires", Moment, nullable=False),
)
"""The invitations that are not used."""

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("member_id", String(64), ForeignKey("members.id", name="sessions_member", ondelete="CASCADE")),
    Column("account_id", String(64), ForeignKey("accounts.id", name="sessions_account"), nullable=False),
    Column("created", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("address", String(64), nullable=False),
    Column("browser", String(500), nullable=False),
    Column("needs_second_factor", Boolean, nullable=False),
    Index("sessions_by_member", "member_id", "last_seen"),
)

BROWSERS = Table(
    "browsers",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("member_id", String(64), ForeignKey("members.id", name="browsers_member", ondelete="CASCADE")),
    Column("created", Moment, nullable=False),
    Index("browsers_by_member", "member_id"),
)
"""The browsers that members have signed in from."""
