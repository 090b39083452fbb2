"""A Redis that may go and come back, without a call that fails or waits for it."""

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
"""Of every key, for a server that others use too."""
MOST_AT_ONCE = 256
"""Commands that are sent together."""
PATIENCE = 0.075
"""Seconds until commands are given up, and with them, for a while, the server."""
GLANCES = 5
"""Parts that the patience is waited in. A timer that is late because the process was busy with something else must not
count against the server: between two timers what has come in is read."""
PROBE_SECONDS = 1.0
"""Between two attempts to have a lost server back, and what one may take."""
AWAY = (
    "Redis does not answer: nothing is cached, and each process counts the limits for itself, until it is back; "
    "the log tells why"
)

Command = tuple[str | bytes | int, ...]
Waiting = tuple[Command, "asyncio.Future[Any]"]


class RedisServer:
    """The server at a URL such as `redis://user:password@host:6379/0`, `rediss://…` or `unix:///path`.

    What is asked while an answer is awaited is sent together after it: measured, sixteen callers at once cost a quarter
    of what they cost one by one. Raises ConfigError on a URL that means nothing.
    """

    def __init__(self, url: str) -> None:
        retry = Retry(NoBackoff(), 0)
        try:
            # The newer protocol greets each connection with more commands; time is watched here, not by the client.
            self._redis = Redis.from_url(url, protocol=2, retry=retry, socket_timeout=None, socket_connect_timeout=None)
        except ValueError as error:
            raise ConfigError(f"the URL of Redis cannot be used: give one like {EXAMPLE_URL}") from error
        self._away = False
        self._waiting: list[Waiting] = []
        self._sending: asyncio.Task[None] | None = None
        self._returning: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect. A server that is not there may come later; raises ConfigError for one that refuses the password."""
        try:
            await self._probe()
        except AuthenticationError as error:
            raise ConfigError(f"Redis refuses the user or password of its URL: give one like {EXAMPLE_URL}") from error
        except (RedisError, OSError) as error:
            self._lose(error)

    async def close(self) -> None:
        """Send what waits, and let go of the connection."""
        if self._sending:
            await self._sending
        if self._returning:
            self._returning.cancel()
            await asyncio.wait({self._returning})
        await self._redis.aclose()

    async def ask(self, *command: str | bytes | int) -> Any:
        """What the server answers to a command; None where it does not, in time."""
        if self._away:
            return None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    def warnings(self) -> list[str]:
        """What the operator should know."""
        return [AWAY] if self._away else []

    async def _send(self) -> None:
        while self._waiting:
            sent, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            told = await self._told([command for command, _ in sent])
            for (_, answer), value in zip(sent, told, strict=True):
                if not answer.done():  # its caller may be gone
                    answer.set_result(value)
        self._sending = None

    async def _told(self, commands: list[Command]) -> list[Any]:
        """The answers to commands; None for each after the server was lost."""
        nothing = [None] * len(commands)
        if self._away:
            return nothing
        asked = asyncio.create_task(self._together(commands))
        for _ in range(GLANCES):
            done, _ = await asyncio.wait({asked}, timeout=PATIENCE / GLANCES)
            if done:
                return asked.result() or nothing
        asked.cancel()
        self._lose(f"no answer within {PATIENCE * 1000:.0f} ms")
        return nothing

    async def _together(self, commands: list[Command]) -> list[Any] | None:
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return await pipeline.execute()
        except Exception as error:  # noqa: BLE001  # whatever it is, nobody may wait for ever
            self._lose(error)
            return None

    def _lose(self, why: object) -> None:
        if not self._away:
            self._away = True
            logger.warning("Redis is away: %s", why)
            self._returning = asyncio.create_task(self._return())

    async def _return(self) -> None:
        while self._away:
            await asyncio.sleep(PROBE_SECONDS)
            with contextlib.suppress(Exception):  # whatever it is, the next attempt may be better
                await self._probe()
                self._away = False
        logger.warning("Redis is back")

    async def _probe(self) -> None:
        """Write something: a server may answer and yet be full, read-only, or still loading. Raises what hinders it."""
        await self._redis.connection_pool.disconnect()
        async with asyncio.timeout(PROBE_SECONDS):
            await self._redis.set(f"{PREFIX}probe", 1, px=1)
