"""What is done now and then with what calls leave behind: old calls and archived answers are removed, the ledger's sums
are stored, and credits are released whose process has died.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.runtime.process.names import is_dead
from webdata.runtime.process.repeat import in_steps, repeat
from webdata.stores.answers.sql import AnswerStore
from webdata.stores.calls.sql import CallLog
from webdata.stores.ledger.history import LedgerHistory
from webdata.stores.ledger.sql import Ledger

logger = logging.getLogger(__name__)

HOURLY, MINUTELY = 3600.0, 60.0
STEP_CALLS, STEP_MOVEMENTS, STEP_ANSWERS = 500, 2000, 100
"""Rows of one transaction, which other writers wait for."""
LONGEST_CALL = timedelta(hours=1)
"""Longer than any call can take: a credit that was reserved before is from a process that died."""


class Upkeep:
    """Removes old calls and answers, and stores the sums of movements; calls are kept for `days`."""

    def __init__(self, calls: CallLog, history: LedgerHistory, answers: AnswerStore, days: int) -> None:
        self._calls = calls
        self._history = history
        self._answers = answers
        self._days = timedelta(days=days)

    async def run(self) -> None:
        """Do all of it again and again, until it is cancelled."""
        await asyncio.gather(
            repeat("old calls", self.remove_old_calls, HOURLY),
            repeat("sums of the ledger", self.store_sums, MINUTELY),
            repeat("old answers", self.remove_old_answers, MINUTELY),
        )

    async def remove_old_calls(self) -> None:
        """Remove the calls that are too old, in small steps."""
        before = datetime.now(UTC) - self._days
        await in_steps(partial(self._calls.remove_old, before), STEP_CALLS)

    async def remove_old_answers(self) -> None:
        """Remove the archived answers that have expired, or whose account was deleted, in small steps."""
        await in_steps(partial(self._answers.remove_old, datetime.now(UTC)), STEP_ANSWERS)

    async def store_sums(self) -> None:
        """Store the sums of the movements that have come since, in small steps."""
        await in_steps(self._history.add_up, STEP_MOVEMENTS)


async def settle_at_first(ledger: Ledger) -> None:
    """Release the credits that dead processes of this machine had reserved; raises ConfigError."""
    try:
        await _settle(ledger, is_dead)
    except DatabaseUnavailableError as error:
        raise ConfigError(f"the database does not answer ({error}): start again when it does") from error


async def settle_old(ledger: Ledger) -> None:
    """Release the credits of calls that are older than LONGEST_CALL, whose machine may be gone."""
    await _settle(ledger, lambda _: False)


async def _settle(ledger: Ledger, dead: Callable[[str], bool]) -> None:
    """Release the credits of calls whose process has died."""
    lost = await ledger.settle(dead, datetime.now(UTC) - LONGEST_CALL)
    if lost:
        logger.warning("credits of %d calls were given back: their process had died", lost)
