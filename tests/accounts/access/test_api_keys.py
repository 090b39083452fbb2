"""API keys and their authentication."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.memory_stores import MemoryDatabase, MemoryKeys, MemoryLedger
from webdata.accounts.access.api_keys import (
    ApiKeys,
    check_name,
    check_shape,
    digest,
    first_keys,
    new_key,
    new_secret,
    successor,
)
from webdata.domain.errors import DatabaseUnavailableError, UnauthorizedError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
task = pytest.mark.task


class CountingKeys(MemoryKeys):
    """Counts the look-ups."""

    def __init__(self):
        super().__init__()
        self.finds = 0
        self.touched = []

    async def find(self, digest):
        self.finds += 1
        return await super().find(digest)

    async def touch(self, used):
        self.touched.append(used)
        await super().touch(used)


@pytest.fixture
def keys():
    return CountingKeys()


@pytest.fixture
def access(keys):
    return ApiKeys(keys)


async def refusal(access, headers, endpoint=None) -> str:
    with pytest.raises(UnauthorizedError) as caught:
        await access.authenticate(headers.get, endpoint)
    return str(caught.value)


@pytest.mark.parametrize(("test", "prefix"), [(True, "wd_test_"), (False, "wd_live_")])
def test_a_secret_has_a_kind_and_is_unique(test, prefix):
    """A secret has the prefix of its kind and 49 base62 digits, and no two are the same."""
    secrets = {new_secret(test=test) for _ in range(50)}

    assert len(secrets) == 50
    assert all(re.fullmatch(prefix + "[0-9A-Za-z]{49}", secret) for secret in secrets)


def test_a_small_number_is_padded(monkeypatch):
    """A small number is padded to the length of all others."""
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"\0" * (count - 1) + b"\x3e")

    assert new_secret(test=True).startswith("wd_test_" + "0" * 41 + "10")


def test_the_largest_number_fits_into_43_digits(monkeypatch):
    """The largest 32 bytes fit into 43 digits."""
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"\xff" * count)
    secret = new_secret(test=False)

    check_shape(secret)
    assert len(secret) == 57


def test_the_checksum_does_not_change_between_releases():
    """The checksum is the CRC-32 of the text before it, so that keys stay valid from release to release."""
    check_shape("wd_test_" + "0" * 43 + "06Dbrk")


def test_a_new_key_does_not_hold_its_secret():
    """A new key has its kind and the digest of its secret, but not the secret."""
    key, secret = new_key("for tests", test=True)

    assert (key.name, key.test, key.digest) == ("for tests", True, digest(secret))
    assert (secret.startswith(key.prefix), len(key.prefix)) == (True, 12)
    assert key.id.startswith("key_")
    assert key.created.utcoffset().total_seconds() == 0
    assert secret not in repr(key)


@task
async def test_a_store_without_keys_gets_two():
    """A store without keys gets a test key and a live key; one that has keys gets none."""
    database = MemoryDatabase()
    keys, ledger = MemoryKeys(database), MemoryLedger(database, "tests")
    made = await first_keys(keys, ledger)
    assert [key.test for key in await keys.all()] == [True, False]
    assert (made.test[:8], made.live[:8]) == ("wd_test_", "wd_live_")
    assert made.credits == await ledger.balance(DEFAULT_ACCOUNT)
    assert await first_keys(keys, ledger) is None


@task
@pytest.mark.parametrize("test", [True, False])
async def test_a_secret_authenticates_its_caller(access, keys, test):
    """A secret authenticates as its key, with its account."""
    key, secret = new_key("mine", test=test)
    await keys.add(key)
    caller = await access.authenticate({"X-Api-Key": secret}.get, "web_search")
    assert (caller.key, caller.account.name, caller.balance) == (key, "default", 1000)


@task
async def test_the_first_of_several_key_headers_counts(access, keys):
    """Of several headers the first in the order X-Api-Key, api-key, x-apikey, apikey decides, right or wrong."""
    names = ["X-Api-Key", "api-key", "x-apikey", "apikey"]
    made = [new_key(name, test=True) for name in names]
    for key, _ in made:
        await keys.add(key)
    headers = {name: secret for name, (_, secret) in zip(names, made, strict=True)}
    for name in names:
        assert name == (await access.authenticate(headers.get)).key.name
        assert "malformed" in await refusal(access, {**headers, name: "wrong"})
        del headers[name]


@task
async def test_a_missing_key_is_refused(access, keys):
    """Without a key the message names the header and the command that creates a key."""
    assert await refusal(access, {}) == (
        "The API key is missing. Send a key in the X-Api-Key header; "
        "whoever runs this service makes one with `webdata keys create`."
    )
    assert keys.finds == 0


@task
@pytest.mark.parametrize(
    "secret",
    ["", " ", "wd_live_", "wd_prod_" + "0" * 49, "wd_test_" + "0" * 48, "wd_test_" + "0" * 50, "ключ", "\ud800"],
)
async def test_a_malformed_key_is_refused(access, keys, secret):
    """A malformed key is refused without a look-up."""
    assert (await refusal(access, {"X-Api-Key": secret})).startswith("The API key is malformed")
    assert keys.finds == 0


@task
async def test_a_mistyped_key_is_refused(access, keys):
    """One wrong character, or two swapped ones, are detected without a look-up; the key is not repeated."""
    key, secret = new_key("mine", test=True)
    await keys.add(key)
    places = range(len("wd_test_"), len(secret))
    wrong = [secret[:at] + ("a" if secret[at] != "a" else "b") + secret[at + 1 :] for at in places]
    swapped = [secret[:at] + secret[at + 1] + secret[at] + secret[at + 2 :] for at in places[:-1]]
    other_kind = secret.replace("wd_test_", "wd_live_")
    for typed in {*wrong, *swapped, other_kind} - {secret}:
        message = await refusal(access, {"X-Api-Key": typed})
        assert message.startswith("The API key is mistyped")
        assert typed not in message
    assert keys.finds == 0


@task
async def test_an_unknown_key_is_refused(access):
    """A well-formed key that is not stored is refused, and is not repeated."""
    secret = new_secret(test=True)
    message = await refusal(access, {"X-Api-Key": secret})

    assert message.startswith("This API key is not known here")
    assert secret not in message


@task
async def test_a_revoked_key_is_refused(access, keys):
    """A revoked key is refused from the next call on, with the time of its revocation."""
    key, secret = new_key("mine", test=True)
    await keys.add(key)
    await access.authenticate({"apikey": secret}.get)
    await keys.revoke(key.id, NOON)

    message = await refusal(access, {"apikey": secret})
    assert message.startswith("This API key was revoked on 2026-07-01 at 12:00 UTC. Send a key in")
    assert secret not in message


@task
async def test_an_expired_key_is_refused(keys):
    """A key is valid until it expires, and refused from that moment on."""
    key, secret = new_key("mine", test=True, expires=NOON)
    await keys.add(key)
    early = ApiKeys(keys, lambda: NOON - timedelta(microseconds=1))
    assert (await early.authenticate({"apikey": secret}.get)).key == key
    await early.close()
    message = await refusal(ApiKeys(keys, lambda: NOON), {"apikey": secret})
    assert message.startswith("This API key expired on 2026-07-01 at 12:00 UTC. Send a key in")


@task
async def test_a_rotated_key_is_valid_until_the_overlap_ends(keys):
    """After a rotation both keys are valid until the overlap ends; then the old one's message names its replacement."""
    old, old_secret = new_key("mine", test=False, scopes=["web_search"])
    new, new_secret = successor(old)
    await keys.add(old)
    await keys.rotate(old.id, new, NOON)
    during, after = ApiKeys(keys, lambda: NOON - timedelta(hours=1)), ApiKeys(keys, lambda: NOON)
    assert (await during.authenticate({"apikey": old_secret}.get)).key.id == old.id
    assert (await during.authenticate({"apikey": new_secret}.get)).key.id == new.id
    assert (await after.authenticate({"apikey": new_secret}.get)).key.id == new.id
    message = await refusal(after, {"apikey": old_secret})
    assert message.endswith("at 12:00 UTC; another one has taken its place: use that one.")
    for access in (during, after):
        await access.close()


