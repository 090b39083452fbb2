"""What goes wrong at Reddit, by words that stand in the names that are asked for.

A subforum or user called `sandbox_WORD` and a post whose number begins with `zz` (`zzWORD`) ask for the word; so do
the plain names `private`, `banned`, `quarantined`, `gated`, `missing`, `nowhere`, `empty` and `suspended`. A number
behind the word is one of seconds (`sandbox_slow_2`, `zzslow2`), and underscores in a word do not count
(`sandbox_rate_limit`). Besides the words of `webdata.sandbox.scenarios` there are:

| word | what happens |
|---|---|
| `private`, `banned`, `quarantined`, `gated` | the API's refusal with that reason |
| `missing`, `nowhere` | 404 as JSON; the redirect to the search for communities |
| `empty`, `suspended` | a listing without things; a user who is suspended |
| `blocked`, `shell` | "whoa there, pardner!"; the page of 190 KB of the network's security, both 403 |
| `challenge`, `over18`, `login` | the wait for verification, the question for the age, the way to the login |
| `ratelimit`, `limited` | 429 for 247 seconds, and for 2 |
| `low` | the right page, and 1 request left for 3 seconds |
| `error`, `denied`, `layout`, `encoding`, `torn` | 500, 403, other members, bytes that are not UTF-8, half a document |
| `oauthdown` | the OAuth API fails with 503, the rest answers |
| `jsonblocked` | the OAuth API fails, the public JSON is blocked, the feeds answer |
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import orjson

from webdata.sandbox.exchange import HTML, Handler, Headers, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import EFFECTS
from webdata.sandbox.sites._reddit_things import HOME
from webdata.sandbox.templates import blocks

JSON: Headers = (("Content-Type", "application/json; charset=UTF-8"),)
ATOM: Headers = (("Content-Type", "application/atom+xml; charset=UTF-8"),)
SNOO: Headers = (("Server", "snooserv"),)

TEMPLATE = "reddit.html"
SHELL_BYTES = 190_000
PLAIN = ("private", "banned", "quarantined", "gated", "missing", "nowhere", "empty", "suspended")
REASONS: Mapping[str, tuple[int, str]] = {
    "private": (403, "Forbidden"),
    "banned": (404, "Not Found"),
    "quarantined": (403, "Forbidden"),
    "gated": (403, "Forbidden"),
}
NAMED = re.compile(r"sandbox_([a-z0-9_]+?)(?:_(\d+))?")
NUMBERED = re.compile(r"zz([a-z0-9]*?)(\d*)")


def word(name: str, *, is_number: bool = False) -> str:
    """The scenario that a name asks for, as it is written among terms (`sandbox:slow=2`); "" for none.

    A number that asks for nothing that there is belongs to a post that is missing.
    """
    low = name.lower()
    if low in PLAIN and not is_number:
        return f"sandbox:{low}"
    match = (NUMBERED if is_number else NAMED).fullmatch(low)
    if not match:
        return ""
    asked, seconds = match[1].replace("_", ""), match[2]
    if is_number and asked not in WORDS:
        asked, seconds = low[2:] if low[2:] in WORDS else "missing", ""
    return f"sandbox:{asked}={seconds}" if seconds else f"sandbox:{asked}"


def data(content: object, status: int = 200, headers: Headers = ()) -> Reply:
    """A reply in JSON."""
    return Reply(status, (*headers, *JSON, *SNOO), orjson.dumps(content))


def told(status: int, message: str, **more: object) -> Reply:
    """An error of the API."""
    return data({**more, "message": message, "error": status}, status)


def page(name: str, status: int, **values: str) -> Reply:
    """One of the site's own pages."""
    return Reply(status, (*HTML, *SNOO), blocks(TEMPLATE)[name].fill(**values).encode())


