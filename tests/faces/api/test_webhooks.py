"""The pages over the webhooks of an account."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_from_coro

from webdata.accounts.access.api_keys import new_key
from webdata.accounts.webhooks.webhooks import MOST_WEBHOOKS, Webhooks
from webdata.domain.events import EVENTS
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.openapi import document
from webdata.faces.api.webhooks import WebhookPages
from webdata.resources.web_search import WEB_SEARCH
from webdata.stores.accounts.model import DEFAULT_PLAN, Account

PATH = "/api/v1/webhooks"
NEW = {"url": "https://shop.example/hook", "events": ["key.created"], "description": "the shop's"}


@pytest.fixture
def pages(stores, make_urls):
    return [*KEY_PAGES, *WebhookPages(Webhooks(stores.webhooks, make_urls(http=False))).pages()]


@pytest.fixture
def ask(make_api, make_send, pages, live_secret):
    """`await ask(method, path, body)`: the response to a request with a JSON body."""
    send = make_send(make_api(key_pages=pages))

    async def ask(method, path, body=None, secret=live_secret):
        headers = {"X-Api-Key": secret, "Content-Type": "application/json"}
        data = None if body is None else orjson.dumps(body)
        response = await send(f"{PATH}{path}", method=method, headers=headers, body=data)
        if response.status == 200:
            [page] = [one for one in pages if one.method == method and matches(one.path, f"{PATH}{path}")]
            Draft202012Validator(page.schema).validate(response.json)
        return response

    return ask


def matches(path, target):
    parts, given = path.split("/"), target.partition("?")[0].split("/")
    return len(parts) == len(given) and all(
        one.startswith("{") or one == two for one, two in zip(parts, given, strict=True)
    )


@ensureDeferred
async def test_a_webhook_is_made_listed_changed_and_deleted(ask):
    """A webhook is made with a secret that is shown once, listed, read, changed and deleted."""
    made = (await ask("POST", "", NEW)).json
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert {**made, **NEW} == made
    assert (await ask("GET", "")).json == {"webhooks": [made]}
    assert (await ask("GET", f"/{made['id']}")).json == made
    changed = (await ask("PATCH", f"/{made['id']}", {"events": ["*"], "enabled": False})).json
    assert changed == {**made, "events": ["*"], "enabled": False, "status": "disabled"}
    replaced = (await ask("PUT", f"/{made['id']}", {"url": "https://new.example/", "events": ["key.revoked"]})).json
    assert replaced == {**made, "url": "https://new.example/", "events": ["key.revoked"], "description": ""}
    changed = (await ask("PATCH", f"/{made['id']}", {"url": "HTTPS://New.Example:443/a/../hook"})).json
    assert changed["url"] == (await ask("GET", f"/{made['id']}")).json["url"] == "https://new.example/hook"
    assert (await ask("DELETE", f"/{made['id']}")).json == {"id": made["id"], "deleted": True}
    response = await ask("GET", f"/{made['id']}")
    assert (response.status, response.problem["code"]) == (404, "not_found")
    assert "GET /api/v1/webhooks lists" in response.problem["message"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"enabled": False}),
        ("DELETE", "", None),
        ("POST", "/test", None),
        ("POST", "/rotate", None),
        ("GET", "/deliveries", None),
        ("POST", "/deliveries/msg_1/resend", None),
    ],
)
@ensureDeferred
async def test_another_account_has_no_such_webhook(ask, keys, database, method, path, body):
    """A webhook does not exist for the keys of another account."""
    made = (await ask("POST", "", NEW)).json
    database.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    key, secret = new_key("other", test=False, account_id="acc_other")
    await keys.add(key)
    response = await ask(method, f"/{made['id']}{path}", body, secret=secret)
    assert (response.status, response.problem["code"]) == (404, "not_found")
    assert (await ask("GET", "", secret=secret)).json == {"webhooks": []}


@pytest.mark.parametrize(
    ("change", "name", "right"),
    [
        ({"events": ["key.createt"]}, "events", "the nearest is 'key.created'; the events are credits.low, "),
        ({"events": []}, "events", 'give a list of types of events, such as ["key.created"]'),
        ({"events": "key.created"}, "events", "give a list of types of events"),
        ({"url": "shop.example"}, "url", "give an https:// URL of a public host"),
        ({"url": 7}, "url", "give an https:// URL of a public host"),
        ({"url": "http://shop.example/"}, "url", "give an https:// URL of a public host"),
        ({"url": "https://me:you@shop.example/"}, "url", "without user and password"),
        ({"url": "https://shop.example:25/"}, "url", "on port 443"),
        ({"url": "https://private.example/"}, "url", "of a public host"),
        ({"url": "https://[::1]/"}, "url", "of a public host"),
        ({"url": "https://shop.example\\@127.0.0.1/"}, "url", "of a public host"),
        ({"url": f"https://shop.example/{'a' * 2028}"}, "url", "is too long, 2049 characters where 2048 are allowed"),
        ({"description": "a" * 501}, "description", "501 characters where 500 are allowed"),
    ],
)
@ensureDeferred
async def test_bad_input_is_refused_with_what_would_be_right(ask, change, name, right):
    """A wrong field is a 422 that names it and says what would be right; nothing is made or changed."""
    made = (await ask("POST", "", NEW)).json
    for method, path in (("POST", ""), ("PUT", f"/{made['id']}"), ("PATCH", f"/{made['id']}")):
        response = await ask(method, path, change if method == "PATCH" else {**NEW, **change})
        assert (response.status, response.problem["code"]) == (422, "validation_error")
        [problem] = response.json["detail"]
        assert problem["loc"] == ["body", name]
        assert right in problem["msg"]
    assert [one["url"] for one in (await ask("GET", "")).json["webhooks"]] == [NEW["url"]]


@ensureDeferred
async def test_a_body_is_needed(ask):
    """Without a body, or with fields missing, the 422 shows an example."""
    response = await ask("POST", "")
    assert (response.status, "such as {" in response.problem["message"]) == (422, True)
    response = await ask("POST", "", {})
    assert [problem["loc"][-1] for problem in response.json["detail"]] == ["url", "events"]


@ensureDeferred
async def test_an_account_has_so_many_webhooks_at_most(ask):
    """One webhook more than the bound is a 422."""
    for _ in range(MOST_WEBHOOKS):
        assert (await ask("POST", "", NEW)).status == 200
    response = await ask("POST", "", NEW)
    assert (response.status, "delete one" in response.problem["message"]) == (422, True)


@ensureDeferred
async def test_a_rotation_leaves_the_old_secret_for_a_day(ask, stores):
    """A rotation shows a new secret; the old one signs for a day."""
    made = (await ask("POST", "", NEW)).json
    rotated = (await ask("POST", f"/{made['id']}/rotate")).json
    [webhook] = await deferred_from_coro(stores.webhooks.all("acc_default"))
    now = datetime.now(UTC)
    assert webhook.secrets(now) == (rotated["secret"], made["secret"])
    assert webhook.secrets(now + timedelta(hours=24)) == (rotated["secret"],)
    assert "secret" not in (await ask("GET", f"/{made['id']}")).json


@ensureDeferred
async def test_a_test_event_is_listed_and_sent_again(ask):
    """A test is a pending delivery, which `/deliveries` lists in pages and `resend` sends again."""
    made = (await ask("POST", "", NEW)).json
    asking = (await ask("GET", f"/{made['id']}/deliveries")).json["deliveries"]
    ids = [*(one["id"] for one in asking), *[(await ask("POST", f"/{made['id']}/test")).json["id"] for _ in range(2)]]
    first = (await ask("GET", f"/{made['id']}/deliveries?limit=2&status=pending")).json
    assert ([one["type"] for one in first["deliveries"]], len(set(ids))) == (["webhook.test"] * 2, 3)
    last = (await ask("GET", f"/{made['id']}/deliveries?limit=2&before={first['next']}")).json
    assert ({one["id"] for one in first["deliveries"] + last["deliveries"]}, last["next"]) == (set(ids), None)
    assert (await ask("POST", f"/{made['id']}/deliveries/{ids[0]}/resend")).json["status"] == "pending"
    assert (await ask("POST", f"/{made['id']}/deliveries/msg_none/resend")).status == 404
    assert (await ask("GET", f"/{made['id']}/deliveries?limit=0")).status == 422
    await ask("PATCH", f"/{made['id']}", {"enabled": False})
    for action in ("test", f"deliveries/{ids[0]}/resend"):
        assert "enable it first" in (await ask("POST", f"/{made['id']}/{action}")).problem["message"]


@ensureDeferred
async def test_other_methods_name_the_right_ones(ask):
    """Another method is a 405 with those that are possible."""
    assert (await ask("PATCH", "", {})).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert (await ask("POST", "/whk_1", {})).headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"


def test_the_document_has_the_pages_and_every_event(pages):
    """OpenAPI has the operations with unique ids, and each event with a schema that its example fits."""
    spec = document([WEB_SEARCH], [], pages)
    OpenAPIV31SpecValidator(spec).validate()
    operations = [one for path in spec["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert set(spec["paths"][f"{PATH}/{{id}}"]) == {"get", "patch", "put", "delete"}
    assert set(spec["webhooks"]) == set(EVENTS)
    for name, event in EVENTS.items():
        schema = spec["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
        data = event.example().model_dump(mode="json")
        Draft202012Validator(schema).validate({"type": name, "timestamp": "2026-11-01T12:00:00Z", "data": data})


@ensureDeferred
async def test_only_live_keys_with_the_scope_reach_webhooks(ask, pages, keys):
    """No page of webhooks is open to a test key, or to a key whose scopes are others; the refusal names the scope."""
    made = (await ask("POST", "", NEW)).json
    refused = [new_key("test", test=True), new_key("news", test=False, scopes=["news_search"])]
    refused += [new_key("test webhooks", test=True, scopes=["manage_webhooks"])]
    manager, manager_secret = new_key("manager", test=False, scopes=["manage_webhooks"])
    for key, _ in (*refused, (manager, manager_secret)):
        await keys.add(key)
    webhook_pages = [page for page in pages if page.path.startswith(PATH)]
    assert len(webhook_pages) == 10
    for page in webhook_pages:
        path = page.path.removeprefix(PATH).replace("{id}", made["id"]).replace("{delivery}", "msg_1")
        for _, secret in refused:
            response = await ask(page.method, path, NEW if page.has_body else None, secret=secret)
            assert (response.status, response.problem["code"]) == (401, "unauthorized")
            assert "manage_webhooks" in response.problem["message"]
    made.pop("secret")
    assert (await ask("GET", "", secret=manager_secret)).json == {"webhooks": [made]}
