"""The URLs of a query at Reddit: of its API, its public JSON, its feeds and its pages.

The paths and parameters are those of https://www.reddit.com/dev/api.
"""

from typing import Any
from urllib.parse import urlencode

from webdata.domain.query import Query
from webdata.resources.forum import (
    ForumAboutQuery,
    ForumCommentsQuery,
    ForumPostQuery,
    ForumSubforumQuery,
    ForumUserQuery,
)

API = "https://oauth.reddit.com"
SITE = "https://www.reddit.com"
MOST_COMMENTS = 500
"""Comments in one response; the ids of the others are in things of the kind `more`."""

Parameters = dict[str, Any]


def api_url(query: Query) -> str:
    """The URL at the API for applications."""
    path, parameters = _thing(query)
    return f"{API}{path}?{urlencode({**parameters, 'raw_json': 1})}"


def json_url(query: Query) -> str:
    """The URL of the public JSON."""
    path, parameters = _thing(query)
    return f"{SITE}{path}.json?{urlencode({**parameters, 'raw_json': 1})}"


def feed_url(query: Query) -> str:
    """The URL of the feed; a subforum in its default order and its description have the same."""
    path, parameters = _thing(query)
    match query:
        case ForumAboutQuery():
            path, parameters = path.removesuffix("/about"), {"limit": 1}
        case ForumSubforumQuery():
            path = path.removesuffix("/hot")
        case ForumUserQuery():
            path = path.removesuffix("/overview")
    return f"{SITE}{path}/.rss{'?' if parameters else ''}{urlencode(parameters)}"


def page_url(query: Query) -> str:
    """The URL of the page for browsers."""
    path, parameters = _thing(query)
    own = {name: value for name, value in parameters.items() if name in ("sort", "t", "after")}
    return f"{SITE}{path}/{'?' if own else ''}{urlencode(own)}"


def _thing(query: Query) -> tuple[str, Parameters]:
    """The path of the query's thing, and its parameters."""
    match query:
        case ForumSubforumQuery():
            return f"/r/{query.subforum}/{query.sort}", _listing(query)
        case ForumAboutQuery():
            return f"/r/{query.subforum}/about", {}
        case ForumUserQuery():
            return f"/user/{query.username}/overview", {"sort": query.sort, **_listing(query)}
        case ForumPostQuery(with_comments=False):
            return f"/comments/{query.id}", {"limit": 1}
        case ForumPostQuery() | ForumCommentsQuery():
            return f"/comments/{query.id}", {"sort": query.sort, "limit": MOST_COMMENTS}
    raise TypeError(f"no query of the forum: {type(query).__name__}")


def _listing(query: ForumSubforumQuery | ForumUserQuery) -> Parameters:
    period = {"t": query.t} if query.sort in ("top", "controversial") else {}
    after = {"after": query.after} if query.after else {}
    return {"limit": query.limit, **period, **after}
