"""API keys: their format, and the authentication of callers.

A key is `wd_live_` or `wd_test_`, then 32 random bytes as 43 base62 digits, then a checksum: the CRC-32 of
everything before it, as 6 base62 digits. The checksum shows a mistyped key without a look-up.
Digits are 0-9, A-Z, a-z, most significant first, padded with 0.
"""

import asyncio
import hashlib
import logging
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from string import ascii_lowercase, ascii_uppercase, digits
from zlib import crc32

from ulid import ULID

from webdata.domain.api_key import HEADERS, SHOWN, FirstKeys
from webdata.domain.errors import UnauthorizedError
from webdata.stores.interfaces import DEFAULT_ACCOUNT, Caller, Key, KeyStore, Ledger

logger = logging.getLogger(__name__)

Header = Callable[[str], str | None]
"""The value of a request header; None if it was not sent."""

BASE62 = digits + ascii_uppercase + ascii_lowercase
SHAPE = re.compile(r"wd_(live|test)_[0-9A-Za-z]{49}")
GET_ONE = "Send a key in the X-Api-Key header; whoever runs this service makes one with `webdata keys create`"


LONGEST_NAME = 200
USES_STORED_EVERY = 5.0
"""Seconds for which uses of keys are collected before they are stored."""


def _now() -> datetime:
    return datetime.now(UTC)


class ApiKeys:
    """Authenticates the caller of a request by its API key."""

    def __init__(self, keys: KeyStore, clock: Callable[[], datetime] = _now) -> None:
        self._keys = keys
        self._clock = clock
        self._used: dict[str, datetime] = {}
        self._storing: asyncio.Task[None] | None = None

    async def authenticate(self, header: Header, endpoint: str | None = None) -> Caller:
        """The caller. `header` returns the value of a request header, None if it was not sent.

        Raises UnauthorizedError with the reason for which the key or its scope is refused, never with the key.
        """
        return await self.admit(digest(sent_secret(header)), endpoint)

    async def admit(self, key_digest: str, endpoint: str | None = None) -> Caller:
        """The caller with the key of this digest; raises UnauthorizedError as `authenticate`.

        For who has no secret, but may use the key: a member of its account who is signed in to the dashboard.
        """
        caller = await self._keys.find(key_digest)
        if caller is None:
            raise UnauthorizedError(f"This API key is not known here. {GET_ONE}.")
        now = self._clock()
        check_usable(caller.key, now, endpoint)
        self._use(caller.key.id, now)
        return caller

    async def close(self) -> None:
        """Store the last uses."""
        if self._storing:
            self._storing.cancel()
        await self._store_uses()

    def _use(self, key_id: str, now: datetime) -> None:
        self._used[key_id] = now
        if self._storing is None or self._storing.done():
            self._storing = asyncio.get_running_loop().create_task(self._store_later())

    async def _store_later(self) -> None:
        await asyncio.sleep(USES_STORED_EVERY)
        await self._store_uses()

    async def _store_uses(self) -> None:
        used, self._used = self._used, {}
        try:
            await self._keys.touch(used)
        except Exception:  # no call depends on it
            logger.exception("The last uses of keys could not be stored")


def sent_secret(header: Header) -> str:
    """The key of a request, before it is looked up; raises UnauthorizedError if there is none or no key looks so."""
    secret = next((value for name in HEADERS if (value := header(name)) is not None), None)
    if secret is None:
        raise UnauthorizedError(f"The API key is missing. {GET_ONE}.")
    check_shape(secret)
    return secret


def new_key(
    name: str,
    *,
    test: bool,
    account_id: str = DEFAULT_ACCOUNT,
    scopes: Collection[str] = (),
    expires: datetime | None = None,
) -> tuple[Key, str]:
    """A key for a KeyStore, and its secret, of which only the hash is stored."""
    secret = new_secret(test=test)
    key = Key(
        id=f"key_{ULID()}",
        name=name,
        test=test,
        created=_now(),
        digest=digest(secret),
        account_id=account_id,
        prefix=secret[:SHOWN],
        scopes=frozenset(scopes),
        expires=expires,
    )
    return key, secret


async def first_keys(keys: KeyStore, ledger: Ledger) -> FirstKeys | None:
    """A test key and a live key of the default account, made if the store has no keys; None if it has some."""
    if await keys.all():
        return None
    test, test_secret = new_key("first test key", test=True)
    live, live_secret = new_key("first live key", test=False)
    await keys.add(test)
    await keys.add(live)
    return FirstKeys(test_secret, live_secret, await ledger.balance(DEFAULT_ACCOUNT))


def successor(key: Key) -> tuple[Key, str]:
    """The key that replaces another one, with the same scopes and lifetime, and its secret."""
    lifetime = key.expires and key.expires - key.created
    new, secret = new_key(key.name, test=key.test, account_id=key.account_id, scopes=key.scopes)
    return replace(new, expires=new.created + lifetime if lifetime else None), secret


def check_name(name: str) -> str:
    """The name of a key or an account, without surrounding blanks; raises ValueError with the rule that it breaks."""
    stripped = name.strip()
    if not stripped.isprintable():
        raise ValueError("a name is one line of letters, digits and signs, without control characters")
    if len(stripped) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, this one has {len(stripped)}")
    return stripped


def check_usable(key: Key, now: datetime, endpoint: str | None) -> None:
    """Raise UnauthorizedError for a key that is revoked or expired, or whose scopes do not include the endpoint."""
    if key.revoked:
        raise UnauthorizedError(f"This API key was revoked on {_as_text(key.revoked)}. {GET_ONE}.")
    if key.expires and key.expires <= now:
        follows = "; another one has taken its place: use that one" if key.replaced_by else f". {GET_ONE}"
        raise UnauthorizedError(f"This API key expired on {_as_text(key.expires)}{follows}.")
    if endpoint and key.scopes and endpoint not in key.scopes:
        opened = ", ".join(sorted(key.scopes))
        raise UnauthorizedError(
            f"This API key does not open {endpoint}: it opens {opened}. Use one that has {endpoint} among its scopes, "
            "or one without scopes."
        )


def _as_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M} UTC"


def new_secret(*, test: bool) -> str:
    """A new random secret, as callers send it."""
    number = int.from_bytes(secrets.token_bytes(32), "big")
    body = f"wd_{'test' if test else 'live'}_{_base62(number, 43)}"
    return body + _checksum(body)


def check_shape(secret: str) -> None:
    """Raise UnauthorizedError for a malformed or mistyped key."""
    if not SHAPE.fullmatch(secret):
        raise UnauthorizedError(
            f"The API key is malformed: it is wd_live_ or wd_test_ and 49 letters and digits after it. {GET_ONE}."
        )
    if _checksum(secret[:-6]) != secret[-6:]:
        raise UnauthorizedError(
            f"The API key is mistyped: its checksum does not fit. Copy it again as a whole. {GET_ONE}."
        )


def digest(secret: str) -> str:
    """The SHA-256 of a random secret in hex, which is stored: so many random bits need no salt and no slow hash.

    Secrets are looked up by this digest, never compared, so the time of a look-up reveals nothing about any of them.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), 6)


def _base62(number: int, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 62)
        text = BASE62[digit] + text
    return text.rjust(width, "0")
