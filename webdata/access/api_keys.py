"""Who may call: the rules over API keys.

A key is `wd_live_` or `wd_test_`, then 32 random bytes as 43 base62 digits, then a checksum: the CRC-32 of
everything before it, as 6 base62 digits (contract.md 7). The checksum tells a mistyped key from an unknown
one without a look-up. Digits are 0-9, A-Z, a-z, most significant first, padded with 0.
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

from webdata.domain.api_key import HEADERS, FirstKeys
from webdata.domain.errors import UnauthorizedError
from webdata.stores.interfaces import DEFAULT_ACCOUNT, Caller, Key, KeyStore, Ledger

logger = logging.getLogger(__name__)

BASE62 = digits + ascii_uppercase + ascii_lowercase
SHAPE = re.compile(r"wd_(live|test)_[0-9A-Za-z]{49}")
GET_ONE = "Send a key in the X-Api-Key header; whoever runs this service makes one with `webdata keys create`"


LONGEST_NAME = 200
SHOWN = len("wd_live_") + 4
"""Characters of a secret that are kept, to tell keys apart by: its kind, and 24 of its 256 random bits."""
USES_TOLD_EVERY = 5.0
"""Seconds that uses of keys are collected for before the store is told of them."""


def _now() -> datetime:
    return datetime.now(UTC)


class Access:
    """Opens the service to those who hold a key."""

    def __init__(self, keys: KeyStore, clock: Callable[[], datetime] = _now) -> None:
        self._keys = keys
        self._clock = clock
        self._used: dict[str, datetime] = {}
        self._telling: asyncio.Task[None] | None = None

    async def authenticate(self, header: Callable[[str], str | None], endpoint: str | None = None) -> Caller:
        """Who calls. `header` gives the value of a request header, None if it was not sent.

        Raises UnauthorizedError that says why the key does not open, or not the endpoint; it never repeats the key.
        """
        secret = next((value for name in HEADERS if (value := header(name)) is not None), None)
        if secret is None:
            raise UnauthorizedError(f"The API key is missing. {GET_ONE}.")
        check_shape(secret)
        caller = await self._keys.find(digest(secret))
        if caller is None:
            raise UnauthorizedError(f"This API key is not known here. {GET_ONE}.")
        now = self._clock()
        check_open(caller.key, now, endpoint)
        self._use(caller.key.id, now)
        return caller

    async def close(self) -> None:
        """Tell the store of the last uses."""
        if self._telling:
            self._telling.cancel()
        await self._tell()

    def _use(self, key_id: str, now: datetime) -> None:
        self._used[key_id] = now
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell_later())

    async def _tell_later(self) -> None:
        await asyncio.sleep(USES_TOLD_EVERY)
        await self._tell()

    async def _tell(self) -> None:
        used, self._used = self._used, {}
        try:
            await self._keys.touch(used)
        except Exception:  # no call needs it, and the log tells it
            logger.exception("The last uses of keys could not be kept")


def new_key(
    name: str,
    *,
    test: bool,
    account_id: str = DEFAULT_ACCOUNT,
    scopes: Collection[str] = (),
    expires: datetime | None = None,
) -> tuple[Key, str]:
    """A key for a KeyStore, and its secret, which can be shown this once only: nobody keeps it."""
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
    """The key that follows another one, and its secret. It may do the same, and lives as long, if not for ever."""
    lifetime = key.expires and key.expires - key.created
    new, secret = new_key(key.name, test=key.test, account_id=key.account_id, scopes=key.scopes)
    return replace(new, expires=new.created + lifetime if lifetime else None), secret


def check_name(name: str) -> str:
    """The name of a key or an account, without blanks around it; raises ValueError that says what is wrong with it."""
    stripped = name.strip()
    if not stripped.isprintable():
        raise ValueError("a name is one line of letters, digits and signs, without control characters")
    if len(stripped) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, this one has {len(stripped)}")
    return stripped


def check_open(key: Key, now: datetime, endpoint: str | None) -> None:
    """Raise UnauthorizedError where a key opens no more, or opens other endpoints than this one."""
    if key.revoked:
        raise UnauthorizedError(f"This API key was revoked on {_told(key.revoked)}. {GET_ONE}.")
    if key.expires and key.expires <= now:
        follows = "; another one has taken its place: use that one" if key.replaced_by else f". {GET_ONE}"
        raise UnauthorizedError(f"This API key expired on {_told(key.expires)}{follows}.")
    if endpoint and key.scopes and endpoint not in key.scopes:
        opened = ", ".join(sorted(key.scopes))
        raise UnauthorizedError(
            f"This API key does not open {endpoint}: it opens {opened}. Use one that has {endpoint} among its scopes, "
            "or one without scopes."
        )


def _told(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M} UTC"


def new_secret(*, test: bool) -> str:
    """A fresh random secret, as the holder of a key sends it."""
    number = int.from_bytes(secrets.token_bytes(32), "big")
    body = f"wd_{'test' if test else 'live'}_{_base62(number, 43)}"
    return body + _checksum(body)


def check_shape(secret: str) -> None:
    """Raise UnauthorizedError for what cannot be a key, whatever the store holds."""
    if not SHAPE.fullmatch(secret):
        raise UnauthorizedError(
            f"The API key is malformed: it is wd_live_ or wd_test_ and 49 letters and digits after it. {GET_ONE}."
        )
    if _checksum(secret[:-6]) != secret[-6:]:
        raise UnauthorizedError(
            f"The API key is mistyped: its checksum does not fit. Copy it again as a whole. {GET_ONE}."
        )


def digest(secret: str) -> str:
    """What is kept of a key: its SHA-256 in hex. A key has 256 random bits, so it needs no salt and no slow hash.

    Keys are found by this digest, never compared, so the time that a look-up takes tells nothing about any key.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), 6)


def _base62(number: int, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 62)
        text = BASE62[digit] + text
    return text.rjust(width, "0")
