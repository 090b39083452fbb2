"""Invitations, passwords, the second factor, sessions, and how often it may be tried."""

import re
from datetime import UTC, datetime, timedelta
from time import perf_counter

import pytest
from pyotp import TOTP
from sqlalchemy import text

from tests.faces.dashboard.person import PASSWORD
from webdata.accounts.access.api_keys import digest
from webdata.accounts.access.invitations import invite
from webdata.faces.api.browsing import PLAIN_COOKIES
from webdata.faces.dashboard.attempts import ADDRESS_ATTEMPTS, BROWSER_ATTEMPTS, NAME_ATTEMPTS, SECONDS
from webdata.faces.dashboard.sessions import Sessions
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

task = pytest.mark.task

NAME = "ada@example.com"
TRIES = 300
"""Of somebody who guesses a password."""
SESSION_COOKIE, BROWSER_COOKIE = f"{PLAIN_COOKIES}session", f"{PLAIN_COOKIES}browser"


@pytest.fixture
def execute(stores):
    """Runs a statement on the database."""

    def run(statement, **values):
        with stores._database.writes.begin() as on:
            return on.execute(text(statement), values)

    return run


@pytest.fixture
def slower_passwords(monkeypatch):
    """Hashes that cost far more than all else."""
    monkeypatch.setattr("webdata.faces.dashboard.passwords.MEMORY_KIB", 16_384)
    monkeypatch.setattr("webdata.faces.dashboard.passwords.PASSES", 2)


@task
async def test_an_invitation_works_once(visitor, stores):
    """The link makes one member, who is signed in, and leads nowhere afterwards."""
    link = (await invite(stores.members, DEFAULT_ACCOUNT, "admin")).removeprefix("/dashboard")
    person, second = visitor(), visitor()
    await person.get(link)
    await second.get(link)
    assert (await person.post(link, name=NAME, password=PASSWORD)).status == 303
    [member] = await stores.members.members(DEFAULT_ACCOUNT)
    assert (member.name, member.role) == (NAME, "admin")
    assert member.password.startswith("$argon2id$")
    assert (await person.get("/keys")).status == 200
    assert (await second.post(link, name="eve@example.com", password=PASSWORD)).status == 404
    assert (await second.get(link)).status == 404
    assert await stores.members.members(DEFAULT_ACCOUNT) == [member]


@task
async def test_an_invitation_ends_after_a_day(visitor, stores, execute):
    """A link that is older than 24 hours leads nowhere."""
    link = (await invite(stores.members, DEFAULT_ACCOUNT, "member")).removeprefix("/dashboard")
    execute("UPDATE invitations SET expires = :then", then=str(datetime.now(UTC).replace(tzinfo=None)))
    assert (await visitor().get(link)).status == 404


@task
@pytest.mark.parametrize(
    ("name", "password", "field", "said"),
    [
        ("", PASSWORD, "name", "Give the name"),
        ("a\tb", PASSWORD, "name", "one line"),
        ("TAKEN@example.com", PASSWORD, "name", "already"),
        (NAME, "short", "password", "It has 5 characters: take at least 12"),
        (NAME, "x" * 1001, "password", "at most 1000"),
        (NAME, "password1234", "password", "tried first"),
        (NAME, "ADA@example.com", "password", "easy to guess"),
        (NAME, "aaaaaaaaaaaaaaaa", "password", "easy to guess"),
    ],
)
async def test_a_name_or_password_that_is_refused(visitor, stores, name, password, field, said):
    """What is wrong stands beside its field, and the link is still good."""
    await visitor().sign_up("taken@example.com")
    link = (await invite(stores.members, DEFAULT_ACCOUNT, "member")).removeprefix("/dashboard")
    person = visitor()
    await person.get(link)
    page = await person.post(link, name=name, password=password)
    assert page.status == 422
    assert re.search(rf'id="e-{field}">[^<]*{said}', page.body.decode())
    assert password not in page.body.decode()
    assert (await person.post(link, name=NAME, password=PASSWORD)).status == 303


@task
async def test_signing_in_and_out(visitor, stores):
    """A name, in any case, and its password open the page that was asked; only digests of secrets are stored."""
    await visitor().sign_up()
    person = visitor()
    await person.get("/keys")
    await person.get("/sign-in?to=/settings")
    response = await person.post("/sign-in", name="ADA@Example.com", password=PASSWORD, to="/settings")
    assert (response.status, response.headers["location"]) == (303, "/dashboard/settings")
    assert "Path=/; HttpOnly; SameSite=Lax" in response.headers["set-cookie"]
    secret = person.cookies[SESSION_COOKIE]
    assert await stores.members.signed_in(digest(secret), datetime.now(UTC) - timedelta(hours=1))
    with stores._database.reads.connect() as on:
        stored = str(
            on.execute(text("SELECT * FROM sessions")).all() + on.execute(text("SELECT * FROM browsers")).all()
        )
    assert secret not in stored
    assert person.cookies[BROWSER_COOKIE] not in stored
    await person.get("/keys")
    response = await person.post("/sign-out")
    assert (response.headers["location"], SESSION_COOKIE in person.cookies) == ("/dashboard/sign-in", False)
    person.cookies[SESSION_COOKIE] = secret
    assert (await person.get("/keys")).status == 303


