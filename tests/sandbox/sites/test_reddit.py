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

from webdata.sandbox.exchange import SandboxRequest
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


def test_it_is_the_site_of_its_hosts():
    """All hosts of the site are one."""
    assert all(site_for(host) is reddit.answer for host in (API, WWW, "old.reddit.com", "reddit.com"))


@ensureDeferred
async def test_it_answers_over_sockets(client):
    """A token is got and used as a client does, over TLS."""
    basic = b64encode(b"sandbox:sandbox").decode()
    got = await client.request(
        "POST", f"https://{WWW}/api/v1/access_token", b"grant_type=client_credentials",
        Authorization=f"Basic {basic}", User_Agent="trial",
    )  # fmt: skip
    bearer = f"Bearer {orjson.loads(got.body)['access_token']}"
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
def test_tokens(given, status):
    """The right client gets a token, an installed one needs a device, and words behind the secret fail."""
    assert token(**given).status == status


def test_tokens_that_do_not_last():
    """One token says that it lasts a second, another is refused as soon as it is used."""
    assert orjson.loads(token("sandbox").body)["expires_in"] == 3600
    assert orjson.loads(token("sandbox:short").body)["expires_in"] == 1
    revoked = orjson.loads(token("sandbox:revoked").body)["access_token"]
    assert ask("/r/python/hot", headers={**AGENT, "authorization": f"Bearer {revoked}"}).status == 401


def test_the_api_wants_a_token_and_all_want_a_name():
    """Without a token the API refuses, and clients without a name are blocked everywhere."""
    assert ask("/r/python/hot", headers=AGENT).status == 401
    assert b"whoa there" in ask("/r/python/hot.json", WWW, {}).body


@pytest.mark.parametrize("sort", ["hot", "new", "top", "controversial"])
def test_pages_follow_each_other(sort):
    """From page to page every post comes once, the last page has no `after`, and asking again gives the same."""
    found, after = [], ""
    while after is not None:
        page = read(f"/r/python/{sort}", limit=50, after=after)["data"]
        found += [child["data"]["name"] for child in page["children"]]
        after = page["after"]
    assert len(found) == len(set(found)) == POSTS
    assert names(f"/r/python/{sort}", limit=100) == found[:100]


def test_listings_heed_their_parameters():
    """`limit` has bounds, `t` leaves out what is old, orders differ, and behind an unknown name is nothing."""
    assert [len(names("/r/tea/new", limit=limit)) for limit in (1, 100, 500, 0, "x")] == [1, 100, 100, 25, 25]
    assert len(names("/r/tea/top", t="hour")) < len(names("/r/tea/top", t="day"))
    assert names("/r/tea/new") != names("/r/tea/top") != names("/r/tea/controversial")
    assert names("/r/tea/new", after="t3_unheard") == []
    assert len(names("/r/tea/rising", limit=100)) == 25


def test_posts_have_the_fields_of_real_ones():
    """Posts are texts, links and pictures with about a hundred members each."""
    posts = [child["data"] for child in read("/r/Coffee/hot", limit=100)["data"]["children"]]
    assert all(len(post) >= 100 and post["subreddit_name_prefixed"] == "r/coffee" for post in posts)
    assert {post["is_self"] for post in posts} == {True, False}
    assert {"i.redd.it", "self.coffee"} < {post["domain"] for post in posts}
    assert "[deleted]" in {post["author"] for post in posts}


def test_text_is_escaped_unless_asked_otherwise():
    """Without `raw_json` marks of markup are escaped."""
    assert b"<3 & friends" in ask("/r/tea/new").body
    assert b"&lt;3 &amp; friends" in ask("/r/tea/new", raw_json=0).body


def test_a_post_is_the_same_wherever_it_is_shown():
    """The listing, the thread, `info` and the public JSON have one post, and its author's page has it too."""
    [post] = [c["data"] for c in read("/r/python/new", limit=1)["data"]["children"]]
    key = post["id"]
    assert read(f"/comments/{key}")[0]["data"]["children"][0]["data"] == post
    assert read("/api/info", id=f"t3_{key}")["data"]["children"][0]["data"] == post
    assert read(f"/r/python/comments/{key}/title.json", WWW)[0]["data"]["children"][0]["data"] == post
    assert post["name"] in names(f"/user/{post['author']}/overview", limit=100)


def test_a_thread_is_a_tree():
    """Comments have replies or an empty string, parents and depths are right, and all are counted."""
    for key in names("/r/askreddit/new", limit=20):
        top, comments = read(f"/comments/{key}")
        post = top["data"]["children"][0]["data"]
        found = list(_reddit_things.flat(comments["data"]["children"]))
        more = [c["data"]["count"] for c in comments["data"]["children"] if c["kind"] == "more"]
        assert len(found) + sum(more) == post["num_comments"]
        assert len({one["id"] for one in found}) == len(found)
        parents = {post["name"]: -1} | {one["name"]: one["depth"] for one in found}
        assert all(parents[one["parent_id"]] == one["depth"] - 1 for one in found)


def test_threads_have_all_that_real_ones_do():
    """Among twenty threads there are deep replies, deleted authors, edits, and comments that are left out."""
    threads = [read(f"/comments/{key}")[1]["data"]["children"] for key in names("/r/askreddit/new", limit=20)]
    found = [one for children in threads for one in _reddit_things.flat(children)]
    assert max(one["depth"] for one in found) == _reddit_things.NESTED
    assert {type(one["edited"]) for one in found} == {bool, float}
    assert "[removed]" in {one["body"] for one in found}
    assert any(child["kind"] == "more" for children in threads for child in children)


