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
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple
from zlib import crc32

from ulid import ULID

from webdata.domain.api_key import AUTHORIZATION, HEADERS, SHOWN, FirstKeys, key_in_authorization
from webdata.domain.errors import DatabaseUnavailableError, UnauthorizedError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, Caller, Key
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.ledger.sql import Ledger

logger = logging.getLogger(__name__)

Header = Callable[[str], str | None]
"""The value of a request header; None if it was not sent."""

BASE62 = digits + ascii_uppercase + ascii_lowercase
SHAPE = re.compile(r"wd_(live|test)_[0-9A-Za-z]{49}")
LOOKS = "it is wd_live_ or wd_test_ and 49 letters and digits after it"
GET_ONE = "Send a key in the X-Api-Key header; whoever runs this service makes one with `webdata keys create`"

MANAGE_WEBHOOKS = "manage_webhooks"
"""The scope of keys that make, read and change webhooks. Webhooks hear of the whole account, so no test key does."""
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
        key = sent_key(header)
        return await self.admit(digest(key.secret), endpoint, key.sent_in)

    async def admit(self, key_digest: str, endpoint: str | None = None, sent_in: str | None = None) -> Caller:
        """The caller with the key of this digest; raises UnauthorizedError as `authenticate`.

        For who has no secret, but may use the key: a member of its account who is signed in to the dashboard.
        """
        caller = await self._keys.find(key_digest)
        if caller is None:
            raise UnauthorizedError(f"This API key is not known here{_origin(sent_in)}. {GET_ONE}.")
        now = self._clock()
        check_usable(caller.key, now, endpoint)
        self._use(caller.key.id, now)
        return caller

    def check_opens(self, caller: Caller, endpoints: Iterable[str]) -> None:
        """Raise UnauthorizedError for a key that does not open one of these endpoints."""
        for endpoint in endpoints:
            check_usable(caller.key, self._clock(), endpoint)

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
        except DatabaseUnavailableError as error:
            self._used = used | self._used
            logger.warning(
                "The last uses of keys are stored after the next one: the database does not answer: %s", error
            )
        except Exception:  # no call depends on it
            logger.exception("The last uses of keys could not be stored")


class SentKey(NamedTuple):
    """A key as a request has it, before it is looked up."""

    secret: str
    sent_in: str
    """The name of its header."""


def sent_key(header: Header) -> SentKey:
    """The key of a request; raises UnauthorizedError if there is none, or what is in its place does not look so.

    Of HEADERS the first present counts, and behind them AUTHORIZATION.
    """
    for name in HEADERS:
        if (value := header(name)) is not None:
            return _checked(SentKey(value, name))
    authorization = header(AUTHORIZATION)
    if authorization is None:
        raise UnauthorizedError(f"The API key is missing. {GET_ONE}.")
    secret = key_in_authorization(authorization)
    if secret is None:
        raise UnauthorizedError(
            f"The header {AUTHORIZATION} is there, but holds no API key: send {AUTHORIZATION}: Bearer KEY, or Basic "
            f"with the key as the password, or the key in {HEADERS[0]}; {LOOKS}."
        )
    return _checked(SentKey(secret, AUTHORIZATION))


def _checked(key: SentKey) -> SentKey:
    check_shape(key.secret, key.sent_in)
    return key


def _origin(sent_in: str | None) -> str:
    return f" (it came in the header {sent_in})" if sent_in else ""


def new_key(
    name: str,
    *,
    test: bool,
    account_id: str = DEFAULT_ACCOUNT,
    scopes: Collection[str] = (),
    expires: datetime | None = None,
    engines: Sequence[str] = (),
    archive_days: int | None = None,
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
        engines=tuple(engines),
        archive_days=archive_days,
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
    """The key that replaces another one, with the same scopes, engines, archive and lifetime, and its secret."""
    lifetime = key.expires and key.expires - key.created
    new, secret = new_key(
        key.name,
        test=key.test,
        account_id=key.account_id,
        scopes=key.scopes,
        engines=key.engines,
        archive_days=key.archive_days,
    )
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
    """Raise UnauthorizedError for a key that is revoked or expired, or that does not open an endpoint.

    It opens those among its scopes, or all where it has no scopes; MANAGE_WEBHOOKS is open to live keys alone.
    """
    if key.revoked:
        raise UnauthorizedError(f"This API key was revoked on {_as_text(key.revoked)}. {GET_ONE}.")
    if key.expires and key.expires <= now:
        follows = "; another one has taken its place: use that one" if key.replaced_by else f". {GET_ONE}"
        raise UnauthorizedError(f"This API key expired on {_as_text(key.expires)}{follows}.")
    if endpoint == MANAGE_WEBHOOKS and key.test:
        raise UnauthorizedError(
            "This is a test key, and webhooks hear of the whole account: manage them with a live key that has "
            f"{MANAGE_WEBHOOKS} among its scopes, or that has none, or in the dashboard."
        )
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


def check_shape(secret: str, sent_in: str | None = None) -> None:
    """Raise UnauthorizedError for a malformed or mistyped key, with the header in which it was sent."""
    if not SHAPE.fullmatch(secret):
        raise UnauthorizedError(f"The API key is malformed{_origin(sent_in)}: {LOOKS}. {GET_ONE}.")
    if not is_key(secret):
        raise UnauthorizedError(
            f"The API key is mistyped{_origin(sent_in)}: its checksum does not fit. Copy it again as a whole. "
            f"{GET_ONE}."
        )


def is_key(text: str) -> bool:
    """Whether a text has the form of a key, and its checksum."""
    return SHAPE.fullmatch(text) is not None and _checksum(text[:-6]) == text[-6:]


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
