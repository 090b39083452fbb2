"""A forum's posts, comments, users and subforums: the queries, the record types and the resources of `/v1/forum`.

Records are the upstream's JSON. The types here have its documented keys, which are always present, with the value
`None` if the upstream has none; a record may have others.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import CallQuery, Query, lower
from webdata.domain.shapes import NonEmpty, described
from webdata.resources import Resource
from webdata.resources.groups import Group

FRESH_SECONDS = 600

SITE = r"(?:(?:https?://)?(?:\w+\.)?reddit\.com)?"
SUBFORUM_FORMS = (re.compile(rf"{SITE}/?(?:r/)?([^/]+)/?", re.IGNORECASE),)
USER_FORMS = (re.compile(rf"{SITE}/?(?:u/|user/)?([^/]+)/?", re.IGNORECASE),)
POST_FORMS = (
    re.compile(rf"{SITE}/?(?:(?:r|u|user)/[^/]+/)?comments/(?:t3_)?([^/?#]+).*", re.IGNORECASE),
    re.compile(rf"(?:(?:https?://)?redd\.it|{SITE}/gallery)/([^/?#]+)/?", re.IGNORECASE),
    re.compile(r"/?t3_([^/]+)", re.IGNORECASE),
)
"""The forms of names and ids other than bare ones: with a prefix, or the URL of their page."""


def _bare(forms: tuple[re.Pattern[str], ...]) -> Callable[[object], object]:
    """For validators: the bare name or id of a value in one of these forms."""

    def bare(value: object) -> object:
        if not isinstance(value, str):
            return value
        matches = filter(None, (form.fullmatch(value.strip()) for form in forms))
        return next((match[1] for match in matches), value.strip())

    return bare


def _flag(value: object) -> object:
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower(), value)


Subforum = Annotated[
    str,
    described(
        "the name of a subforum, 2 to 21 letters, digits and underscores, such as python or r/python",
        "python",
        pattern=r"^(?:[A-Za-z0-9][A-Za-z0-9_]{1,20}|u_[A-Za-z0-9_-]{3,20})$",
    ),
    BeforeValidator(_bare(SUBFORUM_FORMS)),
]
PostId = Annotated[
    str,
    described(
        "the id of a post as in its address, letters and digits, such as 1abc2d or t3_1abc2d",
        "1abc2d",
        pattern=r"^[0-9A-Za-z]{1,13}$",
    ),
    BeforeValidator(_bare(POST_FORMS)),
    AfterValidator(str.lower),
]
Limit = Annotated[int, Field(ge=1, le=100, description="a whole number from 1 to 100, such as limit=50")]
Period = Annotated[
    Literal["hour", "day", "week", "month", "year", "all"],
    BeforeValidator(lower),
    Field(description="one of hour, day, week, month, year, all"),
]
After = Annotated[
    str | None,
    described(
        "the data.after of the answer before, such as after=t3_1abc2d", "t3_1abc2d", pattern=r"^t[1-6]_[0-9a-z]{1,13}$"
    ),
    BeforeValidator(lower),
]
SubforumSort = Annotated[
    Literal["hot", "new", "top", "rising", "controversial"],
    BeforeValidator(lower),
    Field(description="one of hot, new, top, rising, controversial"),
]
UserSort = Annotated[
    Literal["hot", "new", "top", "controversial"],
    BeforeValidator(lower),
    Field(description="one of hot, new, top, controversial"),
]
CommentSort = Annotated[
    Literal["confidence", "top", "new", "controversial", "old", "qa", "live", "random"],
    BeforeValidator(lower),
    Field(description="one of confidence, top, new, controversial, old, qa, live, random"),
]


class ForumSubforumQuery(CallQuery):
    """The posts of a subforum."""

    subforum: Subforum
    limit: Limit = 25
    sort: SubforumSort = "hot"
    t: Period = "all"
    after: After = None


class ForumAboutQuery(CallQuery):
    """The description of a subforum."""

    subforum: Subforum


class ForumUserQuery(CallQuery):
    """The posts and comments of a user."""

    username: Annotated[
        str,
        described(
            "a user's name, 3 to 20 letters, digits, underscores and hyphens, such as spez or u/spez",
            "spez",
            pattern=r"^[A-Za-z0-9_-]{3,20}$",
        ),
        BeforeValidator(_bare(USER_FORMS)),
    ]
    limit: Limit = 25
    sort: UserSort = "hot"
    t: Period = "all"
    after: After = None


class ForumPostQuery(CallQuery):
    """One post."""

    id: PostId
    with_comments: Annotated[bool, BeforeValidator(_flag), Field(strict=True, description="one of true, false")] = False
    sort: CommentSort = "confidence"


class ForumCommentsQuery(CallQuery):
    """A post and its comments."""

    id: PostId
    sort: CommentSort = "confidence"


UPSTREAM = InSchema(more={"$comment": "The upstream's own object."})


@InSchema("post")
class Post(TypedDict):
    """A post."""

    id: NonEmpty
    name: str
    """Its id with its kind, such as `t3_1abc2d`."""
    title: str | None
    author: str | None
    """`[deleted]` if the account no longer exists."""
    subforum: str | None
    """The subforum's name; the upstream's own key stands beside it."""
    subforum_id: str | None
    subforum_name_prefixed: str | None
    """Such as r/python."""
    subforum_type: str | None
    selftext: str | None
    """Markdown; usually empty for links."""
    selftext_html: str | None
    url: str | None
    """The link; for a text post the URL of the post."""
    permalink: str | None
    """The path of its page."""
    domain: str | None
    thumbnail: str | None
    link_flair_text: str | None
    created_utc: float | None
    """Seconds since 1970."""
    edited: bool | float | None
    """False, or the time in seconds since 1970."""
    score: int | None
    upvote_ratio: float | None
    num_comments: int | None
    over_18: bool | None
    spoiler: bool | None
    stickied: bool | None
    locked: bool | None
    is_self: bool | None
    """Whether it is a text and no link."""
    is_video: bool | None
    distinguished: str | None
    removed_by_category: str | None


@InSchema("comment")
class Comment(TypedDict):
    """A comment."""

    id: NonEmpty
    name: str
    """Its id with its kind, such as `t1_1abc2d`."""
    author: str | None
    """`[deleted]` if the account no longer exists."""
    subforum: str | None
    """The subforum's name; the upstream's own key stands beside it."""
    subforum_id: str | None
    subforum_name_prefixed: str | None
    """Such as r/python."""
    subforum_type: str | None
    body: str | None
    """Markdown."""
    body_html: str | None
    permalink: str | None
    created_utc: float | None
    """Seconds since 1970."""
    edited: bool | float | None
    score: int | None
    parent_id: str | None
    """The name of the parent: a comment or the post."""
    link_id: str | None
    """The name of the post."""
    replies: "Literal[''] | ThingListing"
    """Its answers; the empty text if there are none."""
    is_submitter: bool | None
    stickied: bool | None
    locked: bool | None
    distinguished: str | None


@InSchema("more")
class OmittedComments(TypedDict):
    """The place of comments that were left out."""

    children: list[str]
    """Their ids."""


def _data_of(kind: str, data: type[Any]) -> dict[str, Any]:
    return {"if": {"properties": {"kind": {"const": kind}}}, "then": {"properties": {"data": data}}}


@InSchema("child", more={"allOf": [_data_of("t3", Post), _data_of("t1", Comment), _data_of("more", OmittedComments)]})
class ForumChild(TypedDict):
    """A post (t3), a comment (t1), or the place of comments that were left out (more)."""

    kind: Literal["t1", "t3", "more"]
    data: dict[str, Any]


@InSchema("page")
class ListingPage(TypedDict):
    """The things of a listing."""

    after: str | None
    """Where the next page goes on; null on the last."""
    children: list[ForumChild]


@InSchema("listing", closed=True)
class ThingListing(TypedDict):
    """A listing of posts or comments."""

    kind: Literal["Listing"]
    data: ListingPage


@InSchema("about")
class About(TypedDict):
    """What a subforum says of itself."""

    id: str | None
    name: str | None
    display_name: str
    """The name, such as python."""
    display_name_prefixed: str | None
    title: str | None
    public_description: str | None
    description: str | None
    """Markdown: the text of the side bar."""
    url: str | None
    """The path of its page."""
    icon_img: str | None
    community_icon: str | None
    banner_img: str | None
    subscribers: int | None
    active_user_count: int | None
    created_utc: float | None
    """Seconds since 1970."""
    over18: bool | None
    quarantine: bool | None
    lang: str | None
    subforum_type: str | None


@InSchema(closed=True)
class ForumListing(ThingListing):
    """The upstream's own JSON, whose other keys stand beside those that are documented here."""