@task
@pytest.mark.parametrize(
    "to", ["//evil.example", "https://evil.example", "/\\evil.example", "/\r\nx: y", "@evil.example"]
)
async def test_nobody_is_led_to_another_site(visitor, to):
    """After the sign-in no path but one of the dashboard's is gone on to."""
    await visitor().sign_up()
    person = visitor()
    await person.get("/sign-in")
    response = await person.post("/sign-in", name=NAME, password=PASSWORD, to=to)
    assert response.headers["location"] == "/dashboard"


@pytest.mark.timed
@task
async def test_unknown_names_get_the_same_answer(slower_passwords, visitor):
    """A wrong password and an unknown name get the same page, after about the same time."""
    await visitor().sign_up()
    person, seconds, pages = visitor(), {NAME: [], "nobody@example.com": []}, set()
    await person.sign_in(NAME, "the first one takes longer")
    for name in [*seconds] * 4:
        began = perf_counter()
        page = await person.post("/sign-in", name=name, password="wrong horse battery")
        seconds[name].append(perf_counter() - began)
        assert page.status == 401
        pages.add(page.body.decode().replace(name, "NAME"))
    assert len(pages) == 1
    known, unknown = map(min, seconds.values())
    assert 0.2 < known / unknown < 5  # it would be forty if only known names cost a hash


@task
async def test_attempts_are_limited_and_lock_nobody_else_out(visitor, clock):
    """Hundreds of attempts on a member find nothing; the member still signs in from the own browser, and another
    member from another address.
    """
    own = await visitor().sign_up()
    await own.post("/sign-out")
    statuses = []
    attacker = visitor()
    await attacker.get("/sign-in")
    for number in range(TRIES):
        address = {"X-Forwarded-For": f"203.0.113.{number % 100}"}
        response = await attacker.post("/sign-in", headers=address, name=NAME, password=f"guess number {number}")
        statuses.append(response.status)
    assert (statuses.count(401), statuses.count(429)) == (NAME_ATTEMPTS.requests, TRIES - NAME_ATTEMPTS.requests)
    limited = await attacker.post("/sign-in", name=NAME, password=PASSWORD)
    assert (limited.status, int(limited.headers["retry-after"])) == (429, SECONDS + 1)
    assert b"Too many attempts" in limited.body
    assert (await own.sign_in()).status == 303
    other = await visitor().sign_up("bob@example.com")
    assert (await other.get("/keys")).status == 200
    clock[0] += SECONDS
    assert (await attacker.post("/sign-in", name=NAME, password=PASSWORD)).status == 303


@task
async def test_attempts_of_an_address_are_limited(visitor):
    """One address cannot try many names, and does not use up what another address has."""
    person = visitor()
    await person.get("/sign-in")
    first = {"X-Forwarded-For": "2001:db8::1"}
    tried = [
        await person.post("/sign-in", headers=first, name=f"{number}@example.com", password="x")
        for number in range(ADDRESS_ATTEMPTS.requests + 1)
    ]
    assert [one.status for one in tried] == [401] * ADDRESS_ATTEMPTS.requests + [429]
    same_network = await person.post("/sign-in", headers={"X-Forwarded-For": "2001:db8::2"}, name="x", password="x")
    other_network = await person.post("/sign-in", headers={"X-Forwarded-For": "2001:db9::1"}, name="x", password="x")
    assert (same_network.status, other_network.status) == (429, 401)


@task
async def test_a_known_browser_is_limited_too(visitor):
    """Who has stolen a browser's cookie cannot guess without end either."""
    person = await visitor().sign_up()
    await person.post("/sign-out")
    await person.get("/sign-in")
    tried = [await person.post("/sign-in", name=NAME, password="wrong") for _ in range(BROWSER_ATTEMPTS.requests + 1)]
    assert [one.status for one in tried] == [401] * BROWSER_ATTEMPTS.requests + [429]


@task
async def test_a_session_ends_when_it_is_idle(visitor, execute):
    """After 12 hours without a request a session opens nothing."""
    person = await visitor().sign_up()
    long_ago = datetime.now(UTC) - timedelta(hours=12, minutes=1)
    execute("UPDATE sessions SET last_seen = :then", then=str(long_ago.replace(tzinfo=None)))
    assert (await person.get("/keys")).status == 303


