"""Limits that processes and machines count together."""

from webdata.stores.interfaces import Limit, Plan, Refusal
from webdata.stores.redis_server import PREFIX, RedisServer

ENTER = """
local requests, in_flight = KEYS[1], KEYS[2]
local most, window, most_in_flight, call_id, lease =
    tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local oldest = redis.call('LINDEX', requests, 0)
while oldest and oldest + window <= now do
    redis.call('LPOP', requests)
    oldest = redis.call('LINDEX', requests, 0)
end
redis.call('ZREMRANGEBYSCORE', in_flight, '-inf', now)

local count = redis.call('LLEN', requests)
local reset = oldest and oldest + window - now or 0
if count >= most then
    local leaving = redis.call('LINDEX', requests, count - most)
    return {0, reset, 1, leaving and leaving + window - now or window}
end
if redis.call('ZCARD', in_flight) >= most_in_flight then
    return {most - count, reset, 2, 1000000}
end
redis.call('RPUSH', requests, string.format('%.0f', now))
redis.call('PEXPIRE', requests, math.ceil(window / 1000))
redis.call('ZADD', in_flight, string.format('%.0f', now + lease), call_id)
redis.call('PEXPIRE', in_flight, math.ceil(lease / 1000))
return {most - count - 1, oldest and reset or window, 0, 0}
"""
"""Counts a call, or tells why not, in one step: microseconds of the server's own clock, so that all count alike.

The requests are a list of times, oldest first. The calls in flight are a sorted set by the time when they end at
the latest: those of a process that died leave by themselves. Gives what remains, the reset, the refusal, the wait.
"""
REFUSALS: tuple[Refusal | None, ...] = (None, "requests", "in_flight")


class RedisLimits:
    """A LimitStore in Redis. A call is in flight for `longest_call` seconds at most, whether it leaves or not."""

    def __init__(self, server: RedisServer, longest_call: float) -> None:
        self._server = server
        self._lease = round(longest_call * 1_000_000)

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit | None:
        requests, calls = f"{PREFIX}requests:{{{key_id}}}", in_flight(key_id)
        told = await self._server.ask(
            "EVAL",
            ENTER,
            2,
            requests,
            calls,
            plan.requests,
            plan.seconds * 1_000_000,
            plan.in_flight,
            call_id,
            self._lease,
        )
        if told is None:
            return None
        remaining, reset, refusal, retry = told
        return Limit(plan, remaining, reset / 1_000_000, REFUSALS[refusal], retry / 1_000_000)

    async def leave(self, key_id: str, call_id: str) -> None:
        await self._server.ask("ZREM", in_flight(key_id), call_id)


def in_flight(key_id: str) -> str:
    """Where the calls of a key that are in flight are kept; the braces keep all of a key on one node of a cluster."""
    return f"{PREFIX}in_flight:{{{key_id}}}"
