"""The sandbox's Reddit."""

import re
from base64 import b64encode
from urllib.parse import urlencode

import feedparser
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred

from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import _reddit_failures, _reddit_things, reddit, site_for
from webdata.sandbox.sites._reddit_things import AUTHORS, POSTS, SUBFORUMS

API = "oauth.reddit.com"
WWW = "www.reddit.com"
AGENT = {"user-agent": "webdata/1.0 (trial)"}
SIGNED = {**AGENT, "authorization": "Bearer sandbox-full"}


def ask(path, host=API, headers=SIGNED, method="GET", body=b"", **fields):
    target = f"{path}?{urlencode({'raw_json': 1, **fields})}"
    return reddit.answer(SandboxRequest(method, "https", host, target, headers, body))


def read(path, host=API, **fields):
    reply = ask(path, host, **fields)
    assert reply.status == 200
    return orjson.loads(reply.body)


def names(path, host=API, **fields):
    return [child["data"]["name"] for child in read(path, host, **fields)["data"]["children"]]


def feed(path, **fields):
    return feedparser.parse(ask(path, WWW, AGENT, **fields).body)


def token(secret, grant="client_credentials", client="sandbox", **fields):
    basic = b64encode(f"{client}:{secret}".encode()).decode()
    body = urlencode({"grant_type": grant, **fields}).encode()
    headers = {**AGENT, "authorization": f"Basic {basic}"}
    return ask("/api/v1/access_token", WWW, headers, "POST", body)


def test_it_serves_the_hosts_of_reddit():
    """Reddit's hosts are one site."""
    assert all(site_for(host) is reddit.answer for host in (API, WWW, "old.reddit.com", "reddit.com"))


@ensureDeferred
async def test_a_token_is_issued_and_accepted_over_tls(client):
    """A client gets a token and a listing over sockets."""
    basic = b64encode(b"sandbox:sandbox").decode()
    issued = await client.request(
        "POST", f"https://{WWW}/api/v1/access_token", b"grant_type=client_credentials",
        Authorization=f"Basic {basic}", User_Agent="trial",
    )  # fmt: skip
    bearer = f"Bearer {orjson.loads(issued.body)['access_token']}"
    listing = await client.get(f"https://{API}/r/python/new?limit=2", Authorization=bearer, User_Agent="trial")
    assert len(orjson.loads(listing.body)["data"]["children"]) == 2
    assert float(listing.headers["x-ratelimit-remaining"]) > 2


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"secret": "sandbox"}, 200),
        ({"secret": "wrong"}, 401),
        ({"secret": "sandbox", "client": "other"}, 401),
        ({"secret": "sandbox", "grant": "password"}, 400),
        ({"secret": ""}, 400),
        ({"secret": "", "grant": reddit.INSTALLED}, 400),
        ({"secret": "", "grant": reddit.INSTALLED, "device_id": "0" * 20}, 200),
        ({"secret": "sandbox:limited"}, 429),
        ({"secret": "sandbox:down"}, 503),
        ({"secret": "sandbox:blocked"}, 403),
    ],
)
def test_a_token_requires_known_credentials(given, status):
    """The known client gets a token, an installed application needs a device id, other secrets select failures."""
    assert token(**given).status == status


def test_a_token_may_be_short_or_revoked():
    """One token is valid for a second, another is rejected at once."""
    assert orjson.loads(token("sandbox").body)["expires_in"] == 3600
    assert orjson.loads(token("sandbox:short").body)["expires_in"] == 1
    revoked = orjson.loads(token("sandbox:revoked").body)["access_token"]
    assert ask("/r/python/hot", headers={**AGENT, "authorization": f"Bearer {revoked}"}).status == 401


def test_a_token_and_a_user_agent_are_required():
    """The API requires a token, and requests without a user agent are blocked everywhere."""
    assert ask("/r/python/hot", headers=AGENT).status == 401
    assert b"whoa there" in ask("/r/python/hot.json", WWW, {}).body


