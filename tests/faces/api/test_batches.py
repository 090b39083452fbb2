"""The pages over the batches of an account."""

import asyncio
import csv
import io
import sys
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import orjson
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from webdata.accounts.access.api_keys import new_key
from webdata.batches.records import BatchesRecord, BatchRecord, FailuresRecord, SubmittedRecord
from webdata.faces.api.batches import PATH
from webdata.faces.api.key_pages import RECORDS
from webdata.faces.api.openapi import document
from webdata.resources import schema
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.batches.model import QueryRow, Stored

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NDJSON = {"Content-Type": "application/x-ndjson"}
NEW = {"resource": "web_search", "queries": [{"q": "coffee"}, {"q": "tea", "num": 5}], "label": "drinks"}


def lines_of(response):
    return [orjson.loads(line) for line in response.body.splitlines()]


def ndjson(count):
    return b"".join(b'{"q":"town %d"}\n' % number for number in range(1, count + 1))


def check(record, value):
    """Raise where a value does not match the schema of a record of these pages."""
    Draft202012Validator(schema(RECORDS)["$defs"][record.__name__]).validate(value)


async def submit(ask, body=NEW, **headers):
    response = await ask("POST", PATH, body, **headers)
    assert response.status == 202, response.body
    check(SubmittedRecord, response.json)
    return response.json


@pytest.mark.task
async def test_a_batch_is_made_of_json_listed_and_shown(ask, stores):
    """A JSON body becomes a batch, which the account lists and reads."""
    made = await submit(ask, NEW | {"priority": 7, "region": "DE", "retries": 2})
    assert (made["state"], made["rows"], made["rejected"], made["problems"]) == ("queued", 2, 0, [])
    assert (made["label"], made["priority"], made["region"], made["test"]) == ("drinks", 7, "DE", True)
    assert (made["retries"], made["waiting"]) == (2, None)
    shown = (await ask("GET", f"{PATH}/{made['id']}")).json
    check(BatchRecord, shown)
    assert {**shown, "created": made["created"]} == {name: made[name] for name in BatchRecord.__annotations__}
    listed = (await ask("GET", PATH)).json
    check(BatchesRecord, listed)
    assert listed == {"batches": [shown], "next": None}
    assert await stores.batches.queries(made["id"], 0) == [
        QueryRow(1, b'{"region":"DE","q":"coffee"}'),
        QueryRow(2, b'{"region":"DE","q":"tea","num":5}'),
    ]


@pytest.mark.task
async def test_a_batch_is_made_of_lines(ask, stores):
    """A body of NDJSON becomes a batch whose rows have the numbers of its lines; its parameters are in the URL."""
    response = await ask("POST", f"{PATH}?resource=web_search&label=x&colour=red", b"\n" + ndjson(250), **NDJSON)
    made = response.json
    assert (response.status, made["rows"], made["label"]) == (202, 250, "x")
    assert response.headers["x-ignored-params"] == "colour"
    assert [row for row, _ in await stores.batches.queries(made["id"], 2)] == list(range(202, 252))


@pytest.mark.task
async def test_wrong_queries_refuse_the_whole_or_are_left_out(ask):
    """By default nothing is taken where a query is wrong; with on_invalid=skip the others are."""
    body = ndjson(3) + b'{"num":1}\n{"q":"a","start":-1}\n'
    refused = await ask("POST", f"{PATH}?resource=web_search", body, **NDJSON)
    assert refused.status == 422
    assert refused.problem["message"].startswith("2 of 5 queries cannot be run, so nothing was taken: correct them, or")
    assert [row["loc"] for row in refused.json["detail"]] == [["line", 4, "q"], ["line", 5, "start"]]
    assert (await ask("GET", PATH)).json["batches"] == []
    made = (await ask("POST", f"{PATH}?resource=web_search&on_invalid=skip", body, **NDJSON)).json
    assert (made["rows"], made["rejected"], len(made["problems"])) == (3, 2, 2)


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "message"),
    [
        ("", {"resource": "web", "queries": [{"q": "a"}]}, {}, 422, "resource cannot be 'web': the nearest is 'web_se"),
        ("?resource=web", b'{"q":"a"}', NDJSON, 422, "resource cannot be 'web'"),
        ("", b'{"q":"a"}', NDJSON, 422, "resource is missing"),
        ("?resource=web_search", b'{"q":"a"}\n{"q":', NDJSON, 400, "ends in the middle of line 2"),
        ("?resource=web_search", b"\x00\xff", NDJSON, 422, "line 1 is not UTF-8"),
        ("?resource=web_search", b"", NDJSON, 422, "the body has no query"),
        ("", b"", {}, 422, "the body is no JSON in UTF-8"),
        ("", b"x", {"Content-Encoding": "gzip"}, 422, "Content-Encoding 'gzip' is not read"),
        ("", b"x", {"Idempotency-Key": ""}, 422, "Idempotency-Key is no text of 1 to 255 ASCII characters"),
        ("", NEW | {"webhook": "whk_1"}, {}, 422, "webhook is none of the account"),
    ],
)
@pytest.mark.task
async def test_what_is_wrong_with_a_submission_is_told(ask, path, body, headers, status, message):
    """A wrong parameter or body is an error that says what would be right, and takes nothing."""
    response = await ask("POST", f"{PATH}{path}", body, **headers)
    assert (response.status, message in response.problem["message"]) == (status, True), response.body
    assert (await ask("GET", PATH)).json["batches"] == []


