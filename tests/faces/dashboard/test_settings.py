"""Settings, members and accounts."""

import re
from datetime import UTC, datetime

import pytest

from tests.faces.dashboard.person import PASSWORD
from webdata.accounts.access.api_keys import new_key
from webdata.domain.errors import ConflictError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Plan
from webdata.stores.webhooks.model import Webhook

task = pytest.mark.task

OTHER = Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC))


@task
async def test_an_account_gets_another_name(visitor, stores):
    """A member renames the account; a name that is taken, or looks like an id, is refused beside its field."""
    await stores.accounts.add(OTHER)
    person = await visitor().sign_up()
    for name in ("other", "acc_x", " ", "x" * 201):
        page = await person.post("/settings/name", name=name)
        assert (page.status, b'id="e-name"' in page.body) == (422, True)
    assert (await person.post("/settings/name", name=" coffee shop ")).status == 303
    assert (await stores.accounts.find(DEFAULT_ACCOUNT)).name == "coffee shop"


@task
async def test_admins_change_the_plan(visitor, stores):
    """An admin chooses among the plans; a member cannot."""
    await stores.accounts.put_plan(Plan("fast", 600, 60, 64))
    admin, member = await visitor().sign_up(role="admin"), await visitor().sign_up("bob@example.com")
    assert (await member.post("/settings/plan", plan="fast")).status == 403
    assert (await admin.post("/settings/plan", plan="none")).status == 422
    assert (await stores.accounts.find(DEFAULT_ACCOUNT)).plan.name == "default"
    assert (await admin.post("/settings/plan", plan="fast")).status == 303
    assert (await stores.accounts.find(DEFAULT_ACCOUNT)).plan.name == "fast"


@task
async def test_members_invite_members(visitor, stores):
    """A member makes a link for the own account; only an admin makes one for an admin."""
    person = await visitor().sign_up()
    assert (await person.post("/settings/members", role="admin")).status == 403
    page = (await person.post("/settings/members")).body.decode()
    link = re.search(r"https?://service\.test/dashboard(/invitations/\w+)", page)[1]
    second = visitor()
    await second.get(link)
    assert (await second.post(link, name="bob@example.com", password=PASSWORD)).status == 303
    assert [one.role for one in await stores.members.members(DEFAULT_ACCOUNT)] == ["member", "member"]


@task
async def test_an_admin_is_invited_by_the_password(visitor, stores):
    """A stolen session makes no admin: the invitation of one asks for the password, that of a member does not."""
    admin = await visitor().sign_up(role="admin")
    asked = await admin.post("/settings/members", role="admin")
    wrong = await admin.post("/settings/members", role="admin", current="wrong")
    assert (asked.status, wrong.status, b"/invitations/" in asked.body + wrong.body) == (200, 422, False)
    page = (await admin.post("/settings/members", role="admin", current=PASSWORD)).body.decode()
    link = re.search(r"https?://service\.test/dashboard(/invitations/\w+)", page)[1]
    second = visitor()
    await second.get(link)
    assert (await second.post(link, name="bob@example.com", password=PASSWORD)).status == 303
    assert [one.role for one in await stores.members.members(DEFAULT_ACCOUNT)] == ["admin", "admin"]
    assert b"/invitations/" in (await admin.post("/settings/members")).body


@task
async def test_members_are_removed(visitor, stores):
    """A removed member is signed out at once; nobody removes an admin but an admin, or themselves."""
    person, bob = await visitor().sign_up(), await visitor().sign_up("bob@example.com")
    admin = await visitor().sign_up("root@example.com", role="admin")
    ids = {one.name: one.id for one in await stores.members.members(DEFAULT_ACCOUNT)}
    for name in ("ada@example.com", "root@example.com"):
        assert (await person.post(f"/settings/members/{ids[name]}/remove")).status == 403
    assert b"bob@example.com" in (await person.get(f"/settings/members/{ids['bob@example.com']}/remove")).body
    assert (await person.post(f"/settings/members/{ids['bob@example.com']}/remove")).status == 303
    assert (await bob.get("/keys")).status == 303
    assert (await bob.sign_in("bob@example.com")).status == 401
    assert (await admin.post(f"/settings/members/{ids['ada@example.com']}/remove")).status == 303
    assert [one.name for one in await stores.members.members(DEFAULT_ACCOUNT)] == ["root@example.com"]


@task
async def test_members_of_another_account_do_not_exist(visitor, stores):
    """A member of another account is neither shown nor removed."""
    await stores.accounts.add(OTHER)
    person = await visitor().sign_up()
    await visitor().sign_up("eve@example.com", account=OTHER.id)
    [eve] = await stores.members.members(OTHER.id)
    assert b"eve@example.com" not in (await person.get("/settings")).body
    assert (await person.post(f"/settings/members/{eve.id}/remove")).status == 404
    assert await stores.members.members(OTHER.id) == [eve]


