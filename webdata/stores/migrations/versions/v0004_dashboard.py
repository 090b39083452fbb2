"""Members, who sign in to the dashboard, with their invitations, sessions and browsers; accounts can be closed."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, String, Text

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
    op.add_column("accounts", Column("closed", DateTime))
    op.create_index("keys_by_account", "keys", ["account_id"])
    op.create_table(
        "members",
        Column("id", String(64), primary_key=True),
        Column("account_id", String(64), ForeignKey("accounts.id", name="members_account"), nullable=False),
        Column("name", String(200), nullable=False),
        Column("folded", String(600), nullable=False, unique=True),
        Column("role", String(16), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("password", Text, nullable=False),
        Column("totp_secret", String(64)),
        Column("totp_step", Integer, nullable=False),
        Column("recovery_codes", Text, nullable=False),
    )
    op.create_index("members_by_account", "members", ["account_id"])
    op.create_table(
        "invitations",
        Column("digest", String(64), primary_key=True),
        Column("account_id", String(64), ForeignKey("accounts.id", name="invitations_account"), nullable=False),
        Column("role", String(16), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("expires", DateTime, nullable=False),
    )
    op.create_table(
        "sessions",
        Column("digest", String(64), primary_key=True),
        Column("id", String(64), nullable=False, unique=True),
        Column("member_id", String(64), ForeignKey("members.id", name="sessions_member", ondelete="CASCADE")),
        Column("account_id", String(64), ForeignKey("accounts.id", name="sessions_account"), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("last_seen", DateTime, nullable=False),
        Column("address", String(64), nullable=False),
        Column("browser", String(500), nullable=False),
        Column("needs_second_factor", Boolean, nullable=False),
    )
    op.create_index("sessions_by_member", "sessions", ["member_id", "last_seen"])
    op.create_table(
        "browsers",
        Column("digest", String(64), primary_key=True),
        Column("member_id", String(64), ForeignKey("members.id", name="browsers_member", ondelete="CASCADE")),
        Column("created", DateTime, nullable=False),
    )
    op.create_index("browsers_by_member", "browsers", ["member_id"])
