"""Reddit's responses as records: saved ones, and changed or generated ones."""

import copy
import json
from functools import cache
from time import perf_counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Headers, Response

from webdata.domain.errors import FetchError, LayoutError, NotFoundError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.pages import reddit
from webdata.pages._reddit import atom
from webdata.pages._reddit.refusals import refusal
from webdata.pages._reddit.things import DEEPEST
from webdata.pages.odd_items import counted
from webdata.pipelines.validate import validate
from webdata.resources.forum import FORUM, FORUM_COMMENTS, FORUM_POST, FORUM_SUBFORUM
from webdata.spiders.reddit import RedditSpider

RESOURCES = {resource.name: resource for resource in FORUM}
SECONDS_A_MB = 0.2
"""Far above the usual time, for a busy machine."""

OK, EMPTY = ("ok", None), ("empty", None)
BY_ENGINE = {
    "reddit comments array": OK,
    "reddit atom comment thread": OK,
    "reddit atom listing (/r/x/top.rss?t=year)": OK,
    "reddit atom search": OK,
    "reddit about": OK,
    "reddit user mixed": OK,
    "reddit search": OK,
    "reddit listing comments": OK,
    "reddit listing hot": OK,
    "reddit listing new": OK,
    "reddit listing top": OK,
    "reddit listing empty": EMPTY,
    "reddit info": ("layout", None),
    "reddit user about": ("layout", None),
    "reddit redirect": ("upstream", "http_301"),
    "reddit 429": ("blocked", "denied"),
    "reddit network policy block page (old.reddit)": ("blocked", "denied"),
    "reddit error html": ("blocked", "login"),
}
"""The outcome and kind of a saved response by the `engine` of its row in INDEX.jsonl."""
ERRORS = {
    (400, "html"): ("upstream", "http_400"),
    (400, "txt"): ("upstream", "http_400"),
    (403, "json"): ("not_found", "forbidden"),
    (404, "json"): ("not_found", None),
    (500, "json"): ("upstream", "http_500"),
}
"""Those of an error, by its status and format."""


def expected(row):
    """The outcome and kind of the saved response of a row."""
    if "quarantined" in row.get("layout_notes", "") and row["engine"] == "reddit error":
        return "not_found", "quarantined"
    if row["engine"] == "reddit error":
        return ERRORS[row["status"], row["file"].rpartition(".")[2]]
    return BY_ENGINE[row["engine"]]


def rows(captures):
    return map(json.loads, (captures / "reddit/INDEX.jsonl").read_text().splitlines())


def query_of(body):
    """The resource and the query of a saved response."""
    fields = dict(reddit.shown_query(body))
    resource = RESOURCES[fields.pop("resource")]
    return resource, resource.query.check(fields)


def is_contained(original, record):
    """Whether a record has all of the upstream's JSON, and its keys `subforum…` too."""
    if isinstance(original, dict):
        own = {name: f"subforum{name.removeprefix('subreddit')}" for name in original if name.startswith("subreddit")}
        return all(name in record and is_contained(value, record[name]) for name, value in original.items()) and all(
            ours in record and is_contained(original[name], record[ours]) for name, ours in own.items()
        )
    if isinstance(original, list):
        return len(original) == len(record) and all(map(is_contained, original, record))
    return type(original) is type(record) and original == record


def inner(record, resource):
    """The part of a record that is the upstream's body."""
    return record["data"] if resource is FORUM_COMMENTS else record


def test_saved_responses_have_their_outcome(captures):
    """Each record is valid and has all of the upstream's JSON."""
    wrong = {row["file"]: found for row in rows(captures) if (found := judged(captures, row)) != expected(row)}
    assert wrong == {}


def judged(captures, row):
    body = (captures / "reddit" / row["file"]).read_bytes()
    response = Response(
        "https://www.reddit.com/", status=row.get("status", 200), headers=Headers(row.get("headers", {})), body=body
    )
    resource, query = query_of(body)
    try:
        RedditSpider().check(response)
        record = reddit.record(body, query)
    except FetchError as error:
        return error.outcome, error.kind
    validate(resource, record)
    if not atom.is_feed(body):
        original = orjson.loads(body)
        assert is_contained(
            original.get("data") if resource.name == "forum_about" else original, inner(record, resource)
        )
    return resource.outcome(record), None


