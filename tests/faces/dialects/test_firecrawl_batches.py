"""Firecrawl's batches of pages, over a database."""

import asyncio
from datetime import UTC, datetime

import orjson
import pytest

from tests.faces.dialects.conftest import page_record
from webdata.batches.intake import Intake
from webdata.batches.submissions import Owner, Submissions
from webdata.faces.dialects.firecrawl import Firecrawl
from webdata.faces.dialects.firecrawl_batches import PAGE_ROWS, FirecrawlBatches
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.model import EndedRow, RowResult

PATH = "/firecrawl/v2/batch/scrape"
QUERY = {"url": "https://a.example", "response_type": "full"}


@pytest.fixture
def ask(starts, stores, tmp_path, speak, dialect_calls, test_secret):
    submissions = Submissions(Intake(tmp_path / "intake", {"url_request": UrlQuery}), stores.batches, stores.webhooks)
    batches = FirecrawlBatches(submissions, stores.batches, URL_REQUEST)
    send = speak(Firecrawl(dialect_calls, batches.routes()).door())

    async def ask(method, path, body=None, secret=test_secret, **headers):
        sent = {"Authorization": f"Bearer {secret}", "Host": "data.example", **headers}
        data = None if body is None else orjson.dumps(body)
        return await send(path, method, sent, data).asFuture(asyncio.get_running_loop())

    return ask


async def end(stores, batch_id, row, outcome="ok", **fields):
    """End a row as a worker does."""
    batch = await stores.batches.find(DEFAULT_ACCOUNT, batch_id)
    record = orjson.dumps(page_record(f"https://a.example/{row}", f"# Page {row}", f"Page {row}"))
    given = {"record": record} if outcome == "ok" else {"kind": "captcha", "error": "a captcha"}
    result = RowResult(row, outcome, datetime.now(UTC), "url", 1, **{**given, **fields})
    number = await stores.batches.chunk_after(batch_id, row - 1)
    await stores.chunks.end_row(EndedRow(batch, number, result))


def urls(count):
    return [f"https://a.example/{number}" for number in range(1, count + 1)]


@pytest.mark.task
async def test_a_batch_is_polled_until_it_is_completed(ask, stores):
    """A submission has an id; its documents come in parts by `next`, failures by `errors`."""
    made = await ask(
        "POST", PATH, {"urls": urls(PAGE_ROWS + 2), "formats": ["markdown", "links"], "maxAge": 14_400_000}
    )
    assert (made.status, made.json["success"], made.json["invalidURLs"]) == (200, True, [])
    batch_id = made.json["id"]
    assert made.json["url"] == f"http://data.example{PATH}/{batch_id}"
    first = (await ask("GET", f"{PATH}/{batch_id}")).json
    assert (first["status"], first["completed"], first["total"], first["data"]) == ("scraping", 0, 22, [])
    for row in range(1, PAGE_ROWS + 2):
        await end(stores, batch_id, row)
    await end(stores, batch_id, PAGE_ROWS + 2, "blocked")
    done = (await ask("GET", f"{PATH}/{batch_id}")).json
    assert (done["status"], done["completed"], len(done["data"])) == ("completed", 22, PAGE_ROWS)
    first = done["data"][0]
    assert (set(first), first["markdown"]) == ({"markdown", "links", "metadata"}, "# Page 1")
    assert (first["metadata"]["title"], first["metadata"]["sourceURL"]) == ("Page 1", "https://a.example/1")
    rest = (await ask("GET", done["next"].removeprefix("http://data.example"))).json
    assert (len(rest["data"]), "next" in rest) == (1, False)
    (error,) = (await ask("GET", f"{PATH}/{batch_id}/errors")).json["errors"]
    assert (error["url"], error["error"], error["code"]) == (
        f"https://a.example/{PAGE_ROWS + 2}",
        "a captcha",
        "blocked",
    )


@pytest.mark.task
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_older_clients_find_a_batch_below_crawl(ask, version):
    """Those of firecrawl-py and firecrawl-js before version 2 poll `/v1/crawl/ID`, also for a batch."""
    batch_id = (await ask("POST", PATH, {"urls": urls(1)})).json["id"]
    path = f"/firecrawl/{version}/crawl"
    assert (await ask("GET", f"{path}/{batch_id}")).json["status"] == "scraping"
    assert (await ask("GET", f"{path}/{batch_id}/errors")).json["errors"] == []
    assert (await ask("DELETE", f"{path}/{batch_id}")).json["status"] == "cancelled"
    assert (await ask("GET", f"{path}/another")).status == 404
    assert (await ask("POST", path, {"url": "https://a.example/"})).status == 501