@task
async def test_admins_switch_accounts(visitor, stores):
    """An admin sees every account, the one that was chosen on every page; a member has no such page."""
    await stores.accounts.add(OTHER)
    key, _ = new_key("their key", test=True, account_id=OTHER.id)
    await stores.keys.add(key)
    admin, member = await visitor().sign_up(role="admin"), await visitor().sign_up("bob@example.com")
    assert b"other" in (await admin.get("/accounts")).body
    assert (await admin.post("/accounts/acc_none/show")).status == 404
    assert (await admin.post("/accounts/other/show")).status == 404
    assert b"their key" not in (await admin.get("/keys")).body
    assert (await admin.post("/accounts/acc_other/show")).status == 303
    assert b"their key" in (await admin.get("/keys")).body
    assert (await member.post("/accounts/acc_other/show")).status == 403
    assert b"their key" not in (await member.get("/keys")).body


@task
async def test_an_account_is_deleted(visitor, stores, send):
    """Its name and the password delete an account: keys stop, members are signed out, and the ledger stays."""
    await stores.accounts.add(OTHER)
    await stores.ledger.credit(OTHER.id, 50)
    key, secret = new_key("theirs", test=True, account_id=OTHER.id)
    await stores.keys.add(key)
    webhook = Webhook("whk_1", OTHER.id, "https://a.example/", ("*",), "", "whsec_x", datetime.now(UTC))
    await stores.webhooks.add(webhook, 5)
    person = await visitor().sign_up(account=OTHER.id)
    assert b"Delete the account" in (await person.get("/settings/delete")).body
    for wrong in ({"name": "another", "current": PASSWORD}, {"name": "other", "current": "wrong"}):
        assert (await person.post("/settings/delete", **wrong)).status == 422
    assert (await send("/v1/search?q=a", headers={"X-Api-Key": secret})).status == 200
    assert (await person.post("/settings/delete", name="other", current=PASSWORD)).status == 303
    assert (await send("/v1/search?q=a", headers={"X-Api-Key": secret})).status == 401
    assert (await person.get("/keys")).status == 303
    assert (await person.sign_in()).status == 401
    assert (await stores.accounts.find(OTHER.id)).closed
    assert (await stores.ledger.balance(OTHER.id), await stores.webhooks.all(OTHER.id)) == (50, [])
    with pytest.raises(ConflictError, match="was deleted"):
        await stores.keys.add(new_key("late", test=True, account_id=OTHER.id)[0])


@task
async def test_accounts_that_stay(visitor, stores):
    """The default account, and that by which an admin signs in, cannot be deleted; an admin deletes another one."""
    await stores.accounts.add(OTHER)
    admin = await visitor().sign_up(role="admin")
    assert (await admin.get("/settings/delete")).status == 403
    assert (await admin.post("/settings/delete", name="default", current=PASSWORD)).status == 403
    foreign = await visitor().sign_up("root@example.com", role="admin", account=OTHER.id)
    assert (await foreign.post("/settings/delete", name="other", current=PASSWORD)).status == 403
    await admin.post(f"/accounts/{OTHER.id}/show")
    response = await admin.post("/settings/delete", name="other", current=PASSWORD)
    assert response.headers["location"] == "/dashboard/accounts"
    assert b"other" not in (await admin.get("/accounts")).body.split(b"<tbody>")[1]
    assert (await admin.get("/keys")).status == 200


@task
async def test_a_member_removes_no_admin_by_deleting_the_account(visitor, stores):
    """An account by which an admin signs in is deleted by an admin of another account alone, who sees whom it ends."""
    await stores.accounts.add(OTHER)
    member = await visitor().sign_up(account=OTHER.id)
    boss = await visitor().sign_up("boss@example.com", role="admin", account=OTHER.id)
    assert (await member.get("/settings/delete")).status == 403
    assert (await member.post("/settings/delete", name="other", current=PASSWORD)).status == 403
    assert (await boss.get("/keys")).status == 200
    admin = await visitor().sign_up("root@example.com", role="admin")
    await admin.post(f"/accounts/{OTHER.id}/show")
    page = (await admin.get("/settings/delete")).body
    assert all(name in page for name in (b"ada@example.com", b"boss@example.com</bdi> (admin)"))
    assert (await admin.post("/settings/delete", name="other", current=PASSWORD)).status == 303


@task
async def test_admins_see_credits_and_plans(visitor, stores):
    """The page of accounts has each one's credits and plan, and all plans; every page says who is signed in."""
    await stores.accounts.add(OTHER)
    await stores.ledger.credit(OTHER.id, 4321)
    await stores.accounts.put_plan(Plan("fast", 600, 60, 64))
    page = (await (await visitor().sign_up(role="admin")).get("/accounts")).body.decode()
    for part in ("4,321", "1,000", "fast", "600 in 60 s", "<bdi>ada@example.com</bdi>"):
        assert part in page