def test_the_comparison_notices_a_missing_value(captures):
    """The comparison of the test above can fail."""
    original = orjson.loads((captures / "reddit/r-askreddit-new-2020.json").read_bytes())
    record = reddit.record(orjson.dumps(original), query_of(orjson.dumps(original))[1])
    assert is_contained(original, record)
    broken = copy.deepcopy(record)
    del broken["data"]["children"][3]["data"]["subforum_name_prefixed"]
    assert not is_contained(original, broken)
    broken = copy.deepcopy(record)
    broken["data"]["children"][3]["data"]["score"] += 1
    assert not is_contained(original, broken)


def test_saved_errors_without_their_status_are_errors(captures):
    """An error without its status is no record of any query."""
    for row in rows(captures):
        if row["engine"] == "reddit error" and row["file"].endswith("json"):
            body = (captures / "reddit" / row["file"]).read_bytes()
            error = refusal(200, "https://www.reddit.com/r/x.json", "", body)
            assert (error.outcome, error.kind) == expected(row)


def test_the_post_of_a_saved_thread(captures):
    """A post is the thread's first child, with the comments only if the query wants them."""
    body = (captures / "reddit/comments-deep-chain-continue-thread-2020.json").read_bytes()
    original = orjson.loads(body)
    post = reddit.record(body, FORUM_POST.query.check({"id": "6otocc"}))
    assert "comments" not in post
    assert is_contained(original[0]["data"]["children"][0]["data"], post)
    both = reddit.record(body, FORUM_POST.query.check({"id": "6otocc", "with_comments": "true"}))
    validate(FORUM_POST, both)
    assert is_contained(original[1]["data"]["children"], both["comments"])


def test_placeholders_of_omitted_comments_are_children(captures):
    """Children of the kind `more` stay in their position."""
    body = (captures / "reddit/comments-large-more-poll-2020.json").read_bytes()
    record = reddit.record(body, FORUM_COMMENTS.query.check({"id": "fo7p5b"}))
    assert orjson.dumps(record).count(b'"kind":"more"') == 223


def test_a_saved_feed_is_a_listing(captures):
    """The posts have the fields of the feed, and null for all others."""
    body = (captures / "reddit/r-top-atom-feed-2026.rss").read_bytes()
    record = reddit.record(body, FORUM_SUBFORUM.query.check({"subforum": "gravelcycling", "sort": "top"}))
    posts = [child["data"] for child in record["data"]["children"]]
    assert len(posts) == 25
    assert record["data"]["after"] == posts[-1]["name"]
    assert (posts[0]["id"], posts[0]["author"], posts[0]["created_utc"]) == ("1qm7i79", "Winyamo", 1769310434.0)
    assert posts[0]["url"] == "https://i.redd.it/6h8yca8bwefg1.jpeg"
    assert posts[0]["permalink"].startswith("/r/gravelcycling/comments/1qm7i79/")
    assert posts[0]["subforum_name_prefixed"] == "r/gravelcycling"
    assert {post["score"] for post in posts} == {post["num_comments"] for post in posts} == {None}
    assert all(post["title"] and post["url"] and post["created_utc"] for post in posts)


def test_a_saved_feed_of_a_thread_is_a_thread(captures):
    """It has the post and a flat list of its comments."""
    body = (captures / "reddit/comments-atom-feed-2026.rss").read_bytes()
    post, comments = reddit.record(body, FORUM_COMMENTS.query.check({"id": "1qcwxml"}))["data"]
    (first,) = post["data"]["children"]
    assert first["data"]["selftext"].startswith("Ribble Allgrit Ti, SRAM Force XPLR")
    found = [child["data"] for child in comments["data"]["children"]]
    assert len(found) == 33
    assert found[0]["body"] == "Man watch out my wife is on this app."
    assert {comment["replies"] for comment in found} == {""}
    assert {comment["link_id"] for comment in found} == {"t3_1qcwxml"}


@pytest.mark.timed
def test_the_longest_thread_is_parsed_quickly(captures):
    """The time is proportional to the size."""
    body = (captures / "reddit/comments-large-more-poll-2020.json").read_bytes()
    query = FORUM_COMMENTS.query.check({"id": "fo7p5b"})
    begun = perf_counter()
    reddit.record(body, query)
    assert perf_counter() - begun < SECONDS_A_MB * len(body) / 1e6