@pytest.mark.parametrize("sort", ["hot", "new", "top", "controversial"])
def test_pages_have_every_post_once(sort):
    """The pages have every post once and in a stable order; the last page has no `after`."""
    collected, after = [], ""
    while after is not None:
        page = read(f"/r/python/{sort}", limit=50, after=after)["data"]
        collected += [child["data"]["name"] for child in page["children"]]
        after = page["after"]
    assert len(collected) == len(set(collected)) == POSTS
    assert names(f"/r/python/{sort}", limit=100) == collected[:100]


def test_listings_have_limits_time_spans_and_orders():
    """`limit` has bounds, `t` excludes older posts, orders differ, and after an unknown name there are no posts."""
    assert [len(names("/r/tea/new", limit=limit)) for limit in (1, 100, 500, 0, "x")] == [1, 100, 100, 25, 25]
    assert len(names("/r/tea/top", t="hour")) < len(names("/r/tea/top", t="day"))
    assert names("/r/tea/new") != names("/r/tea/top") != names("/r/tea/controversial")
    assert names("/r/tea/new", after="t3_unknown") == []
    assert len(names("/r/tea/rising", limit=100)) == 25


def test_posts_have_the_fields_of_real_ones():
    """Posts are texts, links and pictures with at least a hundred fields each."""
    posts = [child["data"] for child in read("/r/Coffee/hot", limit=100)["data"]["children"]]
    assert all(len(post) >= 100 and post["subreddit_name_prefixed"] == "r/coffee" for post in posts)
    assert {post["is_self"] for post in posts} == {True, False}
    assert {"i.redd.it", "self.coffee"} < {post["domain"] for post in posts}
    assert "[deleted]" in {post["author"] for post in posts}


def test_text_is_escaped_without_raw_json():
    """Without `raw_json` text is escaped for HTML."""
    assert b"<3 & friends" in ask("/r/tea/new").body
    assert b"&lt;3 &amp; friends" in ask("/r/tea/new", raw_json=0).body


def test_a_post_is_the_same_in_every_reply():
    """The listing, the thread, `info` and the public JSON have the same post, and so has its author's page."""
    [post] = [c["data"] for c in read("/r/python/new", limit=1)["data"]["children"]]
    post_id = post["id"]
    assert read(f"/comments/{post_id}")[0]["data"]["children"][0]["data"] == post
    assert read("/api/info", id=f"t3_{post_id}")["data"]["children"][0]["data"] == post
    assert read(f"/r/python/comments/{post_id}/title.json", WWW)[0]["data"]["children"][0]["data"] == post
    assert post["name"] in names(f"/user/{post['author']}/overview", limit=100)


def test_a_thread_is_a_tree():
    """Parents and depths of comments are consistent, and all comments are counted."""
    for name in names("/r/askreddit/new", limit=20):
        top, comments = read(f"/comments/{name}")
        post = top["data"]["children"][0]["data"]
        listed = list(_reddit_things.flat(comments["data"]["children"]))
        more = [c["data"]["count"] for c in comments["data"]["children"] if c["kind"] == "more"]
        assert len(listed) + sum(more) == post["num_comments"]
        assert len({comment["id"] for comment in listed}) == len(listed)
        depths = {post["name"]: -1} | {comment["name"]: comment["depth"] for comment in listed}
        assert all(depths[comment["parent_id"]] == comment["depth"] - 1 for comment in listed)


def test_threads_have_the_variety_of_real_ones():
    """Twenty threads have deep replies, deleted authors, edits, and comments that are not listed."""
    threads = [read(f"/comments/{name}")[1]["data"]["children"] for name in names("/r/askreddit/new", limit=20)]
    listed = [comment for children in threads for comment in _reddit_things.flat(children)]
    assert max(comment["depth"] for comment in listed) == _reddit_things.MAX_DEPTH
    assert {type(comment["edited"]) for comment in listed} == {bool, float}
    assert "[removed]" in {comment["body"] for comment in listed}
    assert any(child["kind"] == "more" for children in threads for child in children)


