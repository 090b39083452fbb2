"""Reddit's Atom feeds (RFC 4287) of 2026, which have no scores, numbers of comments or tree."""

from collections.abc import Iterable
from datetime import UTC, datetime

from webdata.sandbox.sites._reddit_things import HOME, flat
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.templates import render

TEMPLATE = "sites/reddit"


def listing(things: Iterable[Data], *, target: str, title: str, subforum: Data | None = None) -> bytes:
    """A feed of posts and comments; that of a subforum has its description."""
    rows = [(thing["kind"], thing["data"], _time(thing["data"]["created_utc"])) for thing in things]
    return render(TEMPLATE, "feed", things=rows, target=target, title=title, subforum=subforum, home=HOME)


def thread(listings: list[Data], *, target: str, subforum: Data) -> bytes:
    """The feed of a thread: the post, then its comments as a flat list."""
    [post] = listings[0]["data"]["children"]
    title = post["data"]["title"]
    comments = [
        {"kind": "t1", "data": {**comment, "link_title": title}} for comment in flat(listings[1]["data"]["children"])
    ]
    return listing([post, *comments], target=target, title=f"{title} : {subforum['display_name']}", subforum=subforum)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