def refusal(reason: str, _request: SandboxRequest) -> Reply:
    """The API's answer for a subforum that cannot be read, with what it says of it."""
    status, message = REASONS[reason]
    warning = "An invented warning: this community may show things that are not so."
    more = {
        "quarantined": {"quarantine_message": warning, "quarantine_message_html": f'<div class="md">{warning}</div>'},
        "gated": {"interstitial_warning_message": warning},
    }
    return told(status, message, reason=reason, **more.get(reason, {}))


def limited(seconds: int) -> Reply:
    """Too many requests: an empty body, and in the headers when to come again."""
    headers = (*rate(remaining=0, reset=seconds), ("Retry-After", str(seconds)))
    return Reply(429, (*HTML, *SNOO, *headers))


def rate(remaining: int = 597, reset: int = 412) -> Headers:
    """What is left of the requests of ten minutes."""
    told_so = {"used": str(600 - remaining), "remaining": f"{remaining}.0", "reset": str(reset)}
    return tuple((f"x-ratelimit-{name}", value) for name, value in told_so.items())


def blocked() -> Reply:
    """The page of a network policy."""
    return page("blocked", 403, ticket="5a4db0c5a4db")


def shell() -> Reply:
    """The page of the network's security."""
    return page("shell", 403, filling=".sandbox{color:#ff4500}".ljust(SHELL_BYTES))


def challenge() -> Reply:
    """The page whose script sends its form; it does not say what for."""
    return page("challenge", 200, seed="5a4db0c5")


def over18(request: SandboxRequest) -> Reply:
    """The question for the age."""
    return page("over18", 200, dest=quote(request.url, safe=""))


def login(request: SandboxRequest) -> Reply:
    """The way of guests of the old site."""
    return redirect(f"{HOME}/login/?reason=lor2&dest={quote(request.url, safe='')}")


def failures(right: Handler, empty: Handler, form: str) -> Mapping[str, Handler]:
    """The pages by word, for one of the forms `oauth`, `json` and `atom`."""
    down = told(503, "Service Unavailable")
    forms = {"oauth": lambda _: down, "json": lambda _: shell(), "atom": right}
    return {
        **{reason: partial(refusal, reason) for reason in REASONS},
        "missing": lambda _: told(404, "Not Found"),
        "nowhere": lambda request: redirect(f"https://{request.host}/subreddits/search?q=nowhere"),
        "empty": empty,
        "suspended": lambda _: told(403, "Forbidden"),
        "blocked": lambda _: blocked(),
        "shell": lambda _: shell(),
        "challenge": lambda _: challenge(),
        "captcha": lambda _: challenge(),
        "over18": over18,
        "login": login,
        "ratelimit": lambda _: limited(247),
        "limited": lambda _: limited(2),
        "low": lambda request: _with(right(request), rate(remaining=1, reset=3)),
        "error": lambda _: told(500, "Internal Server Error"),
        "denied": lambda _: told(403, "Forbidden"),
        "layout": lambda _: page("layout", 200) if form == "atom" else data({"version": 3, "posts": [{"uid": 1}]}),
        "encoding": lambda request: _broken(right(request)),
        "torn": lambda request: _torn(right(request)),
        "oauthdown": forms["oauth"] if form == "oauth" else right,
        "jsonblocked": forms.get(form, right),
    }


def _with(reply: Reply, headers: Headers) -> Reply:
    names = {name for name, _ in headers}
    return replace(reply, headers=(*(one for one in reply.headers if one[0] not in names), *headers))


def _torn(reply: Reply) -> Reply:
    return replace(reply, body=reply.body[: len(reply.body) // 2])


def _broken(reply: Reply) -> Reply:
    marks = (b'"title":"', b'"display_name":"', b"<title>")
    body = reply.body
    for mark in marks:
        body = body.replace(mark, mark + b"\xe9\xff")
    return replace(reply, body=body)


WORDS = {*failures(lambda _: Reply(), lambda _: Reply(), "json"), *EFFECTS}
"""All that can be asked for."""
