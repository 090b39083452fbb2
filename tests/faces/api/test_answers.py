"""`/v1/answers`, over the API in memory, in a database of SQLite."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

import orjson
import pytest
from warcio.archiveiterator import ArchiveIterator

from webdata.accounts.access import answer_archive
from webdata.accounts.access.admission import Admission
from webdata.accounts.access.answer_archive import AnswerArchive
from webdata.accounts.access.api_keys import ApiKeys, new_key
from webdata.accounts.access.cache import Cache
from webdata.accounts.access.credits import Credits
from webdata.accounts.access.rate_limits import RateLimits
from webdata.accounts.access.upkeep import Upkeep
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError, DatabaseUnavailableError
from webdata.domain.outcome import Outcome
from webdata.faces.api.answers import AnswerPages
from webdata.fetching.recording import FetchedPage
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.archives.exchange import ArchivedExchange
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.accounts.sql import _add_key
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.limits_memory import MemoryLimits

pytestmark = pytest.mark.task

HTML = b"<script>alert(1)</script> caf\xe9 KEY"
HEADERS = (("Content-Type", "text/html"), ("X-Odd", "\xe9"))
EXCHANGE = ArchivedExchange("https://a.example/?q=caf%C3%A9", "GET", (), b"", 200, HEADERS, HTML)
RECORD = {"results": [{"title": "Caf\u00e9"}], "query": "coffee"}
ANSWER = Answer(RECORD, Outcome.OK, "http", {"fetch": 0.25}, engine="google_web", page=FetchedPage(EXCHANGE, ("KEY",)))
PAGE = {
    "status": 200,
    "headers": {},
    "config": {"url": "https://a.example/", "response_type": "markdown", "truncated": False},
}
SEARCH = "/v1/search?q=coffee"
PLAN = replace(DEFAULT_PLAN, requests=1_000_000, in_flight=10_000)


@pytest.fixture
def keys(stores):
    return stores.keys


def stored_key(stores, *, test):
    """The secret of a key that is stored without a task, which fixtures have not."""
    key, secret = new_key("for tests", test=test)
    with stores._database.writes.begin() as connection:
        _add_key(connection, key)
    return secret


@pytest.fixture
def test_secret(stores):
    return stored_key(stores, test=True)


@pytest.fixture
def live_secret(stores):
    return stored_key(stores, test=False)


@pytest.fixture
def cache_bytes():
    return 1_000_000


@pytest.fixture
def admission(calls, keys, ledger, stores, cache_bytes):
    calls.end = ANSWER
    cache = Cache(MemoryCache(cache_bytes), 3600)
    api_keys = ApiKeys(keys)
    parts = (api_keys, RateLimits(MemoryLimits()), cache, Credits(ledger), calls, 30.0)
    yield Admission(*parts, archive=AnswerArchive(stores.answers))
    if api_keys._storing:
        api_keys._storing.cancel()


@pytest.fixture
def ask(make_api, make_send, stores, live_secret):
    send = make_send(make_api([WEB_SEARCH, URL_REQUEST], key_pages=AnswerPages(stores.answers).pages()))

    async def ask(target, method="GET", secret=live_secret, body=None, **headers):
        sent = {"X-Api-Key": secret, "Content-Type": "application/json", **headers}
        return await send(target, method, sent, body).asFuture(asyncio.get_running_loop())

    return ask


@pytest.fixture
def make_key(stores):
    async def make(account_id=DEFAULT_ACCOUNT, test=False, **fields):
        key, secret = new_key("another", test=test, account_id=account_id, **fields)
        await stores.keys.add(key)
        return secret

    return make


async def set_plan(stores, **fields):
    await stores.accounts.put_plan(replace(PLAN, **fields))


async def archived(ask, target=f"{SEARCH}&archive=true", **options):
    response = await ask(target, **options)
    assert "x-archived-until" in response.headers, response.headers
    return response, response.headers["x-request-id"]


async def test_an_answer_is_given_again_as_it_was(ask):
    """The same body and the headers of its outcome, for nothing."""
    first, answer_id = await archived(ask)
    again = await ask(f"/v1/answers/{answer_id}")
    assert (again.status, again.body) == (first.status, first.body)
    told = ["content-type", "x-outcome", "x-engine", "x-transport", "x-cache", "server-timing", "x-archived-until"]
    assert [again.headers[name] for name in told] == [first.headers[name] for name in told]
    assert again.headers["x-credits-cost"] == "0"
    assert again.headers["x-request-id"] != answer_id


async def test_nothing_is_archived_that_nobody_wants(ask, calls):
    """An answer without it has no header that it did not have, and its call fetches no page for an archive."""
    response = await ask(SEARCH)
    assert not [name for name in response.headers if "archive" in name]
    assert not calls.calls[0].with_page
    assert (await ask("/v1/answers")).json["answers"] == []


@pytest.mark.parametrize(("of_key", "of_plan", "days"), [(7, 0, 7), (None, 90, 90)])
async def test_a_key_or_a_plan_archives_all_answers(ask, make_key, stores, of_key, of_plan, days):
    """For its days, but for calls that say archive=false."""
    await set_plan(stores, archive_days=of_plan)
    secret = await make_key(archive_days=of_key)
    response, _ = await archived(ask, SEARCH, secret=secret)
    until = datetime.fromisoformat(response.headers["x-archived-until"])
    assert abs(until - datetime.now(UTC) - timedelta(days=days)) < timedelta(minutes=1)
    assert "x-archived-until" not in (await ask(f"{SEARCH}&archive=false", secret=secret)).headers


async def test_the_page_is_given_as_a_file(ask):
    """Byte for byte but for the engine's key, and in no way that a browser would show."""
    _, answer_id = await archived(ask)
    page = await ask(f"/v1/answers/{answer_id}/page")
    assert (page.status, page.body) == (200, HTML.replace(b"KEY", "\u2026".encode()))
    assert page.headers["content-type"] == "application/octet-stream"
    assert page.headers["content-disposition"] == f'attachment; filename="{answer_id}.page"'
    assert "sandbox" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert (page.headers["x-page-url"], page.headers["x-page-status"]) == (EXCHANGE.url, "200")


