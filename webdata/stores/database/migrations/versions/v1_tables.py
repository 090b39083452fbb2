"""The tables as they were at the first release. No database is brought here: a new one has the newest schema."""

revision = "1"
down_revision = None
