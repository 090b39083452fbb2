"""The dashboard's routes: who may ask for what, and that no change is made without the token of one's own form."""

import asyncio
import re
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from twisted.internet.testing import StringTransport

from webdata.domain.errors import DatabaseUnavailableError, FullDiskError
from webdata.stores.accounts.model import DEFAULT_PLAN, Account

task = pytest.mark.task

SEGMENT = re.compile(r"<[^>]*>")
CHANGES = {
    "/sign-in": "anybody",
    "/second-factor": "anybody",
    "/invitations/<secret>": "anybody",
    "/sign-out": "member",
    # the person's own: what a stolen session must not do asks for the password
    "/settings/password": "password",
    "/settings/second-factor": "password",
    "/settings/second-factor/off": "password",
    "/settings/sessions/<session_id>/end": "member",
    "/settings/sessions/end": "member",
    # the account's: what a member does never ends or makes the sign-in of an admin
    "/settings/name": "member",
    "/settings/plan": "admin",
    "/settings/members": "member",
    "/settings/members/<member_id>/remove": "member",
    "/settings/delete": "password",
    "/accounts/<account_id>/show": "admin",
    "/keys": "member",
    "/keys/<key_id>/rotate": "member",
    "/keys/<key_id>/revoke": "member",
    "/webhooks": "member",
    "/webhooks/<webhook_id>/change": "member",
    "/webhooks/<webhook_id>/enable": "member",
    "/webhooks/<webhook_id>/disable": "member",
    "/webhooks/<webhook_id>/test": "member",
    "/webhooks/<webhook_id>/rotate": "member",
    "/webhooks/<webhook_id>/remove": "member",
    "/webhooks/<webhook_id>/deliveries/<event_id>/resend": "member",
    "/batches/new": "member",
    "/batches/<batch_id>/pause": "member",
    "/batches/<batch_id>/resume": "member",
    "/batches/<batch_id>/cancel": "member",
    "/batches/<batch_id>/retry": "member",
    "/playground/<name>": "member",
    "/playground/<name>/download": "member",
}
"""Who may make each change: a `password` is a member's own, typed again."""


@pytest.fixture
def state(stores):
    """All rows of the database but those of sessions, to be compared."""
    from sqlalchemy import select

    from webdata.stores.accounts.tables import METADATA

    def read():
        with stores._database.reads.connect() as on:
            tables = (table for table in METADATA.sorted_tables if table.name not in ("sessions", "browsers"))
            return {table.name: [tuple(row) for row in on.execute(select(table))] for table in tables}

    return read


@pytest.fixture
def paths(dashboard):
    """All routes as a method, a path with an id that nothing has, and who may ask."""

    def all_of(method):
        return [(SEGMENT.sub("x_1", route.rule), route.who) for route in dashboard.routes if route.method == method]

    return all_of


@task
async def test_pages_lead_the_signed_out_to_the_sign_in(visitor, paths):
    """Whoever is not signed in is led to the sign-in, with the path to go on to."""
    person = visitor()
    asked = [path for path, who in paths("GET") if who != "anybody"]
    assert asked
    for path in asked:
        response = await person.get(path)
        assert (response.status, response.headers["location"]) == (303, f"/dashboard/sign-in?to={quote(path, safe='')}")


@task
async def test_changes_of_the_signed_out_are_refused(visitor, paths, state):
    """A session that was signed out opens nothing any more, with its cookie and its token."""
    person = await visitor().sign_up(role="admin")
    cookies, token = dict(person.cookies), person.token
    await person.post("/sign-out")
    person.cookies, before = cookies, state()
    for path, who in paths("POST"):
        response = await person.post(path, token)
        assert response.status == (401 if who != "anybody" else 403), path
    assert state() == before


@task
@pytest.mark.parametrize("token", ["", "0" * 64, "é", "of another session"])
async def test_changes_without_the_token_are_refused(visitor, paths, state, token):
    """A change is refused without a token, with a wrong one, and with that of another person."""
    other = await visitor().sign_up("eve@example.com", role="admin")
    person = await visitor().sign_up(role="admin")
    before = state()
    for path, _ in paths("POST"):
        response = await person.post(path, other.token if token == "of another session" else token)
        assert response.status == 403, path
    assert state() == before


@task
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_changes_by_other_sites_are_refused(visitor, paths, state, site):
    """A change that the browser says another site has made is refused, also with the token."""
    person = await visitor().sign_up(role="admin")
    before = state()
    for path, _ in paths("POST"):
        assert (await person.post(path, headers={"Sec-Fetch-Site": site})).status == 403, path
    assert state() == before


@task
async def test_members_get_no_admins_pages(visitor, paths, state):
    """A member is refused on the pages of admins, whatever is asked there."""
    person = await visitor().sign_up(role="member")
    before = state()
    for path, who in paths("GET"):
        if who == "admin":
            assert (await person.get(path)).status == 403, path
    for path, who in paths("POST"):
        if who == "admin":
            assert (await person.post(path)).status == 403, path
    assert state() == before


@task
async def test_pages_have_a_policy(visitor, paths):
    """No page runs or shows anything from elsewhere, is in a frame, or stays in a cache."""
    person = await visitor().sign_up(role="admin")
    for path, _ in paths("GET"):
        response = await person.get(path)
        assert response.status < 500, path
        if response.headers.get("content-type", "").startswith("text/html"):
            policy = response.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'"), path
            assert "frame-ancestors 'none'" in policy
            assert (response.headers["cache-control"], response.headers["x-content-type-options"]) == (
                "no-store",
                "nosniff",
            )
            assert not re.search(rb"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:", response.body), path
            assert len(response.body) < 100_000