async def test_an_answer_of_the_cache_is_archived_without_a_page(ask):
    """It says so, and where its page would be the reason is."""
    await ask(SEARCH)
    response, answer_id = await archived(ask)
    assert (response.headers["x-cache"], response.headers["x-archived-page"]) == ("HIT", "cached")
    assert (await ask("/v1/answers")).json["answers"][0]["page"] is None
    page = await ask(f"/v1/answers/{answer_id}/page")
    assert (page.status, page.problem["code"]) == (404, "not_found")
    assert "Cache-Control: no-cache" in page.problem["message"]


@pytest.mark.parametrize("most", [len(HTML) - 1, len(HTML)])
async def test_a_page_that_is_too_large_is_left_out(ask, monkeypatch, most):
    """The answer is archived, and says that its page is not."""
    monkeypatch.setattr(answer_archive, "MOST_PAGE", most)
    response, answer_id = await archived(ask)
    state = "archived" if most == len(HTML) else "too_large"
    assert response.headers["x-archived-page"] == state
    assert (await ask(f"/v1/answers/{answer_id}/page")).status == (200 if state == "archived" else 404)


async def test_an_answer_that_is_a_secret_as_a_whole_has_no_page(ask, calls):
    """So has one whose engine's key cannot be looked for in its page."""
    calls.end = replace(ANSWER, page=None)
    assert (await archived(ask, f"{SEARCH}+a&archive=true"))[0].headers["x-archived-page"] == "none"
    broken = replace(EXCHANGE, headers=(("Content-Encoding", "gzip"),))
    calls.end = replace(ANSWER, page=FetchedPage(broken, ("KEY",)))
    assert (await archived(ask, f"{SEARCH}+b&archive=true"))[0].headers["x-archived-page"] == "too_large"


async def test_an_answer_for_its_caller_alone_is_not_archived(ask, calls):
    """What a caller sends to a site is stored nowhere, nor is the answer to it."""
    calls.end = replace(ANSWER, record={**PAGE, "data": "x"})
    body = {"url": "https://a.example/", "response_type": "full", "archive": True, "cookies": {"a": "secret"}}
    response = await ask("/v1/request", "POST", body=orjson.dumps(body))
    assert (response.status, response.headers["x-not-archived"]) == (200, answer_archive.PRIVATE)
    assert not calls.calls[0].with_page


async def test_an_error_is_not_archived_and_says_so(ask, calls):
    """What went wrong is in the log of calls."""
    calls.end = BlockedError("a captcha", "captcha")
    response = await ask(f"{SEARCH}&archive=true")
    assert (response.status, response.headers["x-not-archived"]) == (502, answer_archive.NO_RECORD)


