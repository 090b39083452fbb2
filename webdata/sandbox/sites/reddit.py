"""Reddit in the shapes of 2026, with invented content: its OAuth API, the public JSON, and the Atom feeds.

The client `sandbox` with the secret `sandbox` gets a token. A secret with a word behind it gets what the word says:
`sandbox:short` a token for one second, `sandbox:revoked` a token that the API no longer takes, `sandbox:limited`,
`sandbox:down` and `sandbox:blocked` a 429, a 503 and the page of a network policy.
What goes wrong with subforums, users and posts stands in `_reddit_failures`. Pages for people ask guests to log in.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

from webdata.sandbox.exchange import Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _reddit_atom as atom
from webdata.sandbox.sites import _reddit_failures as failing
from webdata.sandbox.sites import _reddit_things as things
from webdata.sandbox.sites._reddit_failures import data, told
from webdata.sandbox.sites._reddit_fields import Data

HOSTS = (".reddit.com",)

API = "oauth.reddit.com"
TOKEN = "/api/v1/access_token"  # noqa: S105 - an address
INSTALLED = "https://oauth.reddit.com/grants/installed_client"
CLIENT = "sandbox"
TOKENS = {"sandbox": 3600, "sandbox:short": 1, "sandbox:revoked": 3600, "": 3600}
"""Seconds of a token by secret; an installed application has none."""
TOKEN_FAILURES: Mapping[str, Callable[[], Reply]] = {
    "sandbox:limited": lambda: failing.limited(2),
    "sandbox:down": lambda: told(503, "Service Unavailable"),
    "sandbox:blocked": failing.blocked,
}

USUAL_SIZE = 25
LARGEST_SIZE = 100
SORTS = ("hot", "new", "top", "rising", "controversial", "best")
SPANS = {"hour": 3, "day": 20, "week": 60, "month": 100}
"""How many of all are so new."""

NAME = r"(?P<name>[A-Za-z0-9_-]{2,24})"
NUMBER = r"(?:t3_)?(?P<number>[0-9a-z]{1,13})"


@dataclass(frozen=True)
class Asked:
    """What an address means: the thing, in one of the forms `oauth`, `json`, `atom`."""

    request: SandboxRequest
    form: str
    name: str = ""
    number: str = ""
    sort: str = ""
    filled: bool = True
    """Whether anything is found."""

    @property
    def subforum(self) -> str:
        return self.name.lower()


def answer(request: SandboxRequest) -> Reply:
    """A thing in the form that is asked for, or what its name asks for instead."""
    if not request.headers.get("user-agent", "").strip():
        return failing.blocked()
    if request.path.rstrip("/") == TOKEN:
        return token(request)
    path, form = _form(request)
    if form == "oauth" and not _may(request):
        return _unauthorized()
    return _routed(request, path, form)


def token(request: SandboxRequest) -> Reply:
    """A token for an application, or the reason why there is none."""
    client, secret = _credentials(request)
    if secret in TOKEN_FAILURES:
        return TOKEN_FAILURES[secret]()
    grant = request.form.get("grant_type", [""])[0]
    if request.method != "POST" or client != CLIENT or secret not in TOKENS:
        return told(401, "Unauthorized")
    if not (grant == "client_credentials" and secret) and not (grant == INSTALLED and "device_id" in request.form):
        return data({"error": "unsupported_grant_type"}, 400)
    made = f"sandbox-{secret.partition(':')[2] or 'full'}"
    return data({"access_token": made, "token_type": "bearer", "expires_in": TOKENS[secret], "scope": "*"})


def subforum(asked: Asked) -> Reply:
    """A listing of a subforum's posts."""
    about = things.subforum(asked.subforum)
    found = [{"kind": "t3", "data": one} for one in things.posts(asked.subforum)] if asked.filled else []
    title = f"{asked.sort} links : {asked.subforum}" if asked.sort else about["title"]
    return _listed(asked, found, asked.sort or "hot", title, about)


def user(asked: Asked) -> Reply:
    """A listing of what a user wrote."""
    kind = {"submitted": "t3", "comments": "t1"}.get(asked.sort)
    found = [thing for thing in things.works(asked.name) if kind in (None, thing["kind"])] if asked.filled else []
    return _listed(asked, found, asked.request.first("sort") or "new", f"overview for {asked.name}", None)


def about_subforum(asked: Asked) -> Reply:
    """What a subforum says about itself."""
    return _shown(asked, {"kind": "t5", "data": things.subforum(asked.subforum)})


def about_user(asked: Asked) -> Reply:
    """What is told about a user, also about one who is suspended."""
    suspended = failing.word(asked.name) == "sandbox:suspended"
    return _shown(asked, {"kind": "t2", "data": things.user(asked.name, suspended=suspended)})


def thread(asked: Asked) -> Reply:
    """A post and its comments."""
    both = things.thread(asked.number, asked.subforum, asked.request.first("sort"))
    both = both if asked.filled else [both[0], things.listing([])]
    if asked.form != "atom":
        return _shown(asked, both)
    post = both[0]["data"]["children"][0]["data"]
    target = f"{post['permalink']}.rss"
    return _feed(atom.thread(both, target=target, subforum=things.subforum(post["subreddit"])))


def info(asked: Asked) -> Reply:
    """Posts by their full names; those that are missing are left out."""
    keys = [name.removeprefix("t3_") for name in asked.request.first("id").split(",") if name.startswith("t3_")]
    kept = [key for key in keys if asked.filled and failing.word(key, is_number=True) != "sandbox:missing"]
    return _shown(asked, things.listing([{"kind": "t3", "data": things.post(key)} for key in kept], dist=len(kept)))


