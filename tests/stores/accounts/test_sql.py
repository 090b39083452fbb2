"""The common behaviour of keys, accounts, ledger and links, for each kind of store."""

import asyncio
import dataclasses
import weakref
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.memory_stores import sums
from webdata.domain.errors import OutOfCreditsError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Key, Plan
from webdata.stores.accounts.sql import SqlLinks
from webdata.stores.ephemeral.links_memory import MemoryLinks
from webdata.stores.ledger.model import Usage

NOON = datetime(2026, 7, 1, 12, 0, 0, 123456, tzinfo=UTC)
KEY = Key(id="key_b", name="Ünïted coffee", test=True, created=NOON, digest="b" * 64)
OTHER = Key(
    id="key_a",
    name="",
    test=False,
    created=NOON + timedelta(seconds=1),
    digest="a" * 64,
    account_id="acc_coffee",
    prefix="wd_live_AbCd",
    scopes=frozenset({"web_search", "news_search"}),
    expires=NOON + timedelta(days=1),
)
FAST = Plan("fast", requests=600, seconds=10, in_flight=100)
COFFEE = Account("acc_coffee", "coffee", FAST, NOON)
LATER = NOON + timedelta(hours=1)
ALL_TIME = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))

task = pytest.mark.task


async def add_coffee(stores):
    """Add an account with a plan of its own."""
    await stores.accounts.put_plan(FAST)
    await stores.accounts.add(COFFEE)


@task
async def test_a_new_database_has_a_default_account_and_plan(stores):
    """A new database has the account and the plan `default`, trial credits, and no keys."""
    (account,) = await stores.accounts.all()
    assert (account.id, account.name, account.plan) == (DEFAULT_ACCOUNT, "default", DEFAULT_PLAN)
    assert await stores.accounts.plans() == [DEFAULT_PLAN]
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000
    assert await stores.accounts.balances() == {DEFAULT_ACCOUNT: 1000}
    assert await stores.keys.all() == []


@task
async def test_a_key_is_found_by_its_digest(stores):
    """A key is found by its digest as it was added, with its account, plan and balance."""
    await add_coffee(stores)
    await stores.keys.add(KEY)
    await stores.keys.add(OTHER)
    await stores.ledger.credit("acc_coffee", 7)
    mine, theirs = await stores.keys.find("b" * 64), await stores.keys.find("a" * 64)
    assert (mine.key, mine.account.name, mine.balance) == (KEY, "default", 1000)
    assert (theirs.key, theirs.account, theirs.balance) == (OTHER, COFFEE, 7)


@task
async def test_no_more_keys_than_the_most_are_added_at_once(stores):
    """Of keys that are added at once, no more are than may be; ended ones do not count."""
    await stores.keys.add(dataclasses.replace(KEY, id="key_old", digest="0" * 64, expires=LATER))
    keys = [dataclasses.replace(KEY, id=f"key_{n}", digest=f"{n}" * 64, created=LATER) for n in range(1, 7)]
    added = await asyncio.gather(*(stores.keys.add(key, most=2) for key in keys))
    assert (sum(added), len(await stores.keys.all())) == (2, 3)


@task
async def test_an_unknown_digest_is_not_found(stores):
    """A digest of no key is not found, also in another case."""
    await stores.keys.add(KEY)
    assert [await stores.keys.find(digest) for digest in ("c" * 64, "", "B" * 64)] == [None, None, None]


@task
async def test_keys_are_listed_oldest_first(stores):
    """All keys are listed, oldest first."""
    await add_coffee(stores)
    await stores.keys.add(OTHER)
    await stores.keys.add(KEY)
    assert await stores.keys.all() == [KEY, OTHER]


@task
async def test_a_key_is_revoked_once(stores):
    """`revoke` changes one key, returns whether it did, and does not change the time of a revoked one."""
    await add_coffee(stores)
    await stores.keys.add(KEY)
    await stores.keys.add(OTHER)
    revoked = [await stores.keys.revoke(*given) for given in (("key_b", NOON), ("key_b", LATER), ("key_c", NOON))]
    assert revoked == [True, False, False]
    assert (await stores.keys.find("b" * 64)).key.revoked == NOON
    assert (await stores.keys.find("a" * 64)).key.revoked is None


