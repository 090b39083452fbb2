"""The time and size of each page of the dashboard, over a full database: calls, movements of the ledger, keys."""

import asyncio
import http.client
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from urllib.parse import urlencode

from ulid import ULID

from benchmarks.serving import Effort, Target, service
from webdata.accounts.access.api_keys import new_key
from webdata.accounts.access.invitations import invite
from webdata.domain.attempts import Attempt
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.calls.model import CallFilter, LoggedCall
from webdata.stores.database.database import attach_database
from webdata.stores.ledger.ledger_state import Credit, End, Operation, Reservation, Reserve
from webdata.stores.ledger.ledger_writer import LedgerWriter
from webdata.stores.sql_stores import SqlStores

KEYS = 200
GROUP = 2000
DAYS = timedelta(days=29)
PASSWORD = "a password of a benchmark"
ENGINES = ("google_web", "bing_web", "google_image", "google_news", "amazon_products", "url")
OUTCOMES = ("ok",) * 90 + ("empty",) * 5 + ("refused",) * 3 + ("blocked", "upstream")
TOKEN = re.compile(rb'name="csrf" value="([0-9a-f]+)"')
LINK = re.compile(rb'href="(/dashboard[^"#]*)"')
PATHS = (
    *(f"?days={days}&by={by}" for days in (1, 7, 30) for by in ("outcome", "engine", "key")),
    "/requests",
    "/requests?outcome=blocked",
    "/requests?outcome=layout",
    "/requests?engine=url",
    "/requests?key={key}",
    "/requests?outcome=blocked&engine=url&key={key}",
    "/requests?since={day}&until={day}",
    "/requests?before={call}",
    "/requests/{call}",
    "/usage",
    "/usage?kind=credit",
    "/usage?kind=release",
    "/usage?kind=charge",
    "/usage?since={day}&until={day}",
    "/usage?kind=commit&until={day}",
)
"""The pages about calls and credits; those that the navigation leads to are measured, too."""


@dataclass(frozen=True)
class Page:
    """The median time of a page in milliseconds, and its size in KB."""

    path: str
    ms: float
    kb: float


def measure(effort: Effort, rows: int) -> list[Page]:
    """The pages over so many calls and as many movements, the slowest first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names, link = asyncio.run(_fill(f"sqlite:///{folder}/service1.sqlite3", rows))
        with service("http://127.0.0.1:9", folder) as server:
            browser = Browser(server.target)
            browser.join(link)
            shown = [path.format(**names) for path in PATHS]
            paths = dict.fromkeys([*shown, *browser.navigation()])
            pages = [browser.timed(path, effort.runs) for path in paths]
    return sorted(pages, key=lambda page: -page.ms)


@dataclass
class Browser:
    """Asks for pages over one connection, with its cookies."""

    target: Target
    cookies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", self.target.port)

    def join(self, link: str) -> None:
        """Become a member by an invitation."""
        token = TOKEN.search(self.get(link))
        assert token, "the invitation has a form"
        form = urlencode({"csrf": token[1].decode(), "name": "benchmark@example.com", "password": PASSWORD})
        self._exchange("POST", link, form)

    def get(self, path: str) -> bytes:
        """The body of a page, or of the one that it leads to; raises RuntimeError for any status but 200."""
        status, body, location = self._exchange("GET", path)
        if status == 303:
            return self.get(location)
        if status != 200:
            raise RuntimeError(f"{path}: status {status}")
        return body

    def navigation(self) -> list[str]:
        """The pages that the navigation leads to, below `/dashboard`."""
        navigation = self.get("/dashboard").partition(b'<nav class="navigation"')[2].partition(b"</nav>")[0]
        return [link.decode().removeprefix("/dashboard") for link in LINK.findall(navigation)]

    def timed(self, path: str, runs: int) -> Page:
        """Ask for a page again and again."""
        took, body = [], self.get(f"/dashboard{path}")
        for _ in range(runs):
            begun = perf_counter()
            body = self.get(f"/dashboard{path}")
            took.append(perf_counter() - begun)
        return Page(path or "/", median(took) * 1000, len(body) / 1000)

    def _exchange(self, method: str, path: str, form: str | None = None) -> tuple[int, bytes, str]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, form, headers)
        response = self._connection.getresponse()
        body = response.read()
        for cookie in response.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, body, response.headers.get("location", "")


async def _fill(url: str, rows: int) -> tuple[dict[str, str], str]:
    """Fill a database with so many calls and movements; returns what the paths name, and an invitation."""
    random, now = Random(0), datetime.now(UTC)
    middle = now - DAYS / 2
    with SqlStores(url) as stores:
        keys = [new_key(f"key number {number}", test=False)[0] for number in range(KEYS)]
        for key in keys:
            await stores.keys.add(key)
        times = [now - DAYS * (1 - number / rows) for number in range(rows)]
        calls = (_call(time, random, random.choice(keys).id) for time in times)
        while group := list(islice(calls, GROUP)):
            await stores.calls.add(group)
        _spend(url, _operations(times[::2], keys[0].id))
        while await stores.history.add_up(GROUP):
            pass
        call = (await stores.calls.page(DEFAULT_ACCOUNT, CallFilter(until=middle), 1))[0]
        names = {"key": keys[0].id, "day": f"{middle:%Y-%m-%d}", "call": call.id}
        return names, await invite(stores.members, DEFAULT_ACCOUNT, "admin")


def _call(time: datetime, random: Random, key_id: str) -> LoggedCall:
    engine, outcome, seconds = random.choice(ENGINES), random.choice(OUTCOMES), random.expovariate(3)
    attempt = Attempt(engine=engine, transport="http", proxy=None, outcome=outcome, kind=None, seconds=seconds)
    return LoggedCall(
        id=f"req_{ULID.from_datetime(time)}",
        time=time,
        account_id=DEFAULT_ACCOUNT,
        key_id=key_id,
        test=False,
        resource="web_search",
        engine=engine,
        outcome=outcome,
        code="" if outcome in ("ok", "empty") else "upstream_failed",
        message="",
        transport="http",
        cost=int(outcome in ("ok", "empty")),
        cached=random.random() < 0.2,
        seconds=seconds,
        timings={"queue": 0.0001, "fetch": seconds, "parse": 0.004, "validate": 0.0003},
        query={"q": f"coffee shops in town number {random.randrange(1000)}", "num": 10, "region": "DE"},
        attempts=[attempt],
    )


def _operations(times: Iterable[datetime], key_id: str) -> Iterator[Operation]:
    """Two movements for each time."""
    times = list(times)
    yield Credit(times[0], DEFAULT_ACCOUNT, 2 * len(times), "the benchmark's")
    for time in times:
        request_id = f"req_{ULID.from_datetime(time)}"
        yield Reserve(Reservation(request_id, DEFAULT_ACCOUNT, key_id, "web_search", "benchmark:1:1", time))
        yield End(time, request_id, "commit", "ok")


def _spend(url: str, operations: Iterator[Operation]) -> None:
    database = attach_database(url)
    writer = LedgerWriter(database)
    while group := list(islice(operations, GROUP)):
        writer.write(group)
    database.close()
