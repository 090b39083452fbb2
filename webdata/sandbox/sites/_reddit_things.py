"""Invented posts, comments, subforums and users of Reddit, in the shapes of 2026.

The number of a post tells its subforum and its place there, so that it is the same one wherever it is shown: in a
listing, a thread or a feed. Any other number is a post of some subforum, too.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from itertools import islice

from webdata.sandbox.invention import PUBLISHERS, SENTENCES, TITLES, SeededRandom, slug
from webdata.sandbox.sites._reddit_fields import OF_A_COMMENT, OF_A_POST, OF_A_SUBREDDIT, OF_A_USER, Data

HOME = "https://www.reddit.com"
POSTS = 137
"""In every subforum."""
NEWEST = 1_788_000_000
"""Seconds since 1970; the first post of a subforum, the others are each an hour older."""
HOUR = 3600
WORKS = 40
"""Posts of a user, and as many comments."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
NUMBER = re.compile(r"1s([0-9a-z]{2})([0-9a-z]{2})")

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
NESTED = 4
SHOWN = 30
"""Comments of a thread; the rest is one `more`."""


def number(subforum: str, place: int) -> str:
    """The number of a post: base 36, as on the site."""
    code = SUBFORUMS.index(subforum) if subforum in SUBFORUMS else 0
    return f"1s{_base36(code)}{_base36(place)}"


def post(key: str, subforum: str = "") -> Data:
    """A post by its number, shown in a subforum; without one, in that which its number tells."""
    code, place = _coordinates(key)
    name = subforum or SUBFORUMS[code]
    random = SeededRandom("reddit post", key)
    title = random.choice(TITLES).format(topic=name.replace("_", " "))
    permalink = f"/r/{name}/comments/{key}/{slug(title).replace('-', '_')[:50]}/"
    author = AUTHORS[_rank(code, place)]
    return {
        **OF_A_POST,
        **_of_subforum(name),
        **_score(random),
        **_author(author),
        **_content(random, key, name, permalink),
        "id": key,
        "name": f"t3_{key}",
        "title": title,
        "permalink": permalink,
        "created": float(NEWEST - place * HOUR),
        "created_utc": float(NEWEST - place * HOUR),
        "num_comments": random.number(0, 45),
        "link_flair_text": random.choice(FLAIRS) if random.chance(3) else None,
        "stickied": place == 0,
        "subreddit_subscribers": _subscribers(name),
    }


@lru_cache(maxsize=32)
def posts(subforum: str) -> tuple[Data, ...]:
    """All posts of a subforum, the newest first."""
    return tuple(post(number(subforum, place), subforum) for place in range(POSTS))


@lru_cache(maxsize=32)
def works(author: str) -> tuple[Data, ...]:
    """Posts and comments of a user, as things with their kinds, the newest first."""
    rank = (
        AUTHORS.index(author) if author in AUTHORS else SeededRandom("reddit user", author).number(0, len(AUTHORS) - 1)
    )
    places = ((code, place) for place in range(POSTS) for code in range(len(SUBFORUMS)))
    own = islice((one for one in places if _rank(*one) == rank), WORKS)
    return tuple(thing for code, place in own for thing in _works(author, code, place))


def thread(key: str, subforum: str = "", order: str = "confidence") -> list[Data]:
    """A post and its comments: two listings."""
    about = post(key, subforum)
    left = iter(range(min(about["num_comments"], SHOWN)))
    top = [_branch(about, n, left, about["name"], 0) for n in left]
    top.sort(key=lambda thing: _place(thing["data"], order))
    rest = about["num_comments"] - SHOWN
    more = [_more(about, rest)] if rest > 0 else []
    return [listing([{"kind": "t3", "data": about}], dist=1), listing([*top, *more])]


def listing(children: list[Data], after: str | None = None, dist: int | None = None) -> Data:
    """Things in their envelope."""
    inside = {"after": after, "dist": dist, "modhash": None, "geo_filter": "", "children": children, "before": None}
    return {"kind": "Listing", "data": inside}


def flat(things: list[Data]) -> Iterator[Data]:
    """The comments of a tree, each before its replies."""
    for thing in things:
        if thing["kind"] == "t1":
            yield thing["data"]
            if thing["data"]["replies"]:
                yield from flat(thing["data"]["replies"]["data"]["children"])


