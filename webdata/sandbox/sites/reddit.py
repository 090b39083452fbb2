"""Reddit of 2026 with invented content: its OAuth API, the public JSON, and the Atom feeds.

The client `sandbox` with the secret `sandbox` gets a token. Other secrets select a failure: `sandbox:short` a token
for one second, `sandbox:revoked` a token that the API rejects, `sandbox:limited`, `sandbox:down` and `sandbox:blocked`
a 429, a 503 and the block page of the network policy. The failures of subforums, users and posts are those of
`_reddit_failures`. HTML pages redirect to the login or ask for a verification.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from webdata.runtime.wire.exchange import HTML, SandboxRequest, SiteReply, redirect
from webdata.sandbox import templates
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites import _reddit_failures as failing
from webdata.sandbox.sites import _reddit_things as things
from webdata.sandbox.sites._reddit_failures import api_error, json_reply
from webdata.sandbox.sites._searches import Data, whole_number

HOSTS = (".reddit.com",)

API = "oauth.reddit.com"
TOKEN = "/api/v1/access_token"  # noqa: S105 - an address
INSTALLED = "https://oauth.reddit.com/grants/installed_client"
CLIENT = "sandbox"
TOKENS = {"sandbox": 3600, "sandbox:short": 1, "sandbox:revoked": 3600, "": 3600}
"""The lifetime of a token in seconds by secret; that of an installed application is empty."""
ACCEPTED_AUTHORIZATIONS = ("bearer sandbox-full", "bearer sandbox-short")
TOKEN_FAILURES: Mapping[str, Callable[[], SiteReply]] = {
    "sandbox:limited": lambda: failing.limited(2),
    "sandbox:down": lambda: api_error(503, "Service Unavailable"),
    "sandbox:blocked": failing.blocked,
}

DEFAULT_SIZE = 25
MAX_SIZE = 100
SORTS = ("hot", "new", "top", "rising", "controversial", "best")
POSTS_SINCE = {"hour": 3, "day": 20, "week": 60, "month": 100}
"""The number of posts within a time span."""

NAME = r"(?P<name>[A-Za-z0-9_-]{2,24})"
POST_ID = r"(?:t3_)?(?P<post_id>[0-9a-z]{1,13})"


@dataclass(frozen=True)
class Lookup:
    """A request with the parts of its path."""

    request: SandboxRequest
    interface: str
    """`oauth`, `json` or `atom`; "" for an HTML page."""
    name: str = ""
    """The name of a subforum or user."""
    post_id: str = ""
    sort: str = ""
    has_results: bool = True

    @property
    def subforum(self) -> str:
        return self.name.lower()


def answer(request: SandboxRequest) -> SiteReply:
    """The thing at the path, or the reply of the scenario that its name selects."""
    if not request.headers.get("user-agent", "").strip():
        return failing.blocked()
    if request.path.rstrip("/") == TOKEN:
        return token(request)
    path, interface = _interface(request)
    if interface == "oauth" and request.headers.get("authorization", "").lower() not in ACCEPTED_AUTHORIZATIONS:
        challenge = 'Bearer realm="reddit", error="invalid_token"'
        return json_reply({"message": "Unauthorized", "error": 401}, 401, (("WWW-Authenticate", challenge),))
    return _routed(request, path, interface)


def token(request: SandboxRequest) -> SiteReply:
    """A token (RFC 6749, 5.1), or the error for the credentials or the grant."""
    client, secret = _credentials(request)
    if secret in TOKEN_FAILURES:
        return TOKEN_FAILURES[secret]()
    grant = request.form.get("grant_type", [""])[0]
    if request.method != "POST" or client != CLIENT or secret not in TOKENS:
        return api_error(401, "Unauthorized")
    if not (grant == "client_credentials" and secret) and not (grant == INSTALLED and "device_id" in request.form):
        return json_reply({"error": "unsupported_grant_type"}, 400)
    value = f"sandbox-{secret.partition(':')[2] or 'full'}"
    return json_reply({"access_token": value, "token_type": "bearer", "expires_in": TOKENS[secret], "scope": "*"})


def subforum(lookup: Lookup) -> SiteReply:
    """A listing of a subforum's posts."""
    about = things.subforum(lookup.subforum)
    posts = things.posts(lookup.subforum) if lookup.has_results else ()
    children = [{"kind": "t3", "data": post} for post in posts]
    title = f"{lookup.sort} links : {lookup.subforum}" if lookup.sort else about["title"]
    return _listing(lookup, children, lookup.sort or "hot", title, about)


