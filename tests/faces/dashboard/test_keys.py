"""The pages over API keys."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from webdata.accounts.access.api_keys import digest, new_key
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account

task = pytest.mark.task

SECRET = re.compile(r"wd_(?:test|live)_[0-9A-Za-z]{49}")


@pytest.fixture
def person(visitor):
    return visitor()


async def theirs(stores):
    """A key of another account."""
    account = Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC))
    await stores.accounts.add(account)
    key, _ = new_key("theirs", test=True, account_id=account.id)
    await stores.keys.add(key)
    return key


@task
async def test_a_key_is_made_and_shown_once(person, stores, send):
    """A key that was made is shown with a command line that calls with it, works, and is never shown again."""
    await person.sign_up()
    page = await person.post("/keys", name="shop", kind="test", expiry="30", scopes=["web_search"])
    [secret] = set(SECRET.findall(page.body.decode()))
    assert (page.status, page.headers["cache-control"]) == (200, "no-store")
    assert f"X-Api-Key: {secret}".encode() in page.body
    [key] = await stores.keys.of(DEFAULT_ACCOUNT)
    assert (key.digest, key.name, key.test, key.scopes) == (digest(secret), "shop", True, {"web_search"})
    assert timedelta(days=29) < key.expires - datetime.now(UTC) <= timedelta(days=30)
    assert (await send("/v1/search?q=coffee", headers={"X-Api-Key": secret})).status == 200
    listed = await person.get("/keys")
    assert b"shop" in listed.body
    assert secret.encode() not in listed.body


@task
async def test_a_new_key_comes_with_the_lines_of_other_programs(person):
    """The page of a new key has it in the settings of the programs whose API is spoken, with the browser's address."""
    await person.sign_up()
    page = (await person.post("/keys", name="shop", kind="test", expiry="30")).body.decode()
    for program in ("Claude Code", "Cursor", "Open WebUI", "LiteLLM"):
        assert f"<summary>{program}</summary>" in page
    assert "n8n" not in page


