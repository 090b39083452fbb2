"""Reddit's providers: their URLs, their order and the token of the API."""

import asyncio
from time import monotonic

import pytest
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from webdata.domain.errors import BlockedError, NotFoundError, UpstreamError
from webdata.fetching.fetch import Fetch
from webdata.resources.forum import (
    ForumAboutQuery,
    ForumCommentsQuery,
    ForumPostQuery,
    ForumSubforumQuery,
    ForumUserQuery,
)
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import reddit as site
from webdata.spiders._reddit_oauth import TOKEN, OAuthApplication, number
from webdata.spiders._reddit_urls import api_url, feed_url, json_url, page_url
from webdata.spiders.reddit import OPEN_SECONDS, Provider, RedditSpider

SITE, API = "https://www.reddit.com", "https://oauth.reddit.com"
PYTHON = ForumSubforumQuery(subforum="python")


TOP_OF_WEEK = ForumSubforumQuery(subforum="python", sort="top", t="week", limit=7, after="t3_1abc")
THREAD = ForumPostQuery(id="1abc", with_comments=True, sort="old")


@pytest.mark.parametrize(
    ("query", "path", "parameters", "feed"),
    [
        (PYTHON, "/r/python/hot", "limit=25&", "/r/python/.rss?limit=25"),
        (
            TOP_OF_WEEK,
            "/r/python/top",
            "limit=7&t=week&after=t3_1abc&",
            "/r/python/top/.rss?limit=7&t=week&after=t3_1abc",
        ),
        (ForumAboutQuery(subforum="python"), "/r/python/about", "", "/r/python/.rss?limit=1"),
        (
            ForumUserQuery(username="spez", sort="new", t="day"),
            "/user/spez/overview",
            "sort=new&limit=25&",
            "/user/spez/.rss?sort=new&limit=25",
        ),
        (ForumPostQuery(id="1abc"), "/comments/1abc", "limit=1&", "/comments/1abc/.rss?limit=1"),
        (THREAD, "/comments/1abc", "sort=old&limit=500&", "/comments/1abc/.rss?sort=old&limit=500"),
        (
            ForumCommentsQuery(id="1abc"),
            "/comments/1abc",
            "sort=confidence&limit=500&",
            "/comments/1abc/.rss?sort=confidence&limit=500",
        ),
    ],
)
def test_a_query_has_three_urls(query, path, parameters, feed):
    """A query has a URL at the API, one of the public JSON, and one of a feed."""
    assert api_url(query) == f"{API}{path}?{parameters}raw_json=1"
    assert json_url(query) == f"{SITE}{path}.json?{parameters}raw_json=1"
    assert feed_url(query) == SITE + feed


class Offline(RedditSpider):
    """The engine over the sandbox's site, without a network; it records its requests.

    A request whose URL starts with a key of `replies` gets the next reply of that key.
    """

    async def fetched(self, request):
        self.requests.append(request)
        await asyncio.sleep(0)
        host, _, target = request.url.removeprefix("https://").partition("/")
        headers = {name.lower(): value for name, value in request.headers.to_unicode_dict().items()}
        reply = site.answer(SandboxRequest(request.method, "https", host, f"/{target}", headers, request.body))
        status, body, more = reply.status, reply.body, dict(reply.headers)
        for beginning, replies in self.replies.items():
            if request.url.startswith(beginning) and replies:
                status, body, more = replies.pop(0)
        return Response(request.url, status=status, headers=Headers(more), body=body, request=request)

    @property
    def hosts(self):
        """The requested providers in their order: `api`, `json`, `feed`, or `token`."""
        return [name_of(request.url) for request in self.requests]


def name_of(url):
    names = {TOKEN: "token", API: "api"}
    found = next((name for beginning, name in names.items() if url.startswith(beginning)), None)
    return found or ("feed" if ".rss" in url else "json")


class Engine:
    """Replaces Scrapy's engine."""

    def __init__(self, spider):
        self.spider = spider

    async def download_async(self, request):
        return await self.spider.fetched(request)


def made(client=("sandbox", "sandbox"), **settings):
    """A spider with an operator's application."""
    settings = {"ON_DEMAND": True, "SAMPLES": "", "REDDIT_CLIENT": client, "DEADLINE": 20, **settings}
    spider = Offline.from_crawler(get_crawler(Offline, settings))
    spider.crawler.engine = Engine(spider)
    spider.requests, spider.replies = [], {}
    return spider


@pytest.fixture
def spider():
    return made()


async def fetched(spider, query=PYTHON, deadline=20):
    request = spider.prepared(query)
    Fetch.of(request).run.deadline = deadline
    return await spider.from_providers(request, query)


async def found(spider, query=PYTHON):
    return await spider.parsed(await fetched(spider, query), query)


def blocked(status=403):
    return status, b"<html><title>Blocked</title><h1>whoa there, pardner!</h1></html>", {"Content-Type": "text/html"}