@task
async def test_a_missing_page_says_so(visitor):
    """A path that leads nowhere is a page, too."""
    response = await visitor().get("/nowhere")
    assert (response.status, response.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"There is no such page" in response.body


@task
async def test_browsers_are_led_from_the_root(send):
    """Who would rather have a page is led from `/` to the dashboard; programs get the index as JSON."""
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    response = await send("/", headers={"Accept": browser})
    assert (response.status, response.headers["location"]) == (303, "/dashboard")
    for accept in ("*/*", "application/json", "text/html;q=0.5,application/json"):
        response = await send("/", headers={"Accept": accept})
        assert response.json["service"] == "webdata"
        assert response.headers["vary"] == "Accept, accept-encoding"
    assert (await send("/", headers={})).json["service"] == "webdata"


@task
async def test_other_origins_cannot_call(visitor):
    """A page of another origin cannot read the dashboard."""
    response = await visitor().get("/sign-in", Origin="https://evil.example")
    assert not [name for name in response.headers if name.startswith("access-control")]


@task
async def test_files_are_kept(visitor):
    """The style sheet has its hash in its address and is never asked for again; another hash leads nowhere."""
    person = visitor()
    page = (await person.get("/sign-in")).body.decode()
    path = re.search(r'href="/dashboard(/static/\w+/dashboard\.css)"', page)[1]
    response = await person.get(path)
    assert (response.status, response.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in response.headers["cache-control"]
    again = await person.get(path, **{"If-None-Match": response.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert (await person.get(re.sub(r"static/\w+", "static/0000", path))).status == 404


@task
async def test_a_form_of_another_kind_is_refused(visitor):
    """A form with more fields than any page has is refused before they are read."""
    person = await visitor().sign_up()
    response = await person.post("/sign-out", x=[1] * 600)
    assert response.status == 400


@task
async def test_a_large_form_needs_no_reading(raw):
    """A form of more than 64 KB is refused by its head, without a key."""
    head = b"POST /dashboard/sign-in HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n"
    answer = await raw(head)
    assert answer.startswith(b"HTTP/1.1 413")


@task
async def test_a_form_in_parts_needs_no_key(api):
    """The body of a form that comes after its head is read, though nobody has a key."""
    channel, transport = api.site().buildProtocol(None), StringTransport()
    channel.makeConnection(transport)
    channel.dataReceived(b"POST /dashboard/sign-in HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nname=")
    await asyncio.sleep(0)
    channel.dataReceived(b"abcdef")
    async with asyncio.timeout(5):
        while b"\r\n\r\n" not in transport.value():  # noqa: ASYNC110  # a test transport signals nothing
            await asyncio.sleep(0)
    channel.connectionLost()
    assert transport.value().startswith(b"HTTP/1.1 403")
    assert b"This form has expired" in transport.value()


@task
async def test_a_database_that_is_away(visitor, stores, monkeypatch):
    """While the database does not answer, each page says so, and nothing is told of the reason."""
    person = await visitor().sign_up()

    async def away(*_):
        raise DatabaseUnavailableError("the disk of 10.0.0.7 is full")

    monkeypatch.setattr(stores.members, "signed_in", away)
    for response in (await person.get("/keys"), await person.post("/keys", name="x")):
        assert (response.status, response.headers["retry-after"]) == (503, "5")
        assert b"The database does not answer" in response.body
        assert b"10.0.0.7" not in response.body


@task
async def test_a_full_disk_is_said(visitor, stores, monkeypatch):
    """A reason for which there is no room now is one for people, too."""
    person = await visitor().sign_up()

    async def full(*_):
        raise FullDiskError("the disk of the service is nearly full", 60)

    monkeypatch.setattr(stores.keys, "of", full)
    response = await person.get("/keys")
    assert (response.status, response.headers["retry-after"]) == (503, "60")
    assert b"The disk of the service is nearly full." in response.body


@task
async def test_a_failure_of_ours(visitor, stores, monkeypatch, caplog):
    """What goes wrong here is a page with the request's id, and is logged with its reason."""
    person = await visitor().sign_up()

    async def fails(*_):
        raise RuntimeError("a secret reason")

    monkeypatch.setattr(stores.keys, "of", fails)
    response = await person.get("/keys")
    assert response.status == 500
    assert response.headers["x-request-id"].encode() in response.body
    assert b"secret reason" not in response.body
    assert "a secret reason" in caplog.text


@task
async def test_of_every_change_it_is_decided_who_may_make_it(dashboard):
    """A new route that changes something fails here until it stands in the table."""
    declared = {one.rule: one.who for one in dashboard.routes if one.method == "POST"}
    assert declared == {rule: "member" if who == "password" else who for rule, who in CHANGES.items()}


@task
@pytest.mark.parametrize("rule", [rule for rule, who in CHANGES.items() if who == "admin"])
async def test_a_change_of_admins_is_refused_to_a_member(visitor, state, rule):
    """What is for admins changes nothing for a member."""
    person = await visitor().sign_up()
    before = state()
    assert (await person.post(SEGMENT.sub("x_1", rule))).status == 403
    assert state() == before


@task
@pytest.mark.parametrize("rule", [rule for rule, who in CHANGES.items() if who == "password"])
async def test_a_session_alone_is_not_enough(visitor, stores, state, rule):
    """Without the password a session changes nothing of what it must not do."""
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    person = await visitor().sign_up(account="acc_other")
    before = state()
    form = {"name": "other", "password": "another long passphrase", "secret": "A" * 32, "code": "000000"}
    for current in ({}, {"current": "wrong"}):
        assert (await person.post(rule, **form, **current)).status == 422
    assert state() == before
