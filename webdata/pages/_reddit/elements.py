"""Reddit's pages for browsers in the shape of its JSON: their elements `shreddit-post` and `shreddit-comment`.

Their attributes have what a page shows: scores and numbers of comments, which feeds lack. Composed from descriptions
of 2024 to 2026; no page of a browser was at hand.
"""

import re
from typing import Any

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.domain.query import Query
from webdata.pages._elements import parsed
from webdata.pages._reddit.atom import listing, plain, seconds
from webdata.pages._reddit.things import Thing
from webdata.pages.odd_items import OddItemError, readable
from webdata.resources.forum import ForumSubforumQuery

MARK = b"<shreddit-post"
POST, COMMENT = "shreddit-post", "shreddit-comment"
BODY_OF_POST, BODY_OF_COMMENT = "[slot=text-body]", "[slot=comment]"
POST_ID = re.compile(r"t3_([0-9a-z]{1,13})")
COMMENT_ID = re.compile(r"t1_([0-9a-z]{1,13})")
OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")
"""The end of a time without the colon that others have."""
NUMBER = re.compile(r"-?\d{1,12}")
MOST_COMMENTS, DEEPEST = 1000, 100


def is_page(body: bytes) -> bool:
    """Whether a body is such a page."""
    return body.lstrip()[:1] == b"<" and MARK in body


def document(body: bytes, query: Query) -> Any:
    """The content of a page in the shape of Reddit's JSON; raises LayoutError for one without posts."""
    root = parsed(body)
    posts = readable(_post, root.css(POST))
    if not posts:
        raise LayoutError("a post")
    if isinstance(query, ForumSubforumQuery):
        shown = posts[: query.limit]
        return listing(shown, shown[-1]["data"]["name"])
    comments = root.css(COMMENT)
    if len(comments) > MOST_COMMENTS:
        raise LayoutError(f"a page of at most {MOST_COMMENTS} comments")
    return [listing(posts[:1]), listing(_tree(readable(_comment, comments), posts[0]["data"]["name"]))]


def _post(node: LexborNode) -> Thing:
    given = node.attributes
    match = POST_ID.fullmatch(given.get("id") or "")
    if match is None:
        raise OddItemError("the id of a post")
    html = _html(node, BODY_OF_POST)
    kind = given.get("post-type")
    own = {
        "title": given.get("post-title") or "",
        "num_comments": _number(given.get("comment-count")),
        "subreddit_id": given.get("subreddit-id"),
        "url": given.get("content-href"),
        "domain": given.get("domain"),
        "is_self": kind == "text" if kind else None,
        "is_video": kind == "video" if kind else None,
        "over_18": True if "nsfw" in given else None,
        "spoiler": True if "spoiler" in given else None,
        "selftext": plain(html),
        "selftext_html": html or None,
    }
    return {"kind": "t3", "data": {"id": match[1], "name": match[0], **_common(node), **own}}


def _comment(node: LexborNode) -> tuple[int, Thing]:
    """A comment and its level, from 0."""
    given = node.attributes
    match = COMMENT_ID.fullmatch(given.get("thingid") or "")
    if match is None:
        raise OddItemError("the id of a comment")
    html = _html(node, BODY_OF_COMMENT)
    own = {"body": plain(html), "body_html": html, "replies": "", "parent_id": given.get("parentid")}
    return _number(given.get("depth")) or 0, {
        "kind": "t1",
        "data": {"id": match[1], "name": match[0], **_common(node), **own},
    }


def _common(node: LexborNode) -> dict[str, Any]:
    given = node.attributes
    prefixed = given.get("subreddit-prefixed-name")
    created = OFFSET.sub(r"\1:\2", given.get("created-timestamp") or given.get("created") or "")
    return {
        "author": given.get("author") or "[deleted]",
        "subreddit": prefixed.removeprefix("r/") if prefixed else None,
        "subreddit_name_prefixed": prefixed,
        "permalink": given.get("permalink"),
        "score": _number(given.get("score")),
        "created_utc": seconds(created),
    }


def _tree(comments: list[tuple[int, Thing]], post: str) -> list[Thing]:
    """The comments of the first level, each with its replies: a level is one more than that of what it replies to."""
    roots: list[Thing] = []
    above: list[Thing] = []
    for level, comment in comments:
        del above[max(0, min(level, DEEPEST)) :]
        parent = above[-1]["data"] if above else None
        comment["data"]["link_id"] = post
        comment["data"]["parent_id"] = comment["data"]["parent_id"] or (parent["name"] if parent else post)
        siblings = roots
        if parent is not None:
            parent["replies"] = parent["replies"] or listing([])
            siblings = parent["replies"]["data"]["children"]
        siblings.append(comment)
        above.append(comment)
    return roots


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and NUMBER.fullmatch(text) else None


def _html(node: LexborNode, selector: str) -> str:
    """The HTML of a body that is the node's own, not one of a comment within it."""
    found = node.css_first(selector)
    return (found.html or "") if found is not None and _is_own(found, node) else ""


def _is_own(found: LexborNode, node: LexborNode) -> bool:
    around = found.parent
    while around is not None and around.tag not in (POST, COMMENT):
        around = around.parent
    return around is not None and around.mem_id == node.mem_id