@task
async def test_a_key_with_scopes_is_valid_for_its_endpoints_only(access, keys):
    """A key with scopes is valid for its endpoints, and for paths of no endpoint, only."""
    key, secret = new_key("mine", test=True, scopes=["web_search", "news_search"])
    await keys.add(key)
    headers = {"apikey": secret}
    for endpoint in ("web_search", "news_search", None):
        assert (await access.authenticate(headers.get, endpoint)).key == (await keys.all())[0]
    assert await refusal(access, headers, "url_request") == (
        "This API key does not open url_request: it opens news_search, web_search. Use one that has url_request among "
        "its scopes, or one without scopes."
    )


@task
async def test_last_uses_are_stored_together(keys, monkeypatch):
    """Uses are stored a moment later, all of them at once, and the last ones at the end."""
    monkeypatch.setattr("webdata.accounts.access.api_keys.USES_STORED_EVERY", 0.02)
    moments = [NOON, NOON + timedelta(seconds=1), NOON + timedelta(seconds=2)]
    access = ApiKeys(keys, iter(moments).__next__)
    key, secret = new_key("mine", test=True)
    await keys.add(key)
    for _ in range(2):
        await access.authenticate({"apikey": secret}.get)
    assert keys.touched == []
    await asyncio.sleep(0.1)
    assert keys.touched == [{key.id: moments[1]}]
    await access.authenticate({"apikey": secret}.get)
    await access.close()
    assert (await keys.all())[0].last_used == moments[2]


