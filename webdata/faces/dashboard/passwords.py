"""Passwords: which are good enough, and their hashes (Argon2id, RFC 9106)."""

import asyncio
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from webdata.accounts.access.invitations import new_secret
from webdata.domain.errors import OverloadedError

T = TypeVar("T")

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1000
COMMONEST = 10_000
"""How many of the commonest passwords are refused."""
MEMORY_KIB, PASSES = 47_104, 2
"""More than the least that OWASP recommends for one lane (Password Storage Cheat Sheet): some 50 ms of a processor."""
AT_ONCE = 2
MOST_WAITING = 50


def weakness(password: str, name: str) -> str | None:
    """Why a password cannot be that of the member who signs in by a name, as a sentence; None if it can."""
    password = _normalized(password)
    if len(password) < SHORTEST_PASSWORD:
        least = f"take at least {SHORTEST_PASSWORD}. Some words in a row are easy to remember."
        return f"It has {len(password)} characters: {least}"
    if len(password) > LONGEST_PASSWORD:
        return f"It has {len(password)} characters: take at most {LONGEST_PASSWORD}."
    folded = password.casefold()
    if folded in _commonest() or _without_ends(folded) in _commonest():
        return f"It is one of the {COMMONEST:,} that are tried first, or nearly so: take one that nobody else has."
    if folded in (name.casefold(), name.casefold() * 2) or len(set(folded)) < 4:
        return "It is easy to guess: take one that does not repeat your name, or a few characters."
    return None


class Passwords:
    """Hashes and verifies passwords in threads of their own, a few at once."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(PASSES, MEMORY_KIB, parallelism=1)
        self._threads = ThreadPoolExecutor(AT_ONCE, "passwords")
        self._waiting = 0

    async def hashed(self, password: str) -> str:
        """The hash of a password, with its salt and parameters. Raises OverloadedError."""
        return await self._in_thread(lambda: self._hasher.hash(_normalized(password)))

    async def verify(self, hashed: str | None, password: str) -> bool:
        """Whether a password is the one of a hash; None for that of nobody, which takes as long. Raises as `hashed`."""
        return await self._in_thread(lambda: self._verify(hashed, password))

    def check_room(self) -> None:
        """Raise OverloadedError if too many passwords wait."""
        if self._waiting >= MOST_WAITING:
            raise OverloadedError(f"{MOST_WAITING} passwords are being verified: try again in some seconds", 5)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        self.check_room()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    def _verify(self, hashed: str | None, password: str) -> bool:
        nobody = self._nobody
        try:
            return (
                self._hasher.verify(hashed or nobody, _normalized(password[: LONGEST_PASSWORD * 2]))
                and hashed is not None
            )
        except (VerificationError, InvalidHashError):
            return False

    @cached_property
    def _nobody(self) -> str:
        return self._hasher.hash(new_secret())


def _without_ends(password: str) -> str:
    """The password without the digits and signs that people put before and after a common one."""
    return password.strip("".join(sign for sign in set(password) if not sign.isalpha()))


def _normalized(password: str) -> str:
    """The same for every keyboard and system (NIST SP 800-63B 5.1.1.2)."""
    return unicodedata.normalize("NFKC", password)


@cache
def _commonest() -> frozenset[str]:
    # Imported here because the lists of the package have 1 MB.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(FREQUENCY_LISTS["passwords"][:COMMONEST])
