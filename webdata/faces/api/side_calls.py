"""Calls that a request needs beside each other, and what its reply says of all of them."""

import asyncio
from collections.abc import Sequence

from webdata.accounts.access.admission import CallRequest
from webdata.faces.api.calling import Called, Calling

AT_ONCE = 5
"""The most calls of one request that run at the same time: those of others wait for the same sites and processes."""
COST, BALANCE = "x-credits-cost", "x-credits-remaining"


async def side_by_side(
    calls: Calling, requests: Sequence[CallRequest], at_once: int = AT_ONCE, within: float | None = None
) -> list[Called | None]:
    """Make calls side by side, so many at a time; None for one that has not ended after so many seconds.

    What such a call holds is released when it ends: it goes on, since what it pays for has begun.
    """
    room = asyncio.Semaphore(at_once)

    async def made(request: CallRequest) -> Called:
        async with room:
            return await calls.called(request)

    tasks = [asyncio.create_task(made(request)) for request in requests]
    if not tasks:
        return []
    done, late = await asyncio.wait(tasks, timeout=within)
    for task in late:
        task.add_done_callback(_release_late)
    return [task.result() if task in done else None for task in tasks]


def _release_late(task: asyncio.Task[Called]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().release()


def account_headers(made: Sequence[Called]) -> dict[str, str]:
    """The headers of the reply to several calls about their caller: the limit, the sum of the costs, the credits."""
    statuses = [one.result.status for one in made if one.result.status]
    last = min(statuses, key=lambda status: status.limit.remaining, default=None)
    headers = last.headers() if last else {}
    costs = [int(one.headers[COST]) for one in made if COST in one.headers]
    balances = [int(one.headers[BALANCE]) for one in made if BALANCE in one.headers]
    return headers | ({COST: str(sum(costs)), BALANCE: str(min(balances))} if costs else {})