@pytest.mark.task
async def test_the_same_submission_is_taken_once(ask):
    """The same name and body get the same answer, another body is refused, and no name means another batch."""
    name = {"Idempotency-Key": str(uuid4())}
    first, second = await submit(ask, **name), await submit(ask, **name)
    assert first == second
    other = await ask("POST", PATH, NEW | {"label": "other"}, **name)
    assert (other.status, "came with another body" in other.problem["message"]) == (422, True)
    assert (await ask("POST", f"{PATH}?priority=9", NEW, **name)).status == 422
    await submit(ask)
    assert len((await ask("GET", PATH)).json["batches"]) == 2


@pytest.mark.task
async def test_two_of_the_same_at_once_make_one_batch(ask):
    """Of two submissions with one name that arrive together one makes the batch, and both get its answer."""
    name = {"Idempotency-Key": "twice"}
    first, second = await asyncio.gather(submit(ask, **name), submit(ask, **name))
    assert first == second
    assert len((await ask("GET", PATH)).json["batches"]) == 1


@pytest.mark.task
async def test_a_key_needs_the_scope_of_the_resource(ask, keys):
    """A key that does not open the endpoint submits nothing to it."""
    key, secret = new_key("images", test=True, scopes=["image_search"])
    await keys.add(key)
    for path, body, headers in (("", NEW, {}), ("?resource=web_search", ndjson(1), NDJSON)):
        response = await ask("POST", f"{PATH}{path}", body, secret=secret, **headers)
        assert (response.status, "does not open web_search" in response.problem["message"]) == (401, True)
    await submit(ask, NEW | {"resource": "image_search", "queries": [{"q": "a"}]}, secret=secret)


@pytest.mark.task
async def test_a_key_reaches_batches_of_its_kind_and_scopes(ask, keys, pages, live_secret):
    """A batch of a key of the other kind, or of a resource beyond the scopes, does not exist for a key."""
    test_batch, live_batch = await submit(ask), await submit(ask, secret=live_secret)
    assert (test_batch["test"], live_batch["test"]) == (True, False)
    for test in (True, False):
        for scope, reached in (("image_search", False), ("web_search", True)):
            key, secret = new_key("one scope", test=test, scopes=[scope])
            await keys.add(key)
            own, other = (test_batch, live_batch) if test else (live_batch, test_batch)
            listed = (await ask("GET", PATH, secret=secret)).json["batches"]
            assert [one["id"] for one in listed] == ([own["id"]] if reached else [])
            await assert_beyond(ask, pages, other, secret)
            if reached:
                assert (await ask("GET", f"{PATH}/{own['id']}", secret=secret)).status == 200
            else:
                await assert_beyond(ask, pages, own, secret)
    for batch, secret in ((live_batch, live_secret), (test_batch, None)):
        state = (await ask("GET", f"{PATH}/{batch['id']}", **({"secret": secret} if secret else {}))).json["state"]
        assert state == "queued"


async def assert_beyond(ask, pages, batch, secret):
    """Every page of a batch is a 404 for a key."""
    for page in pages:
        if "{id}" in page.path:
            response = await ask(page.method, page.path.replace("{id}", batch["id"]), secret=secret)
            assert (response.status, response.problem["code"]) == (404, "not_found")
            assert "GET /v1/batches lists" in response.problem["message"]


@pytest.mark.task
async def test_a_name_of_a_submission_is_of_a_kind_of_keys(ask, live_secret):
    """A test key that sends the same name and body as a live key does not get the live key's batch."""
    name = {"Idempotency-Key": "same"}
    await submit(ask, secret=live_secret, **name)
    response = await ask("POST", PATH, NEW, **name)
    assert (response.status, "a key of another kind" in response.problem["message"]) == (422, True)


