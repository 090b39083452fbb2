"""Invitations to the dashboard, and the random secrets that its links and cookies hold."""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from webdata.accounts.access.api_keys import digest, first_keys
from webdata.domain.api_key import INVITATION, FirstKeys
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, Invitation, Role
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.ledger.sql import Ledger

DASHBOARD = "/dashboard"
"""The path of the dashboard, and the beginning of all of its paths."""
VALID_FOR = timedelta(hours=24)
SECRET_BYTES = 32


def new_secret() -> str:
    """A random secret, in hex."""
    return secrets.token_hex(SECRET_BYTES)


async def invite(members: MemberStore, account_id: str, role: Role) -> str:
    """The path of a link by which one person becomes a member of an account; raises ValueError for an unknown one."""
    secret, now = f"{INVITATION}{new_secret()}", datetime.now(UTC)
    await members.invite(Invitation(digest(secret), account_id, role, now, now + VALID_FOR))
    return f"{DASHBOARD}/invitations/{secret}"


async def first_secrets(keys: KeyStore, ledger: Ledger, members: MemberStore) -> FirstKeys | None:
    """The first keys of a new database, with an invitation of its first admin; None if it has keys."""
    made = await first_keys(keys, ledger)
    return made and replace(made, invitation=await invite(members, DEFAULT_ACCOUNT, "admin"))
