"""Work that is done again and again beside the calls, whether or not the database answers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from webdata.domain.errors import DatabaseAwayError

logger = logging.getLogger(__name__)


async def repeat(what: str, work: Callable[[], Awaitable[object]], seconds: float) -> None:
    """Do the `work` now, and again so many seconds after each end, until it is cancelled.

    What fails is logged with `what` it is, and tried again as if it had succeeded.
    """
    while True:
        try:
            await work()
        except DatabaseAwayError as error:
            logger.warning("%s: the database does not answer, next attempt in %.0f s: %s", what, seconds, error)
        except Exception:
            logger.exception("%s: failed, next attempt in %.0f s", what, seconds)
        await asyncio.sleep(seconds)