def test_users_have_posts_and_comments():
    """Any user's page has posts and comments, each with the user's name."""
    for name in ("amber_kettle", "Unknown-User"):
        children = read(f"/user/{name}/overview", limit=100)["data"]["children"]
        assert {child["kind"] for child in children} == {"t1", "t3"}
        assert {child["data"]["author"] for child in children} == {name}
        assert all(c["data"]["link_permalink"].startswith("https://") for c in children if c["kind"] == "t1")
    assert {c["kind"] for c in read("/u/amber_kettle/comments")["data"]["children"]} == {"t1"}


def test_subforums_and_users_have_descriptions():
    """Subforums and users have descriptions; that of a suspended user states the suspension."""
    assert read("/r/Python/about")["kind"] == "t5"
    assert len(read("/r/Python/about")["data"]) > 90
    assert read("/user/amber_kettle/about.json", WWW)["data"]["name"] == "amber_kettle"
    assert read("/user/suspended/about")["data"]["is_suspended"] is True


def test_feeds_have_the_same_posts():
    """A feed has the posts of the listing."""
    atom = feed("/r/python/new/.rss", limit=50)
    assert [entry.id for entry in atom.entries] == names("/r/python/new", limit=50)
    assert atom.feed.title == "new links : python"
    assert not atom.bozo
    assert {"media_thumbnail" in entry for entry in atom.entries} == {True, False}


def test_threads_and_users_have_feeds():
    """The feed of a thread has the post and then its comments, that of a user both kinds."""
    post_id = names("/r/python/new", limit=1)[0].removeprefix("t3_")
    entries = feed(f"/comments/{post_id}/.rss").entries
    assert [entry.id[:2] for entry in entries] == ["t3"] + ["t1"] * (len(entries) - 1)
    assert {entry.id[:2] for entry in feed("/user/amber_kettle/.rss").entries} == {"t1", "t3"}
    assert "[deleted]" in AUTHORS
    assert feed("/r/python/.rss").feed.subtitle


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        ("private", (403, 403, 403)), ("banned", (404, 404, 404)), ("quarantined", (403, 403, 403)),
        ("gated", (403, 403, 403)), ("missing", (404, 404, 404)), ("nowhere", (302, 302, 302)),
        ("empty", (200, 200, 200)), ("sandbox_blocked", (403, 403, 403)), ("sandbox_shell", (403, 403, 403)),
        ("sandbox_challenge", (200, 200, 200)), ("sandbox_over18", (200, 200, 200)), ("sandbox_login", (302, 302, 302)),
        ("sandbox_rate_limit", (429, 429, 429)), ("sandbox_limited", (429, 429, 429)), ("sandbox_low", (200, 200, 200)),
        ("sandbox_error", (500, 500, 500)), ("sandbox_denied", (403, 403, 403)), ("sandbox_layout", (200, 200, 200)),
        ("sandbox_oauth_down", (503, 200, 200)), ("sandbox_json_blocked", (503, 403, 200)),
        ("sandbox_torn", (200, 200, 200)), ("sandbox_nonsense", (400, 400, 400)),
    ],
)  # fmt: skip
def test_names_select_scenarios(name, statuses):
    """Each name of a scenario has its status in the API, the public JSON and the feed."""
    replies = ask(f"/r/{name}/new"), ask(f"/r/{name}/new.json", WWW), ask(f"/r/{name}/new/.rss", WWW)
    assert tuple(reply.status for reply in replies) == statuses


