"""The forum by warm crawlers, the service and batches against the sandbox, over real sockets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import BlockedError, LayoutError, NotFoundError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.pipelines.validate import validate
from webdata.resources.forum import FORUM, FORUM_POST, FORUM_SUBFORUM, FORUM_USER

ROOT = Path(__file__).parents[2]
RESOURCES = {resource.name: resource for resource in FORUM}


def call(resource, **fields):
    return Call(resource, resource.query.check(fields), sandbox=True, deadline=20)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("subforum/python?limit=3&sort=top&t=week", "forum_subforum"),
        ("subforum/r/python/", "forum_subforum"),
        ("subforum/python/about", "forum_about"),
        ("user/u/spez?limit=5", "forum_user"),
        ("post/t3_1abc2d", "forum_post"),
        ("post/1abc2d?with_comments=true", "forum_post"),
        ("comments/1abc2d?sort=old", "forum_comments"),
        ("comments/https%3A%2F%2Fwww.reddit.com%2Fr%2Fpython%2Fcomments%2F1abc2d%2Fa_title%2F", "forum_comments"),
    ],
)
def test_the_service_returns_the_upstreams_json(running, path, name):
    """All five endpoints return the upstream's whole JSON."""
    status, headers, record = running.get(f"/v1/forum/{path}")
    assert (status, headers["x-outcome"], headers["x-partial"]) == (200, "ok", None)
    validate(RESOURCES[name], record)
    assert '"subforum_name_prefixed"' in json.dumps(record) or name == "forum_about"
    assert ("comments" in record) == ("with_comments" in path)


def test_errors_name_the_requested_thing(running):
    """The messages of errors name the kind of thing that was requested."""
    status, _, body = running.get("/v1/forum/post/zzmissing")
    assert (status, body["error"]["code"]) == (404, "not_found")
    assert "no post with that ID" in body["error"]["message"]
    status, headers, body = running.get("/v1/forum/subforum/private")
    assert (status, headers["x-outcome"]) == (404, "not_found")
    assert "private: only its members" in body["error"]["message"]
    status, _, body = running.get("/v1/forum/subforum/python?sort=best&limit=0")
    assert (status, len(body["detail"])) == (422, 2)
    assert "one of hot, new, top, rising, controversial" in body["error"]["message"]
    status, headers, _ = running.get("/v1/forum/subforum/python/about?limit=3", **{"X-Proxy-Location": "DE"})
    assert (status, headers["x-ignored-params"]) == (200, "limit, X-Proxy-Location")


def test_partial_records_are_marked(running):
    """A record from a feed is valid by the same schema, and has the header x-partial."""
    for path, name in (
        ("subforum/sandbox_json_blocked", "forum_subforum"),
        ("subforum/sandbox_json_blocked/about", "forum_about"),
        ("user/sandbox_json_blocked", "forum_user"),
        ("post/zzjsonblocked?with_comments=true", "forum_post"),
        ("comments/zzjsonblocked", "forum_comments"),
    ):
        status, headers, record = running.get(f"/v1/forum/{path}")
        assert (status, headers["x-outcome"], headers["x-partial"]) == (200, "ok", "atom")
        validate(RESOURCES[name], record)


@pytest.mark.task
async def test_pages_follow_each_other(crawlers):
    """Pages follow each other by `after` until it is null, without repeated posts."""
    names, after = [], None
    for _ in range(20):
        record = (
            await crawlers.answer(call(FORUM_SUBFORUM, subforum="mills", limit=100, sort="new", after=after))
        ).record
        names += [child["data"]["name"] for child in record["data"]["children"]]
        after = record["data"]["after"]
        if after is None:
            break
    assert after is None
    assert len(names) == len(set(names)) > 100


@pytest.mark.task
async def test_a_user_has_posts_and_comments(crawlers):
    """A user's listing has posts and comments."""
    record = (await crawlers.answer(call(FORUM_USER, username="spez", limit=50))).record
    assert {child["kind"] for child in record["data"]["children"]} == {"t1", "t3"}


@pytest.mark.task
async def test_a_subforum_without_posts_is_empty(crawlers):
    """A subforum without posts is an empty listing with the outcome `empty`."""
    answer = await crawlers.answer(call(FORUM_SUBFORUM, subforum="empty"))
    assert (answer.outcome, answer.record["data"]["children"]) == (Outcome.EMPTY, [])


@pytest.mark.task
async def test_the_public_json_answers_when_the_api_fails(crawlers):
    """Where the API fails the public JSON gives the complete record."""
    answer = await crawlers.answer(call(FORUM_SUBFORUM, subforum="sandbox_oauth_down"))
    assert (answer.outcome, answer.partial) == (Outcome.OK, None)


@pytest.mark.parametrize(
    ("subforum", "error", "kind"),
    [
        ("banned", NotFoundError, "banned"),
        ("quarantined", NotFoundError, "quarantined"),
        ("gated", NotFoundError, "gated"),
        ("missing", NotFoundError, None),
        ("nowhere", NotFoundError, None),
        ("sandbox_over18", BlockedError, "consent"),
        ("sandbox_login", BlockedError, "login"),
        ("sandbox_blocked", BlockedError, "denied"),
        ("sandbox_shell", BlockedError, "denied"),
        ("sandbox_challenge", BlockedError, "javascript"),
        ("sandbox_rate_limit", BlockedError, "denied"),
        ("sandbox_error", UpstreamError, "http_500"),
        ("sandbox_torn", UpstreamError, "broken_body"),
        ("sandbox_layout", LayoutError, None),
    ],
)
@pytest.mark.task
async def test_a_failed_fetch_has_its_error(crawlers, subforum, error, kind):
    """Each kind of failure has its own error, and none is an empty listing."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(FORUM_SUBFORUM, subforum=subforum))
    assert caught.value.kind == kind
    assert (await crawlers.answer(call(FORUM_POST, id="1abc"))).partial is None  # other calls are still answered


def test_a_batch_has_a_result_for_each_query(tmp_path):
    """A batch of a named resource has a record or a failure for each query, by any provider."""
    queries = tmp_path / "queries.csv"
    queries.write_text("subforum,limit\npython,4\nsandbox_json_blocked,5\nprivate,3\nsandbox_oauth_down,6\n")
    out = tmp_path / "out.jsonl"
    command = [Path(sys.executable).with_name("scrapy"), "crawl", "reddit", "-a", "resource=forum_subforum"]
    arguments = ["-a", f"queries={queries}", "-O", str(out), "-s", "SANDBOX=1", "-s", f"JOBDIR={tmp_path / 'job'}"]
    subprocess.run([*command, *arguments], cwd=ROOT, check=True, capture_output=True, timeout=60)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(len(record["data"]["children"]) for record in records) == [4, 5, 6]
    for record in records:
        validate(FORUM_SUBFORUM, record)
    (failure,) = map(json.loads, (tmp_path / "out.failures.jsonl").read_text().splitlines())
    assert (failure["outcome"], failure["kind"]) == ("not_found", "private")


def test_a_batch_may_have_one_query(tmp_path):
    """A batch of one query has its fields as arguments."""
    out = tmp_path / "out.jsonl"
    command = [Path(sys.executable).with_name("scrapy"), "crawl", "reddit", "-O", str(out), "-s", "SANDBOX=1"]
    fields = ["-a", "resource=forum_subforum", "-a", "subforum=r/python", "-a", "limit=2"]
    subprocess.run([*command, *fields], cwd=ROOT, check=True, capture_output=True, timeout=60)
    (record,) = map(json.loads, out.read_text().splitlines())
    assert len(record["data"]["children"]) == 2