@task
@pytest.mark.parametrize("twin", [{"id": "key_c"}, {"digest": "c" * 64}, {"id": "key_d", "account_id": "acc_none"}])
async def test_a_conflicting_key_is_refused(stores, twin):
    """A key whose id or digest is taken, or whose account does not exist, is refused."""
    await stores.keys.add(KEY)
    digest = twin.get("digest", "d" * 64 if "account_id" in twin else KEY.digest)
    with pytest.raises(ValueError, match="cannot be added"):
        await stores.keys.add(dataclasses.replace(KEY, name="twin", **{**twin, "digest": digest}))
    assert await stores.keys.all() == [KEY]


@task
async def test_times_of_other_zones_are_equal_when_read(stores):
    """A time in another zone is stored as the same time."""
    await stores.keys.add(dataclasses.replace(KEY, created=NOON.astimezone(timezone(timedelta(hours=9)))))
    assert (await stores.keys.all())[0].created == NOON


@task
@pytest.mark.parametrize(("own", "end"), [(None, LATER), (NOON, NOON), (LATER + timedelta(days=1), LATER)])
async def test_a_rotated_key_expires_after_the_overlap(stores, own, end):
    """The old key names its successor and expires after the overlap, or at its own earlier end."""
    new = dataclasses.replace(KEY, id="key_new", digest="e" * 64, created=LATER)
    await stores.keys.add(dataclasses.replace(KEY, expires=own))
    await stores.keys.rotate("key_b", new, LATER)
    assert await stores.keys.all() == [dataclasses.replace(KEY, expires=end, replaced_by="key_new"), new]


@task
async def test_a_key_is_rotated_once_and_not_when_revoked(stores):
    """A key that does not exist, is revoked or was rotated is refused, and no successor is added."""
    third = dataclasses.replace(KEY, id="key_3", digest="3" * 64)
    await stores.keys.add(KEY)
    await stores.keys.rotate("key_b", dataclasses.replace(KEY, id="key_2", digest="2" * 64), LATER)
    await stores.keys.revoke("key_2", NOON)
    for key_id, reason in (("key_9", "no key"), ("key_b", "followed by key_2"), ("key_2", "revoked")):
        with pytest.raises(ValueError, match=reason):
            await stores.keys.rotate(key_id, third, LATER)
    assert [key.id for key in await stores.keys.all()] == ["key_2", "key_b"]


@task
async def test_the_last_use_is_the_latest(stores):
    """The last use is the latest of the given times; unknown keys are ignored."""
    await stores.keys.add(KEY)
    await stores.keys.touch({})
    for moment in (NOON, LATER, NOON):
        await stores.keys.touch({"key_b": moment, "key_gone": moment})
    assert (await stores.keys.find("b" * 64)).key.last_used == LATER


@task
async def test_only_the_newest_state_of_a_key_is_remembered(stores):
    """What was made of a key's row is given up once the row has changed, however often it does."""
    await stores.keys.add(KEY)
    earlier = weakref.ref((await stores.keys.find("b" * 64)).account)
    await stores.keys.touch({"key_b": LATER})
    assert (await stores.keys.find("b" * 64)).key.last_used == LATER
    assert earlier() is None


def test_the_representation_of_a_key_hides_its_digest():
    """The representation of a key, as in a log, does not contain its digest."""
    assert "bbb" not in repr(KEY)


@task
async def test_an_account_is_found_by_name_and_id(stores):
    """An account is found by its name and its id; accounts are listed oldest first."""
    await add_coffee(stores)
    assert await stores.accounts.find("coffee") == await stores.accounts.find("acc_coffee") == COFFEE
    assert await stores.accounts.find("tea") is None
    assert [account.name for account in await stores.accounts.all()] == ["coffee", "default"]
    assert await stores.ledger.balance("acc_coffee") == 0


@task
@pytest.mark.parametrize(
    "twin",
    [
        {"id": "acc_tea"},
        {"name": "tea"},
        {"id": "acc_tea", "name": "Coffеe"},
        {"id": "acc_tea", "name": "tea", "plan": Plan("none", 1, 1, 1)},
    ],
)
async def test_a_conflicting_account_is_refused(stores, twin):
    """An account whose id or name is taken, or whose plan does not exist, is refused."""
    await add_coffee(stores)
    with pytest.raises(ValueError, match="cannot be added"):
        await stores.accounts.add(dataclasses.replace(COFFEE, **twin))
    assert len(await stores.accounts.all()) == 2


@task
async def test_a_plan_changes_for_all_its_accounts(stores):
    """A plan replaces the one of the same name, also for existing callers."""
    await add_coffee(stores)
    await stores.keys.add(OTHER)
    slow = Plan("fast", requests=1, seconds=2, in_flight=3)
    await stores.accounts.put_plan(slow)
    assert await stores.accounts.plans() == [DEFAULT_PLAN, slow]
    assert (await stores.keys.find("a" * 64)).account.plan == slow


