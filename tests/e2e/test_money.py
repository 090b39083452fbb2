"""Credits and rate limits of a running service, with SQLite and PostgreSQL."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from time import sleep

import pytest


def numbers(headers, *names):
    return tuple(int(headers[name]) for name in names)


COSTS = ("x-credits-cost", "x-credits-remaining")


@pytest.mark.slow
def test_calls_cost_credits(serve, database):
    """A fetch costs a credit, a hit and an error none, and the usage reports them all."""
    with serve() as one:
        get = partial(one.get, key=one.live_key)
        _, first, record = get("/v1/search?q=coffee")
        _, second, again = get("/v1/search/q=coffee")
        _, anew, _ = get("/v1/search?q=coffee", **{"Cache-Control": "no-cache"})
        status, lost, _ = get("/v1/search?q=sandbox:denied")
        _, test, _ = one.get("/v1/search?q=tea")
        _, _, account = get("/api/v1/account")
        _, _, usage = get("/api/v1/usage?group_by=engine")
        wrong, _, problem = get("/api/v1/usage?group_by=colour")
    assert [one["x-cache"] for one in (first, second, anew, lost)] == ["MISS", "HIT", "MISS", "MISS"]
    assert [numbers(one, *COSTS) for one in (first, second, anew, lost)] == [(1, 999), (0, 999), (1, 998), (0, 998)]
    assert ("age" in first, "age" in second, again) == (False, True, record)
    assert numbers(test, *COSTS) == (0, 998)
    assert (status, lost["x-outcome"], lost["x-transport"]) == (502, "blocked", "http")
    assert 'attempt1;desc="google_web http blocked/denied"' in lost["server-timing"]
    assert account["credits"] == 998
    assert usage["usage"] == [{"group": "web_search", "calls": 4, "credits": 2, "cached": 1, "released": 1}]
    assert (wrong, problem["detail"][0]["loc"]) == (422, ["query", "group_by"])
    assert re.search(r"web_search +4 +2 +1 +1", database.run("usage", "--by", "engine"))


@pytest.mark.slow
def test_calls_beyond_the_rate_limit_are_refused(serve, database):
    """The 61st call of a key in a minute is a 429 with `Retry-After`."""
    with serve() as one:
        found = [one.get("/v1/search?q=coffee") for _ in range(61)]
        status, headers, body = found.pop()
        other = one.get("/v1/search?q=coffee", key=one.live_key)[0]
    assert {status for status, *_ in found} == {200}
    assert (status, body["error"]["code"], other) == (429, "too_many_requests", 200)
    assert 0 < body["error"]["retry_after"] == int(headers["retry-after"]) <= 60
    assert numbers(headers, "x-ratelimit-requests-limit", "x-ratelimit-requests-remaining") == (60, 0)
    assert headers["ratelimit-policy"] == '"requests";q=60;w=60'


@pytest.mark.slow
def test_credits_are_never_overspent(serve, database):
    """8 callers with 10 n calls and n credits get exactly n answers; the other calls are refused."""
    credits_left = 20
    with serve() as one:
        database.run("plans", "set", "default", "--requests", "100000", "--seconds", "60", "--in-flight", "1000")
        database.run("accounts", "credit", "default", str(credits_left - 1000))

        def call(number):
            status, headers, body = one.get(f"/v1/search?q=coffee+{number}&num=1", key=one.live_key)
            return status, headers["x-credits-cost"], body["error"]["code"] if status != 200 else ""

        with ThreadPoolExecutor(8) as callers:
            answers = Counter(callers.map(call, range(10 * credits_left)))
    assert answers == {(200, "1", ""): credits_left, (429, "0", "out_of_credits"): 9 * credits_left}
    assert database.left() == (0, 0)
    assert Counter(kind for _, kind in database.ends()) == {"commit": credits_left}


@pytest.mark.slow
def test_a_revoked_key_stops_at_once(serve, database):
    """After `webdata keys revoke` the next call with the key is a 401, also for a cached answer."""
    with serve() as one:
        assert one.get("/v1/search?q=coffee", key=one.live_key)[0] == 200
        database.run("keys", "revoke", one.live_key[:12])
        status, headers, _ = one.get("/v1/search?q=coffee", key=one.live_key)
    assert (status, "x-credits-remaining" in headers) == (401, False)


# CPython leaves a socket open whose peer has reset it between `connect` and the handshake.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.slow
def test_a_killed_service_loses_no_movement(serve, database):
    """After `kill -9` during calls every answer is in the ledger once, and no credit stays reserved."""
    enough, answered = Event(), []
    with serve() as one:
        database.run("plans", "set", "default", "--requests", "100000", "--seconds", "60", "--in-flight", "1000")

        def call(number):
            try:
                _, headers, _ = one.get(f"/v1/search?q=coffee+{number}&num=1", key=one.live_key)
            except OSError:  # killed
                return
            answered.append(headers["x-request-id"])
            if len(answered) == 60:
                enough.set()

        with ThreadPoolExecutor(16) as callers:
            callers.map(call, range(200))
            assert enough.wait(60)
            one.process.kill()
    before = database.left()
    with serve():
        balance, reserved = database.left()
    ends = database.ends()
    assert set(answered) <= {request for request, kind in ends if kind == "commit"}
    assert set(ends.values()) == {1}
    assert len({request for request, _ in ends}) == len(ends)
    assert (balance, reserved) == (1000 - sum(kind == "commit" for _, kind in ends), 0)
    assert balance == sum(before)


@pytest.mark.slow
def test_a_caller_that_disconnects_pays(serve, database):
    """A caller that disconnects pays for a fetch that has begun, and no credit stays reserved when the service ends."""
    with serve() as one:
        one.get("/v1/search?q=coffee")  # starts the crawler
        connection = one.connection()
        connection.request("GET", "/v1/search?q=coffee+sandbox:slow=1", headers={"X-Api-Key": one.live_key})
        while database.left()[1] == 0:
            assert one.process.poll() is None
        sleep(0.3)  # the fetch begins, and takes a second
        connection.close()
        assert one.stop() == 0
    assert database.left() == (999, 0)
    assert Counter(kind for _, kind in database.ends()) == {"commit": 1}
