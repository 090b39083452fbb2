"""Changes of batches, schedules, webhooks, keys and accounts by several clients at the same time."""

import asyncio
from collections import Counter
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from random import Random

import orjson
import pytest
from sqlalchemy import select
from ulid import ULID

from webdata.accounts.access.api_keys import new_key, successor
from webdata.domain.errors import ConflictError, OutOfCreditsError
from webdata.stores.accounts.model import DEFAULT_PLAN, Account, Invitation
from webdata.stores.accounts.tables import ACCOUNTS, KEYS, WEBHOOKS
from webdata.stores.accounts.tables_dashboard import INVITATIONS
from webdata.stores.batches.model import (
    Batch,
    EndedRow,
    LeasedError,
    QueryRow,
    RowResult,
    Schedule,
    ScheduleRun,
    Ticket,
)
from webdata.stores.batches.tables import BATCH_COUNTS, BATCHES, CHUNKS, RESULTS, SCHEDULES, SUBMISSIONS
from webdata.stores.ledger.ledger_audit import audit
from webdata.stores.sql_stores import SqlStores
from webdata.stores.webhooks.model import Webhook

CLIENTS = 12
MOST = 3
"""Webhooks and schedules of an account."""
NOW = datetime.now(UTC)
REFUSALS = (ConflictError, OutOfCreditsError, LeasedError, ValueError, LookupError)
"""What a change may raise: that it is not allowed."""
ROWS = range(1, 7)


class Client:
    """Changes things at random, by stores of its own. `world` has the ids that all clients know."""

    def __init__(self, stores, world, random, name):
        self.stores, self.world, self.random, self.name = stores, world, random, name

    def account(self):
        return self.random.choice(self.world["accounts"])

    def batch(self):
        return self.random.choice(self.world["batches"])

    async def submit(self, batch_id=None):
        key = self.random.choice(self.world["keys"])
        batch = Batch(f"bat_{ULID()}", key.account_id, key.id, key.test, "web_search", NOW)
        await self.stores.batches.begin(batch)
        rows = [QueryRow(row, orjson.dumps({"q": f"coffee {row}"})) for row in ROWS]
        await self.stores.batches.add_chunks(batch.id, 0, [rows[:2], rows[2:4], rows[4:]])
        await self.stores.batches.publish(batch.id, NOW)
        self.world["batches"].append((key.account_id, batch.id))

    async def run(self, target):
        batch_id, number = target[1], self.random.randrange(3)
        chunk = await self.stores.chunks.take(Ticket(batch_id, number), self.name, NOW, NOW, lambda _: True)
        rows = chunk.rows if chunk else ()
        await asyncio.gather(*(self.end(chunk, row) for row, _ in rows))

    async def end(self, chunk, row):
        failed = self.random.random() < 0.4
        end = {"kind": self.random.choice(["captcha", None])} if failed else {"record": b"{}", "cost": 1}
        result = RowResult(row, "blocked" if failed else "ok", NOW, **end)
        await self.stores.chunks.end_row(EndedRow(chunk.batch, chunk.number, result))

    async def pause(self, target):
        await self.stores.batches.pause(*target, NOW)

    async def resume(self, target):
        await self.stores.batches.resume(*target)

    async def cancel(self, target):
        if self.random.random() < 0.2:
            await self.stores.batches.cancel(*target, NOW)

    async def delete(self, target):
        if self.random.random() < 0.1:
            await self.stores.batches.delete(*target, NOW)
            while await self.stores.batches.free(target[1], 2):
                pass

    async def retry(self, target):
        await self.stores.batches.retry_failures(*target, NOW)

    async def feed(self, _target):
        await self.stores.chunks.resume_paid()
        for test in (False, True):
            await self.stores.chunks.issue(["web_search"], test, datetime.now(UTC), NOW, 5)

    async def revoke(self, key):
        await self.stores.keys.revoke(key.id, NOW)

    async def rotate(self, key):
        follows, _ = successor(key)
        await self.stores.keys.rotate(key.id, follows, NOW + timedelta(days=1))
        self.world["keys"].append(follows)

    async def add_key(self, account):
        key, _ = new_key(f"key {ULID()}", test=self.random.random() < 0.5, account_id=account)
        await self.stores.keys.add(key)
        self.world["keys"].append(key)

    async def add_webhook(self, account):
        hook = Webhook(f"whk_{ULID()}", account, "https://me.example/", ("*",), "", "first", NOW)
        if await self.stores.webhooks.add(hook, MOST):
            self.world["webhooks"].append(hook)

    async def rotate_webhook(self, hook):
        secret = f"secret {ULID()}"
        if await self.stores.webhooks.rotate(hook.account_id, hook.id, secret, NOW):
            self.world["secrets"].setdefault(hook.id, {"first"}).add(secret)

    async def switch_webhook(self, hook):
        await self.stores.webhooks.change(hook.account_id, hook.id, {"enabled": self.random.random() < 0.7})

    async def test_webhook(self, hook):
        sent = await self.stores.webhooks.test(hook, NOW)
        if sent:
            await self.stores.webhooks.resend(hook.id, sent.event_id, NOW)

    async def remove_webhook(self, hook):
        await self.stores.webhooks.remove(hook.account_id, hook.id)

    async def add_schedule(self, account):
        key = self.random.choice([one for one in self.world["keys"] if one.account_id == account] or [None])
        if key:
            body = b'{"resource":"web_search","queries":[{"q":"a"}]}'
            one = Schedule(f"sch_{ULID()}", account, key.id, key.test, "0 6 * * *", "UTC", "", body, NOW, NOW)
            if await self.stores.schedules.add(one, MOST):
                self.world["schedules"].append(one)

    async def run_schedule(self, schedule):
        begun = await self.stores.schedules.begin_run(ScheduleRun(schedule.id, NOW, NOW), None)
        self.world["runs"].append((schedule.id, begun))
        await self.stores.schedules.end_run(ScheduleRun(schedule.id, NOW, NOW, batch_id=self.name))

    async def remove_schedule(self, schedule):
        await self.stores.schedules.remove(schedule.account_id, schedule.id)

    async def rename(self, account):
        await self.stores.accounts.change(account, name=self.random.choice(["Acme", "ACME", "acme", "Асме"]))

    async def invite(self, account):
        await self.stores.members.invite(Invitation(str(ULID()), account, "member", NOW, NOW + timedelta(days=1)))

    async def close(self, account):
        if self.random.random() < 0.1:
            await self.stores.accounts.delete(account, NOW)
            fresh = Account(f"acc_{ULID()}", f"shop {ULID()}", DEFAULT_PLAN, NOW)
            await self.stores.accounts.add(fresh)
            await self.stores.ledger.credit(fresh.id, 20)
            self.world["accounts"].append(fresh.id)
            await self.add_key(fresh.id)