@task
async def test_the_use_of_a_refused_key_is_not_stored(access, keys):
    """The last use of a refused key is not stored."""
    key, secret = new_key("mine", test=True, expires=NOON)
    await keys.add(replace(key, expires=datetime(2020, 1, 1, tzinfo=UTC)))
    await refusal(access, {"apikey": secret})
    await access.close()
    assert (await keys.all())[0].last_used is None


@task
async def test_a_store_that_fails_refuses_no_call(keys, caplog, monkeypatch):
    """A use that could not be stored is logged, and the call succeeds."""

    async def broken(used):
        raise OSError("the disk is full")

    monkeypatch.setattr(keys, "touch", broken)
    key, secret = new_key("mine", test=True)
    await keys.add(key)
    access = ApiKeys(keys)
    await access.authenticate({"apikey": secret}.get)
    await access.close()
    assert "The last uses of keys could not be stored" in caplog.text
    assert secret not in caplog.text


@task
async def test_uses_are_stored_once_the_database_answers_again(keys, caplog, monkeypatch):
    """Uses that a database was not there to take are logged in a line, and stored with the next ones."""

    async def away(used):
        raise DatabaseUnavailableError("connection refused")

    (first, one), (second, two) = (new_key("mine", test=True) for _ in range(2))
    for key in (first, second):
        await keys.add(key)
    access = ApiKeys(keys)
    await access.authenticate({"apikey": one}.get)
    with monkeypatch.context() as patch:
        patch.setattr(keys, "touch", away)
        await access.close()
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]
    await access.authenticate({"apikey": two}.get)
    await access.close()
    assert [set(used) for used in keys.touched] == [{first.id, second.id}]


def test_a_successor_has_the_same_permissions():
    """A successor has the same name, account, kind, scopes and lifetime."""
    key, _ = new_key("mine", test=False, account_id="acc_1", scopes=["web_search"])
    key = replace(key, created=NOON, expires=NOON + timedelta(days=30))
    new, secret = successor(key)
    assert (new.name, new.test, new.account_id, new.scopes) == (key.name, False, "acc_1", key.scopes)
    assert new.expires - new.created == timedelta(days=30)
    assert (new.digest, new.id != key.id) == (digest(secret), True)
    assert successor(replace(key, expires=None))[0].expires is None


@pytest.mark.parametrize("name", ["", "crawler", "Ünïted coffee 東京 ☕", "x" * 200])
def test_a_printable_name_is_accepted(name):
    """A name is any printable text, without blanks around it."""
    assert check_name(f" {name}  ") == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a\nb", "one line"),
        ("a\x1b[2Jb", "without control"),
        ("a\u202eb", "without control"),
        ("x" * 201, "at most 200"),
    ],
)
def test_a_name_with_control_characters_is_refused(name, reason):
    """A name with control characters, or one that is too long, is refused with the rule that it breaks."""
    with pytest.raises(ValueError, match=reason):
        check_name(name)
