"""Reddit's Atom feeds in the shape of 2026: no scores, no numbers of comments, no tree."""

from collections.abc import Iterable
from datetime import UTC, datetime

from webdata.sandbox.sites._reddit_fields import Data
from webdata.sandbox.sites._reddit_things import HOME, flat
from webdata.sandbox.templates import Html, blocks, joined

TEMPLATE = "reddit.html"


def listing(things: Iterable[Data], *, target: str, title: str, subforum: Data | None = None) -> bytes:
    """A feed of posts and comments; that of one subforum says what it is about."""
    block = blocks(TEMPLATE)
    entries = [_entry(thing, one_subforum=subforum is not None) for thing in things]
    return _feed(entries, target, title, subforum, block["category"].fill(name=_name(subforum)) if subforum else "")


def thread(listings: list[Data], *, target: str, subforum: Data) -> bytes:
    """The feed of a thread: the post, then its comments without their order."""
    [top] = listings[0]["data"]["children"]
    comments = [
        {"kind": "t1", "data": {**comment, "link_title": top["data"]["title"]}}
        for comment in flat(listings[1]["data"]["children"])
    ]
    return listing(
        [top, *comments], target=target, title=f"{top['data']['title']} : {_name(subforum)}", subforum=subforum
    )


def _feed(entries: list[Html], target: str, title: str, subforum: Data | None, category: str) -> bytes:
    block = blocks(TEMPLATE)
    subtitle = block["subtitle"].fill(text=subforum["public_description"]) if subforum else ""
    feed = block["feed"].fill(
        category=Html(category),
        updated=_time(1_790_000_000),
        path=target,
        alternate=target.replace(".rss", ""),
        subtitle=Html(subtitle),
        title=title,
        entries=joined(entries),
    )
    return feed.encode()


def _entry(thing: Data, *, one_subforum: bool) -> Html:
    data = thing["data"]
    of_all = {
        "author": _author(data["author"]),
        "category": blocks(TEMPLATE)["category"].fill(name=data["subreddit"]),
        "key": data["name"],
        "link": f"{HOME}{data['permalink']}",
        "updated": _time(data["created_utc"]),
    }
    if thing["kind"] == "t1":
        title = f"/u/{data['author']} on {data['link_title']}"
        content = f"<!-- SC_OFF -->{data['body_html']}<!-- SC_ON -->"
        return blocks(TEMPLATE)["comment"].fill(**of_all, content=content, title=title)
    return blocks(TEMPLATE)["post"].fill(
        **of_all, content=_content(data, one_subforum), thumbnail=_thumbnail(data), title=data["title"]
    )


def _content(data: Data, one_subforum: bool) -> str:
    block = blocks(TEMPLATE)
    link = f"{HOME}{data['permalink']}"
    community = Html("") if one_subforum else block["community"].fill(name=data["subreddit"])
    footer = block["footer"].fill(author=data["author"], community=community, url=data["url"], link=link)
    text = Html(data["selftext_html"] or "")
    if not data["thumbnail_width"]:
        return f"{text}{footer}"
    picture = {"link": link, "url": data["thumbnail"], "title": data["title"]}
    return str(block["picture"].fill(**picture, text=text, footer=footer))


def _thumbnail(data: Data) -> Html:
    return blocks(TEMPLATE)["thumbnail"].fill(url=data["thumbnail"]) if data["thumbnail_width"] else Html("")


def _author(name: str) -> Html:
    """Deleted ones have no name in a feed."""
    return Html("") if name == "[deleted]" else blocks(TEMPLATE)["author"].fill(name=name)


def _name(subforum: Data) -> str:
    return str(subforum["display_name"])


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