@task
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": " "}, "Give it a name"),
        ({"name": "a\nb"}, "one line of letters"),
        ({"name": "x" * 201}, "at most 200 characters"),
        ({"kind": "both"}, "Choose one of the two"),
        ({"expiry": "7"}, "Choose one of the list"),
        ({"scopes": ["everything"]}, "Choose some of these"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field(person, stores, wrong, said):
    """A wrong field is named with what would be right, what was typed stays, and no key is made."""
    await person.sign_up()
    page = await person.post("/keys", **{"name": "shop", "kind": "live", **wrong})
    text = page.body.decode()
    name = next(iter(wrong))
    assert page.status == 422
    assert re.search(rf'id="e-{name}">[^<]*{said}', text)
    assert f'aria-describedby="{"h-" + name if name in ("name", "scopes") else ""} e-{name}"' in text
    assert await stores.keys.of(DEFAULT_ACCOUNT) == []


@task
async def test_a_key_is_rotated_with_overlap(person, stores, send):
    """The successor is shown once, both open during the overlap, and the old one cannot be replaced again."""
    await person.sign_up()
    old, old_secret = new_key("shop", test=True, scopes=["web_search"])
    await stores.keys.add(old)
    assert b"shop" in (await person.get(f"/keys/{old.id}/rotate")).body
    page = await person.post(f"/keys/{old.id}/rotate", overlap="24")
    [secret] = set(SECRET.findall(page.body.decode()))
    for one in (secret, old_secret):
        assert (await send("/v1/search?q=coffee", headers={"X-Api-Key": one})).status == 200
    [before, after] = await stores.keys.of(DEFAULT_ACCOUNT)
    assert (before.replaced_by, after.scopes) == (after.id, {"web_search"})
    assert timedelta(hours=23) < before.expires - datetime.now(UTC) <= timedelta(hours=24)
    assert (await person.post(f"/keys/{old.id}/rotate", overlap="24")).status == 403
    assert (await person.post(f"/keys/{after.id}/rotate", overlap="99")).status == 422
    assert len(await stores.keys.of(DEFAULT_ACCOUNT)) == 2


@task
async def test_a_key_is_revoked_after_its_name_was_shown(person, stores, send):
    """The confirmation names the key; from then on it is a 401 at once, and stands among those that ended."""
    await person.sign_up()
    key, secret = new_key("shop", test=True)
    await stores.keys.add(key)
    assert b"Revoke <bdi>shop</bdi>?" in (await person.get(f"/keys/{key.id}/revoke")).body
    response = await person.post(f"/keys/{key.id}/revoke")
    assert (response.status, response.headers["location"]) == (303, "/dashboard/keys?notice=revoked")
    assert (await send("/v1/search?q=coffee", headers={"X-Api-Key": secret})).status == 401
    listed = (await person.get("/keys?notice=revoked")).body
    assert b"opens nothing from now on" in listed
    assert b"Revoked and expired keys (1)" in listed


@task
async def test_keys_of_another_account_do_not_exist(person, stores):
    """No key of another account is shown, rotated or revoked, whatever its id."""
    await person.sign_up()
    key = await theirs(stores)
    assert key.id.encode() not in (await person.get("/keys")).body
    for path in (f"/keys/{key.id}/rotate", f"/keys/{key.id}/revoke"):
        assert (await person.get(path)).status == 404
        assert (await person.post(path, overlap="0")).status == 404
    assert await stores.keys.of("acc_other") == [key]


@task
async def test_names_are_text(person, stores):
    """The name of a key is shown as text, whatever stands in it."""
    await person.sign_up()
    name = "<script>alert(1)</script>\"'\u202e"
    key, _ = new_key(name, test=True)
    await stores.keys.add(key)
    for path in ("/keys", f"/keys/{key.id}/revoke", f"/keys/{key.id}/rotate"):
        page = (await person.get(path)).body.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@task
async def test_many_keys_are_on_several_pages(person, stores):
    """Each of 200 keys is on one page, those that can be used first, and each page is small."""
    await person.sign_up()
    now = datetime.now(UTC)
    for number in range(200):
        key, _ = new_key(f"number {number}", test=True)
        await stores.keys.add(key)
        if number < 10:
            await stores.keys.revoke(key.id, now)
    path, found = "/keys", []
    while path:
        page = (await person.get(path)).body.decode()
        found += re.findall(r"<bdi>number (\d+)</bdi>", page)
        assert len(page) < 70_000
        following = re.search(r'href="(\?from=\d+)" rel="next"', page)
        path = following and f"/keys{following[1]}"
    assert found == [str(number) for number in [*range(199, 9, -1), *range(9, -1, -1)]]
    for wrong in ("-1", "x", "999", "٣", "9" * 99):
        assert "number 199" in (await person.get(f"/keys?from={quote(wrong)}")).body.decode()


@task
async def test_a_key_has_the_engines_that_were_chosen(person, stores):
    """A key asks the engines that were ticked; the list says so, and one that is none is refused beside the field."""
    await person.sign_up()
    page = await person.get("/keys/new")
    assert page.body.count(b'name="engines"') == 2
    refused = await person.post("/keys", name="shop", kind="test", engines=["<script>"])
    assert (refused.status, b'id="e-engines"' in refused.body) == (422, True)
    await person.post("/keys", name="shop", kind="test", engines=["bing_web"])
    [key] = await stores.keys.of(DEFAULT_ACCOUNT)
    assert key.engines == ("bing_web",)
    assert b"by bing_web" in (await person.get("/keys")).body


@task
async def test_a_key_archives_its_answers_for_as_long_as_was_chosen(person, stores):
    """Without a choice it is its plan that says so; a time that is none of the list is refused beside the field."""
    await person.sign_up()
    refused = await person.post("/keys", name="shop", kind="test", archive="31")
    assert (refused.status, b'id="e-archive"' in refused.body) == (422, True)
    for archive in ({}, {"archive": "0"}, {"archive": "90"}):
        await person.post("/keys", name="shop", kind="test", **archive)
    assert [key.archive_days for key in await stores.keys.of(DEFAULT_ACCOUNT)] == [None, 0, 90]
    assert (await person.get("/keys")).body.count(b"answers archived for 90 days") == 1
