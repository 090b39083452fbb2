"""Work that is done again and again beside the calls, whether or not the database answers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from webdata.domain.errors import DatabaseUnavailableError

logger = logging.getLogger(__name__)

STEP_PAUSE = 0.2
"""Seconds between two steps of `in_steps`, in which others write."""


async def repeat(
    what: str, work: Callable[[], Awaitable[object]], seconds: float, sooner: asyncio.Event | None = None
) -> None:
    """Do the `work` now, and again so many seconds after each end, or when `sooner` is set, until it is cancelled.

    What fails is logged with `what` it is, and tried again as if it had succeeded.
    """
    while True:
        try:
            await work()
        except DatabaseUnavailableError as error:
            logger.warning("%s: the database does not answer, next attempt in %g s: %s", what, seconds, error)
        except Exception:
            logger.exception("%s: failed, next attempt in %g s", what, seconds)
        if sooner is None:
            await asyncio.sleep(seconds)
            continue
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await sooner.wait()
        sooner.clear()


@asynccontextmanager
async def running(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run works beside the block, each in a task of its own; at its end they are cancelled, and have ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_steps(step: Callable[[int], Awaitable[int]], most: int) -> None:
    """Do a `step` with at most so many rows again and again, until one has had fewer; it returns how many it had."""
    while await step(most) == most:  # noqa: ASYNC110  # nothing is waited for
        await asyncio.sleep(STEP_PAUSE)