@pytest.mark.task
async def test_batches_are_listed_page_by_page(ask):
    """The newest come first; `next` leads to the older ones, and a state selects."""
    ids = [(await submit(ask))["id"] for _ in range(3)]
    page = (await ask("GET", f"{PATH}?limit=2")).json
    assert [one["id"] for one in page["batches"]] == [ids[2], ids[1]]
    rest = (await ask("GET", f"{PATH}?limit=2&before={page['next']}")).json
    assert ([one["id"] for one in rest["batches"]], rest["next"]) == ([ids[0]], None)
    assert (await ask("GET", f"{PATH}?state=running")).json["batches"] == []


@pytest.mark.task
async def test_results_are_read_while_the_batch_runs(ask, rows):
    """Pages end before the first query that has not ended, so that a reader who goes on misses none."""
    made = (await ask("POST", f"{PATH}?resource=web_search", ndjson(250), **NDJSON)).json
    path = f"{PATH}/{made['id']}/results"
    await rows.begin(made["id"])
    await rows.end(made["id"], *range(1, 101), 201, 202)
    first = await ask("GET", f"{path}?limit=60")
    assert (first.status, first.headers["content-type"]) == (200, "application/jsonl")
    assert [line["row"] for line in lines_of(first)] == list(range(1, 61))
    assert (first.headers["x-next-after"], first.headers["x-batch-state"]) == ("60", "running")
    second = await ask("GET", f"{path}?after=60")
    assert [line["row"] for line in lines_of(second)] == list(range(61, 101))
    waiting = await ask("GET", f"{path}?after=100")
    assert (waiting.body, waiting.headers["x-next-after"]) == (b"", "100")
    await rows.end(made["id"], *range(101, 200), *range(203, 251))
    await rows.end(made["id"], 200, outcome="blocked")
    last = await ask("GET", f"{path}?after=100")
    assert [line["row"] for line in lines_of(last)] == [row for row in range(101, 251) if row != 200]
    assert "x-next-after" not in last.headers
    assert lines_of(last)[0]["query"] == {"q": "town 101"}
    assert lines_of(last)[0]["record"]["results"][0]["title"] == "title 101"


@pytest.mark.task
async def test_results_have_formats(ask, rows):
    """Rows are one result a line; CSV has the fields of the results as columns, and JSON where they are no text."""
    made = await submit(ask)
    await rows.end(made["id"], 1, 2)
    path = f"{PATH}/{made['id']}/results"
    [first, _] = lines_of(await ask("GET", f"{path}?format=rows"))
    assert first | {"row": 1, "query": "q1", "position": 1, "title": "title 1"} == first
    response = await ask("GET", f"{path}?format=csv")
    table = list(csv.DictReader(io.StringIO(response.body.decode())))
    assert response.headers["content-type"].startswith("text/csv")
    assert [(one["row"], one["title"]) for one in table] == [("1", "title 1"), ("2", "title 2")]
    assert "description" in table[0]


@pytest.mark.parametrize(
    ("accepted", "decode"),
    [("gzip", lambda body: zlib.decompress(body, 31)), ("zstd, br", zstd.decompress), ("br, gzip", None), ("br", None)],
)
@pytest.mark.task
async def test_results_are_compressed(ask, rows, accepted, decode):
    """A page is compressed as its reader accepts it, by zstd or gzip."""
    made = await submit(ask)
    await rows.end(made["id"], 1, 2)
    plain = await ask("GET", f"{PATH}/{made['id']}/results")
    response = await ask("GET", f"{PATH}/{made['id']}/results", **{"Accept-Encoding": accepted})
    coding = response.headers.get("content-encoding")
    assert coding == {"gzip": "gzip", "zstd, br": "zstd", "br, gzip": "gzip", "br": None}[accepted]
    if decode:
        assert decode(response.body) == plain.body
    assert (await ask("HEAD", f"{PATH}/{made['id']}/results")).body == b""


@pytest.mark.task
async def test_failures_are_told_by_kind(ask, rows):
    """Failures have their query and what happened; all are counted by kind."""
    made = await submit(ask)
    await rows.end(made["id"], 1)
    await rows.end(made["id"], 2, outcome="blocked")
    answer = (await ask("GET", f"{PATH}/{made['id']}/failures")).json
    check(FailuresRecord, answer)
    assert answer["kinds"] == [{"outcome": "blocked", "kind": "captcha", "rows": 1}]
    [failure] = answer["failures"]
    assert failure | {"row": 2, "error": "a captcha", "query": {"q": "tea", "num": 5}} == failure
    shown = (await ask("GET", f"{PATH}/{made['id']}")).json
    assert (shown["state"], shown["rows_ended"], shown["rows_failed"]) == ("done", 2, 1)
    assert shown["outcomes"] == {"ok": 1, "blocked": 1}
    again = (await ask("POST", f"{PATH}/{made['id']}/retry-failures")).json
    assert (again["state"], again["rows_ended"]) == ("running", 1)