async def test_a_full_archive_fails_no_call_and_says_so(ask, stores):
    """What is there stays until it expires or is removed, which makes room; how many found none is counted."""
    await archived(ask)
    used = (await ask("/v1/answers")).json["stored"]["bytes"]
    await set_plan(stores, archive_bytes=used)
    refused = await ask(f"{SEARCH}+beans&archive=true")
    assert (refused.status, refused.headers["x-not-archived"]) == (200, answer_archive.FULL)
    listed = (await ask("/v1/answers")).json
    assert listed["stored"] == {"bytes": used, "most_bytes": used, "refused": 1}
    removed = await ask(f"/v1/answers/{listed['answers'][0]['id']}", "DELETE")
    assert removed.json == {"id": listed["answers"][0]["id"], "deleted": True}
    assert (await archived(ask))[0].status == 200


async def test_a_long_query_takes_its_room(ask):
    """What is asked for is stored with each answer, so a small answer to a long query is not small."""
    used = [0]
    for words in ("short", "long+" * 380):
        await archived(ask, f"/v1/search?q={words}&archive=true")
        used.append((await ask("/v1/answers")).json["stored"]["bytes"])
    assert used[2] - used[1] > used[1] - used[0] + 900


async def test_an_answer_larger_than_what_is_archived_says_so(ask, monkeypatch):
    """It is given all the same."""
    monkeypatch.setattr(answer_archive, "MOST_BODY", 1)
    response = await ask(f"{SEARCH}&archive=true")
    assert (response.status, response.headers["x-not-archived"]) == (200, answer_archive.TOO_LARGE)


@pytest.mark.parametrize("error", [DatabaseUnavailableError("gone"), ValueError("a fault")])
async def test_an_answer_that_cannot_be_stored_says_so(ask, admission, stores, monkeypatch, error):
    """It was paid, so it is given all the same; the loss is logged and counted."""

    async def fail(_added):
        raise error

    monkeypatch.setattr(stores.answers, "add", fail)
    response = await ask(f"{SEARCH}&archive=true")
    assert (response.status, response.headers["x-not-archived"]) == (200, answer_archive.NOT_STORED)
    assert admission.snapshot()["archive"] == {"archived": 0, "refused": 0, "lost": 1}


@pytest.mark.parametrize("path", ["", "/page"])
async def test_what_is_not_reached_is_like_what_is_not_there(ask, make_key, stores, test_secret, path):
    """By a key of another account, of the other kind, or that does not open the endpoint: 404 as for any other id."""
    await stores.accounts.add(Account("acc_other", "other", PLAN, datetime.now(UTC)))
    _, answer_id = await archived(ask)
    others = [await make_key("acc_other"), test_secret, await make_key(scopes=["news_search"])]
    found = [await ask(f"/v1/answers/{answer_id}{path}", secret=secret) for secret in others]
    guessed = await ask(f"/v1/answers/req_{'0' * 26}{path}")
    messages = {(one.status, one.problem["message"]) for one in [*found, guessed]}
    assert len(messages) == 1
    assert guessed.status == 404
    assert (await ask(f"/v1/answers/{answer_id}{path}", secret=await make_key(scopes=["web_search"]))).status == 200
    assert (await ask(f"/v1/answers/{answer_id}{path}", secret="wd_live_x")).status == 401


async def test_what_is_not_reached_is_neither_removed_nor_listed_nor_exported(ask, make_key, stores, test_secret):
    """Not by another account, nor by the other kind of key, nor by one that does not open the endpoint."""
    await stores.accounts.add(Account("acc_other", "other", PLAN, datetime.now(UTC)))
    _, answer_id = await archived(ask)
    for secret in (await make_key("acc_other"), test_secret, await make_key(scopes=["news_search"])):
        assert (await ask(f"/v1/answers/{answer_id}", "DELETE", secret)).status == 404
        assert (await ask("/v1/answers", secret=secret)).json["answers"] == []
        assert (await ask("/v1/answers/export", secret=secret)).body == b""
    assert (await ask(f"/v1/answers/{answer_id}")).status == 200


@pytest.mark.parametrize("odd", ["..%2F..%2Fetc%2Fpasswd", "%00", "a" * 65, "req_1;DROP", "%C3%28", "export/page"])
async def test_odd_ids_are_refused(ask, odd):
    """With a 404 or a 422 that says what would be right."""
    response = await ask(f"/v1/answers/{odd}")
    assert response.status in (404, 422)
    assert response.problem


async def test_an_expired_answer_is_given_no_more(ask, stores, admission):
    """Nor is its page, and the upkeep removes both."""
    admission.archive = AnswerArchive(stores.answers, lambda: datetime.now(UTC) - timedelta(days=31))
    _, answer_id = await archived(ask)
    assert (await ask(f"/v1/answers/{answer_id}")).status == 404
    assert (await ask(f"/v1/answers/{answer_id}/page")).status == 404
    await Upkeep(stores.calls, stores.history, stores.answers, 30).remove_old_answers()
    assert (await ask("/v1/answers")).json["stored"]["bytes"] == 0