OPERATIONS = {
    "batches": ("run", "run", "pause", "resume", "cancel", "delete", "retry", "retry", "feed", "submit"),
    "keys": ("revoke", "rotate", "rotate", "submit"),
    "webhooks": ("rotate_webhook", "switch_webhook", "test_webhook", "remove_webhook"),
    "schedules": ("run_schedule", "run_schedule", "remove_schedule"),
    "accounts": ("add_key", "add_webhook", "add_webhook", "add_schedule", "rename", "invite", "close"),
}
"""What is done at the same time to the same thing, by the kind of thing."""


async def change_in_pairs(clients, world, pairs):
    """Two of the clients change the same thing at the same time, again and again."""
    random = clients[0].random
    for _ in range(pairs):
        kind = random.choice([name for name in OPERATIONS if world[name]])
        target = random.choice(world[kind][-8:])
        changes = [getattr(client, random.choice(OPERATIONS[kind]))(target) for client in clients]
        for end in await asyncio.gather(*changes, return_exceptions=True):
            if isinstance(end, BaseException) and not isinstance(end, REFUSALS):
                raise end


async def begin_world(stores, random):
    world = {name: [] for name in (*OPERATIONS, "runs")} | {"secrets": {}}
    first = Client(stores, world, random, "first:1:1")
    for number in range(3):
        account = Account(f"acc_{number}", f"shop {number}", DEFAULT_PLAN, NOW)
        await stores.accounts.add(account)
        await stores.ledger.credit(account.id, 200)
        world["accounts"].append(account.id)
        await first.add_key(account.id)
        await first.add_webhook(account.id)
    for _ in range(4):
        await first.submit()
    return world


def rows(stores, query):
    with stores._database.reads.connect() as connection:
        return [row._asdict() for row in connection.execute(query)]


