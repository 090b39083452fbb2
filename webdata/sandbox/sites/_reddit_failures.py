"""Reddit's failures, selected by the name of a subforum or user, or by the id of a post.

A name `sandbox_SCENARIO` and a post id `zzSCENARIO` select a scenario; so do the names `private`, `banned`,
`quarantined`, `gated`, `missing`, `nowhere`, `empty` and `suspended`. A number after the scenario is its argument
(`sandbox_slow_2`, `zzslow2`); underscores within it are ignored (`sandbox_rate_limit`). Besides those of
`webdata.sandbox.scenarios` there are:

| scenario | effect |
|---|---|
| `private`, `banned`, `quarantined`, `gated` | the API's error with that reason |
| `missing`, `nowhere` | 404 as JSON; the redirect to the search for communities |
| `empty`, `suspended` | a listing without things; a suspended user |
| `blocked`, `shell` | the network policy's page; the network security's page of 190 KB (both 403) |
| `challenge`, `over18`, `login` | the verification page, the age gate, the redirect to the login |
| `ratelimit`, `limited` | 429 for 247 seconds, and for 2 |
| `low` | the normal page, with 1 request left for 3 seconds |
| `error`, `denied`, `layout` | 500, 403, an unknown layout |
| `encoding`, `torn` | bytes that are not UTF-8, half a document |
| `oauthdown` | 503 of the OAuth API alone |
| `jsonblocked` | 503 of the OAuth API and a block of the public JSON; the feeds are served |
| `pageonly` | the same, and a block of the feeds; the pages are served |
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

import orjson

from webdata.runtime.wire.exchange import HTML, Handler, Headers, SandboxRequest, SiteReply, redirect
from webdata.sandbox.scenarios import EFFECTS
from webdata.sandbox.sites._reddit_things import HOME
from webdata.sandbox.templates import render

JSON: Headers = (("Content-Type", "application/json; charset=UTF-8"),)
ATOM: Headers = (("Content-Type", "application/atom+xml; charset=UTF-8"),)
SNOO: Headers = (("Server", "snooserv"),)

TEMPLATE = "sites/reddit"
SHELL_BYTES = 190_000
PLAIN_NAMES = ("private", "banned", "quarantined", "gated", "missing", "nowhere", "empty", "suspended")
WARNING = "An invented warning: this community may show things that are not so."
QUARANTINE = {"quarantine_message": WARNING, "quarantine_message_html": f'<div class="md">{WARNING}</div>'}
NAMED = re.compile(r"sandbox_([a-z0-9_]+?)(?:_(\d+))?")
POST_ID = re.compile(r"zz([a-z0-9]*?)(\d*)")


def scenario_of(name: str, *, is_post_id: bool = False) -> str:
    """The scenario that a name selects, in the notation of search terms (`sandbox:slow=2`); "" for none.

    A post id `zz…` without a known scenario selects `sandbox:missing`.
    """
    low = name.lower()
    if low in PLAIN_NAMES and not is_post_id:
        return f"sandbox:{low}"
    match = (POST_ID if is_post_id else NAMED).fullmatch(low)
    if not match:
        return ""
    scenario, number = match[1].replace("_", ""), match[2]
    if is_post_id and scenario not in SCENARIOS:
        scenario, number = low[2:] if low[2:] in SCENARIOS else "missing", ""
    return f"sandbox:{scenario}={number}" if number else f"sandbox:{scenario}"


def json_reply(content: object, status: int = 200, headers: Headers = ()) -> SiteReply:
    """A reply in JSON."""
    return SiteReply(status, (*headers, *JSON, *SNOO), orjson.dumps(content))


def api_error(status: int, message: str, **more: object) -> SiteReply:
    """An error of the API."""
    return json_reply({**more, "message": message, "error": status}, status)


def html_page(name: str, status: int, **values: str) -> SiteReply:
    """An HTML page of the site."""
    return SiteReply(status, (*HTML, *SNOO), render(TEMPLATE, name, **values))


def limited(seconds: int) -> SiteReply:
    """A 429 with an empty body, and with the seconds to wait in its headers."""
    headers = (*rate_headers(remaining=0, reset=seconds), ("Retry-After", str(seconds)))
    return SiteReply(429, (*HTML, *SNOO, *headers))


def rate_headers(remaining: int = 597, reset: int = 412) -> Headers:
    """The rate limit of 600 requests in ten minutes: those used, those remaining, the seconds until the reset."""
    values = {"used": str(600 - remaining), "remaining": f"{remaining}.0", "reset": str(reset)}
    return tuple((f"x-ratelimit-{name}", value) for name, value in values.items())


def blocked() -> SiteReply:
    """The block page of the network policy."""
    return html_page("blocked", 403)


def shell() -> SiteReply:
    """The block page of the network security."""
    return html_page("shell", 403, filling=".sandbox{color:#ff4500}".ljust(SHELL_BYTES))


def challenge() -> SiteReply:
    """The verification page, whose script submits its form."""
    return html_page("challenge", 200)


def login(request: SandboxRequest) -> SiteReply:
    """The redirect to the login, as of the old site."""
    return redirect(f"{HOME}/login/?reason=lor2&dest={quote(request.url, safe='')}")


def scenario_pages(normal: Handler, empty: Handler, interface: str) -> Mapping[str, Handler]:
    """The pages by scenario for one of the interfaces `oauth`, `json` and `atom`."""
    jsonblocked = {"oauth": lambda _: api_error(503, "Service Unavailable"), "json": lambda _: shell()}
    return {
        "private": lambda _: api_error(403, "Forbidden", reason="private"),
        "banned": lambda _: api_error(404, "Not Found", reason="banned"),
        "quarantined": lambda _: api_error(403, "Forbidden", reason="quarantined", **QUARANTINE),
        "gated": lambda _: api_error(403, "Forbidden", reason="gated", interstitial_warning_message=WARNING),
        "missing": lambda _: api_error(404, "Not Found"),
        "nowhere": lambda request: redirect(f"https://{request.host}/subreddits/search?q=nowhere"),
        "empty": empty,
        "suspended": lambda _: api_error(403, "Forbidden"),
        "blocked": lambda _: blocked(),
        "shell": lambda _: shell(),
        "challenge": lambda _: challenge(),
        "captcha": lambda _: challenge(),
        "over18": lambda request: html_page("over18", 200, dest=quote(request.url, safe="")),
        "login": login,
        "ratelimit": lambda _: limited(247),
        "limited": lambda _: limited(2),
        "low": lambda request: _with_headers(normal(request), rate_headers(remaining=1, reset=3)),
        "error": lambda _: api_error(500, "Internal Server Error"),
        "denied": lambda _: api_error(403, "Forbidden"),
        "layout": lambda _: (
            html_page("layout", 200) if interface == "atom" else json_reply({"version": 3, "posts": [{"uid": 1}]})
        ),
        "torn": lambda request: replace(reply := normal(request), body=reply.body[: len(reply.body) // 2]),
        "oauthdown": jsonblocked["oauth"] if interface == "oauth" else normal,
        "jsonblocked": jsonblocked.get(interface, normal),
        "pageonly": {**jsonblocked, "atom": lambda _: shell()}.get(interface, normal),
    }


def _with_headers(reply: SiteReply, headers: Headers) -> SiteReply:
    names = {name for name, _ in headers}
    return replace(reply, headers=(*(header for header in reply.headers if header[0] not in names), *headers))


SCENARIOS = {*scenario_pages(lambda _: SiteReply(), lambda _: SiteReply(), "json"), *EFFECTS}
"""All scenarios that a name or a post id can select."""