def subforum(name: str) -> Data:
    """What a subforum says about itself."""
    random = SeededRandom("reddit subforum", name)
    words = random.sentences(name, 2)
    created = float(NEWEST - random.number(1000, 6000) * 24 * HOUR)
    return {
        **OF_A_SUBREDDIT,
        "id": _of_subforum(name)["subreddit_id"][3:],
        "name": _of_subforum(name)["subreddit_id"],
        "display_name": name,
        "display_name_prefixed": f"r/{name}",
        "title": f"{name}: an invented subforum",
        "url": f"/r/{name}/",
        "public_description": words,
        "public_description_html": markup(words),
        "description": f"# {name}\n\n{words}",
        "description_html": markup(words),
        "subscribers": _subscribers(name),
        "community_icon": f"https://styles.redditmedia.com/sandbox/{name}.png?width=256&s=0",
        "created": created,
        "created_utc": created,
    }


def user(name: str, *, suspended: bool = False) -> Data:
    """What is told about a user; of one who is suspended next to nothing."""
    if suspended:
        return {"name": name, "is_suspended": True, "is_blocked": False, "awardee_karma": 0, "total_karma": 0}
    random = SeededRandom("reddit user", name)
    created = float(NEWEST - random.number(100, 5000) * 24 * HOUR)
    links, comments = random.number(1, 90_000), random.number(1, 90_000)
    profile = {**OF_A_SUBREDDIT, "display_name": f"u_{name}", "display_name_prefixed": f"u/{name}"}
    return {
        **OF_A_USER,
        "id": _author(name)["author_fullname"][3:],
        "name": name,
        "link_karma": links,
        "comment_karma": comments,
        "total_karma": links + comments,
        "subreddit": {**profile, "subreddit_type": "user", "url": f"/user/{name}/", "title": name},
        "created": created,
        "created_utc": created,
    }


def markup(text: str) -> str:
    """A paragraph as the site renders it."""
    return f'<!-- SC_OFF --><div class="md"><p>{escape(text, quote=False)}</p>\n</div><!-- SC_ON -->'


def _content(random: SeededRandom, key: str, name: str, permalink: str) -> Data:
    """The text of a post, its link, or its picture."""
    publisher, host = random.choice(PUBLISHERS)
    kind = random.number(1, 4)
    text = f"{random.sentences(name, 2)}\n\nBy {publisher} <3 & friends" if kind < 3 else ""
    told = {"selftext": text, "selftext_html": markup(text) if text else None, "is_self": kind < 3}
    if kind < 3:
        own = {"domain": f"self.{name}", "url": f"{HOME}{permalink}", "thumbnail": "self"}
        return {**told, **own, "is_reddit_media_domain": False}
    if kind == 3:
        link = f"https://{host}/{slug(name)}/{key}?a=1&b=2"
        own = {"domain": host, "url": link, "url_overridden_by_dest": link, "thumbnail": "default", "post_hint": "link"}
        return {**told, **own, "is_reddit_media_domain": False}
    return {**told, **_picture(key)}


def _picture(key: str) -> Data:
    image = f"https://i.redd.it/{key}.jpeg"
    shown = {"url": f"https://preview.redd.it/{key}.jpeg?auto=webp&s=0", "width": 1080, "height": 720}
    small = {"url": f"https://preview.redd.it/{key}.jpeg?width=140&s=0", "width": 140, "height": 93}
    return {
        "domain": "i.redd.it",
        "url": image,
        "url_overridden_by_dest": image,
        "post_hint": "image",
        "is_reddit_media_domain": True,
        "thumbnail": small["url"],
        "thumbnail_height": small["height"],
        "thumbnail_width": small["width"],
        "preview": {"images": [{"source": shown, "resolutions": [small], "variants": {}, "id": key}], "enabled": True},
    }


