"""What can go wrong, on demand: a word among the search terms, such as `coffee sandbox:slow`.

| word | what happens |
|---|---|
| `sandbox:captcha` | the site's captcha page, which a real browser passes and nothing else |
| `sandbox:enablejs` | the shell that wants JavaScript; a real browser passes it |
| `sandbox:challenge` | a firewall's challenge (403), which a real browser passes; its cookie holds for one user agent |
| `sandbox:handshake` | 403 for those whose TLS is not a browser's |
| `sandbox:consent` | the site's consent page; posting its form passes it |
| `sandbox:denied` | 403 |
| `sandbox:limited` | 429, and nothing passes it |
| `sandbox:error` | 500 |
| `sandbox:empty` | the page that says that nothing was found |
| `sandbox:layout` | a result page of a shape that no parser knows |
| `sandbox:slow` | the right page, after 5 seconds; `sandbox:slow=SECONDS`, up to 60 |
| `sandbox:reset` | the connection breaks before the first byte |
| `sandbox:truncated` | the connection ends in the middle of the body |
| `sandbox:huge` | the right page, 16 MB long |
| `sandbox:encoding` | the right page, with bytes in it that are not UTF-8 |
| `sandbox:once` | the other words hold for the first answer only (`sandbox:once=NUMBER`: so many), as a cookie counts |

Several words may stand together (`sandbox:captcha sandbox:slow=1`): the first that is a page of the site's own is
shown, the others are done to it. A word that means nothing is a 400 that lists them all.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from webdata.sandbox import walls
from webdata.sandbox.exchange import Reply, SandboxRequest, plain

WORD = re.compile(r"\bsandbox:(\w+)(?:=([\d.]+))?", re.IGNORECASE)

SLOW_SECONDS = 5.0
SLOWEST_SECONDS = 60.0
HUGE_BYTES = 16 * 1024 * 1024
ONCE = "once"
ONCE_SECONDS = 60
NOT_UTF8 = b"\xff\xfe\xe9\x80"

Page = walls.Page


@dataclass(frozen=True)
class Scenario:
    """One word: its name and the number behind `=`."""

    name: str
    number: float | None = None


def scenarios(terms: str) -> list[Scenario]:
    """The scenarios that search terms ask for, in their order."""
    return [Scenario(name.lower(), _number(text)) for name, text in WORD.findall(terms)]


def play(request: SandboxRequest, terms: str, page: Page, own: Mapping[str, Page]) -> Reply:
    """Answer with the site's page, or with what the terms ask for. `own` are the site's own pages by scenario."""
    asked = scenarios(terms)
    own = {**{name: wall(page) for name, wall in walls.WALLS.items()}, **own}
    known = {*own, *DEEDS, ONCE}
    wrong = [scenario.name for scenario in asked if scenario.name not in known]
    if wrong:
        return plain(400, f"No scenario is called {wrong[0]}: there are {', '.join(sorted(known))}.")
    once = next((scenario for scenario in asked if scenario.name == ONCE), None)
    if once is None:
        return _played(request, page, own, asked)
    name, before = _counted(request, terms)
    if before >= (once.number or 1):
        return page(request)
    reply = _played(request, page, own, asked)
    counted = ("Set-Cookie", f"{name}={before + 1}; Path=/; Max-Age={ONCE_SECONDS}")
    return replace(reply, headers=(*reply.headers, counted))


def _counted(request: SandboxRequest, terms: str) -> tuple[str, int]:
    """The name of the cookie that counts the answers to these terms, and what it says."""
    name = f"sandbox_once_{blake2b(terms.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
    return name, int(_number(request.cookies.get(name, "")) or 0)


def _played(request: SandboxRequest, page: Page, own: Mapping[str, Page], asked: list[Scenario]) -> Reply:
    reply = next((own[scenario.name] for scenario in asked if scenario.name in own), page)(request)
    for scenario in asked:
        if scenario.name in DEEDS:
            reply = DEEDS[scenario.name](reply, scenario)
    return reply


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _slow(reply: Reply, scenario: Scenario) -> Reply:
    seconds = SLOW_SECONDS if scenario.number is None else scenario.number
    return replace(reply, delay=min(seconds, SLOWEST_SECONDS))


def _reset(reply: Reply, _scenario: Scenario) -> Reply:
    return replace(reply, reset=True)


def _truncated(reply: Reply, _scenario: Scenario) -> Reply:
    return replace(reply, cut=len(reply.body) // 2)


def _huge(reply: Reply, _scenario: Scenario) -> Reply:
    return replace(reply, body=reply.body.ljust(HUGE_BYTES))


def _encoding(reply: Reply, _scenario: Scenario) -> Reply:
    end = b"</span>" if b"</span>" in reply.body else b"</title>"  # a feed has no spans
    return replace(reply, body=reply.body.replace(end, NOT_UTF8 + end))


DEEDS: Mapping[str, Callable[[Reply, Scenario], Reply]] = {
    "slow": _slow,
    "reset": _reset,
    "truncated": _truncated,
    "huge": _huge,
    "encoding": _encoding,
}
"""What can be done to any page of any site."""