@pytest.mark.task
async def test_the_api_is_requested_first(spider):
    """With an application the API answers, with a token that is fetched once for all queries."""
    assert (await found(spider)).partial is None
    await found(spider, ForumAboutQuery(subforum="python"))
    assert spider.hosts == ["token", "api", "api"]
    assert spider.requests[1].headers["Authorization"] == b"Bearer sandbox-full"


@pytest.mark.task
async def test_without_an_application_the_public_json_is_requested():
    """Without an application the public JSON is requested, and no token."""
    spider = made(client=(None, None))
    assert (await found(spider)).partial is None
    assert spider.hosts == ["json"]
    assert "Authorization" not in spider.requests[0].headers


@pytest.mark.task
async def test_queries_in_flight_share_one_token(spider):
    """Queries at the same time wait for one token."""
    await asyncio.gather(*(fetched(spider) for _ in range(8)))
    assert spider.hosts.count("token") == 1
    assert spider.hosts.count("api") == 8


@pytest.mark.task
async def test_an_application_without_a_secret_is_an_installed_client():
    """An application without a secret requests a token as an installed client, without a device id."""
    spider = made(client=("sandbox", None))
    await found(spider)
    token, _ = spider.requests
    assert token.body == (
        b"grant_type=https%3A%2F%2Foauth.reddit.com%2Fgrants%2Finstalled_client&device_id=DO_NOT_TRACK_THIS_DEVICE"
    )


@pytest.mark.task
async def test_a_revoked_token_is_replaced(spider):
    """A token that the API refuses is replaced, once."""
    spider.replies[API] = [(401, b'{"message": "Unauthorized", "error": 401}', {})]
    assert (await found(spider)).partial is None
    assert spider.hosts == ["token", "api", "token", "api"]


@pytest.mark.task
async def test_the_public_json_answers_for_a_refused_application():
    """Where the application is refused the public JSON answers; the API is not requested."""
    spider = made(client=("sandbox", "wrong"))
    await found(spider)
    assert spider.hosts == ["token", "json"]
    await found(spider)
    assert spider.hosts == ["token", "json", "json"]


@pytest.mark.task
async def test_a_token_is_replaced_before_it_expires():
    """A token is replaced before it expires."""
    spider = made(client=("sandbox", "sandbox:short"))
    await fetched(spider)
    await asyncio.sleep(0.6)
    await fetched(spider)
    assert spider.hosts.count("token") == 2


@pytest.mark.task
async def test_the_user_agent_names_the_operator():
    """The User-Agent names webdata, and the operator's contact where that is set."""
    spider = made(CONTACT="ops@example.org")
    await found(spider)
    names = {request.headers["User-Agent"].decode() for request in spider.requests}
    (name,) = names
    assert name.startswith("python:webdata:")
    assert name.endswith("(by ops@example.org)")


@pytest.mark.task
async def test_feeds_answer_when_the_other_providers_are_blocked(spider):
    """Where the API and the public JSON are blocked a feed answers, and the record is marked as partial."""
    spider.replies = {API: [blocked()], f"{SITE}/r/python/hot.json": [blocked()]}
    one = await found(spider)
    assert one.partial == "atom"
    assert len(one.page["data"]["children"]) == 25
    assert spider.hosts == ["token", "api", "json", "feed"]


@pytest.mark.task
async def test_a_provider_that_blocks_is_skipped(spider):
    """A provider that has blocked is not requested for a while; one that has failed is."""
    spider.replies = {API: [(503, b"", {})], f"{SITE}/r/python/hot.json": [blocked()]}
    await fetched(spider)
    spider.requests.clear()
    spider.replies = {API: [(503, b"", {})]}
    await fetched(spider)
    assert spider.hosts == ["api", "feed"]
    spider.providers[1].breaker.close()
    await fetched(spider)
    assert spider.hosts == ["api", "feed", "api"]


@pytest.mark.task
async def test_with_all_circuits_open_the_first_to_end_is_requested(spider):
    """With all circuits open the provider whose open time ends first is requested."""
    spider.replies = {API: [blocked()], SITE + "/r/": [(429, b"", {"x-ratelimit-reset": "5"}), blocked()]}
    with pytest.raises(BlockedError):
        await fetched(spider)
    spider.requests.clear()
    await fetched(spider)
    await fetched(spider)
    assert spider.hosts == ["json", "json"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "247"}, 247),
        ({"Retry-After": "9"}, 9),
        ({"x-ratelimit-reset": "soon"}, OPEN_SECONDS),
        ({}, OPEN_SECONDS),
    ],
)
@pytest.mark.task
async def test_a_circuit_is_open_for_the_seconds_that_reddit_wants(headers, seconds):
    """The circuit is open for the seconds of the response's headers, else for OPEN_SECONDS."""
    spider = made(client=(None, None))
    spider.replies = {SITE: [(429, b"", headers)]}
    await fetched(spider)
    assert spider.providers[0].breaker.seconds_open == pytest.approx(seconds, abs=1)


