"""Members, invitations and sessions, on each kind of database."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from webdata.accounts.access.api_keys import new_key
from webdata.domain.errors import ConflictError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Invitation, Member, Plan, Session
from webdata.stores.sql_stores import SqlStores
from webdata.stores.webhooks.model import Webhook

task = pytest.mark.task

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ADA = Member("mem_1", DEFAULT_ACCOUNT, "Ada@Example.com", "admin", NOW, "$argon2id$…", "ABC", 3, frozenset({"x", "y"}))


@pytest.fixture
def stores(url):
    with SqlStores(url) as opened:
        yield opened


@pytest.fixture
def members(stores):
    return stores.members


async def invited(members, digest="d", expires=NOW + HOUR):
    await members.invite(Invitation(digest, DEFAULT_ACCOUNT, "admin", NOW, expires))


async def joined(members, member=ADA):
    await invited(members, member.id)
    assert await members.accept(member.id, member, NOW)


def session(number, member=ADA, **values):
    common = {"account_id": DEFAULT_ACCOUNT, "created": NOW, "last_seen": NOW, "address": "::1", "browser": "test"}
    return Session(f"ses_{number}", f"digest {number}", member.id, **{**common, **values})


@task
async def test_an_invitation_makes_one_member(members):
    """It is found until it expires, and used up by the member that it makes."""
    await invited(members)
    assert (await members.invitation("d", NOW)).role == "admin"
    assert await members.invitation("d", NOW + HOUR) is None
    assert not await members.any()
    assert not await members.accept("d", ADA, NOW + HOUR)
    assert await members.accept("d", ADA, NOW)
    assert not await members.accept("d", ADA, NOW)
    assert await members.members(DEFAULT_ACCOUNT) == [ADA]
    assert await members.any()


@task
async def test_an_invitation_needs_its_account(members):
    """Nobody is invited to an account that does not exist."""
    with pytest.raises(ValueError, match="there is no account acc_none"):
        await members.invite(Invitation("d", "acc_none", "member", NOW, NOW))


@task
@pytest.mark.parametrize("name", ["ADA@example.COM", "аda@example.com", "ａda@example.com", "ada\u200b@example.com"])
async def test_names_differ_by_more_than_case_and_script(members, name):
    """A name that looks like a taken one is refused, and the invitation is still good."""
    await joined(members)
    await invited(members)
    second = Member("mem_2", DEFAULT_ACCOUNT, name, "member", NOW, "hash")
    with pytest.raises(ValueError, match="is taken"):
        await members.accept("d", second, NOW)
    assert await members.invitation("d", NOW)
    assert await members.find("aDa@example.com") == ADA
    assert await members.find("nobody") is None


@task
async def test_a_session_is_found_with_its_member(stores, members):
    """A session has its member and the account that it shows, until it is idle or ended."""
    await joined(members)
    one = session(1)
    await members.begin(one)
    found = await members.signed_in(one.digest, NOW)
    assert (found.session, found.member, found.account.id) == (one, ADA, DEFAULT_ACCOUNT)
    assert await members.signed_in(one.digest, NOW + HOUR) is None
    await members.see(one.id, NOW + HOUR)
    assert (await members.signed_in(one.digest, NOW + HOUR)).session.last_seen == NOW + HOUR
    await stores.accounts.add(Account("acc_2", "second", DEFAULT_PLAN, NOW))
    await members.show(one.id, "acc_2")
    assert (await members.signed_in(one.digest, NOW)).account.name == "second"
    assert not await members.end("mem_2", one.id)
    assert await members.end(ADA.id, one.id)
    assert await members.signed_in(one.digest, NOW) is None


@task
async def test_a_member_removed_meanwhile_gets_no_session(members):
    """Who was removed between the password and the session is not signed in, and no browser is remembered."""
    await joined(members)
    assert await members.remove(DEFAULT_ACCOUNT, ADA.id)
    assert not await members.begin(session(1))
    await members.remember_browser("b", ADA.id, NOW)
    assert not await members.knows_browser("b", ADA.name)


@task
async def test_all_sessions_are_ended(members):
    """All sessions of a member are ended, or all but one, and the browsers are forgotten."""
    await joined(members)
    for number in range(3):
        await members.begin(session(number, last_seen=NOW + number * HOUR))
    assert [one.id for one in await members.sessions(ADA.id, NOW)] == ["ses_2", "ses_1", "ses_0"]
    await members.remember_browser("b", ADA.id, NOW)
    await members.remember_browser("b", ADA.id, NOW)
    assert await members.knows_browser("b", "ADA@example.com")
    assert not await members.knows_browser("b", "eve@example.com")
    await members.end_all(ADA.id, but="ses_1")
    assert [one.id for one in await members.sessions(ADA.id, NOW)] == ["ses_1"]
    assert not await members.knows_browser("b", ADA.name)
    await members.end_all(ADA.id)
    assert await members.sessions(ADA.id, NOW) == []


@task
async def test_codes_are_used_once(members):
    """No time step is used twice, nor one before it; a recovery code is used up."""
    await joined(members)
    assert [await members.use_step(ADA.id, step) for step in (3, 4, 4, 2, 5)] == [False, True, False, False, True]
    assert [await members.use_recovery_code(ADA.id, code) for code in ("x", "x", "z")] == [True, False, False]
    assert (await members.find(ADA.name)).recovery_codes == {"y"}
    await members.set_second_factor(ADA.id, None, frozenset())
    await members.set_password(ADA.id, "another")
    changed = await members.find(ADA.name)
    assert (changed.totp_secret, changed.recovery_codes, changed.password) == (None, frozenset(), "another")


@task
async def test_a_removed_member_has_no_sessions(members):
    """With a member go all sessions; a member of another account is not removed."""
    await joined(members)
    await members.begin(session(1))
    assert not await members.remove("acc_2", ADA.id)
    assert await members.remove(DEFAULT_ACCOUNT, ADA.id)
    assert await members.signed_in("digest 1", NOW) is None


@task
async def test_what_is_old_is_removed(members):
    """Invitations that have expired and sessions that are idle are removed, no others."""
    await joined(members)
    await invited(members, "old", NOW)
    await invited(members, "new")
    await members.begin(session(1, last_seen=NOW - HOUR))
    await members.begin(session(2))
    await members.remove_old(NOW, NOW)
    assert [await members.invitation(one, NOW - HOUR) is not None for one in ("old", "new")] == [False, True]
    assert [one.id for one in await members.sessions(ADA.id, NOW - 2 * HOUR)] == ["ses_2"]


@task
async def test_an_account_changes(stores):
    """An account gets another name or plan; a taken name and an unknown plan are refused."""
    await stores.accounts.add(Account("acc_2", "second", DEFAULT_PLAN, NOW))
    await stores.accounts.put_plan(Plan("fast", 600, 60, 64))
    await stores.accounts.change("acc_2", name="coffee")
    await stores.accounts.change("acc_2", plan="fast")
    for taken in ("default", "DEFAULT", "ｄｅｆａｕｌｔ", "dеfаult", "defauIt", "default\N{ZERO WIDTH SPACE}"):
        with pytest.raises(ValueError, match="taken, or looks like one that is"):
            await stores.accounts.change("acc_2", name=taken)
    with pytest.raises(ValueError, match="no plan 'none'"):
        await stores.accounts.change("acc_2", plan="none")
    found = await stores.accounts.find("acc_2")
    assert (found.name, found.plan.name, found.closed) == ("coffee", "fast", None)


@task
async def test_an_account_is_deleted(stores, members):
    """Keys are revoked, members, invitations and webhooks removed, and no key is made any more; credits stay."""
    await stores.accounts.add(Account("acc_2", "second", DEFAULT_PLAN, NOW))
    await stores.ledger.credit("acc_2", 7)
    keys = [new_key(str(number), test=True, account_id="acc_2")[0] for number in range(2)]
    for key in keys:
        await stores.keys.add(key)
    await stores.keys.revoke(keys[0].id, NOW)
    await stores.webhooks.add(Webhook("whk_1", "acc_2", "https://a.example/", ("*",), "", "s", NOW), 5)
    await joined(members)
    await members.invite(Invitation("d", "acc_2", "member", NOW, NOW + HOUR))
    await members.begin(session(1, account_id="acc_2"))
    await stores.accounts.delete("acc_2", NOW + HOUR)
    assert {one.revoked for one in await stores.keys.of("acc_2")} == {NOW, NOW + HOUR}
    assert (await stores.accounts.find("acc_2")).closed == NOW + HOUR
    assert (await stores.ledger.balance("acc_2"), await stores.webhooks.all("acc_2")) == (7, [])
    assert await members.invitation("d", NOW) is None
    assert await members.signed_in("digest 1", NOW) is None
    assert await members.members(DEFAULT_ACCOUNT) == [ADA]
    with pytest.raises(ConflictError, match="was deleted"):
        await members.invite(Invitation("e", "acc_2", "member", NOW, NOW + HOUR))
    with pytest.raises(ConflictError, match="was deleted"):
        await stores.keys.add(new_key("late", test=True, account_id="acc_2")[0])


@task
async def test_an_account_with_an_admin_stays(stores, members):
    """Without the right to remove admins an account is deleted only if none signs in by it; once is enough."""
    account = Account("acc_2", "second", DEFAULT_PLAN, NOW)
    await stores.accounts.add(account)
    await members.invite(Invitation("boss", "acc_2", "admin", NOW, NOW + HOUR))
    await members.accept("boss", replace(ADA, id="mem_2", account_id="acc_2", name="boss"), NOW)
    assert not await stores.accounts.delete("acc_2", NOW, with_admins=False)
    assert [one.id for one in await members.members("acc_2")] == ["mem_2"]
    assert await stores.accounts.delete("acc_2", NOW)
    assert not await stores.accounts.delete("acc_2", NOW)


@task
async def test_an_admin_who_joins_while_the_account_is_deleted(stores, members):
    """Either the account stays with its admin, or nobody joins: never is an admin removed."""
    for number in range(10):
        account = f"acc_{number}"
        await stores.accounts.add(Account(account, account, DEFAULT_PLAN, NOW))
        await members.invite(Invitation(account, account, "admin", NOW, NOW + HOUR))
        boss = replace(ADA, id=f"mem_{account}", account_id=account, name=account)
        deleted, joins = await asyncio.gather(
            stores.accounts.delete(account, NOW, with_admins=False), members.accept(account, boss, NOW)
        )
        assert deleted != joins
        assert len(await members.members(account)) == joins


@task
async def test_two_who_remove_each_other(members):
    """One of them stays."""
    pair = [replace(ADA, id=f"mem_{name}", name=name) for name in ("eva", "tom")]
    for member in pair:
        await joined(members, member)
    removals = [members.remove(DEFAULT_ACCOUNT, one.id, other.id) for one, other in (pair, pair[::-1])]
    assert sorted(await asyncio.gather(*removals)) == [False, True]
    assert len(await members.members(DEFAULT_ACCOUNT)) == 1