@task
async def test_the_ledger_records_every_movement_of_a_call(stores, movements):
    """A credit is reserved and spent, or released; the ledger records every movement with its details."""
    ledger = stores.ledger
    assert await ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key_b") == 999
    assert await ledger.reserve(DEFAULT_ACCOUNT, "req_2", "web_search", "key_b") == 998
    assert await ledger.commit("req_1", "ok") == 998
    assert await ledger.release("req_2", "blocked") == 999
    ledger.note(DEFAULT_ACCOUNT, "req_3", "news_search", "key_b", "empty", cached=True)
    await ledger.flush()
    rows = movements(stores)
    assert [(row.kind, row.source, row.target, row.amount, row.request_id, row.outcome) for row in rows] == [
        ("credit", "issued", "balance", 1000, None, None),
        ("reserve", "balance", "reserved", 1, "req_1", None),
        ("reserve", "balance", "reserved", 1, "req_2", None),
        ("commit", "reserved", "spent", 1, "req_1", "ok"),
        ("release", "reserved", "balance", 1, "req_2", "blocked"),
        ("free", "balance", "spent", 0, "req_3", "empty"),
    ]
    assert {(row.account_id, row.key_id) for row in rows[1:]} == {(DEFAULT_ACCOUNT, "key_b")}
    assert [row.endpoint for row in rows[1:]] == ["web_search"] * 4 + ["news_search"]
    assert [row.cached for row in rows] == [False] * 5 + [True]
    assert rows[0].note == "trial"
    assert rows == sorted(rows, key=lambda row: row.time)
    assert sums(rows)[DEFAULT_ACCOUNT, "balance"] == 999
    assert sums(rows).total() == 0


@task
async def test_an_account_without_credits_has_free_calls_only(stores, movements):
    """An account without credits cannot reserve one; its free calls are recorded."""
    await add_coffee(stores)
    await stores.ledger.credit("acc_coffee", 1)
    await stores.ledger.reserve("acc_coffee", "req_1", "web_search", "key_a")
    with pytest.raises(OutOfCreditsError):
        await stores.ledger.reserve("acc_coffee", "req_2", "web_search", "key_a")
    stores.ledger.note("acc_coffee", "req_3", "web_search", "key_a", "ok")
    await stores.ledger.flush()
    assert [row.request_id for row in movements(stores)[2:]] == ["req_1", "req_3"]


@task
async def test_credits_are_given_and_taken_back(stores, movements):
    """Credits are given and taken back, with a note, but not more than the balance."""
    await add_coffee(stores)
    assert await stores.ledger.credit("acc_coffee", 10, "paid") == 10
    assert await stores.ledger.credit("acc_coffee", -4) == 6
    with pytest.raises(OutOfCreditsError, match="has 6 credits, so 7 cannot be taken back"):
        await stores.ledger.credit("acc_coffee", -7)
    assert await stores.ledger.balance("acc_coffee") == 6
    assert [(row.source, row.target, row.amount, row.note) for row in movements(stores)[1:]] == [
        ("issued", "balance", 10, "paid"),
        ("balance", "issued", 4, ""),
    ]


@task
async def test_a_request_begins_and_ends_once(stores, movements, caplog):
    """A request is reserved or noted once, and committed or released once."""
    ledger = stores.ledger

    async def reserve(request_id):
        await ledger.reserve(DEFAULT_ACCOUNT, request_id, "web_search", "key_b")

    async def note(request_id):
        ledger.note(DEFAULT_ACCOUNT, request_id, "web_search", "key_b", "ok")
        await ledger.flush()

    await reserve("req_1")
    await reserve("req_2")
    await ledger.commit("req_2", "ok")
    await note("req_3")
    assert not caplog.text
    for request_id in ("req_1", "req_2", "req_3"):
        with pytest.raises(ValueError, match="was there before"):
            await reserve(request_id)
        await note(request_id)
        assert "was there before" in caplog.text
        caplog.clear()
    for end in (ledger.commit, ledger.release):
        for request_id in ("req_2", "req_3", "req_4"):
            with pytest.raises(LookupError, match="no credit is set aside"):
                await end(request_id, "ok")
    assert len(movements(stores)) == 5
    assert await ledger.balance(DEFAULT_ACCOUNT) == 998