POST = {"kind": "t3", "data": {"id": "1abc", "subreddit": "python", "title": "A <title>"}}
COMMENT = {"kind": "t1", "data": {"id": "k1", "body": "Yes.", "replies": ""}}


def listing(*children, **more):
    return {"kind": "Listing", "data": {"children": list(children), **more}}


def thread(*comments):
    return orjson.dumps([listing(POST), listing(*comments)])


LISTING = FORUM_SUBFORUM.query.check({"subforum": "python"})
THREAD = FORUM_COMMENTS.query.check({"id": "1abc"})
ABOUT = RESOURCES["forum_about"].query.check({"subforum": "python"})


def test_documented_fields_are_always_present():
    """Fields that the upstream omits are null; undocumented keys of a listing stay."""
    record = reddit.record(orjson.dumps(listing(POST, dist=1, geo_filter="")), LISTING)
    validate(FORUM_SUBFORUM, record)
    (child,) = record["data"]["children"]
    assert (child["data"]["subforum"], child["data"]["subreddit"], child["data"]["score"]) == ("python", "python", None)
    assert (record["data"]["after"], record["data"]["dist"], record["data"]["geo_filter"]) == (None, 1, "")


def test_nested_comments_and_posts_have_our_names():
    """Comments in replies and posts in posts are completed too."""
    shared = {"kind": "t3", "data": {**POST["data"], "crosspost_parent_list": [{"subreddit_id": "t5_1"}]}}
    reply = {"kind": "t1", "data": {**COMMENT["data"], "subreddit": "python", "replies": listing(COMMENT)}}
    record = reddit.record(orjson.dumps([listing(shared), listing(reply)]), THREAD)
    validate(FORUM_COMMENTS, record)
    assert record["data"][0]["data"]["children"][0]["data"]["crosspost_parent_list"][0]["subforum_id"] == "t5_1"
    inside = record["data"][1]["data"]["children"][0]["data"]["replies"]["data"]["children"][0]["data"]
    assert inside["score"] is None


@pytest.mark.parametrize(
    ("body", "query", "error"),
    [
        (b"{}", LISTING, LayoutError),
        (b"[]", LISTING, LayoutError),
        (b"null", LISTING, LayoutError),
        (b'"python"', THREAD, LayoutError),
        (b"", LISTING, UpstreamError),
        (b"<html><body>A page</body></html>", LISTING, LayoutError),
        (orjson.dumps(listing({"kind": "t5", "data": {}})), LISTING, LayoutError),
        (orjson.dumps(listing({"kind": "t3", "data": {}})), LISTING, LayoutError),
        (orjson.dumps(listing({"kind": "more", "data": {}})), LISTING, LayoutError),
        (orjson.dumps({"kind": "Listing", "data": {"children": None}}), LISTING, LayoutError),
        (orjson.dumps([listing(COMMENT), listing()]), THREAD, LayoutError),
        (orjson.dumps([listing(), listing()]), THREAD, NotFoundError),
        (orjson.dumps({"kind": "t5", "data": {}}), ABOUT, LayoutError),
        (orjson.dumps({"kind": "t2", "data": {"is_suspended": True}}), LISTING, NotFoundError),
    ],
)
def test_other_documents_are_errors(body, query, error):
    """A document that does not fit the query is never a listing without posts."""
    with pytest.raises(error):
        reddit.record(body, query)