@pytest.mark.task
async def test_an_age_check_does_not_open_the_circuit(spider):
    """A page's age check does not open the circuit."""
    page = b"<html><title>reddit.com: over 18?</title><button name='over18' value='yes'></button></html>"
    spider.replies = {API: [(200, page, {"Content-Type": "text/html"})]}
    await fetched(spider)
    assert spider.providers[0].breaker.is_closed


@pytest.mark.task
async def test_a_missing_subforum_is_an_answer(spider):
    """A subforum that is private or does not exist is not requested from the next provider."""
    for name in ("private", "banned", "quarantined", "gated", "missing"):
        spider.requests.clear()
        with pytest.raises(NotFoundError) as caught:
            await fetched(spider, ForumSubforumQuery(subforum=name))
        assert caught.value.kind == (None if name == "missing" else name)
        assert (caught.value.message is None) == (name == "missing")
        assert spider.hosts[-1:] == ["api"]


@pytest.mark.task
async def test_the_first_error_is_raised_when_all_providers_fail(spider):
    """Where all providers fail the first one's error is raised."""
    spider.replies = {API: [(503, b"", {})], SITE + "/r/": [blocked(), blocked()]}
    with pytest.raises(UpstreamError) as caught:
        await fetched(spider)
    assert caught.value.kind == "http_503"


@pytest.mark.timed
@pytest.mark.task
async def test_a_query_waits_for_the_quota(spider):
    """With fewer than two requests left a query waits, if it has the time; else the next provider is requested."""
    few = {"x-ratelimit-remaining": "1.0", "x-ratelimit-reset": "0.3"}
    ok = site.answer(
        SandboxRequest("GET", "https", "www.reddit.com", "/r/python/hot.json?raw_json=1", {"user-agent": "x"})
    )
    spider.replies = {API: [(200, ok.body, few), (200, ok.body, {**few, "x-ratelimit-reset": "300"})]}
    await fetched(spider)
    begun = monotonic()
    await fetched(spider)
    assert 0.2 < monotonic() - begun < 2
    await fetched(spider)
    assert spider.hosts == ["token", "api", "api", "json"]


@pytest.mark.task
async def test_providers_share_the_time(spider):
    """Each provider but the last has two thirds of the query's remaining time."""
    spider.replies = {API: [blocked()], f"{SITE}/r/python/hot.json": [blocked()]}
    await fetched(spider, deadline=9)
    shares = [Fetch.of(request).run.deadline for request in spider.requests if name_of(request.url) != "token"]
    assert shares == [pytest.approx(6, abs=0.2), pytest.approx(6, abs=0.2), pytest.approx(9, abs=0.2)]


@pytest.mark.task
async def test_a_response_without_a_token_is_an_upstream_error(spider):
    """A response without a token is an upstream error, and the next provider is requested."""
    for body in (b"", b"[]", b'{"access_token": 1}', b'{"access_token": "x", "expires_in": "soon"}', b'{"error": "x"}'):
        spider.replies = {TOKEN: [(200, body, {})]}
        await fetched(spider)
        assert spider.hosts[-2:] == ["token", "json"]


@pytest.mark.parametrize(("text", "expected"), [("247", 247), ("0.0", 0), ("", None), ("-1", None), ("1e9", None)])
def test_a_number_in_a_header_is_parsed(text, expected):
    """A header with an invalid number is None."""
    assert number(Headers({"x-ratelimit-reset": text}), "x-ratelimit-reset") == expected


def test_a_late_refusal_does_not_drop_a_new_token():
    """A late refusal of an old token does not drop the new one."""
    account = OAuthApplication("sandbox", "sandbox")
    account._token = "new"
    account.drop("old")
    assert account._token == "new"


@deferred_f_from_coro_f
async def test_a_token_is_not_in_the_repr_of_requests(spider):
    """No token is in the repr of a request."""
    await fetched(spider)
    assert "sandbox-full" not in " ".join(map(repr, spider.requests))


@pytest.mark.parametrize(
    ("query", "url"),
    [
        (ForumSubforumQuery(subforum="python", sort="top", t="week"), f"{SITE}/r/python/top/?t=week"),
        (ForumSubforumQuery(subforum="python", after="t3_1abc"), f"{SITE}/r/python/hot/?after=t3_1abc"),
        (ForumCommentsQuery(id="1abc"), f"{SITE}/comments/1abc/?sort=confidence"),
    ],
)
def test_a_page_has_the_parameters_that_pages_know(query, url):
    """The page for browsers has neither a number of posts nor the JSON's parameters."""
    assert page_url(query) == url
    assert Provider(page_url, transport="browser").answers(query)


def test_pages_have_no_users_and_no_descriptions():
    """Such a query is not for the browser."""
    pages = Provider(page_url, transport="browser")
    assert not pages.answers(ForumAboutQuery(subforum="python"))
    assert not pages.answers(ForumUserQuery(username="spez"))