@UPSTREAM
class AboutRecord(About):
    """What a subforum says of itself."""


@UPSTREAM
class PostRecord(Post):
    """A post."""

    comments: NotRequired[list[ForumChild]]
    """With with_comments=true: its comments, as in a thread."""


@InSchema(closed=True)
class CommentsRecord(TypedDict):
    """A post and its comments."""

    cached: bool
    """Whether the answer was kept here from an earlier request."""
    data: Annotated[list[ThingListing], Field(min_length=2, max_length=2)]
    """The listing of the post, and that of its comments."""


NO_SUBFORUM = "There is no subforum with that name: check the name."
NO_USER = "There is no user with that name: check the name."
NO_POST = "There is no post with that ID: check the ID."


def _resource(
    name: str,
    path: str,
    summary: str,
    query: type[Query],
    record: type[Any],
    not_found: str,
    children: str | None = None,
    canaries: Sequence[Mapping[str, Any]] = (),
) -> Resource:
    return Resource(
        name=name,
        path=f"/v1/forum/{path}",
        summary=summary,
        query=query,
        record=record,
        group=Group.FORUMS,
        content=(children,) if children else (),
        canaries=canaries,
        rows=children,
        packed=False,
        fresh_seconds=FRESH_SECONDS,
        envelope=(),
        not_found=not_found,
    )


FORUM_SUBFORUM = _resource(
    "forum_subforum",
    "subforum/{subforum}",
    "Posts of a subforum",
    ForumSubforumQuery,
    ForumListing,
    NO_SUBFORUM,
    "data.children",
    [{"subforum": "askscience"}, {"subforum": "python"}, {"subforum": "books"}, {"subforum": "cooking"}],
)
FORUM_ABOUT = _resource(
    "forum_about", "subforum/{subforum}/about", "What a subforum is about", ForumAboutQuery, AboutRecord, NO_SUBFORUM
)
FORUM_USER = _resource(
    "forum_user",
    "user/{username}",
    "Posts and comments of a user",
    ForumUserQuery,
    ForumListing,
    NO_USER,
    "data.children",
)
FORUM_POST = _resource("forum_post", "post/{id}", "One post of a forum", ForumPostQuery, PostRecord, NO_POST)
FORUM_COMMENTS = _resource(
    "forum_comments", "comments/{id}", "A post and its comments", ForumCommentsQuery, CommentsRecord, NO_POST
)
FORUM = (FORUM_SUBFORUM, FORUM_ABOUT, FORUM_USER, FORUM_POST, FORUM_COMMENTS)