def test_a_thread_that_is_too_deep_is_an_error():
    """No real thread is as deep."""
    deep = COMMENT
    for _ in range(DEEPEST // 4):
        deep = {"kind": "t1", "data": {"id": "k1", "replies": listing(deep)}}
    body = json.dumps([listing(POST), listing(deep)]).encode()
    with pytest.raises(FetchError):
        reddit.record(body, THREAD)


def test_bytes_that_are_not_utf8_are_replaced():
    """A post with such a byte has U+FFFD instead."""
    body = thread(COMMENT).replace(b"A <title>", b"A \xff title")
    assert reddit.record(body, THREAD)["data"][0]["data"]["children"][0]["data"]["title"] == "A \ufffd title"


@cache
def whole(captures, name):
    return (captures / "reddit" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("r-top-atom-feed-2026.rss", LISTING),
        ("comments-atom-feed-2026.rss", THREAD),
        ("comments-atom-feed-2026.rss", ABOUT),
        ("user-new-limit4-2021.json", LISTING),
        ("comments-deleted-author-more-2020.json", THREAD),
        ("subreddit-about-2023.json", ABOUT),
    ],
)
def test_truncated_responses_are_broken_bodies(captures, name, query):
    """A response that is truncated anywhere is never another exception, never a shorter record."""
    body = whole(captures, name).rstrip()
    assert reddit.record(body, query)
    for end in range(1, len(body) - 1, max(len(body) // 150, 1)):
        with pytest.raises((UpstreamError, LayoutError)):
            reddit.record(body[:end], query)


QUERIES = st.sampled_from([LISTING, THREAD, ABOUT, FORUM_POST.query.check({"id": "1abc", "with_comments": "true"})])
STARTS = [b"", b"{", b"[", b'{"kind": "Listing", "data": ', b"<?xml version='1.0'?>", b"<feed>"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.sampled_from(["", "Listing", "t1", "t3", "more", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "data", "children", "id", "replies", "after", "subreddit", "display_name"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def ends(body, query):
    """The record of a body; None for one that is an error."""
    try:
        return reddit.record(body, query)
    except FetchError:
        return None


@given(st.sampled_from(STARTS), st.binary(), QUERIES)
def test_any_bytes_are_no_empty_listing(start, end, query):
    """Any bytes give an error."""
    record = ends(start + end, query)
    assert record is None or query is not LISTING


@given(VALUES, QUERIES)
def test_any_json_gives_a_record_or_an_error(value, query):
    """A record of any JSON can be serialised."""
    record = ends(orjson.dumps(value), query)
    if record is not None:
        orjson.dumps(record)
    if query is LISTING and record is not None and FORUM_SUBFORUM.outcome(record) is Outcome.EMPTY:
        assert value["data"]["children"] == []


@given(VALUES)
def test_any_replies_give_a_record_or_an_error(value):
    """Replies are a listing or `""`; any other value becomes `""`."""
    record = ends(orjson.dumps(listing({"kind": "t1", "data": {"id": "k1", "replies": value}})), LISTING)
    if record is not None:
        replies = record["data"]["children"][0]["data"]["replies"]
        assert replies == "" or replies["kind"] == "Listing"


@pytest.mark.parametrize(
    "odd",
    [{"kind": "t3", "data": {}}, {"kind": "t9", "data": {"id": "x"}}, {"kind": "more", "data": {}}, None, "x"],
)
def test_an_odd_child_of_a_listing_is_left_out_and_counted(odd):
    """One post that cannot be read takes no other with it."""
    with counted() as found:
        record = reddit.record(orjson.dumps(listing(POST, odd)), LISTING)
    validate(FORUM_SUBFORUM, record)
    assert (len(record["data"]["children"]), found.told) == (1, "items:1")


def test_odd_replies_are_left_out_and_counted():
    """The comment stays, with its replies as where it has none."""
    with counted() as found:
        record = reddit.record(thread({"kind": "t1", "data": {"id": "k1", "replies": {"kind": "Listing"}}}), THREAD)
    validate(FORUM_COMMENTS, record)
    assert (record["data"][1]["data"]["children"][0]["data"]["replies"], found.told) == ("", "items:1")


def test_a_lone_surrogate_in_a_title_is_mended_and_counted():
    """Legal JSON that is no text: the title has the replacement character, in JSON as in a feed."""
    body = orjson.dumps(listing({"kind": "t3", "data": {**POST["data"], "title": "cut #"}}))
    with counted() as found:
        record = reddit.record(body.replace(b"#", rb"\ud83d"), LISTING)
    validate(FORUM_SUBFORUM, record)
    assert (record["data"]["children"][0]["data"]["title"], found.told) == ("cut \N{REPLACEMENT CHARACTER}", "items:1")


@given(st.binary())
def test_any_saved_body_has_a_query(body):
    """The query of an unknown page is the default one."""
    assert query_of(body)