def _works(author: str, code: int, place: int) -> tuple[Data, Data]:
    """A post of a user, and a comment on one of another subforum."""
    own = post(number(SUBFORUMS[code], place))
    other = post(number(SUBFORUMS[code - 1], place))
    link = {f"link_{name}": other[name] for name in ("title", "author", "url")}
    more = {"link_permalink": f"{HOME}{other['permalink']}", "num_comments": other["num_comments"]}
    comment = {**_comment(other, SHOWN, other["name"]), **link, **more, "replies": "", "over_18": False}
    return (
        {"kind": "t3", "data": {**own, **_author(author)}},
        {"kind": "t1", "data": {**comment, **_author(author), "quarantine": False}},
    )


def _branch(about: Data, place: int, left: Iterator[int], parent: str, depth: int) -> Data:
    """A comment and its replies, which are taken from those that are left."""
    comment = {**_comment(about, place, parent), "depth": depth}
    count = SeededRandom("reddit replies", comment["id"]).number(0, 2) if depth < NESTED else 0
    following = [n for _, n in zip(range(count), left, strict=False)]
    replies = [_branch(about, n, left, comment["name"], depth + 1) for n in following]
    return {"kind": "t1", "data": {**comment, "replies": listing(replies) if replies else ""}}


def _comment(about: Data, place: int, parent: str) -> Data:
    key = f"o{about['id'][-6:]}{_base36(place)}"
    random = SeededRandom("reddit comment", key)
    body = random.choice(SENTENCES).format(topic=about["subreddit"])
    deleted = random.chance(12)
    author = "[deleted]" if deleted else random.choice(AUTHORS)
    body = "[removed]" if deleted else f"{body} R&D > guesswork."
    return {
        **OF_A_COMMENT,
        **_of_subforum(about["subreddit"]),
        **_author(author),
        **{name: value for name, value in _score(random).items() if name != "upvote_ratio"},
        "id": key,
        "name": f"t1_{key}",
        "parent_id": parent,
        "link_id": about["name"],
        "permalink": f"{about['permalink']}{key}/",
        "body": body,
        "body_html": markup(body).removeprefix("<!-- SC_OFF -->").removesuffix("<!-- SC_ON -->"),
        "created": about["created"] + 60.0 * (place + 1),
        "created_utc": about["created_utc"] + 60.0 * (place + 1),
        "edited": about["created_utc"] + 90.0 * (place + 1) if random.chance(9) else False,
        "is_submitter": author == about["author"],
    }


def _more(about: Data, count: int) -> Data:
    keys = [f"o{about['id'][-6:]}{_base36(SHOWN + n)}" for n in range(count)]
    of_first = {"id": keys[0], "name": f"t1_{keys[0]}", "parent_id": about["name"], "depth": 0}
    return {"kind": "more", "data": {"count": count, **of_first, "children": keys}}


def _place(data: Data, order: str) -> float:
    places = {"new": -data["created_utc"], "old": data["created_utc"], "controversial": data["score"]}
    return float(places.get(order, -data["score"]))


def _score(random: SeededRandom) -> Data:
    score = random.number(0, 4000)
    return {"score": score, "ups": score, "upvote_ratio": random.number(51, 99) / 100}


def _author(name: str) -> Data:
    code = SeededRandom("reddit user", name).number(36**4, 36**5)
    return {"author": name} if name == "[deleted]" else {"author": name, "author_fullname": f"t2_{code:x}"}


def _of_subforum(name: str) -> Data:
    code = SeededRandom("reddit subforum", name).number(36**4, 36**5)
    return {"subreddit": name, "subreddit_id": f"t5_{code:x}", "subreddit_name_prefixed": f"r/{name}"}


def _subscribers(name: str) -> int:
    return SeededRandom("reddit subscribers", name).number(900, 4_000_000)


def _rank(code: int, place: int) -> int:
    """Which of the authors wrote a post."""
    return (code * 7 + place) % len(AUTHORS)


def _coordinates(key: str) -> tuple[int, int]:
    match = NUMBER.fullmatch(key)
    code, place = (int(match[1], 36), int(match[2], 36)) if match else (len(SUBFORUMS), POSTS)
    if code < len(SUBFORUMS) and place < POSTS:
        return code, place
    random = SeededRandom("reddit number", key)
    return random.number(0, len(SUBFORUMS) - 1), random.number(POSTS, 9 * POSTS)


def _base36(value: int) -> str:
    return DIGITS[value // 36] + DIGITS[value % 36]