def search(asked: Asked) -> Reply:
    """The search for communities, which finds none."""
    return _shown(asked, things.listing([], dist=0))


def share(asked: Asked) -> Reply:
    """A link that was shared leads to its post."""
    key = things.number(asked.subforum, len(asked.request.path) % things.POSTS)
    return redirect(f"{things.HOME}/r/{asked.name}/comments/{key}/?share_id=sandbox", 301)


Show = Callable[[Asked], Reply]
ROUTES: tuple[tuple[re.Pattern[str], Show], ...] = (
    (re.compile(rf"/r/{NAME}/about"), about_subforum),
    (re.compile(rf"(?:/r/{NAME})?/comments/{NUMBER}(?:/.*)?"), thread),
    (re.compile(rf"/r/{NAME}/s/\w+"), share),
    (re.compile(rf"/r/{NAME}(?:/(?P<sort>{'|'.join(SORTS)}))?"), subforum),
    (re.compile(rf"/(?:user|u)/{NAME}/about"), about_user),
    (re.compile(rf"/(?:user|u)/{NAME}(?:/(?P<sort>overview|submitted|comments))?"), user),
    (re.compile(r"/api/info"), info),
    (re.compile(r"/subreddits/search"), search),
)


def _routed(request: SandboxRequest, path: str, form: str) -> Reply:
    for pattern, show in ROUTES:
        if match := pattern.fullmatch(path):
            parts = match.groupdict(default="")
            asked = Asked(request, form, parts.get("name", ""), parts.get("number", ""), parts.get("sort", ""))
            return _page(asked, show)
    if path.startswith("/login"):
        return failing.page("login", 200)
    return told(404, "Not Found") if form else failing.login(request)


def _page(asked: Asked, show: Show) -> Reply:
    if not asked.form and show is not share:
        return failing.login(asked.request) if asked.request.host.startswith("old.") else failing.challenge()
    if show is about_user and failing.word(asked.name) == "sandbox:suspended":
        return show(asked)
    number = asked.number or (asked.request.first("id").removeprefix("t3_") if show is info else "")
    word = failing.word(number, is_number=True) if number else failing.word(asked.name)
    if show is info and word == "sandbox:missing":
        return show(asked)
    own = failing.failures(lambda _: show(asked), lambda _: show(replace(asked, filled=False)), asked.form)
    return apply_scenarios(asked.request, word, lambda _: show(asked), own)


def _form(request: SandboxRequest) -> tuple[str, str]:
    """The path without its ending, and the form that the host or the ending tells; "" is a page for people."""
    path = unquote(request.path)
    if request.host == API:
        return path.removesuffix(".json").rstrip("/") or "/", "oauth"
    for ending, form in ((".json", "json"), (".rss", "atom")):
        if path.endswith(ending):
            return path.removesuffix(ending).rstrip("/"), form
    return path.rstrip("/") or "/", ""


def _listed(asked: Asked, found: list[Data], sort: str, title: str, about: Data | None) -> Reply:
    rows = _sorted(found, sort, asked.request.first("t"))
    first = _after(rows, asked.request.first("after"))
    size = _size(asked.request)
    shown = rows[first : first + size]
    after = shown[-1]["data"]["name"] if shown and first + size < len(rows) else None
    if asked.form == "atom":
        return _feed(atom.listing(shown, target=asked.request.target, title=title, subforum=about))
    return _shown(asked, things.listing(shown, after, len(shown)))


def _sorted(found: list[Data], sort: str, span: str) -> list[Data]:
    if sort in ("top", "controversial"):
        found = found[: SPANS.get(span, len(found))]
        return sorted(found, key=lambda thing: thing["data"]["score"], reverse=sort == "top")
    if sort == "hot":
        return sorted(found, key=lambda thing: thing["data"]["score"] - thing["data"]["created_utc"])
    return found[:USUAL_SIZE] if sort == "rising" else found


def _after(rows: list[Data], name: str) -> int:
    """Where the page behind a thing begins; behind one that is not there is nothing."""
    if not name:
        return 0
    return next((place + 1 for place, thing in enumerate(rows) if thing["data"]["name"] == name), len(rows))


def _size(request: SandboxRequest) -> int:
    text = request.first("limit")
    asked = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return min(asked, LARGEST_SIZE) or USUAL_SIZE


def _shown(asked: Asked, content: object) -> Reply:
    """JSON; without `raw_json` its text is escaped as for a page."""
    reply = data(content, headers=failing.rate())
    if asked.request.first("raw_json") == "1":
        return reply
    body = reply.body.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    return replace(reply, body=body)


def _feed(body: bytes) -> Reply:
    return Reply(200, (*failing.ATOM, *failing.SNOO, *failing.rate(96, 60)), body)


def _credentials(request: SandboxRequest) -> tuple[str, str]:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        client, _, secret = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return (client, secret) if scheme.lower() == "basic" else ("", "")


def _may(request: SandboxRequest) -> bool:
    return request.headers.get("authorization", "").lower() in ("bearer sandbox-full", "bearer sandbox-short")


def _unauthorized() -> Reply:
    reason = 'Bearer realm="reddit", error="invalid_token"'
    return data({"message": "Unauthorized", "error": 401}, 401, (("WWW-Authenticate", reason),))