def test_failures_resemble_real_ones():
    """Errors have their reason, rate limits their seconds, and block pages the markers of real ones."""
    assert orjson.loads(ask("/r/banned").body) == {"reason": "banned", "message": "Not Found", "error": 404}
    assert dict(ask("/r/sandbox_rate_limit").headers)["x-ratelimit-reset"] == "247"
    assert names("/r/empty") == []
    assert b"<title>Blocked</title>" in ask("/r/sandbox_blocked").body
    shell = ask("/r/sandbox_shell").body
    assert b"blocked by network security" in shell
    assert 180_000 < len(shell) < 200_000
    assert b'name="solution"' in ask("/r/sandbox_challenge").body
    assert ask("/r/sandbox_slow_2").delay == 2
    assert dict(ask("/r/sandbox_low").headers)["x-ratelimit-remaining"] == "1.0"


def test_a_body_may_be_invalid_or_incomplete():
    """Titles have bytes that are not UTF-8, and torn documents end in the middle."""
    for path, host in (("/r/{}/new", API), ("/r/{}/new/.rss", WWW)):
        broken = ask(path.format("sandbox_encoding"), host).body
        assert b"\xff\xfe\xe9\x80" in broken
        assert broken.decode("utf-8", "replace").count("\ufffd") >= 2
        torn = ask(path.format("sandbox_torn_1"), host).body
        assert torn.strip()[-1:] not in (b"}", b">")


def test_malformed_credentials_are_rejected():
    """A malformed Basic authorization is a 401."""
    headers = {**AGENT, "authorization": "Basic %%%"}
    assert ask("/api/v1/access_token", WWW, headers, "POST", b"grant_type=client_credentials").status == 401


def test_the_search_for_communities_is_empty():
    """The search that an unknown subforum redirects to has no results."""
    assert names("/subreddits/search") == []


def test_post_ids_select_scenarios():
    """An id that begins with `zz` selects a scenario; without a known one the post is missing."""
    assert [ask(f"/comments/{post_id}").status for post_id in ("zz", "zzz9", "zzblocked", "zzslow1")] == [
        404,
        404,
        403,
        200,
    ]
    assert ask("/comments/zzslow1").delay == 1
    assert names("/api/info", id="t3_zzz9") == []
    assert ask("/api/info", id="t3_zzlimited").status == 429


def test_a_share_link_redirects_to_a_post():
    """A share link redirects to a post of its subforum."""
    reply = ask("/r/python/s/aBcD123", WWW, AGENT)
    assert reply.status == 301
    assert re.match(r"https://www\.reddit\.com/r/python/comments/1s\w{4}/", dict(reply.headers)["Location"])


def test_html_pages_are_blocked():
    """The old site redirects to the login, the new one has the verification page."""
    old = ask("/r/python/", "old.reddit.com", AGENT)
    assert "/login/?reason=lor2" in dict(old.headers)["Location"]
    assert b"Please wait for verification" in ask("/r/python/", WWW, AGENT).body
    assert ask("/login/", WWW, AGENT).status == 200
    assert ask("/unknown/path").status == 404


def test_the_same_request_gets_the_same_bytes():
    """A request has the same bytes without the caches of posts."""
    first = ask("/r/python/top"), ask("/user/amber_kettle")
    _reddit_things.posts.cache_clear()
    _reddit_things.contributions.cache_clear()
    assert (ask("/r/python/top"), ask("/user/amber_kettle")) == first


def test_post_ids_can_select_every_scenario():
    """Every scenario fits into a post id, and no subforum has the name of one."""
    assert all(re.fullmatch("[0-9a-z]{1,11}", scenario) for scenario in _reddit_failures.SCENARIOS)
    assert not set(SUBFORUMS) & set(_reddit_failures.PLAIN_NAMES)


@given(st.from_regex(r"[0-9a-z]{1,13}", fullmatch=True))
def test_any_id_is_a_post(post_id):
    """Any id has a thread, unless it selects a scenario."""
    reply = ask(f"/comments/{post_id}")
    assert post_id.startswith("zz") or orjson.loads(reply.body)[0]["data"]["children"][0]["data"]["id"] == post_id


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_path_has_a_reply(path):
    """Every path has a valid HTTP status."""
    assert 200 <= ask(f"/{path}").status < 600
    assert 200 <= ask(f"/r/{path}.json", WWW).status < 600
