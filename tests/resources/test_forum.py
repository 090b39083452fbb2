"""The forum: the queries and the routes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.routing import Map, Rule

from webdata.domain.errors import QueryError
from webdata.faces.api.routes import routes
from webdata.resources import forum
from webdata.resources.forum import (
    FORUM,
    ForumAboutQuery,
    ForumCommentsQuery,
    ForumPostQuery,
    ForumSubforumQuery,
    ForumUserQuery,
)


@pytest.mark.parametrize("resource", FORUM, ids=lambda one: one.name)
def test_all_resources_have_common_settings(resource):
    """They have no envelope, ten minutes in the cache, and a message of our own for 404s."""
    assert (resource.method, resource.packed, resource.envelope, resource.fresh_seconds) == ("GET", False, (), 600)
    assert resource.not_found.startswith("There is no ")


def test_the_message_for_a_missing_post_names_the_id():
    """The text says that there is no post with that ID."""
    assert "no post with that ID" in forum.FORUM_POST.not_found


@pytest.mark.parametrize(
    ("path", "name", "segments"),
    [
        ("subforum/python", "forum_subforum", {"subforum": "python"}),
        ("subforum/python/about", "forum_about", {"subforum": "python"}),
        ("subforum/python/about/", "forum_about", {"subforum": "python"}),
        ("subforum/r/python/about", "forum_about", {"subforum": "r/python"}),
        ("subforum/about", "forum_subforum", {"subforum": "about"}),
        ("subforum/about/about", "forum_about", {"subforum": "about"}),
        ("subforum", "forum_subforum", {}),
        ("user/u/spez", "forum_user", {"username": "u/spez"}),
        ("post/1abc2d", "forum_post", {"id": "1abc2d"}),
    ],
)
def test_paths_are_routed_to_their_resource(path, name, segments):
    """The description of a subforum and a subforum with the name `about` are different paths."""
    rules = Map([Rule(rule, endpoint=one.name) for one in FORUM for rule in routes(one)], merge_slashes=False)
    assert rules.bind("localhost").match(f"/v1/forum/{path}") == (name, segments)


@pytest.mark.parametrize(
    "written",
    [
        "python",
        "r/python",
        "/r/python",
        "/r/python/",
        " R/python ",
        "https://www.reddit.com/r/python/",
        "reddit.com/r/python",
    ],
)
def test_a_subforum_is_a_name_or_a_url(written):
    """Its name may have a prefix, and may be in the URL of its page."""
    assert ForumSubforumQuery.check({"subforum": written}).subforum == "python"
    assert ForumAboutQuery.check({"subforum": written}).subforum == "python"


def test_the_subforum_of_a_user_may_have_a_hyphen():
    """Other subforums have none."""
    assert ForumSubforumQuery.check({"subforum": "r/u_some-body"}).subforum == "u_some-body"


@pytest.mark.parametrize(
    "written", ["spez", "u/spez", "/u/spez", "user/spez", "/user/spez/", "https://old.reddit.com/user/spez"]
)
def test_a_user_is_a_name_or_a_url(written):
    """The name may have a prefix, and may be in the URL of the user's page."""
    assert ForumUserQuery.check({"username": written}).username == "spez"


@pytest.mark.parametrize(
    "written",
    [
        "1abc2d",
        "t3_1abc2d",
        "T3_1ABC2D",
        "https://www.reddit.com/r/python/comments/1abc2d/a_title/?sort=top",
        "https://www.reddit.com/comments/1abc2d",
        "/r/python/comments/1abc2d/a_title/kx1/",
        "https://redd.it/1abc2d",
        "https://www.reddit.com/gallery/1abc2d",
    ],
)
def test_a_post_is_an_id_or_a_url(written):
    """The id may have its kind before it, and may be in the URL of the post."""
    assert ForumPostQuery.check({"id": written}).id == "1abc2d"
    assert ForumCommentsQuery.check({"id": written}).id == "1abc2d"


def test_the_queries_have_defaults():
    """By default there are twenty-five hot posts, comments by confidence, and a post without comments."""
    query = ForumSubforumQuery.check({"subforum": "python"})
    assert (query.limit, query.sort, query.t, query.after) == (25, "hot", "all", None)
    assert ForumCommentsQuery.check({"id": "1"}).sort == "confidence"
    post = ForumPostQuery.check({"id": "1"})
    assert (post.with_comments, post.sort) == (False, "confidence")


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False)]
)
def test_a_flag_is_true_or_false(text, value):
    """It may also be 1 or 0."""
    assert ForumPostQuery.check({"id": "1", "with_comments": text}).with_comments is value


@pytest.mark.parametrize(
    ("query", "wrong", "right"),
    [
        (ForumSubforumQuery, {"limit": "0"}, "1 to 100"),
        (ForumSubforumQuery, {"limit": "101"}, "1 to 100"),
        (ForumSubforumQuery, {"limit": "all"}, "1 to 100"),
        (ForumSubforumQuery, {"sort": "best"}, "one of hot, new, top, rising, controversial"),
        (ForumSubforumQuery, {"t": "decade"}, "one of hour, day, week, month, year, all"),
        (ForumSubforumQuery, {"after": "1abc2d"}, "data.after"),
        (ForumSubforumQuery, {"subforum": "p"}, "2 to 21"),
        (ForumSubforumQuery, {"subforum": "python/new"}, "2 to 21"),
        (ForumSubforumQuery, {"subforum": "_python"}, "2 to 21"),
        (ForumSubforumQuery, {"subforum": " "}, "2 to 21"),
        (ForumUserQuery, {"sort": "rising"}, "one of hot, new, top, controversial"),
        (ForumUserQuery, {"username": "ab"}, "3 to 20"),
        (ForumUserQuery, {"username": "[deleted]"}, "3 to 20"),
        (ForumPostQuery, {"id": "t1_1abc2d"}, "t3_1abc2d"),
        (ForumPostQuery, {"id": "a title"}, "t3_1abc2d"),
        (ForumPostQuery, {"with_comments": "yes please"}, "true, false"),
        (ForumCommentsQuery, {"sort": "hot"}, "confidence, top, new, controversial, old, qa"),
    ],
)
def test_wrong_values_are_refused(query, wrong, right):
    """The message of a wrong value says what would be right."""
    required = {"subforum": "python", "username": "spez", "id": "1abc2d"}
    known = {name: value for name, value in required.items() if name in query.model_fields}
    with pytest.raises(QueryError) as caught:
        query.check({**known, **wrong})
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", *wrong]
    assert right in problem["msg"]


def test_unknown_parameters_are_ignored_and_listed():
    """A parameter of another endpoint is unknown."""
    query, remarks = ForumAboutQuery.read([("subforum", "python"), ("limit", "3")])
    assert (query.subforum, remarks.ignored) == ("python", ("limit",))
    _, remarks = ForumCommentsQuery.read([("id", "1abc"), ("with_comments", "true"), ("sort", "top")])
    assert remarks.ignored == ("with_comments",)


@given(st.text(), st.sampled_from([ForumSubforumQuery, ForumUserQuery, ForumPostQuery]))
def test_any_text_is_a_name_or_refused(text, query):
    """Every accepted name can be part of a URL."""
    field = next(iter(query.model_fields))
    try:
        found = getattr(query.check({field: text}), field)
    except QueryError:
        return
    assert found.isascii()
    assert found.replace("-", "_").replace("_", "a").isalnum()
