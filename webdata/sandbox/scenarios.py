"""Failures on demand: a scenario's name among the search terms, such as `coffee sandbox:slow`.

| scenario | effect |
|---|---|
| `sandbox:captcha` | the site's captcha page, which only a real browser gets past |
| `sandbox:enablejs` | the page that requires JavaScript; a real browser gets past it |
| `sandbox:challenge` | a firewall's challenge (403) for real browsers; its cookie is valid for one user agent |
| `sandbox:handshake` | 403 for clients whose TLS is not a browser's |
| `sandbox:consent` | the site's consent page, until its form is posted |
| `sandbox:denied` | 403 |
| `sandbox:limited` | 429 for every client |
| `sandbox:error` | 500 |
| `sandbox:empty` | the page that reports no results |
| `sandbox:layout` | a result page in a layout that no parser knows |
| `sandbox:slow` | the normal page, after 5 seconds; `sandbox:slow=SECONDS`, up to 60 |
| `sandbox:reset` | the connection breaks before the first byte |
| `sandbox:truncated` | the connection ends in the middle of the body |
| `sandbox:huge` | the normal page, 16 MB long |
| `sandbox:encoding` | the normal page, with bytes in it that are not UTF-8 |
| `sandbox:SITE.NAME` | the scenario NAME on one site alone, such as `sandbox:google.captcha` |
| `sandbox:once` | limits the others to the first answer (`sandbox:once=NUMBER`: the first NUMBER), as a cookie counts |

Scenarios combine (`sandbox:captcha sandbox:slow=1`): the first that names a page decides the page, those that name an
effect change it. An unknown name is a 400 that lists the known ones.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from http import HTTPStatus

from webdata.runtime.wire.exchange import Handler, SandboxRequest, SiteReply, plain
from webdata.sandbox.challenges import CHALLENGES

SCENARIO = re.compile(r"\bsandbox:(?:([\w-]+)\.)?(\w+)(?:=([\d.]+))?", re.IGNORECASE)

SLOW_SECONDS = 5.0
SLOWEST_SECONDS = 60.0
HUGE_BYTES = 16 * 1024 * 1024
UNKNOWN_WORD = "X-Sandbox-Unknown-Word"
"""The header of the reply to an unknown scenario: it is the caller's mistake, no failure of the site."""
ONCE = "once"
ONCE_SECONDS = 60
NOT_UTF8 = b"\xff\xfe\xe9\x80"
POSITIONS = (b"(?=</span>)", b"(?=</title>)", b'(?<="title":")', b'(?<="title":\\[")', b'(?<="display_name":")')
TEXTS = [re.compile(position) for position in POSITIONS]
"""Where bytes are inserted: in the spans of a page, the titles of a feed, or the titles or names of JSON."""


@dataclass(frozen=True)
class Scenario:
    """One scenario: its name, the number behind `=`, and the site before the name."""

    name: str
    number: float | None = None
    site: str | None = None
    """A part of a host's name, such as `google`; None for every site."""

    def __str__(self) -> str:
        site = f"{self.site}." if self.site else ""
        return f"sandbox:{site}{self.name}" + ("" if self.number is None else f"={self.number}")

    def concerns(self, host: str) -> bool:
        """Whether it is of this host's site."""
        return self.site is None or self.site in host.split(".")


def scenarios(terms: str) -> list[Scenario]:
    """The scenarios in search terms, in their order."""
    return [Scenario(name.lower(), _number(text), site.lower() or None) for site, name, text in SCENARIO.findall(terms)]


def apply_scenarios(request: SandboxRequest, terms: str, page: Handler, pages: Mapping[str, Handler]) -> SiteReply:
    """The reply of `page` under the scenarios in the search terms. `pages` are the site's own pages by scenario."""
    requested = [scenario for scenario in scenarios(terms) if scenario.concerns(request.host)]
    pages = {**{name: challenge(page) for name, challenge in CHALLENGES.items()}, **pages}
    known = {*pages, *EFFECTS, ONCE}
    unknown = [scenario.name for scenario in requested if scenario.name not in known]
    if unknown:
        words = ", ".join(f"sandbox:{name}" for name in sorted(known))
        reply = plain(400, f"sandbox:{unknown[0]} is no word of the sandbox here: the words are {words}")
        return replace(reply, headers=(*reply.headers, (UNKNOWN_WORD, unknown[0])))
    once = next((scenario for scenario in requested if scenario.name == ONCE), None)
    if once is None:
        return _reply(request, page, pages, requested)
    cookie = f"sandbox_once_{blake2b(terms.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
    answered = int(_number(request.cookies.get(cookie, "")) or 0)
    if answered >= (once.number or 1):
        return page(request)
    reply = _reply(request, page, pages, requested)
    counted = ("Set-Cookie", f"{cookie}={answered + 1}; Path=/; Max-Age={ONCE_SECONDS}")
    return replace(reply, headers=(*reply.headers, counted))


def failures(error: Callable[[HTTPStatus, str], SiteReply]) -> dict[str, Handler]:
    """The scenarios `denied`, `limited` and `error` with a site's page for errors."""
    return {
        "denied": lambda _: error(HTTPStatus.FORBIDDEN, "Your client does not have permission to get this page."),
        "limited": lambda _: error(HTTPStatus.TOO_MANY_REQUESTS, "You ask too often."),
        "error": lambda _: error(HTTPStatus.INTERNAL_SERVER_ERROR, "The server met an error and could not answer."),
    }


def _reply(
    request: SandboxRequest, page: Handler, pages: Mapping[str, Handler], requested: list[Scenario]
) -> SiteReply:
    reply = next((pages[scenario.name] for scenario in requested if scenario.name in pages), page)(request)
    for scenario in requested:
        if scenario.name in EFFECTS:
            reply = EFFECTS[scenario.name](reply, scenario)
    return reply


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _slow(reply: SiteReply, scenario: Scenario) -> SiteReply:
    seconds = SLOW_SECONDS if scenario.number is None else scenario.number
    return replace(reply, delay=min(seconds, SLOWEST_SECONDS))


def _encoding(reply: SiteReply, _scenario: Scenario) -> SiteReply:
    text = next((text for text in TEXTS if text.search(reply.body)), None)
    return replace(reply, body=text.sub(NOT_UTF8, reply.body)) if text else reply


EFFECTS: Mapping[str, Callable[[SiteReply, Scenario], SiteReply]] = {
    "slow": _slow,
    "reset": lambda reply, _: replace(reply, reset=True),
    "truncated": lambda reply, _: replace(reply, cut=len(reply.body) // 2),
    "huge": lambda reply, _: replace(reply, body=reply.body.ljust(HUGE_BYTES)),
    "encoding": _encoding,
}
"""Changes to the reply of any site, by scenario."""
