"""Many calls while upstream APIs fail in every manner: outcomes, prices, budgets, and where their keys are not."""

import os
import re
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from random import Random
from time import sleep
from urllib.parse import quote

import orjson
import pytest

from tests.loopback_apis import OUTCOMES, RESOURCES, SENT_FORMS, LoopbackApi, loopback_apis

CALLS = int(os.environ.get("UPSTREAM_CALLS", "240"))
CREDITS = 100_000
PRICE = 3
REQUESTS_A_DAY = CALLS // 100
"""Of some of the upstreams, whose day is then used up."""
UPSTREAMS = {one.name: one for one in (LoopbackApi(kind, failure) for kind in RESOURCES for failure in OUTCOMES)}
TIMEOUT = "upstream_timeout"
CODES = {"upstream_failed", "layout_changed", TIMEOUT}
ATTEMPT = re.compile(r'attempt\d+;desc="(\w+) http (\w+)')


@dataclass(frozen=True)
class Call:
    """A search of one endpoint, and the upstreams that it may ask, in their order."""

    terms: str
    resource: str
    names: tuple[str, ...]


def invented_calls(number):
    random = Random(34)
    for count in range(number):
        resource = random.choice(["search", "search", "image", "video", "news", "scholar"])
        able = [name for name, one in UPSTREAMS.items() if resource in RESOURCES[one.kind]]
        yield Call(f"tea{count}", resource, tuple(random.sample(able, random.randint(1, 3))))


def is_limited(name):
    return name.endswith(("_none", "_empty"))


def settings(url):
    """The environment of a service with all upstreams."""

    upstreams = {name: one.settings(url, price=PRICE) for name, one in UPSTREAMS.items()}
    for name in filter(is_limited, upstreams):
        upstreams[name]["requests_a_day"] = REQUESTS_A_DAY
    return {"WEBDATA_UPSTREAMS": orjson.dumps(upstreams).decode(), "WEBDATA_TLS": "off", "WEBDATA_DEADLINE": "4"}


def made(one, call):
    """A call and its status, headers and body; None instead of them where its worker was killed."""
    headers = {"X-Api-Key": one.live_key, "X-Engine": ", ".join(call.names)}
    with suppress(OSError, HTTPException):
        return call, one.request("GET", f"/v1/{call.resource}?q={quote(call.terms)}", headers)
    for _ in range(100):
        if answers(one):
            break
        sleep(0.3)
    return call, None


def check(call, status, headers, body):
    """An answer is that of an engine that did not fail, and each attempt ended as the upstream's reply has it."""
    attempts = ATTEMPT.findall(headers["server-timing"])
    names = [name for name, _ in attempts]
    assert names == [name for name in call.names if name in names], "attempts are in the caller's order"
    expected = [UPSTREAMS[name].outcome(call.terms) for name in names]
    assert [outcome for _, outcome in attempts] == [one.replace("empty", "ok") for one in expected], attempts
    if status == 200:
        found = (headers["x-engine"], headers["x-outcome"], headers["x-credits-cost"])
        assert found == (names[-1], expected[-1], str(PRICE))
    else:
        assert (status, headers["x-credits-cost"]) == (502, "0"), body
        code = orjson.loads(body)["error"]["code"]
        assert code in CODES
        assert code == TIMEOUT or "ok" not in {outcome for _, outcome in attempts}, "only an answer may come too late"


def kill_a_worker(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:  # noqa: PTH123
        workers = [int(child) for child in children.read().split()]
    with suppress(ProcessLookupError):
        os.kill(workers[0], signal.SIGKILL)


def run(one, kills):
    """Each call with its reply, while workers are killed so many times."""
    calls = list(invented_calls(CALLS))
    with ThreadPoolExecutor(12) as callers:
        done = [callers.submit(made, one, call) for call in calls]
        for number in range(kills):
            while sum(each.done() for each in done) < (number + 1) * CALLS // (kills + 1):
                sleep(0.05)
            kill_a_worker(one.process.pid)
        return [each.result(60) for each in done]


def answers(one):
    """Whether a worker listens again."""
    with suppress(OSError, HTTPException):
        return one.request("GET", "/health/live", {})[0] == 200


def told(one, replies):
    """The headers and bodies of replies, and of the pages without a key."""
    pages = [one.request("GET", path, {}) for path in ("/health/ready", "/metrics", "/openapi.json")]
    return b"".join(f"{headers.items()}".encode() + body for _, headers, body in (*replies, *pages))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "kills"), [("sqlite", 0), ("sqlite", 3), ("postgresql", 3)], indirect=["database"]
)
def test_calls_while_upstreams_fail(start, database, tmp_path, until, kills):
    """Outcomes and prices are right, budgets exact, and no key is in any answer, page, log, sample or database."""
    own = {"WEBDATA_DATABASE": database.url, "WEBDATA_WORKERS": "2", "WEBDATA_SAMPLES": str(tmp_path / "samples")}
    with loopback_apis(UPSTREAMS.values()) as apis:
        serve = partial(start, limited=True, **settings(apis.url), **own)
        with serve() as one:
            database.run("plans", "set", "default", "--requests", "1000000", "--seconds", "60", "--in-flight", "1000")
            database.run("accounts", "credit", "default", str(CREDITS))
            before, _ = database.left()
            done = run(one, kills)
            until(partial(answers, one))
            read = told(one, [reply for _, reply in done if reply])
            one.stop()
        if kills:
            with serve():  # which releases what killed workers had reserved
                pass
    balance, reserved = database.left()
    answered = [(call, *reply) for call, reply in done if reply]
    assert len(answered) > CALLS // 2 if kills else len(answered) == CALLS
    for each in answered:
        check(*each)
    check_budgets(database, apis.sent, kills)
    paid = sum(status == 200 for _, status, *_ in answered)
    commits = sum(kind == "commit" for _, kind in database.ends())
    assert (before - balance, reserved) == (PRICE * commits, 0)
    assert paid == commits or (kills and paid < commits)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [form for form in SENT_FORMS if form in read + written]


def check_budgets(database, sent, kills):
    """No upstream was sent more than its day has, each request was counted, and none was sent twice for a call."""
    assert set(sent.values()) == {1}
    sums = Counter(name for name, _ in sent)
    counted = dict(database.query("SELECT upstream, requests FROM upstream_requests"))
    for name, requests in counted.items():
        assert sums[name] <= requests
        assert kills or sums[name] == requests, name
        assert requests <= REQUESTS_A_DAY or not is_limited(name)
    assert REQUESTS_A_DAY in counted.values(), "no day was used up"