def user(lookup: Lookup) -> SiteReply:
    """A listing of a user's posts and comments."""
    kind = {"submitted": "t3", "comments": "t1"}.get(lookup.sort)
    contributions = things.contributions(lookup.name) if lookup.has_results else ()
    children = [thing for thing in contributions if kind in (None, thing["kind"])]
    return _listing(lookup, children, lookup.request.first("sort") or "new", f"overview for {lookup.name}", None)


def about_subforum(lookup: Lookup) -> SiteReply:
    """A subforum's description of itself."""
    return _json(lookup, {"kind": "t5", "data": things.subforum(lookup.subforum)})


def about_user(lookup: Lookup) -> SiteReply:
    """A user's profile, also of a suspended user."""
    suspended = failing.scenario_of(lookup.name) == "sandbox:suspended"
    return _json(lookup, {"kind": "t2", "data": things.user(lookup.name, suspended=suspended)})


def thread(lookup: Lookup) -> SiteReply:
    """A post and its comments."""
    listings = things.thread(lookup.post_id, lookup.subforum, lookup.request.first("sort"))
    listings = listings if lookup.has_results else [listings[0], things.listing([])]
    if lookup.interface != "atom":
        return _json(lookup, listings)
    post = listings[0]["data"]["children"][0]["data"]
    target = f"{post['permalink']}.rss"
    comments = (
        {"kind": "t1", "data": {**comment, "link_title": post["title"]}}
        for comment in things.flat(listings[1]["data"]["children"])
    )
    title, about = f"{post['title']} : {post['subreddit']}", things.subforum(post["subreddit"])
    return _feed([{"kind": "t3", "data": post}, *comments], target, title, about)


def info(lookup: Lookup) -> SiteReply:
    """Posts by their full names, without missing ones."""
    ids = [name.removeprefix("t3_") for name in lookup.request.first("id").split(",") if name.startswith("t3_")]
    posts = [
        {"kind": "t3", "data": things.post(post_id)}
        for post_id in ids
        if lookup.has_results and failing.scenario_of(post_id, is_post_id=True) != "sandbox:missing"
    ]
    return _json(lookup, things.listing(posts, dist=len(posts)))


def search(lookup: Lookup) -> SiteReply:
    """The search for communities, which has no results."""
    return _json(lookup, things.listing([], dist=0))


def share(lookup: Lookup) -> SiteReply:
    """The redirect from a share link to its post."""
    post_id = things.id_of(lookup.subforum, len(lookup.request.path) % things.POSTS)
    return redirect(f"{things.HOME}/r/{lookup.name}/comments/{post_id}/?share_id=sandbox", 301)


Render = Callable[[Lookup], SiteReply]
ROUTES: tuple[tuple[re.Pattern[str], Render], ...] = (
    (re.compile(rf"/r/{NAME}/about"), about_subforum),
    (re.compile(rf"(?:/r/{NAME})?/comments/{POST_ID}(?:/.*)?"), thread),
    (re.compile(rf"/r/{NAME}/s/\w+"), share),
    (re.compile(rf"/r/{NAME}(?:/(?P<sort>{'|'.join(SORTS)}))?"), subforum),
    (re.compile(rf"/(?:user|u)/{NAME}/about"), about_user),
    (re.compile(rf"/(?:user|u)/{NAME}(?:/(?P<sort>overview|submitted|comments))?"), user),
    (re.compile(r"/api/info"), info),
    (re.compile(r"/subreddits/search"), search),
)


def _routed(request: SandboxRequest, path: str, interface: str) -> SiteReply:
    for pattern, render in ROUTES:
        if match := pattern.fullmatch(path):
            parts: dict[str, Any] = match.groupdict(default="")
            return _page(Lookup(request, interface, **parts), render)
    if path.startswith("/login"):
        return failing.html_page("login", 200)
    return api_error(404, "Not Found") if interface else failing.login(request)