def broken_batches(stores):
    """Batches whose chunks, counts or state are not what their results say."""
    chunks = {(one["batch_id"], one["number"]): one for one in rows(stores, select(CHUNKS))}
    results = rows(stores, select(RESULTS))
    counts = {(one["batch_id"], one["outcome"], one["kind"]): one["rows"] for one in rows(stores, select(BATCH_COUNTS))}
    deleted = {one["id"] for one in rows(stores, select(BATCHES).where(BATCHES.c.deleted.is_not(None)))}
    for batch in rows(stores, select(BATCHES).where(BATCHES.c.deleted.is_(None), BATCHES.c.state != "submitting")):
        of_batch = [one for key, one in chunks.items() if key[0] == batch["id"]]
        done = [one for one in of_batch if one["state"] in ("done", "poison")]
        ended = batch["state"] in ("done", "cancelled")
        if (batch["chunks_done"], ended) != (len(done), batch["ended"] is not None):
            yield batch["id"], "chunks_done or ended", batch
        if batch["state"] != "cancelled" and (batch["state"] == "done") != (len(done) == batch["chunks"]):
            yield batch["id"], "done", batch
        for chunk in of_batch:
            bounds = range(chunk["first_row"], chunk["last_row"] + 1)
            own = [one for one in results if one["batch_id"] == batch["id"] and one["row"] in bounds]
            if (chunk["ended"], chunk["failed"]) != (len(own), sum(one["failed"] for one in own)):
                yield batch["id"], "chunk", chunk
    for key in {*counts, *((one["batch_id"], one["outcome"], one["kind"] or "") for one in results)}:
        if key[0] in deleted:
            continue
        real = [one for one in results if (one["batch_id"], one["outcome"], one["kind"] or "") == key]
        if counts.get(key) != len(real):
            yield key, "counts", counts.get(key)


def check_invariants(stores, world):
    broken = list(broken_batches(stores))
    assert not broken, f"{len(broken)}: {broken[0]}"
    revoked = select(KEYS.c.id).where(KEYS.c.revoked.is_not(None))
    running = BATCHES.c.key_id.in_(revoked), BATCHES.c.state.in_(["queued", "running"])
    assert rows(stores, select(BATCHES.c.id).where(*running)) == [], "a revoked key runs nothing"
    closed = select(ACCOUNTS.c.id).where(ACCOUNTS.c.closed.is_not(None))
    for table in (WEBHOOKS, SCHEDULES, INVITATIONS):
        assert rows(stores, select(table).where(table.c.account_id.in_(closed))) == [], "nothing of a deleted account"
        if table is not INVITATIONS:
            numbers = Counter((one["account_id"], one.get("test")) for one in rows(stores, select(table)))
            assert max(numbers.values(), default=0) <= MOST, "no more than the most"
    open_keys = select(KEYS.c.id).where(KEYS.c.account_id.in_(closed), KEYS.c.revoked.is_(None))
    assert rows(stores, open_keys) == [], "a deleted account has no key"
    followed = [one["replaced_by"] for one in rows(stores, select(KEYS)) if one["replaced_by"]]
    assert len(followed) == len(set(followed)), "a key follows one"
    names = [one["folded"] for one in rows(stores, select(ACCOUNTS))]
    assert len(names) == len(set(names)), "no two names look the same"
    for hook in rows(stores, select(WEBHOOKS)):
        known = world["secrets"].get(hook["id"], {"first"})
        assert {hook["secret"], hook["old_secret"] or "first"} <= known
        assert (len(known) == 1) == (hook["old_secret"] is None), "the secret before signs, too"
    begun = [schedule for schedule, is_begun in world["runs"] if is_begun]
    assert len(begun) == len(set(begun)), "a run begins once"
    with stores._database.reads.connect() as connection:
        assert audit(connection).faults == ()
    assert rows(stores, select(SUBMISSIONS)) == []


async def check_that_all_end(stores, world):
    """Every batch that may run comes to its end when its chunks are run."""
    last = Client(stores, world, Random(0), "last:1:1")
    for account, batch_id in world["batches"]:
        await stores.ledger.credit(account, 50)
        with suppress(ConflictError):
            await stores.batches.resume(account, batch_id)
        for number in range(3):
            ticket = Ticket(batch_id, number)
            chunk = await stores.chunks.take(ticket, last.name, NOW, NOW, lambda _: True)
            for row, _ in chunk.rows if chunk else ():
                await last.end(chunk, row)
        found = await stores.batches.find(account, batch_id)
        assert (found.state, found.reason) in (("done", None), ("cancelled", None), ("paused", "key_revoked"))


@pytest.mark.task
@pytest.mark.parametrize("pairs", [120, pytest.param(300, marks=pytest.mark.slow)])
async def test_changes_at_the_same_time(url, pairs):
    """After pairs of changes by 12 clients at once every count is true, nothing exceeds its bound, every batch ends.

    Nothing runs by a revoked key, nothing is left of a deleted account, no secret is lost, no credit is lost.
    """
    random = Random(pairs)
    with ExitStack() as stack:
        opened = [stack.enter_context(SqlStores(url)) for _ in range(3)]
        world = await begin_world(opened[0], random)
        clients = [Client(opened[n % 3], world, Random(pairs + n), f"c:{n}:1") for n in range(CLIENTS)]
        couples = [clients[n : n + 2] for n in range(0, CLIENTS, 2)]
        await asyncio.gather(*(change_in_pairs(couple, world, pairs // len(couples) + 1) for couple in couples))
        check_invariants(opened[0], world)
        await check_that_all_end(opened[0], world)
        assert list(broken_batches(opened[0])) == []