def test_users_have_posts_and_comments():
    """A user's page mixes posts and comments, each with the user's name, whoever it is."""
    for name in ("amber_kettle", "Somebody-Else"):
        children = read(f"/user/{name}/overview", limit=100)["data"]["children"]
        assert {child["kind"] for child in children} == {"t1", "t3"}
        assert {child["data"]["author"] for child in children} == {name}
        assert all(c["data"]["link_permalink"].startswith("https://") for c in children if c["kind"] == "t1")
    assert {c["kind"] for c in read("/u/amber_kettle/comments")["data"]["children"]} == {"t1"}


def test_things_about_themselves():
    """Subforums and users tell about themselves; of a suspended user it is said so."""
    assert read("/r/Python/about")["kind"] == "t5"
    assert len(read("/r/Python/about")["data"]) > 90
    assert read("/user/amber_kettle/about.json", WWW)["data"]["name"] == "amber_kettle"
    assert read("/user/suspended/about")["data"]["is_suspended"] is True


def test_feeds_have_the_same_posts():
    """A feed has the posts of the listing, without what feeds do not tell."""
    atom = feed("/r/python/new/.rss", limit=50)
    assert [entry.id for entry in atom.entries] == names("/r/python/new", limit=50)
    assert atom.feed.title == "new links : python"
    assert not atom.bozo
    assert {"media_thumbnail" in entry for entry in atom.entries} == {True, False}


def test_feeds_of_threads_and_users():
    """The feed of a thread begins with the post, its comments follow; that of a user has both kinds."""
    key = names("/r/python/new", limit=1)[0].removeprefix("t3_")
    entries = feed(f"/comments/{key}/.rss").entries
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
def test_names_that_fail(name, statuses):
    """Each name for the sandbox has its status with the API, the public JSON, and the feed."""
    replies = ask(f"/r/{name}/new"), ask(f"/r/{name}/new.json", WWW), ask(f"/r/{name}/new/.rss", WWW)
    assert tuple(reply.status for reply in replies) == statuses


def test_what_failures_look_like():
    """Refusals tell their reason, limits their seconds, and the pages have the marks of real ones."""
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


def test_bodies_that_fail():
    """Bytes that are not UTF-8 stand in titles, and torn documents end in the middle."""
    for path, host in (("/r/{}/new", API), ("/r/{}/new/.rss", WWW)):
        broken = ask(path.format("sandbox_encoding"), host).body
        assert b"\xe9\xff" in broken
        assert broken.decode("utf-8", "replace").count("\ufffd") >= 2
        right = ask(path.format("sandbox_torn_1"), host).body
        assert right.strip()[-1:] not in (b"}", b">")


def test_words_for_who_signs_wrongly():
    """What is no Basic authorization is refused."""
    headers = {**AGENT, "authorization": "Basic %%%"}
    assert ask("/api/v1/access_token", WWW, headers, "POST", b"grant_type=client_credentials").status == 401


def test_the_search_finds_none():
    """Where a redirect leads for a subforum that there is not, nothing is found."""
    assert names("/subreddits/search") == []


def test_posts_that_fail():
    """A number that begins with `zz` asks for a word; without one its post is missing."""
    assert [ask(f"/comments/{key}").status for key in ("zz", "zzz9", "zzblocked", "zzslow1")] == [404, 404, 403, 200]
    assert ask("/comments/zzslow1").delay == 1
    assert names("/api/info", id="t3_zzz9") == []
    assert ask("/api/info", id="t3_zzlimited").status == 429


def test_links_that_were_shared():
    """A shared link leads to a post of its subforum."""
    reply = ask("/r/python/s/aBcD123", WWW, AGENT)
    assert reply.status == 301
    assert re.match(r"https://www\.reddit\.com/r/python/comments/1s\w{4}/", dict(reply.headers)["Location"])


def test_pages_for_people_are_closed():
    """The old site asks guests to log in, the new one for a verification."""
    old = ask("/r/python/", "old.reddit.com", AGENT)
    assert "/login/?reason=lor2" in dict(old.headers)["Location"]
    assert b"Please wait for verification" in ask("/r/python/", WWW, AGENT).body
    assert ask("/login/", WWW, AGENT).status == 200
    assert ask("/unheard/of").status == 404


def test_the_same_request_gets_the_same_bytes():
    """A request is answered with the same bytes, also when its posts were not kept."""
    first = ask("/r/python/top"), ask("/user/amber_kettle")
    _reddit_things.posts.cache_clear()
    _reddit_things.works.cache_clear()
    assert (ask("/r/python/top"), ask("/user/amber_kettle")) == first


def test_words_are_words_of_posts_too():
    """Every word can be asked for by a number, and no subforum has the name of one."""
    assert all(re.fullmatch("[0-9a-z]{1,11}", word) for word in _reddit_failures.WORDS)
    assert not set(SUBFORUMS) & set(_reddit_failures.PLAIN)


@given(st.from_regex(r"[0-9a-z]{1,13}", fullmatch=True))
def test_any_number_is_a_post(key):
    """Whatever number is asked for, there is a thread, or a failure that its letters ask for."""
    reply = ask(f"/comments/{key}")
    assert key.startswith("zz") or orjson.loads(reply.body)[0]["data"]["children"][0]["data"]["id"] == key


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_path_is_answered(path):
    """Whatever is asked, the answer is one of HTTP."""
    assert 200 <= ask(f"/{path}").status < 600
    assert 200 <= ask(f"/r/{path}.json", WWW).status < 600
