"""Rate limits that processes and machines count together."""

from webdata.stores.accounts.model import Plan
from webdata.stores.ephemeral.interfaces import Limit, Refusal
from webdata.stores.ephemeral.redis_server import PREFIX, RedisServer

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
"""Counts a call unless it is refused; returns the remaining requests, reset, refusal and retry of a Limit.

Times are in microseconds of the server's clock, which all processes share. The requests are a list of times, oldest
first. The calls in flight are a sorted set by their latest end, so that calls of a process that died expire.
"""
REFUSALS: tuple[Refusal | None, ...] = (None, "requests", "in_flight")


class RedisLimits:
    """A LimitStore in Redis. A call is in flight for `longest_call` seconds at most, also without `leave`."""

    def __init__(self, server: RedisServer, longest_call: float) -> None:
        self._server = server
        self._lease = round(longest_call * 1_000_000)

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit | None:
        requests, calls = f"{PREFIX}requests:{{{key_id}}}", in_flight(key_id)
        arguments = (plan.requests, plan.seconds * 1_000_000, plan.in_flight, call_id, self._lease)
        answer = await self._server.execute("EVAL", ENTER, 2, requests, calls, *arguments)
        if answer is None:
            return None
        remaining, reset, refusal, retry = answer
        return Limit(plan, remaining, reset / 1_000_000, REFUSALS[refusal], retry / 1_000_000)

    async def leave(self, key_id: str, call_id: str) -> None:
        await self._server.execute("ZREM", in_flight(key_id), call_id)


def in_flight(key_id: str) -> str:
    """The Redis key of a key's calls in flight; the braces assign all data of a key to one node of a cluster."""
    return f"{PREFIX}in_flight:{{{key_id}}}"
