"""Reddit's responses, as records: its JSON, with OAuth or without, its Atom feeds and its pages, with fewer fields.

A record is the upstream's own JSON with all documented fields (`webdata.resources.forum`), and every key `subreddit…`
repeated as `subforum…` (docs/api.md).
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from webdata.domain.errors import LayoutError, NotFoundError, UpstreamError
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.pages._json import loads
from webdata.pages._reddit import atom, elements
from webdata.pages._reddit.atom import is_feed
from webdata.pages._reddit.refusals import unreadable
from webdata.pages._reddit.things import Thing, children, completed, is_thing
from webdata.pages.blocked import Block, Page
from webdata.resources.forum import ForumAboutQuery, ForumCommentsQuery, ForumPostQuery

NAME = re.compile(r"\w{2,21}", re.ASCII)
THREAD_FEED = re.compile(rb"<id>/r/\w+/comments/(\w+)")
USER_FEED = re.compile(rb"<id>/user/([\w-]+)")
SUBFORUM_FEED = re.compile(rb"<id>/r/(\w+)")
ANY = {"resource": "forum_subforum", "subforum": "all"}
"""The query of a page that names none, such as a block."""
CHALLENGE_NAME, CHALLENGE = b"js_challenge", re.compile(rb"""\bname\s*=\s*["']?js_challenge\b""")
DENIAL = re.compile("whoa there, pardner", re.IGNORECASE)
OVER_18 = re.compile(r"over 18\?$", re.IGNORECASE)


def record(body: bytes, query: Query) -> Record:
    """The record of a response.

    Raises NotFoundError for one that says that the post, user or subforum does not exist, UpstreamError for a broken
    body, and LayoutError for one that does not fit the query.
    """
    found = _document(body, query)
    if is_thing(found, "t2") and found["data"].get("is_suspended"):
        raise unreadable("suspended")
    match query:
        case ForumAboutQuery():
            return _about(found)
        case ForumPostQuery():
            return _post(found, query)
        case ForumCommentsQuery():
            return {"cached": False, "data": _thread(found)}
        case _:
            children(found)
            return cast(Record, completed(found))


def block(page: Page) -> Block | None:
    """Reddit's challenge, its denial and its question for one's age, each with little to read."""
    found = _interstitial(page) if page.may_be_shell else None
    return found if found and not page.has_prose else None


def _interstitial(page: Page) -> Block | None:
    if CHALLENGE_NAME in page.body and CHALLENGE.search(page.body):
        return Block("javascript", "Reddit's challenge and nothing to read")
    for title in page.titles:
        if DENIAL.search(title):
            return Block("denied", "Reddit's denial and nothing to read")
        if OVER_18.search(title):
            return Block("consent", "Reddit's question for one's age and nothing to read")
    return None


def shown_query(body: bytes) -> Mapping[str, str]:
    """The resource and the fields of the query of a saved response."""
    try:
        return _query_of_feed(body) if is_feed(body) else _query_of_json(loads(body))
    except (UpstreamError, KeyError, IndexError, TypeError, AttributeError):
        return ANY


def _document(body: bytes, query: Query) -> Any:
    if is_feed(body):
        return atom.document(body, query)
    if elements.is_page(body):
        return elements.document(body, query)
    if body.lstrip().startswith(b"<"):
        raise LayoutError("JSON or a feed")
    return loads(body)


def _about(found: Any) -> Thing:
    if not is_thing(found, "t5") or not isinstance(found["data"].get("display_name"), str):
        raise LayoutError("a subforum")
    return cast(Record, completed(found)["data"])


def _thread(found: Any) -> list[Thing]:
    """The listings of the post and of its comments."""
    if not isinstance(found, list) or len(found) != 2:
        raise LayoutError("a post and its comments")
    posts = children(found[0])
    if not posts:
        raise NotFoundError("a thread without a post")
    if posts[0]["kind"] != "t3":
        raise LayoutError("a post at the head of a thread")
    children(found[1])
    return cast(list[Thing], completed(found))


def _post(found: Any, query: ForumPostQuery) -> Record:
    post, comments = _thread(found)
    data: Record = post["data"]["children"][0]["data"]
    return {**data, "comments": comments["data"]["children"]} if query.with_comments else data


def _query_of_json(found: Any) -> Mapping[str, str]:
    if isinstance(found, list):
        return {"resource": "forum_comments", "id": found[0]["data"]["children"][0]["data"]["id"]}
    if found["kind"] == "t5":
        return {"resource": "forum_about", "subforum": _name_or_any({found["data"]["display_name"]})}
    if found["kind"] == "t2":
        return {"resource": "forum_user", "username": found["data"]["name"]}
    children = [child["data"] for child in found["data"]["children"]]
    authors, subforums = {child["author"] for child in children}, {child["subreddit"] for child in children}
    if len(authors) == 1 and len(subforums) > 1:
        return {"resource": "forum_user", "username": authors.pop()}
    return {"resource": "forum_subforum", "subforum": _name_or_any(subforums)}


def _name_or_any(names: set[str]) -> str:
    """The only name, if it is that of a subforum, else the name of all subforums."""
    name = next(iter(names), "")
    return name if len(names) == 1 and NAME.fullmatch(name) else ANY["subforum"]


def _query_of_feed(body: bytes) -> Mapping[str, str]:
    for pattern, resource, field in (
        (THREAD_FEED, "forum_comments", "id"),
        (USER_FEED, "forum_user", "username"),
        (SUBFORUM_FEED, "forum_subforum", "subforum"),
    ):
        if match := pattern.search(body[:4096]):
            return {"resource": resource, field: match[1].decode()}
    return ANY