@pytest.mark.task
async def test_a_batch_is_paused_resumed_and_cancelled(ask):
    """The state of a batch follows what its owner asks; what its state does not allow is an error that says so."""
    made = await submit(ask)
    path = f"{PATH}/{made['id']}"
    paused = (await ask("POST", f"{path}/pause")).json
    assert (paused["state"], paused["reason"]) == ("paused", "requested")
    assert (await ask("POST", f"{path}/resume")).json["state"] == "queued"
    assert (await ask("POST", f"{path}/cancel")).json["state"] == "cancelled"
    refused = await ask("POST", f"{path}/resume")
    assert (refused.status, refused.problem["code"]) == (409, "conflict")
    assert "The batch is cancelled: only one that is paused" in refused.problem["message"]


@pytest.mark.task
async def test_a_deleted_batch_has_no_results(ask, rows, stores):
    """A batch that is deleted, done or not, keeps its counts alone, and its bytes are free at once."""
    made = await submit(ask)
    path = f"{PATH}/{made['id']}"
    await rows.begin(made["id"])
    await rows.end(made["id"], 1, 2)
    assert (await stores.batches.stored(DEFAULT_ACCOUNT, True)).bytes > 0
    gone = (await ask("DELETE", path)).json
    assert (gone["state"], gone["rows_ended"], bool(gone["deleted"])) == ("done", 2, True)
    assert (await ask("DELETE", path)).json == gone
    for part in ("results", "failures"):
        refused = await ask("GET", f"{path}/{part}")
        assert (refused.status, "results of the batch were deleted" in refused.problem["message"]) == (404, True)
    assert "were deleted: submit them again" in (await ask("POST", f"{path}/retry-failures")).problem["message"]
    assert await stores.batches.stored(DEFAULT_ACCOUNT, True) == Stored()


@pytest.mark.task
async def test_a_batch_beyond_the_quota_is_refused(ask, stores):
    """A submission of more than the account may store is a 429 that says how much it has, and what makes room."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, batches=100))
    made = await submit(ask)
    refused = await ask("POST", PATH, {"resource": "web_search", "queries": [{"q": "a"}]})
    assert (refused.status, refused.problem["code"]) == (429, "quota_exceeded")
    assert "the test keys of the account may store 1 batches, and has 1" in refused.problem["message"].lower()
    await ask("DELETE", f"{PATH}/{made['id']}")
    assert (await ask("POST", PATH, {"resource": "web_search", "queries": [{"q": "a"}]})).status == 202


@pytest.mark.task
async def test_no_batch_is_taken_by_a_disk_that_is_nearly_full(ask, submissions, tmp_path, monkeypatch):
    """While less than the reserve of the disk is free, new batches are a 503 that says so."""
    submissions._folders = [tmp_path]
    monkeypatch.setattr("webdata.runtime.process.disk.reserve", lambda total: 4 * total)
    refused = await ask("POST", PATH, {"resource": "web_search", "queries": [{"q": "a"}]})
    assert (refused.status, refused.problem["code"]) == (503, "overloaded")
    assert "The disk of the service is nearly full, so no new batches are taken" in refused.problem["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/cancel"),
        ("GET", "/results"),
        ("GET", "/failures"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/retry-failures"),
    ],
)
@pytest.mark.task
async def test_a_batch_of_another_account_does_not_exist(ask, keys, database, method, path):
    """For a key of another account a batch is one that does not exist."""
    made = await submit(ask)
    database.add(Account("acc_2", "other", DEFAULT_PLAN, datetime.now(UTC)))
    key, secret = new_key("theirs", test=True, account_id="acc_2")
    await keys.add(key)
    response = await ask(method, f"{PATH}/{made['id']}{path}", secret=secret)
    assert (response.status, response.problem["code"]) == (404, "not_found")
    assert "GET /v1/batches lists" in response.problem["message"]


def test_the_document_has_the_pages(pages):
    """OpenAPI has the operations, both bodies of a submission, and the lines of results."""
    spec = document([WEB_SEARCH], [], pages)
    OpenAPIV31SpecValidator(spec).validate()
    submitting = spec["paths"][PATH]["post"]
    assert set(submitting["requestBody"]["content"]) == {"application/json", "application/octet-stream"}
    assert set(submitting["responses"]) >= {"202", "400", "413", "422"}
    results = spec["paths"][f"{PATH}/{{id}}/results"]["get"]["responses"]["200"]
    assert set(results["content"]) == {"application/jsonl", "text/csv; charset=utf-8"}
    assert "x-next-after" in results["headers"]
