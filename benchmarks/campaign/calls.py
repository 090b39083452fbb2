"""The load: callers that ask for everything a service answers, at once, and write down how each call ended."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from random import Random
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

CALLERS = 8
LONGEST = 60.0
"""Seconds after which a call that has not ended is lost: twice the service's own deadline, and more."""
MCP = {"Accept": "application/json, text/event-stream"}
TROUBLE = ("denied", "limited", "error", "captcha", "empty", "layout", "notfound", "slow=2", "reset", "cut", "budget")
"""Words by which the sandbox's sites fail."""
LASTING = ("denied", "empty", "layout", "notfound")
"""Those whose queries a batch does not try again later."""
APIS = ("limited", "denied", "error", "garbage", "html", "type", "layout", "spent")
PAGES = ("article", "paper.pdf", "report.docx", "product.html", "table.csv", "news.rss", "huge", "gzip", "loop")
BATCH_ROWS = 20
PAUSE = 1.0
"""Seconds after a call that found no service, or one that takes no calls."""


@dataclass(frozen=True)
class Call:
    """How a call ended."""

    kind: str
    status: int
    """0 for a connection that ended without an answer."""
    request_id: str
    cost: int
    seconds: float
    code: str = ""


@dataclass
class Load:
    """The callers, what they may ask, and what they were told."""

    port: int
    key: str
    seed: int
    calls: list[Call] = field(default_factory=list)
    batches: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin to call."""
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
            method, path, headers, body = ask(random, f"{self.seed}-{number}-{count}")
            call, answer = self._ended(kind, method, path, headers, body)
            self.calls.append(call)
            if kind == "batch" and call.status in (200, 202):
                self.batches.append(json.loads(answer)["id"])
            if call.status in (0, 503):
                sleep(PAUSE)

    def _ended(
        self, kind: str, method: str, path: str, headers: dict[str, str], body: bytes | None
    ) -> tuple[Call, bytes]:
        connection, began = HTTPConnection("127.0.0.1", self.port, timeout=LONGEST), monotonic()
        status, given, answer = 0, {}, b""
        try:
            connection.request(method, path, body, {"X-Api-Key": self.key, **headers})
            response = connection.getresponse()
            status, given, answer = response.status, dict(response.headers.items()), response.read()
        except TimeoutError:
            status = -1
        except (OSError, HTTPException):
            status = 0
        finally:
            connection.close()
        found = {name.lower(): value for name, value in given.items()}
        cost = int(found.get("x-credits-cost", 0))
        call = Call(kind, status, found.get("x-request-id", ""), cost, monotonic() - began, _code(status, answer))
        return call, answer


Asked = tuple[str, str, dict[str, str], bytes | None]


def _get(path: str, **headers: str) -> Asked:
    return "GET", path, headers, None


def _post(path: str, body: Any, **headers: str) -> Asked:
    return "POST", path, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


def _rpc(name: str, **arguments: Any) -> Asked:
    parameters = {"name": name, "arguments": arguments}
    return _post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}, **MCP)


def _upstream(random: Random, name: str) -> Asked:
    return _get(f"/v1/search?q={name}+sandbox:{random.choice(APIS)}", **{"X-Engine": "home, bing_web"})


def _page(random: Random, name: str) -> Asked:
    formats = random.choice((["markdown"], ["markdown", "links", "structured"], ["text"], ["html", "metadata"]))
    return _post("/v1/request", {"url": f"https://example.com/{random.choice(PAGES)}?{name}", "formats": formats})


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
    ("shown", _shown),
    ("searxng", lambda _, name: _get(f"/searxng/search?q={name}&format=json")),
    ("firecrawl", lambda _, name: _post("/firecrawl/v2/scrape", {"url": f"https://example.com/article?{name}"})),
    ("mcp", lambda _, name: _rpc("web_search", q=name)),
    ("gateway", lambda _, name: _get(f"/shop/{quote(name)}")),
    ("batch", _batch),
    ("account", lambda _random, _: _get("/api/v1/usage?group_by=engine")),
    ("sign-in", lambda _random, _: _get("/dashboard/sign-in")),
)  # fmt: skip
WEIGHTS = (10, 20, 15, 5, 3, 10, 8, 1, 5, 4, 6, 5, 2, 3, 1)


def _code(status: int, answer: bytes) -> str:
    """The code of an error in its body; "" for an answer."""
    if status < 400:
        return ""
    try:
        error = json.loads(answer).get("error", "")
    except (ValueError, AttributeError):
        return ""
    return str(error.get("code", "")) if isinstance(error, dict) else ""
