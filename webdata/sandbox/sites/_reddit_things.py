"""Invented posts, comments, subforums and users of Reddit, with the fields of 2026.

The id of a post encodes its subforum and its index there, so that a listing, a thread and a feed have the same post.
Any other id is a post of a subforum that the id determines.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from itertools import islice

from webdata.sandbox.invention import PUBLISHERS, SENTENCES, TITLES, SeededRandom, slug
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.templates import data

HOME = "https://www.reddit.com"
FIELDS: Data = data("sites/_reddit_fields")
"""The fields (https://www.reddit.com/dev/api) that are the same for all things of a kind."""
POSTS = 137
"""The number of posts of every subforum."""
NEWEST = 1_788_000_000
"""The time of a subforum's first post, in seconds since 1970; each following post is an hour older."""
HOUR = 3600
POSTS_A_USER = 40
"""The number of posts of a user, and of comments."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
POST_ID = re.compile(r"1s([0-9a-z]{2})([0-9a-z]{2})")

SUBFORUMS = (
    "sandbox", "announcements", "askreddit", "askscience", "aww", "books", "bicycling", "coding", "coffee", "cooking",
    "datascience", "dataisbeautiful", "diy", "earthporn", "explainlikeimfive", "fitness", "food", "gadgets",
    "gardening", "golang", "history", "javascript", "learnpython", "linux", "machinelearning", "movies", "music",
    "news", "personalfinance", "photography", "pics", "popular", "programming", "python", "rust", "science", "scrapy",
    "selfhosted", "space", "sports", "technology", "tea", "todayilearned", "travel", "webdev", "webscraping",
    "worldnews",
)  # fmt: skip
AUTHORS = (
    "sandbox", "amber_kettle", "birch-and-slate", "cobalt_otter", "dune_walker", "early_thistle", "fennelfox",
    "granite_gull", "harbour_lamp", "inkwell42", "juniper_jam", "kestrel_kin", "lantern-moss", "mill_lane",
    "[deleted]", "northwind_nell", "orchard_row", "pebble_path", "quiet_quill",
)  # fmt: skip
FLAIRS = ("Discussion", "Question", "Showcase", "Guide")
MAX_DEPTH = 4
LISTED_COMMENTS = 30
"""The number of comments that a thread lists; a `more` thing has the ids of the others."""


def id_of(subforum: str, index: int) -> str:
    """The id of a post, in base 36 as on the site."""
    subforum_index = SUBFORUMS.index(subforum) if subforum in SUBFORUMS else 0
    return f"1s{_base36(subforum_index)}{_base36(index)}"


def post(post_id: str, subforum: str = "") -> Data:
    """The post with an id, in a subforum; without one, in the subforum of the id."""
    subforum_index, index = _position(post_id)
    name = subforum or SUBFORUMS[subforum_index]
    random = SeededRandom("reddit post", post_id)
    title = random.choice(TITLES).format(topic=name.replace("_", " "))
    permalink = f"/r/{name}/comments/{post_id}/{slug(title).replace('-', '_')[:50]}/"
    return {
        **FIELDS["shared"],
        **FIELDS["post"],
        **_subforum_fields(name),
        **_score_fields(random),
        **_author_fields(AUTHORS[_author_index(subforum_index, index)]),
        **_content_fields(random, post_id, name, permalink),
        "id": post_id,
        "name": f"t3_{post_id}",
        "title": title,
        "permalink": permalink,
        "created": float(NEWEST - index * HOUR),
        "created_utc": float(NEWEST - index * HOUR),
        "num_comments": random.number(0, 45),
        "link_flair_text": random.choice(FLAIRS) if random.chance(3) else None,
        "stickied": index == 0,
        "subreddit_subscribers": _subscribers(name),
    }


@lru_cache(maxsize=32)
def posts(subforum: str) -> tuple[Data, ...]:
    """The posts of a subforum, the newest first."""
    return tuple(post(id_of(subforum, index), subforum) for index in range(POSTS))


@lru_cache(maxsize=32)
def contributions(author: str) -> tuple[Data, ...]:
    """The posts and comments of a user, as things with their kinds, the newest first."""
    last = len(AUTHORS) - 1
    number = AUTHORS.index(author) if author in AUTHORS else SeededRandom("reddit user", author).number(0, last)
    positions = ((subforum_index, index) for index in range(POSTS) for subforum_index in range(len(SUBFORUMS)))
    own = islice((position for position in positions if _author_index(*position) == number), POSTS_A_USER)
    return tuple(thing for position in own for thing in _contributions(author, *position))


def thread(post_id: str, subforum: str = "", order: str = "confidence") -> list[Data]:
    """A post and its comments, as two listings."""
    root = post(post_id, subforum)
    indexes = iter(range(min(root["num_comments"], LISTED_COMMENTS)))
    comments = [_branch(root, index, indexes, root["name"], 0) for index in indexes]
    comments.sort(key=lambda thing: _sort_key(thing["data"], order))
    unlisted = root["num_comments"] - LISTED_COMMENTS
    more = [_more(root, unlisted)] if unlisted > 0 else []
    return [listing([{"kind": "t3", "data": root}], dist=1), listing([*comments, *more])]


def listing(children: list[Data], after: str | None = None, dist: int | None = None) -> Data:
    """Things in the envelope of a page of a listing."""
    data = {"after": after, "dist": dist, "modhash": None, "geo_filter": "", "children": children, "before": None}
    return {"kind": "Listing", "data": data}


def flat(things: list[Data]) -> Iterator[Data]:
    """The comments of a tree, each before its replies."""
    for thing in things:
        if thing["kind"] == "t1":
            yield thing["data"]
            if thing["data"]["replies"]:
                yield from flat(thing["data"]["replies"]["data"]["children"])


def subforum(name: str) -> Data:
    """A subforum's description of itself."""
    random = SeededRandom("reddit subforum", name)
    description = random.sentences(name, 2)
    created = float(NEWEST - random.number(1000, 6000) * 24 * HOUR)
    return {
        **FIELDS["subreddit"],
        "id": _subforum_fields(name)["subreddit_id"][3:],
        "name": _subforum_fields(name)["subreddit_id"],
        "display_name": name,
        "display_name_prefixed": f"r/{name}",
        "title": f"{name}: an invented subforum",
        "url": f"/r/{name}/",
        "public_description": description,
        "public_description_html": markup(description),
        "description": f"# {name}\n\n{description}",
        "description_html": markup(description),
        "subscribers": _subscribers(name),
        "community_icon": f"https://styles.redditmedia.com/sandbox/{name}.png?width=256&s=0",
        "created": created,
        "created_utc": created,
    }


def user(name: str, *, suspended: bool = False) -> Data:
    """A user's profile; a suspended user has hardly any of its fields."""
    if suspended:
        return {"name": name, "is_suspended": True, "is_blocked": False, "awardee_karma": 0, "total_karma": 0}
    random = SeededRandom("reddit user", name)
    created = float(NEWEST - random.number(100, 5000) * 24 * HOUR)
    links, comments = random.number(1, 90_000), random.number(1, 90_000)
    profile = {**FIELDS["subreddit"], "display_name": f"u_{name}", "display_name_prefixed": f"u/{name}"}
    return {
        **FIELDS["user"],
        "id": _author_fields(name)["author_fullname"][3:],
        "name": name,
        "link_karma": links,
        "comment_karma": comments,
        "total_karma": links + comments,
        "subreddit": {**profile, "subreddit_type": "user", "url": f"/user/{name}/", "title": name},
        "created": created,
        "created_utc": created,
    }


def markup(text: str) -> str:
    """A paragraph in the site's HTML."""
    return f'<!-- SC_OFF --><div class="md"><p>{escape(text, quote=False)}</p>\n</div><!-- SC_ON -->'


def _content_fields(random: SeededRandom, post_id: str, name: str, permalink: str) -> Data:
    """The fields of a text post, a link or a picture."""
    publisher, host = random.choice(PUBLISHERS)
    kind = random.number(1, 4)
    text = f"{random.sentences(name, 2)}\n\nBy {publisher} <3 & friends" if kind < 3 else ""
    common = {"selftext": text, "selftext_html": markup(text) if text else None, "is_self": kind < 3}
    if kind < 3:
        own = {"domain": f"self.{name}", "url": f"{HOME}{permalink}", "thumbnail": "self"}
        return {**common, **own, "is_reddit_media_domain": False}
    if kind == 3:
        link = f"https://{host}/{slug(name)}/{post_id}?a=1&b=2"
        own = {"domain": host, "url": link, "url_overridden_by_dest": link, "thumbnail": "default", "post_hint": "link"}
        return {**common, **own, "is_reddit_media_domain": False}
    return {**common, **_picture_fields(post_id)}


def _picture_fields(post_id: str) -> Data:
    url = f"https://i.redd.it/{post_id}.jpeg"
    full = {"url": f"https://preview.redd.it/{post_id}.jpeg?auto=webp&s=0", "width": 1080, "height": 720}
    small = {"url": f"https://preview.redd.it/{post_id}.jpeg?width=140&s=0", "width": 140, "height": 93}
    image = {"source": full, "resolutions": [small], "variants": {}, "id": post_id}
    return {
        "domain": "i.redd.it",
        "url": url,
        "url_overridden_by_dest": url,
        "post_hint": "image",
        "is_reddit_media_domain": True,
        "thumbnail": small["url"],
        "thumbnail_height": small["height"],
        "thumbnail_width": small["width"],
        "preview": {"images": [image], "enabled": True},
    }


def _contributions(author: str, subforum_index: int, index: int) -> tuple[Data, Data]:
    """A post of a user, and a comment on a post of another subforum."""
    own = post(id_of(SUBFORUMS[subforum_index], index))
    other = post(id_of(SUBFORUMS[subforum_index - 1], index))
    link = {f"link_{name}": other[name] for name in ("title", "author", "url")}
    more = {"link_permalink": f"{HOME}{other['permalink']}", "num_comments": other["num_comments"]}
    comment = {**_comment(other, LISTED_COMMENTS, other["name"]), **link, **more, "replies": "", "over_18": False}
    return (
        {"kind": "t3", "data": {**own, **_author_fields(author)}},
        {"kind": "t1", "data": {**comment, **_author_fields(author), "quarantine": False}},
    )


def _branch(root: Data, index: int, indexes: Iterator[int], parent: str, depth: int) -> Data:
    """A comment of the post `root` and its replies, whose indexes are the next ones of `indexes`."""
    comment = {**_comment(root, index, parent), "depth": depth}
    count = SeededRandom("reddit replies", comment["id"]).number(0, 2) if depth < MAX_DEPTH else 0
    replies = [_branch(root, n, indexes, comment["name"], depth + 1) for n in list(islice(indexes, count))]
    return {"kind": "t1", "data": {**comment, "replies": listing(replies) if replies else ""}}


def _comment(root: Data, index: int, parent: str) -> Data:
    comment_id = f"o{root['id'][-6:]}{_base36(index)}"
    random = SeededRandom("reddit comment", comment_id)
    body = random.choice(SENTENCES).format(topic=root["subreddit"])
    deleted = random.chance(12)
    author = "[deleted]" if deleted else random.choice(AUTHORS)
    body = "[removed]" if deleted else f"{body} R&D > guesswork."
    return {
        **FIELDS["shared"],
        **FIELDS["comment"],
        **_subforum_fields(root["subreddit"]),
        **_author_fields(author),
        **{name: value for name, value in _score_fields(random).items() if name != "upvote_ratio"},
        "id": comment_id,
        "name": f"t1_{comment_id}",
        "parent_id": parent,
        "link_id": root["name"],
        "permalink": f"{root['permalink']}{comment_id}/",
        "body": body,
        "body_html": markup(body).removeprefix("<!-- SC_OFF -->").removesuffix("<!-- SC_ON -->"),
        "created": root["created"] + 60.0 * (index + 1),
        "created_utc": root["created_utc"] + 60.0 * (index + 1),
        "edited": root["created_utc"] + 90.0 * (index + 1) if random.chance(9) else False,
        "is_submitter": author == root["author"],
    }


def _more(root: Data, count: int) -> Data:
    ids = [f"o{root['id'][-6:]}{_base36(LISTED_COMMENTS + n)}" for n in range(count)]
    first = {"id": ids[0], "name": f"t1_{ids[0]}", "parent_id": root["name"], "depth": 0}
    return {"kind": "more", "data": {"count": count, **first, "children": ids}}


def _sort_key(data: Data, order: str) -> float:
    keys = {"new": -data["created_utc"], "old": data["created_utc"], "controversial": data["score"]}
    return float(keys.get(order, -data["score"]))


def _score_fields(random: SeededRandom) -> Data:
    score = random.number(0, 4000)
    return {"score": score, "ups": score, "upvote_ratio": random.number(51, 99) / 100}


def _author_fields(name: str) -> Data:
    number = SeededRandom("reddit user", name).number(36**4, 36**5)
    return {"author": name} if name == "[deleted]" else {"author": name, "author_fullname": f"t2_{number:x}"}


def _subforum_fields(name: str) -> Data:
    number = SeededRandom("reddit subforum", name).number(36**4, 36**5)
    return {"subreddit": name, "subreddit_id": f"t5_{number:x}", "subreddit_name_prefixed": f"r/{name}"}


def _subscribers(name: str) -> int:
    return SeededRandom("reddit subscribers", name).number(900, 4_000_000)


def _author_index(subforum_index: int, index: int) -> int:
    """The index in `AUTHORS` of the author of a post."""
    return (subforum_index * 7 + index) % len(AUTHORS)


def _position(post_id: str) -> tuple[int, int]:
    """The indexes of a post's subforum and of the post there."""
    match = POST_ID.fullmatch(post_id)
    subforum_index, index = (int(match[1], 36), int(match[2], 36)) if match else (len(SUBFORUMS), POSTS)
    if subforum_index < len(SUBFORUMS) and index < POSTS:
        return subforum_index, index
    random = SeededRandom("reddit number", post_id)
    return random.number(0, len(SUBFORUMS) - 1), random.number(POSTS, 9 * POSTS)


def _base36(value: int) -> str:
    return DIGITS[value // 36] + DIGITS[value % 36]
