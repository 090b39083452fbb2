"""Reddit's Atom feeds in the shape of its JSON, without the fields that a feed does not have (observed 2026).

A feed has posts (`t3_…`) and comments (`t1_…`) as flat entries: no scores, no counts, no tree. An entry's content is
HTML: a post's text in `div.md` between two comments, and links called `[link]` and `[comments]`.
"""

import re
from calendar import timegm
from typing import Any
from xml.etree import ElementTree as ET

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages._elements import parsed
from webdata.pages._reddit.things import Thing
from webdata.pages._urls import split
from webdata.pages.odd_items import OddItemError, count_odd, readable
from webdata.resources.forum import ForumAboutQuery, ForumSubforumQuery, ForumUserQuery

ATOM = "{http://www.w3.org/2005/Atom}"
THUMBNAIL = "{http://search.yahoo.com/mrss/}thumbnail"
NAME = re.compile(r"(t[13])_([0-9a-z]{1,13})")
INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|([+-])(\d\d):(\d\d))")
TEXT = re.compile(r"<!-- SC_OFF -->\s*(.*?)\s*<!-- SC_ON -->", re.DOTALL)
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Characters that XML forbids, and posts sometimes have."""
REFERENCE = re.compile(rb"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,9}));")
BLOCKS = "p, pre, h1, h2, h3, h4, h5, h6, td, th, li:not(:has(p)):not(:has(li))"
"""The elements of a text that are separate paragraphs, none within another."""
USUAL = 25
"""Entries of a feed whose `limit` was ignored."""
BEGINNINGS = (b"<?xml", b"<feed")


def is_feed(body: bytes) -> bool:
    """Whether a body begins like a feed."""
    return body[:64].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(BEGINNINGS)


def document(body: bytes, query: Query) -> Any:
    """The content of a feed in the shape of Reddit's JSON.

    Raises UpstreamError for a broken feed, LayoutError for one without the expected parts.
    """
    feed = _feed(body)
    if isinstance(query, ForumAboutQuery):
        return {"kind": "t5", "data": about(feed)}
    things = readable(_thing, feed.iterfind(f"{ATOM}entry"))
    if isinstance(query, ForumSubforumQuery | ForumUserQuery):
        shown, is_full = things[: query.limit], len(things) >= min(query.limit, USUAL)
        return listing(shown, shown[-1]["data"]["name"] if shown and is_full else None)
    return _thread(things)


def listing(things: list[Thing], after: str | None = None) -> Thing:
    """A listing of things."""
    return {"kind": "Listing", "data": {"after": after, "before": None, "dist": len(things), "children": things}}


def about(feed: ET.Element) -> dict[str, Any]:
    """The data of a subforum in its feed; raises LayoutError for a feed without its name."""
    category = feed.find(f"{ATOM}category")
    name = category.get("term") if category is not None else None
    if category is None or not name:
        raise LayoutError("the name of a feed's subforum")
    prefixed = category.get("label") or f"r/{name}"
    return {
        "display_name": name,
        "display_name_prefixed": prefixed,
        "title": _text(feed, "title"),
        "public_description": _text(feed, "subtitle") or "",
        "url": f"/{prefixed}/",
        "icon_img": _text(feed, "logo"),
    }


def seconds(instant: str | None) -> float | None:
    """A time such as `2026-01-25T03:07:14+00:00`, in seconds since 1970."""
    match = INSTANT.fullmatch(instant or "")
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if year < 1 or not 1 <= month <= 12:
        return None
    east = (int(match[8]) * 60 + int(match[9])) * (-60 if match[7] == "-" else 60) if match[7] else 0
    return float(timegm((year, month, day, hour, minute, second)) - east)


def _feed(body: bytes) -> ET.Element:
    """The root of a complete feed; a body that is no XML is parsed again as UTF-8 with faults."""
    if b"<!DOCTYPE" in body[:1024]:
        raise LayoutError("a feed without a document type")
    body = REFERENCE.sub(_mended, body)
    try:
        root = ET.fromstring(CONTROLS.sub(b"", body))  # noqa: S314  # no document type, so no entities
    except (ET.ParseError, ValueError, LookupError):
        root = _decoded_leniently(body)
    if root.tag != f"{ATOM}feed":
        raise LayoutError("a feed")
    return root


def _mended(reference: re.Match[bytes]) -> bytes:
    """A reference to a character; where XML has none of that number, to the replacement character."""
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    if (
        number in (0x9, 0xA, 0xD)
        or 0x20 <= number < 0xD800
        or 0xE000 <= number <= 0xFFFD
        or 0xFFFF < number <= 0x10FFFF
    ):
        return reference.group()
    count_odd()
    return b"&#xFFFD;"


def _decoded_leniently(body: bytes) -> ET.Element:
    text = CONTROLS.sub(b"", body).decode("utf-8", "replace")
    try:
        return ET.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))  # noqa: S314  # as above
    except (ET.ParseError, ValueError):
        raise UpstreamError("the feed is no XML, or was cut off", "broken_body") from None


def _thread(things: list[Thing]) -> list[Thing]:
    """The listings of a post and of its comments, which are one list in a feed."""
    if not things or things[0]["kind"] != "t3":
        raise LayoutError("a post at the head of a thread")
    post, link = things[0], {"link_id": things[0]["data"]["name"]}
    comments = [{**one, "data": {**one["data"], **link}} for one in things if one["kind"] == "t1"]
    return [listing([post]), listing(comments)]


def _thing(entry: ET.Element) -> Thing:
    match = NAME.fullmatch(_text(entry, "id") or "")
    if match is None:
        raise OddItemError("the id of a post or a comment")
    kind, content = match[1], _text(entry, "content") or ""
    common = {"id": match[2], "name": match[0], **_common(entry)}
    return {"kind": kind, "data": {**common, **(_post(entry, content) if kind == "t3" else _comment(entry, content))}}


def _common(entry: ET.Element) -> dict[str, Any]:
    category, author = entry.find(f"{ATOM}category"), entry.find(f"{ATOM}author")
    by = (_text(author, "name") or "").removeprefix("/u/") if author is not None else ""
    return {
        "author": by or "[deleted]",
        "subreddit": category.get("term") if category is not None else None,
        "subreddit_name_prefixed": category.get("label") if category is not None else None,
        "permalink": parts.path or None if (parts := split(_link(entry))) else None,
        "created_utc": seconds(_text(entry, "published") or _text(entry, "updated")),
    }


def _post(entry: ET.Element, content: str) -> dict[str, Any]:
    html, own = _html(content), _link(entry)
    url = next((a.attributes.get("href") for a in parsed(content).css("a") if a.text() == "[link]"), None)
    thumbnail = entry.find(THUMBNAIL)
    return {
        "title": _text(entry, "title") or "",
        "selftext": plain(html),
        "selftext_html": html or None,
        "url": url or own or None,
        "is_self": url == own if url and own else None,
        "thumbnail": thumbnail.get("url") if thumbnail is not None else None,
    }


def _comment(entry: ET.Element, content: str) -> dict[str, Any]:
    html = _html(content)
    title = (_text(entry, "title") or "").partition(" on ")[2]
    return {"body": plain(html), "body_html": html, "replies": "", **({"link_title": title} if title else {})}


def _html(content: str) -> str:
    match = TEXT.search(content)
    return match[0] if match else ""


def plain(html: str) -> str:
    """The text of HTML, with a blank line between paragraphs; a feed does not have the Markdown of a post."""
    texts = [block.text().strip() for block in parsed(html).css(BLOCKS)] if html else []
    return "\n\n".join(filter(None, texts))


def _link(entry: ET.Element) -> str:
    link = entry.find(f"{ATOM}link")
    return (link.get("href") or "") if link is not None else ""


def _text(parent: ET.Element, name: str) -> str | None:
    found = parent.find(f"{ATOM}{name}")
    return found.text.strip() if found is not None and found.text else None