@task
async def test_an_unknown_account_is_an_error(stores, caplog):
    """An unknown account has no balance, and no operation on it is written."""
    ledger = stores.ledger
    for refused in (
        ledger.balance("acc_none"),
        ledger.credit("acc_none", 5),
        ledger.reserve("acc_none", "req_1", "web_search", "key_b"),
    ):
        with pytest.raises(LookupError, match="acc_none"):
            await refused
    ledger.note("acc_none", "req_1", "web_search", "key_b", "ok")
    await ledger.flush()
    assert "there is no account acc_none" in caplog.text


@task
async def test_usage_is_grouped_by_day_endpoint_or_key(stores):
    """Usage counts all ended calls of the account by day, endpoint or key, also those noted just before."""
    await add_coffee(stores)
    ledger = stores.ledger
    for number, (endpoint, key) in enumerate([("web_search", "k1"), ("web_search", "k2"), ("news_search", "k1")]):
        await ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", endpoint, key)
    await ledger.commit("req_0", "ok")
    await ledger.release("req_1", "blocked")
    ledger.note(DEFAULT_ACCOUNT, "req_free", "web_search", "k1", "ok", cached=True)
    ledger.note("acc_coffee", "req_theirs", "web_search", "k9", "ok")
    today = datetime.now(UTC).date().isoformat()
    assert await ledger.usage(DEFAULT_ACCOUNT, "engine", *ALL_TIME) == [Usage("web_search", 3, 1, 1, 1)]
    assert await ledger.usage(DEFAULT_ACCOUNT, "key", *ALL_TIME) == [Usage("k1", 2, 1, 1, 0), Usage("k2", 1, 0, 0, 1)]
    assert await ledger.usage(DEFAULT_ACCOUNT, "day", *ALL_TIME) == [Usage(today, 3, 1, 1, 1)]
    assert await ledger.usage(DEFAULT_ACCOUNT, "day", ALL_TIME[0], ALL_TIME[0]) == []
    assert await ledger.usage(DEFAULT_ACCOUNT, "day", ALL_TIME[1], ALL_TIME[1]) == []


@task
async def test_settle_releases_lost_reservations_once(stores, movements):
    """`settle` releases the reservations of dead processes, and all old ones, once; it ignores the others."""
    ledger, long_ago = stores.ledger, datetime(2000, 1, 1, tzinfo=UTC)
    await ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key_b")
    await ledger.reserve(DEFAULT_ACCOUNT, "req_2", "web_search", "key_b")
    await ledger.commit("req_2", "ok")
    processes = []
    assert await ledger.settle(lambda process: bool(processes.append(process)), long_ago) == 0
    assert await ledger.settle(lambda process: True, long_ago) == 1
    assert await ledger.settle(lambda process: True, long_ago) == 0
    assert await ledger.balance(DEFAULT_ACCOUNT) == 999
    assert len(processes) == 1
    assert (movements(stores)[-1].kind, movements(stores)[-1].outcome) == ("release", "lost")
    await ledger.reserve(DEFAULT_ACCOUNT, "req_3", "web_search", "key_b")
    assert await ledger.settle(lambda process: False, datetime(2100, 1, 1, tzinfo=UTC)) == 1


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def links(request, tmp_path):
    if request.param == "memory":
        store = MemoryLinks()
    elif request.param == "sqlite":
        store = SqlLinks(f"sqlite:///{tmp_path}/links.sqlite3")
    else:
        store = SqlLinks(request.getfixturevalue("postgresql"))
    yield store
    store.close()


def test_links_are_found_by_their_ids(links):
    """`find` returns the addresses of the ids that are stored."""
    links.add({"one": "https://clay.example/1", "two": "https://clay.example/2?a=🏺"})
    links.add({"three": "https://clay.example/3"})

    assert links.find(["two", "three", "four"]) == {
        "two": "https://clay.example/2?a=🏺",
        "three": "https://clay.example/3",
    }
    assert links.find([]) == {}
    assert links.find(["ONE", ""]) == {}


def test_a_link_is_not_changed_by_a_second_add(links):
    """An id that is stored already keeps its address, and other ids are added."""
    links.add({"one": "https://clay.example/1"})
    links.add({"one": "https://clay.example/other", "two": "https://clay.example/2"})

    assert links.find(["one", "two"]) == {"one": "https://clay.example/1", "two": "https://clay.example/2"}


def test_many_links_are_added_and_found_at_once(links):
    """A thousand long ids are added and found in one call."""
    addresses = {f"{number:04}{'x' * 1000}": f"https://clay.example/{number}" for number in range(1000)}
    links.add(addresses)

    assert links.find(addresses.keys()) == addresses