def _page(lookup: Lookup, render: Render) -> SiteReply:
    is_page = render is subforum and failing.scenario_of(lookup.name) == "sandbox:pageonly"
    if not lookup.interface and render is not share and not is_page:
        return failing.login(lookup.request) if lookup.request.host.startswith("old.") else failing.challenge()
    if render is about_user and failing.scenario_of(lookup.name) == "sandbox:suspended":
        return render(lookup)
    post_id = lookup.post_id or (lookup.request.first("id").removeprefix("t3_") if render is info else "")
    scenario = failing.scenario_of(post_id, is_post_id=True) if post_id else failing.scenario_of(lookup.name)
    if render is info and scenario == "sandbox:missing":
        return render(lookup)
    pages = failing.scenario_pages(
        lambda _: render(lookup), lambda _: render(replace(lookup, has_results=False)), lookup.interface
    )
    return apply_scenarios(lookup.request, scenario, lambda _: render(lookup), pages)


def _interface(request: SandboxRequest) -> tuple[str, str]:
    """The path without its extension, and the interface of the host or the extension; "" for an HTML page."""
    path = unquote(request.path)
    if request.host == API:
        return path.removesuffix(".json").rstrip("/") or "/", "oauth"
    for extension, interface in ((".json", "json"), (".rss", "atom")):
        if path.endswith(extension):
            return path.removesuffix(extension).rstrip("/"), interface
    return path.rstrip("/") or "/", ""


def _listing(lookup: Lookup, children: list[Data], sort: str, title: str, about: Data | None) -> SiteReply:
    rows = _sorted(children, sort, lookup.request.first("t"))
    start = _start(rows, lookup.request.first("after"))
    size = min(whole_number(lookup.request.first("limit")), MAX_SIZE) or DEFAULT_SIZE
    page = rows[start : start + size]
    after = page[-1]["data"]["name"] if page and start + size < len(rows) else None
    if lookup.interface == "atom":
        return _feed(page, lookup.request.target, title, about)
    if not lookup.interface:
        return _elements(page, title)
    return _json(lookup, things.listing(page, after, len(page)))


def _sorted(children: list[Data], sort: str, span: str) -> list[Data]:
    if sort in ("top", "controversial"):
        children = children[: POSTS_SINCE.get(span, len(children))]
        return sorted(children, key=lambda thing: thing["data"]["score"], reverse=sort == "top")
    if sort == "hot":
        return sorted(children, key=lambda thing: thing["data"]["score"] - thing["data"]["created_utc"])
    return children[:DEFAULT_SIZE] if sort == "rising" else children


def _start(rows: list[Data], name: str) -> int:
    """The index after the thing of that name; past the end for an unknown name."""
    if not name:
        return 0
    return next((index + 1 for index, thing in enumerate(rows) if thing["data"]["name"] == name), len(rows))


def _json(lookup: Lookup, content: object) -> SiteReply:
    """JSON, whose text is escaped for HTML without `raw_json`."""
    reply = json_reply(content, headers=failing.rate_headers())
    if lookup.request.first("raw_json") == "1":
        return reply
    body = reply.body.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    return replace(reply, body=body)


def _feed(children: list[Data], target: str, title: str, about: Data | None) -> SiteReply:
    """An Atom feed (RFC 4287) of posts and comments, which has no scores, numbers of comments or tree."""
    times = (datetime.fromtimestamp(thing["data"]["created_utc"], UTC).isoformat() for thing in children)
    rows = [(thing["kind"], thing["data"], time) for thing, time in zip(children, times, strict=True)]
    headers = (*failing.ATOM, *failing.SNOO, *failing.rate_headers(96, 60))
    values = {"things": rows, "target": target, "title": title, "subforum": about, "home": things.HOME}
    return SiteReply(200, headers, templates.render(failing.TEMPLATE, "feed", **values))


def _elements(children: list[Data], title: str) -> SiteReply:
    """The page for browsers, whose posts are elements with attributes."""
    posts = [(thing["data"], datetime.fromtimestamp(thing["data"]["created_utc"], UTC)) for thing in children]
    rows = [(post, time.strftime("%Y-%m-%dT%H:%M:%S.%f%z")) for post, time in posts]
    return SiteReply(
        200, (*HTML, *failing.SNOO), templates.render(failing.TEMPLATE, "elements", posts=rows, title=title)
    )


def _credentials(request: SandboxRequest) -> tuple[str, str]:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        client, _, secret = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return (client, secret) if scheme.lower() == "basic" else ("", "")
