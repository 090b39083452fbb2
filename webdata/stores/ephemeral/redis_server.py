"""A connection to a Redis that may be away: no call fails or waits for it."""

import asyncio
import contextlib
import logging
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError

from webdata.domain.errors import ConfigError

logger = logging.getLogger(__name__)

EXAMPLE_URL = "redis://127.0.0.1:6379/0"
PREFIX = "webdata:"
"""The prefix of every key, for a server that other programs use too."""
BATCH_SIZE = 256
"""Commands of one pipeline at most."""
ANSWER_SECONDS = 0.075
"""How long a pipeline may take; after that the server counts as away."""
ANSWER_STEPS = 5
"""Timers that make up that time. When the process was busy, one timer fires late; between two timers the event loop
reads the answers that have arrived, so that the delay does not count against the server."""
PROBE_SECONDS = 1.0
"""The interval between two probes of a server that is away, and the timeout of one."""
AWAY = (
    "Redis does not answer: nothing is cached, and each process counts the limits for itself, until it is back; "
    "the log tells why"
)

Command = tuple[str | bytes | int, ...]
Pending = tuple[Command, "asyncio.Future[Any]"]


class RedisServer:
    """The server at a URL such as `redis://user:password@host:6379/0`, `rediss://…` or `unix:///path`.

    Commands that are queued while another pipeline runs are sent together after it: measured, sixteen concurrent
    callers cost a quarter of what they cost one by one. Raises ConfigError for an invalid URL.
    """

    def __init__(self, url: str) -> None:
        retry = Retry(NoBackoff(), 0)
        try:
            # RESP3 needs more commands for each connection. Timeouts are measured here, not by the client.
            self._redis = Redis.from_url(url, protocol=2, retry=retry, socket_timeout=None, socket_connect_timeout=None)
        except ValueError as error:
            raise ConfigError(f"the URL of Redis cannot be used: give one like {EXAMPLE_URL}") from error
        self._away = False
        self._queue: list[Pending] = []
        self._sending: asyncio.Task[None] | None = None
        self._reconnecting: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect, now or later. Raises ConfigError for a server that refuses the password."""
        try:
            await self._probe()
        except AuthenticationError as error:
            raise ConfigError(f"Redis refuses the user or password of its URL: give one like {EXAMPLE_URL}") from error
        except (RedisError, OSError) as error:
            self._mark_away(error)

    async def close(self) -> None:
        """Send the queued commands, then close the connection."""
        if self._sending:
            await self._sending
        if self._reconnecting:
            self._reconnecting.cancel()
            await asyncio.wait({self._reconnecting})
        await self._redis.aclose()

    async def execute(self, *command: str | bytes | int) -> Any:
        """The answer to a command; None where the server is away."""
        if self._away:
            return None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((command, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    def warnings(self) -> list[str]:
        """Warnings for the operator."""
        return [AWAY] if self._away else []

    async def _send(self) -> None:
        while self._queue:
            batch, self._queue = self._queue[:BATCH_SIZE], self._queue[BATCH_SIZE:]
            values = await self._answers([command for command, _ in batch])
            for (_, answer), value in zip(batch, values, strict=True):
                if not answer.done():  # its caller was cancelled
                    answer.set_result(value)
        self._sending = None

    async def _answers(self, commands: list[Command]) -> list[Any]:
        """The answers to commands; None for each where the server is away."""
        no_answers = [None] * len(commands)
        if self._away:
            return no_answers
        running = asyncio.create_task(self._run_pipeline(commands))
        for _ in range(ANSWER_STEPS):
            done, _ = await asyncio.wait({running}, timeout=ANSWER_SECONDS / ANSWER_STEPS)
            if done:
                return running.result() or no_answers
        running.cancel()
        self._mark_away(f"no answer within {ANSWER_SECONDS * 1000:.0f} ms")
        return no_answers

    async def _run_pipeline(self, commands: list[Command]) -> list[Any] | None:
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return await pipeline.execute()
        except Exception as error:  # noqa: BLE001  # callers go on without an answer
            self._mark_away(error)
            return None

    def _mark_away(self, why: object) -> None:
        if not self._away:
            self._away = True
            logger.warning("Redis is away: %s", why)
            self._reconnecting = asyncio.create_task(self._reconnect())

    async def _reconnect(self) -> None:
        while self._away:
            await asyncio.sleep(PROBE_SECONDS)
            with contextlib.suppress(Exception):  # the next probe may succeed
                await self._probe()
                self._away = False
        logger.warning("Redis is back")

    async def _probe(self) -> None:
        """Write a key: a server that answers may be full, read-only or still loading. Raises the client's errors."""
        await self._redis.connection_pool.disconnect()
        async with asyncio.timeout(PROBE_SECONDS):
            await self._redis.set(f"{PREFIX}probe", 1, px=1)