async def with_second_factor(person):
    """Turn the second factor on; returns its secret and the recovery codes."""
    page = await person.get("/settings/second-factor")
    secret = re.search(r'name="secret" value="(\w+)"', page.body.decode())[1]
    assert b"<svg" in page.body
    page = await person.post("/settings/second-factor", secret=secret, code=TOTP(secret).now(), current=PASSWORD)
    assert page.status == 200, page.body
    return secret, re.findall(r"(?:[0-9a-f]{4}-){3}[0-9a-f]{4}", page.body.decode())


@task
async def test_the_second_factor(visitor, stores):
    """With a second factor the password alone opens nothing; a code works once, a recovery code too."""
    person = await visitor().sign_up()
    secret, codes = await with_second_factor(person)
    assert len(codes) == 10
    later = visitor()
    response = await later.sign_in()
    assert response.headers["location"].startswith("/dashboard/second-factor")
    assert (await later.get("/keys")).status == 303
    assert (await later.post("/keys", name="x", kind="test")).status == 401
    await later.get("/second-factor")
    [member] = await stores.members.members(DEFAULT_ACCOUNT)
    used = TOTP(secret).generate_otp(member.totp_step)
    assert (await later.post("/second-factor", code="000000")).status == 401
    assert (await later.post("/second-factor", code=used)).status == 401
    pending = later.cookies[SESSION_COOKIE]
    assert (await later.post("/second-factor", code=codes[0].upper())).status == 303
    assert later.cookies[SESSION_COOKIE] != pending
    assert (await later.get("/keys")).status == 200
    again = visitor()
    await again.sign_in()
    await again.get("/second-factor")
    assert (await again.post("/second-factor", code=codes[0])).status == 401
    soon = TOTP(secret).generate_otp(member.totp_step + 1)
    assert (await again.post("/second-factor", code=soon)).status == 303


@task
async def test_the_second_factor_is_turned_off_by_the_password(visitor, stores):
    """A session alone does not turn the second factor off, or set up another one."""
    person = await visitor().sign_up()
    await with_second_factor(person)
    assert (await person.get("/settings/second-factor")).status == 403
    await person.get("/settings/second-factor/off")
    assert (await person.post("/settings/second-factor/off", current="not this one")).status == 422
    assert (await stores.members.find(NAME)).totp_secret
    assert (await person.post("/settings/second-factor/off", current=PASSWORD)).status == 303
    assert (await stores.members.find(NAME)).totp_secret is None


@task
async def test_a_changed_password_signs_out_elsewhere(visitor):
    """A new password needs the one before, holds at once, and ends all other sessions."""
    person, elsewhere = await visitor().sign_up(), visitor()
    await elsewhere.sign_in()
    await person.get("/settings/password")
    new = "another horse battery"
    assert (await person.post("/settings/password", current="wrong", password=new)).status == 422
    assert (await person.post("/settings/password", current=PASSWORD, password="short")).status == 422
    assert (await elsewhere.get("/keys")).status == 200
    assert (await person.post("/settings/password", current=PASSWORD, password=new)).status == 303
    assert (await person.get("/keys")).status == 200
    assert (await elsewhere.get("/keys")).status == 303
    assert (await elsewhere.sign_in()).status == 401
    assert (await elsewhere.sign_in(password=new)).status == 303


@task
async def test_sessions_are_listed_and_ended(visitor, stores):
    """One session is ended, or all; those of another member cannot be."""
    person, elsewhere = await visitor().sign_up(), visitor()
    other = await visitor().sign_up("bob@example.com")
    await elsewhere.sign_in()
    member = await stores.members.find(NAME)
    last, first = await stores.members.sessions(member.id, datetime.now(UTC) - timedelta(hours=1))
    assert (await other.post(f"/settings/sessions/{last.id}/end")).status == 404
    assert (await elsewhere.get("/keys")).status == 200
    assert (await person.post(f"/settings/sessions/{last.id}/end")).status == 303
    assert (await elsewhere.get("/keys")).status == 303
    assert (await person.get("/keys")).status == 200
    assert (await person.post("/settings/sessions/end")).headers["location"] == "/dashboard/sign-in"
    assert (await person.get("/keys")).status == 303
    assert (await other.get("/keys")).status == 200
    assert first.member_id == member.id


@task
async def test_a_form_without_cookies_says_so(visitor):
    """A browser that keeps no cookies is told what would help."""
    person = visitor()
    await person.get("/sign-in")
    person.cookies.clear()
    response = await person.post("/sign-in", name=NAME, password=PASSWORD)
    assert response.status == 403
    assert b"allow cookies" in response.body


@task
async def test_an_invitation_that_has_expired_is_forgotten(stores, execute):
    """Nothing of it stays in the store; others do."""
    await invite(stores.members, DEFAULT_ACCOUNT, "member")
    execute("UPDATE invitations SET expires = :then", then=str(datetime.now(UTC).replace(tzinfo=None)))
    await invite(stores.members, DEFAULT_ACCOUNT, "admin")
    await Sessions(stores.members).forget_old()
    assert execute("SELECT role FROM invitations").scalars().all() == ["admin"]
