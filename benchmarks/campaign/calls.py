"""The load: callers that ask for everything a service answers, at once, and write down how each call ended."""

import json
import re
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from random import Random
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlencode

CALLERS = 6
LONGEST = 75.0
"""Seconds after which a call that has not ended is lost: more than the gateway's 60, and twice the other deadlines."""
MCP = {"Accept": "application/json, text/event-stream"}
TROUBLE = ("denied", "limited", "error", "empty", "layout", "slow=2", "reset", "truncated", "huge", "encoding")
"""Words by which the sandbox's sites fail."""
LASTING = ("denied", "empty", "layout")
"""Those whose queries a batch does not try again later."""
APIS = ("limited", "error", "garbage", "html", "type", "layout", "reset", "truncated", "huge", "slow=2")
PAGES = (
    "article",
    "slow/2",
    "reset",
    "truncated",
    "empty",
    "huge",
    "redirect/loop/a",
    "status/503",
    "file/archive.zip",
)
DOCUMENTS = ("paper.pdf", "report.docx", "table.csv", "news.rss", "product.html")
DASHBOARD = ("", "/keys", "/requests", "/usage", "/batches", "/webhooks", "/playground/web_search", "/settings")
SCHEDULES = 2
BATCH_ROWS = 20
NO_SERVICE = -3
"""The status of a call that found no service."""
PAUSE = 1.0
"""Seconds after a call that found no service, or one that takes no calls."""


@dataclass(frozen=True)
class Call:
    """How a call ended."""

    kind: str
    status: int
    """0 for a connection that ended without an answer, -1 for none in time, -2 for a certificate that is not valid."""
    request_id: str
    cost: int
    seconds: float
    code: str = ""
    at: float = 0.0
    """When it ended, by the monotonic clock."""


@dataclass
class Load:
    """The callers, what they may ask, and what they were told."""

    port: int
    key: str
    seed: int
    tls: ssl.SSLContext
    cookie: str
    """Of a member who is signed in to the dashboard."""
    calls: list[Call] = field(default_factory=list)
    batches: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Make the schedules, and begin to call."""
        for number in range(SCHEDULES):
            body = _batch(Random(self.seed), f"schedule {number}")[3] or b""
            call, answer = self._ended(*_post("/v1/schedules", {"cron": "* * * * *", "batch": json.loads(body)}), "")
            if call.status not in (200, 201):
                raise RuntimeError(answer.decode())
        for number in range(CALLERS):
            thread = threading.Thread(target=self._calls, args=(Random(self.seed * 1000 + number), number))
            thread.start()
            self._threads.append(thread)

    def stop(self) -> list[str]:
        """Stop calling, and wait for the calls that run; returns the callers whose call never ended."""
        self.stopped.set()
        for thread in self._threads:
            thread.join(2 * LONGEST)
        return [thread.name for thread in self._threads if thread.is_alive()]

    def _calls(self, random: Random, number: int) -> None:
        count = 0
        while not self.stopped.is_set():
            count += 1
            kind, ask = random.choices(KINDS, WEIGHTS)[0]
            call, answer = self._ended(*ask(random, f"{self.seed}-{number}-{count}"), kind)
            self.calls.append(call)
            if kind == "batch" and call.status in (200, 202):
                self.batches.append(json.loads(answer)["id"])
            if call.status in (0, NO_SERVICE, 503):
                sleep(PAUSE)

    def _ended(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None, kind: str
    ) -> tuple[Call, bytes]:
        began, status, given, answer = monotonic(), 0, dict[str, str](), b""
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=LONGEST, context=self.tls)
        caller = {"Cookie": self.cookie} if path.startswith("/dashboard") else {"X-Api-Key": self.key}
        try:
            connection.request(method, path, body, {**caller, **headers})
            response = connection.getresponse()
            status, given = response.status, {name.lower(): value for name, value in response.headers.items()}
            answer = response.read()
        except TimeoutError:
            status = -1
        except ssl.SSLCertVerificationError:
            status = -2
        except ConnectionRefusedError:
            status = NO_SERVICE
        except (OSError, HTTPException):
            status = 0
        finally:
            connection.close()
        cost, now = int(given.get("x-credits-cost", 0)), monotonic()
        call = Call(kind, status, given.get("x-request-id", ""), cost, now - began, _code(status, answer), now)
        return call, answer


def signed_in(port: int, tls: ssl.SSLContext, link: str) -> str:
    """The cookie of a new member of the account, by an invitation's link; raises RuntimeError where there is none."""
    path, cookie, form = link[link.index("/dashboard") :], "", b""
    for method in ("GET", "POST"):
        connection = HTTPSConnection("127.0.0.1", port, timeout=LONGEST, context=tls)
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, form or None, headers)
        response = connection.getresponse()
        cookie = response.headers.get("Set-Cookie", cookie).partition(";")[0]
        token = re.search(rb'name="csrf" value="([0-9a-f]+)"', response.read())
        connection.close()
        if token:
            fields = {"csrf": token[1].decode(), "name": "campaign@example.com", "password": "correct horse battery"}
            form = urlencode(fields).encode()
    if response.status != 303:
        raise RuntimeError(f"the invitation was answered with {response.status}")
    return cookie


