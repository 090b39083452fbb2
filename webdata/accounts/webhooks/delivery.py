"""Delivery: leases what is due, attempts it, and plans the next attempt of what has failed."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import random

from webdata.accounts.webhooks.sender import ReceiverAnswer, WebhookSender
from webdata.accounts.webhooks.signatures import signed_headers
from webdata.domain.errors import DatabaseUnavailableError
from webdata.domain.events import WebhookTest
from webdata.domain.retry_after import retry_after
from webdata.runtime.process.shares import Shares
from webdata.stores.webhooks.deliveries import DeliveryStore
from webdata.stores.webhooks.model import AttemptResult, DeliveryAttempt, DueDelivery, Webhook

logger = logging.getLogger(__name__)

SECOND = timedelta(seconds=1)
DELAYS = tuple(seconds * SECOND for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400))
"""Between an attempt that failed and the next (Standard Webhooks, "Retries"): ten attempts in three days."""
JITTER = 0.1
"""The share of a delay that may be added to it."""
LEASE = timedelta(seconds=60)
"""How long a process may take for an attempt, before another one makes it."""
MOST_IN_FLIGHT = 100
MOST_OF_ACCOUNT = 80
"""Attempts at once, of all accounts and of one."""
ATTEMPTS_OF_QUICK = 8
"""Attempts at once to one webhook whose last answer was a success, and quick."""
MOST_SLOW = 50
SLOW_OF_ACCOUNT = 20
"""Attempts at once to other webhooks, one to each, of all accounts and of one: quick ones keep room."""
QUICK_SECONDS = 2.0
POLL_SECONDS = 0.5
"""Between two looks for deliveries that are due."""
GATHER_SECONDS = 0.01
"""How long ends are gathered before the next lease."""
AWAY_SECONDS = 2.0
"""Until another look where the database does not answer."""
GONE, TOO_MANY, UNAVAILABLE = 410, 429, 503
SHOWN = 1024
"""Bytes of an answer that are stored."""


def _now() -> datetime:
    return datetime.now(UTC)


class DeliveryWorker:
    """Attempts the deliveries that are due. `process` is the name of this process, for its leases."""

    def __init__(
        self,
        store: DeliveryStore,
        sender: WebhookSender,
        process: str,
        clock: Callable[[], datetime] = _now,
        lease: timedelta = LEASE,
        observer: Callable[[AttemptResult], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._sender = sender
        self._process = process
        self._clock = clock
        self._lease = lease
        self._observe = observer
        self._in_flight: Counter[str] = Counter()
        """Attempts that run, by webhook."""
        self._quick: set[str] = set()
        self._of_accounts = Shares(MOST_IN_FLIGHT, MOST_OF_ACCOUNT)
        self._slow = Shares(MOST_SLOW, SLOW_OF_ACCOUNT)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._stopping = False

    async def release(self, dead: Callable[[str], bool]) -> None:
        """Make what processes that are dead have leased due at once, where the database answers."""
        with contextlib.suppress(DatabaseUnavailableError):
            await self._store.release(dead, self._clock())

    async def run(self) -> None:
        """Deliver until `stop`; then wait for the attempts in flight."""
        while not self._stopping:
            try:
                await self._start_due()
                pause = POLL_SECONDS
            except DatabaseUnavailableError as error:
                logger.warning("the database does not answer: %s", error)
                pause = AWAY_SECONDS
            except Exception:
                logger.exception("no delivery could be leased")
                pause = AWAY_SECONDS
            self._ended.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ended.wait()
                await asyncio.sleep(GATHER_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def stop(self) -> None:
        """Begin no further attempt."""
        self._stopping = True
        self._ended.set()

    async def _start_due(self) -> None:
        room = MOST_IN_FLIGHT - len(self._tasks)
        if room <= 0:
            return
        now = self._clock()
        taken = await self._store.lease(self._process, now, now + self._lease, self._shares(), room)
        for due in taken:
            self._start(due)

    def _shares(self) -> Callable[[str, str, int], int]:
        """How many deliveries of a webhook may begin now, by its account, its id and its failures."""
        given, slow = Counter[str](), Counter[str]()

        def share(account: str, webhook: str, failures: int) -> int:
            room = MOST_OF_ACCOUNT - self._of_accounts.of(account) - given[account]
            if failures == 0 and webhook in self._quick:
                begin = min(ATTEMPTS_OF_QUICK - self._in_flight[webhook], room)
            else:
                is_free = self._slow.of(account) + slow[account] < SLOW_OF_ACCOUNT and not self._in_flight[webhook]
                begin = min(1, room) if is_free and self._slow.total + slow.total() < MOST_SLOW else 0
                slow[account] += begin
            given[account] += max(begin, 0)
            return begin

        return share

    def _start(self, due: DueDelivery) -> None:
        is_slow = due.webhook.id not in self._quick
        self._in_flight[due.webhook.id] += 1
        self._of_accounts.change(due.webhook.account_id, 1)
        self._slow.change(due.webhook.account_id, int(is_slow))
        task = asyncio.get_running_loop().create_task(self._attempt(due))
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._end(task, due.webhook, is_slow))

    def _end(self, task: asyncio.Task[None], webhook: Webhook, is_slow: bool) -> None:
        self._tasks.discard(task)
        self._in_flight[webhook.id] -= 1
        if not self._in_flight[webhook.id]:
            del self._in_flight[webhook.id]
        self._of_accounts.change(webhook.account_id, -1)
        self._slow.change(webhook.account_id, -int(is_slow))
        self._ended.set()
        if not task.cancelled() and (error := task.exception()):
            logger.error("an attempt could not be stored, so it is repeated: %s", error)

    async def _attempt(self, due: DueDelivery) -> None:
        webhook, began = due.webhook, self._clock()
        headers = signed_headers(due.event_id, began, due.body, webhook.secrets(began))
        answer = await self._sender.send(webhook.url, headers, due.body.encode())
        ended = self._clock()
        attempt = attempt_of(due, answer, self._process, ended)
        if attempt.error is None and (ended - began).total_seconds() < QUICK_SECONDS:
            self._quick.add(webhook.id)
        else:
            self._quick.discard(webhook.id)
        await self._store.finish(attempt)
        self._observe(attempt.result)


def attempt_of(due: DueDelivery, answer: ReceiverAnswer, process: str, now: datetime) -> DeliveryAttempt:
    """The end of an attempt: whether it was a success, and when the next one is."""
    error = answer.failure or _status_error(answer.status or 0)
    gone = answer.status == GONE
    pause_until = None
    if answer.status in (TOO_MANY, UNAVAILABLE) and answer.retry_after:
        pause_until = now + retry_after(answer.retry_after, now)
    next_attempt = None if error is None or gone else _next(due.step, pause_until, now)
    return DeliveryAttempt(
        due.event_id,
        due.webhook.id,
        due.webhook.url,
        process,
        now,
        answer.status,
        None if answer.status is None else answer.body[:SHOWN].decode("utf-8", "replace").replace("\0", "\ufffd"),
        error,
        next_attempt,
        "the receiver has answered that it is gone (410)" if gone else None,
        pause_until,
        error is None and due.type == WebhookTest.type,
    )


def _status_error(status: int) -> str | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return f"the status is {status}: redirects are not followed, give the URL itself"
    return f"the status is {status}, where 200 to 299 is a success"


def _next(step: int, pause_until: datetime | None, now: datetime) -> datetime | None:
    """The time of the next attempt; None after the last one."""
    if step >= len(DELAYS):
        return None
    planned = now + DELAYS[step] * (1 + JITTER * random())  # noqa: S311  # so that attempts do not come together
    return max(planned, pause_until) if pause_until else planned