async def test_a_list_has_pages(ask):
    """The newest first; the last page has no next one."""
    ids = [(await archived(ask, f"{SEARCH}+{number}&archive=true"))[1] for number in range(3)]
    first = (await ask("/v1/answers?limit=2")).json
    second = (await ask(f"/v1/answers?limit=2&before={first['next']}")).json
    assert [one["id"] for one in first["answers"] + second["answers"]] == ids[::-1]
    assert second["next"] is None


async def test_a_list_is_of_a_day_and_an_endpoint(ask):
    """An answer says what it is, what was asked for, and from where its page came."""
    await archived(ask)
    day = datetime.now(UTC).date()
    (one,) = (await ask(f"/v1/answers?day={day}&endpoint=web_search")).json["answers"]
    assert (one["outcome"], one["engine"], one["query"]) == ("ok", "google_web", {"archive": True, "q": "coffee"})
    assert one["page"] == {"url": EXCHANGE.url, "status": 200, "content_type": "text/html", "bytes": len(HTML)}
    assert (await ask(f"/v1/answers?day={day - timedelta(days=1)}")).json["answers"] == []
    assert (await ask("/v1/answers?endpoint=news_search")).json["answers"] == []
    assert (await ask("/v1/answers?day=yesterday")).status == 422


async def test_answers_are_exported_as_lines(ask, calls):
    """Each with its record, or its text; from page to page none is missing."""
    await archived(ask)
    calls.end = replace(ANSWER, record={**PAGE, "data": "# Caf\u00e9"})
    body = {"url": "https://a.example/", "response_type": "markdown", "archive": True}
    await archived(ask, "/v1/request", method="POST", body=orjson.dumps(body))
    first = await ask("/v1/answers/export?limit=1")
    second = await ask(f"/v1/answers/export?limit=1&after={first.headers['x-next-after']}")
    assert first.headers["content-type"] == "application/jsonl"
    assert "x-next-after" not in second.headers
    lines = [orjson.loads(one.body) for one in (first, second)]
    assert (lines[0]["record"], lines[0]["endpoint"]) == (RECORD, "web_search")
    assert (lines[1]["text"], lines[1]["endpoint"]) == ("# Caf\u00e9", "url_request")


async def test_pages_are_exported_as_an_archive(ask):
    """One that other programs read; an answer without a page has none in it."""
    await archived(ask)
    await archived(ask)
    exported = await ask("/v1/answers/export?format=warc")
    records = list(ArchiveIterator(BytesIO(exported.body)))
    assert [one.rec_type for one in records] == ["warcinfo", "response", "request"]
    assert exported.headers["content-disposition"].startswith('attachment; filename="webdata-answers-')


async def test_an_answer_that_is_removed_while_it_is_read_is_not_there(ask, stores, monkeypatch):
    """Its content may go between two look-ups."""
    _, answer_id = await archived(ask)

    async def gone(_number):
        return None

    monkeypatch.setattr(stores.answers, "body", gone)
    assert (await ask(f"/v1/answers/{answer_id}")).status == 404
    assert (await ask("/v1/answers/export")).body == b""

    async def not_there(_account, _id):
        return False

    monkeypatch.setattr(stores.answers, "remove", not_there)
    assert (await ask(f"/v1/answers/{answer_id}", "DELETE")).status == 404


async def test_a_picture_is_exported_as_base64(ask, calls):
    """A body that is no text is within a line all the same."""
    picture = {"content_type": "image/png", "width": 8, "height": 8, "cut": False, "data": "iVBORw=="}
    shown = {"url": "https://a.example/", "status": 200, "content_type": "text/html", "truncated": False}
    calls.end = replace(ANSWER, record={**shown, "screenshot": picture})
    body = {"url": "https://a.example/", "formats": ["screenshot"], "archive": True}
    sent = {"method": "POST", "body": orjson.dumps(body), "Accept": "image/png"}
    first, answer_id = await archived(ask, "/v1/request", **sent)
    again = await ask(f"/v1/answers/{answer_id}")
    assert (again.body, again.headers["content-type"]) == (first.body, first.headers["content-type"])
    assert "x-file" not in again.headers
    line = orjson.loads((await ask("/v1/answers/export")).body)
    assert (line["base64"], first.headers["content-type"]) == ("iVBORw==", "image/png")