Asked = tuple[str, str, dict[str, str], bytes | None]


def _get(path: str, **headers: str) -> Asked:
    return "GET", path, headers, None


def _post(path: str, body: Any, **headers: str) -> Asked:
    return "POST", path, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


def _rpc(name: str, **arguments: Any) -> Asked:
    parameters = {"name": name, "arguments": arguments}
    return _post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}, **MCP)


def _upstream(random: Random, name: str) -> Asked:
    return _get(f"/v1/search?q={name}+sandbox:{random.choice(APIS)}", **{"X-Engine": "home"})


def _page(random: Random, name: str) -> Asked:
    formats = random.choice((["markdown"], ["markdown", "links", "structured"], ["text"], ["html", "metadata"]))
    return _post("/v1/request", {"url": f"https://example.com/{random.choice(PAGES)}?{name}", "formats": formats})


def _document(random: Random, name: str) -> Asked:
    url = f"https://example.com/file/{random.choice(DOCUMENTS)}?{name}"
    return _post("/v1/request", {"url": url, "formats": ["markdown"]})


def _shown(_random: Random, name: str) -> Asked:
    url = f"https://example.com/article?{name}"
    return _post("/v1/request", {"url": url, "formats": ["screenshot"], "screenshot_type": "webp"})


def _batch(random: Random, name: str) -> Asked:
    words = [f"batch {name} {row}" for row in range(BATCH_ROWS - 2)]
    queries = [{"q": one} for one in (*words, f"sandbox:{random.choice(LASTING)}", f"{name} sandbox:slow=1")]
    return _post("/v1/batches", {"resource": "web_search", "queries": queries, "label": name})


KINDS: tuple[tuple[str, Callable[[Random, str], Asked]], ...] = (
    ("hit", lambda random, _: _get(f"/v1/search?q=coffee+{random.randrange(5)}")),
    ("miss", lambda _, name: _get(f"/v1/search?q={name}")),
    ("trouble", lambda random, name: _get(f"/v1/search?q={name}+sandbox:{random.choice(TROUBLE)}")),
    ("news", lambda _, name: _get(f"/v1/news?q={name}")),
    ("places", lambda _, name: _get(f"/v1/maps/search/{name}")),
    ("upstream", _upstream),
    ("page", _page),
    ("document", _document),
    ("screenshot", _shown),
    ("searxng", lambda _, name: _get(f"/searxng/search?q={name}&format=json")),
    ("firecrawl", lambda _, name: _post("/firecrawl/v2/scrape", {"url": f"https://example.com/article?{name}"})),
    ("serper", lambda _, name: _post("/serper/search", {"q": name})),
    ("reader", lambda _, name: _get(f"/reader/https://example.com/article?{name}")),
    ("mcp", lambda _, name: _rpc("web_search", q=name)),
    ("gateway", lambda _, name: _get(f"/shop/{quote(name)}")),
    ("batch", _batch),
    ("account", lambda _random, _: _get("/api/v1/usage?group_by=engine")),
    ("dashboard", lambda random, _: _get(f"/dashboard{random.choice(DASHBOARD)}")),
)  # fmt: skip
WEIGHTS = (10, 20, 15, 5, 3, 10, 6, 4, 2, 4, 4, 3, 3, 6, 6, 2, 2, 4)


def _code(status: int, answer: bytes) -> str:
    """The code of an error in its body; "" for an answer."""
    if status < 400:
        return ""
    try:
        error = json.loads(answer).get("error", "")
    except (ValueError, AttributeError):
        return ""
    return str(error.get("code", "")) if isinstance(error, dict) else ""