@pytest.mark.task
async def test_a_batch_is_submitted_once_under_its_name(ask):
    """The same body under one idempotency key has one id."""
    body = {"urls": urls(1)}
    ids = {(await ask("POST", PATH, body, **{"x-idempotency-key": "one"})).json["id"] for _ in range(2)}
    assert len(ids) == 1


@pytest.mark.task
async def test_wrong_urls_can_be_left_out(ask):
    """With `ignoreInvalidURLs` they are listed; without it nothing is taken."""
    body = {"urls": ["https://a.example/1", "a example", "https://"]}
    refused = await ask("POST", PATH, body)
    assert (refused.status, refused.json["success"]) == (400, False)
    made = await ask("POST", PATH, {**body, "ignoreInvalidURLs": True})
    assert (made.status, made.json["invalidURLs"]) == (200, ["a example", "https://"])
    assert "warning" not in made.json


@pytest.mark.task
async def test_wrong_urls_that_are_not_listed_are_counted(ask):
    """The first hundred are listed, and nobody takes the others for fetched."""
    made = await ask("POST", PATH, {"urls": ["https://"] * 130 + urls(1), "ignoreInvalidURLs": True})
    assert (made.status, len(made.json["invalidURLs"])) == (200, 100)
    assert made.json["warning"] == "30 more URLs are invalid."


@pytest.mark.task
async def test_a_batch_is_cancelled(ask):
    """DELETE ends it, and keeps what is there."""
    batch_id = (await ask("POST", PATH, {"urls": urls(2)})).json["id"]
    assert (await ask("DELETE", f"{PATH}/{batch_id}")).json == {"success": True, "status": "cancelled"}
    assert (await ask("GET", f"{PATH}/{batch_id}")).json["status"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "urls is missing"),
        ({"urls": []}, "urls"),
        ({"urls": ["https://a.example"] * 1001}, "urls"),
        ({"urls": ["https://a.example"], "formats": ["summary"]}, "'summary'"),
        ({"urls": ["https://a.example"], "webhook": "https://b.example"}, "webhook is not honoured here"),
        ({"urls": ["https://a.example"], "location": {"country": "XX"}}, "location"),
    ],
)
@pytest.mark.task
async def test_what_is_not_honoured_is_named(ask, body, named):
    """It is a 400 in Firecrawl's shape."""
    response = await ask("POST", PATH, body)
    assert (response.status, response.json["success"]) == (400, False)
    assert named in response.json["error"]


@pytest.mark.task
async def test_batches_of_others_are_unknown(ask, live_secret):
    """A key of the other kind, and an unknown id, get a 404; a missing key a 401; the limit is in the headers."""
    batch_id = (await ask("POST", PATH, {"urls": urls(1)})).json["id"]
    assert (await ask("GET", f"{PATH}/{batch_id}", secret=live_secret)).status == 404
    unknown = await ask("GET", f"{PATH}/bat_0")
    assert (unknown.status, unknown.json["success"], unknown.json["code"]) == (404, False, "NOT_FOUND")
    assert (await ask("GET", f"{PATH}/{batch_id}", secret="")).status == 401
    assert "x-ratelimit-requests-remaining" in unknown.headers


@pytest.mark.parametrize("label", ["Firecrawl: ", "Firecrawl: summary", "Firecrawl: markdown,x"])
@pytest.mark.task
async def test_a_batch_with_a_label_like_ours_is_none_of_ours(ask, stores, tmp_path, label):
    """A batch of /v1/batches that somebody gave such a label is not found here."""
    intake = Intake(tmp_path / "other", {"url_request": UrlQuery})
    submissions = Submissions(intake, stores.batches, stores.webhooks)
    body = orjson.dumps({"resource": "url_request", "queries": [QUERY], "label": label})
    owner = Owner(DEFAULT_ACCOUNT, "key_test", True, lambda _: None)
    made = await submissions.take(owner, body, {}, ndjson=False, once=None)
    assert (await ask("GET", f"{PATH}/{made['id']}")).status == 404
