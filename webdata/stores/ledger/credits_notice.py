"""The events about the credits of accounts, once for each fall to a mark, and again after a refill.

What counts are unspent credits: those that can be spent, and those reserved for calls that run, which may come back.
They are counted only where those that can be spent are at a mark that no event was about: nowhere else is there
anything to do but to compare two numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from webdata.stores.accounts.tables import ACCOUNTS, RESERVATIONS

NONE, LOW, EXHAUSTED = range(3)


@dataclass
class CreditsNotice:
    """The last event about an account's credits."""

    mark: int
    """The credits at which they are low."""
    last: int
    """NONE, LOW or EXHAUSTED."""
    stored: int = field(init=False)

    def __post_init__(self) -> None:
        self.stored = self.last

    def level(self, credits: int) -> int:
        """What so many credits are."""
        if credits <= 0:
            return EXHAUSTED
        return LOW if credits <= self.mark else NONE

    def refill(self, balance: int) -> None:
        """Credits were given: a further fall is a new event."""
        self.last = min(self.last, self.level(balance))


def add_notices(
    connection: Connection, notices: Mapping[str, CreditsNotice], balances: Mapping[str, int], now: datetime
) -> None:
    """Add the events of accounts whose credits have fallen to a mark in this transaction."""
    for account, notice in notices.items():
        if notice.level(balances[account]) > notice.last:
            _fall(connection, account, notice, balances[account] + _reserved(connection, account), now)
        if notice.last != notice.stored:
            connection.execute(update(ACCOUNTS).where(ACCOUNTS.c.id == account).values(credits_notice=notice.last))


def _fall(connection: Connection, account: str, notice: CreditsNotice, unspent: int, now: datetime) -> None:
    # Imported here because pydantic takes 11 MB and 0.2 s, which the process that writes the ledger rarely needs.
    from webdata.domain.events import CreditsExhausted, CreditsLow, Event, EventData  # noqa: PLC0415
    from webdata.stores.webhooks.outbox import add_events  # noqa: PLC0415

    fallen: list[EventData] = []
    before, notice.last = notice.last, max(notice.last, notice.level(unspent))
    if before < LOW <= notice.last and notice.mark:
        fallen.append(CreditsLow(account=account, credits=unspent, mark=notice.mark))
    if before < EXHAUSTED <= notice.last:
        fallen.append(CreditsExhausted(account=account))
    add_events(connection, [Event(account, data, now) for data in fallen])


def _reserved(connection: Connection, account: str) -> int:
    query = select(func.count()).select_from(RESERVATIONS).where(RESERVATIONS.c.account_id == account)
    return connection.execute(query).scalar_one()
