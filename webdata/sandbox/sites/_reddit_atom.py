"""Reddit's Atom feeds (RFC 4287) of 2026, which have no scores, numbers of comments or tree."""

from collections.abc import Iterable
from datetime import UTC, datetime

from webdata.sandbox.sites._reddit_fields import Data
from webdata.sandbox.sites._reddit_things import HOME, flat
from webdata.sandbox.templates import Html, blocks, joined

TEMPLATE = "reddit.html"
NOTHING = Html("")


def listing(things: Iterable[Data], *, target: str, title: str, subforum: Data | None = None) -> bytes:
    """A feed of posts and comments; that of a subforum has its description."""
    block = blocks(TEMPLATE)
    feed = block["feed"].fill(
        category=block["category"].fill(name=subforum["display_name"]) if subforum else NOTHING,
        updated=_time(1_790_000_000),
        path=target,
        alternate=target.replace(".rss", ""),
        subtitle=block["subtitle"].fill(text=subforum["public_description"]) if subforum else NOTHING,
        title=title,
        entries=joined(_entry(thing, one_subforum=subforum is not None) for thing in things),
    )
    return feed.encode()


def thread(listings: list[Data], *, target: str, subforum: Data) -> bytes:
    """The feed of a thread: the post, then its comments as a flat list."""
    [post] = listings[0]["data"]["children"]
    title = post["data"]["title"]
    comments = [
        {"kind": "t1", "data": {**comment, "link_title": title}} for comment in flat(listings[1]["data"]["children"])
    ]
    return listing([post, *comments], target=target, title=f"{title} : {subforum['display_name']}", subforum=subforum)


def _entry(thing: Data, *, one_subforum: bool) -> Html:
    data, block = thing["data"], blocks(TEMPLATE)
    common = {
        "author": NOTHING if data["author"] == "[deleted]" else block["author"].fill(name=data["author"]),
        "category": block["category"].fill(name=data["subreddit"]),
        "key": data["name"],
        "link": f"{HOME}{data['permalink']}",
        "updated": _time(data["created_utc"]),
    }
    if thing["kind"] == "t1":
        title = f"/u/{data['author']} on {data['link_title']}"
        content = f"<!-- SC_OFF -->{data['body_html']}<!-- SC_ON -->"
        return block["comment"].fill(**common, content=content, title=title)
    thumbnail = block["thumbnail"].fill(url=data["thumbnail"]) if data["thumbnail_width"] else NOTHING
    return block["post"].fill(**common, content=_content(data, one_subforum), thumbnail=thumbnail, title=data["title"])


def _content(data: Data, one_subforum: bool) -> str:
    block = blocks(TEMPLATE)
    link = f"{HOME}{data['permalink']}"
    community = NOTHING if one_subforum else block["community"].fill(name=data["subreddit"])
    footer = block["footer"].fill(author=data["author"], community=community, url=data["url"], link=link)
    text = Html(data["selftext_html"] or "")
    if not data["thumbnail_width"]:
        return f"{text}{footer}"
    picture = {"link": link, "url": data["thumbnail"], "title": data["title"]}
    return str(block["picture"].fill(**picture, text=text, footer=footer))


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
