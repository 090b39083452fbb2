"""Files of answers, such as screenshots, that can be read again for some minutes by a link."""

import asyncio
import hmac
import secrets
from typing import NamedTuple

import orjson

from webdata.runtime.process.shares import MEBIBYTE, Shares
from webdata.stores.ephemeral.interfaces import CacheStore

SECONDS = 600.0
"""For how long a file is kept."""
MOST_BYTES = 64 * MEBIBYTE
"""Of all files of a process."""
MOST_BYTES_OF_ONE = 16 * MEBIBYTE
"""Of the files of one account."""
LONGEST_HEAD = 1024
"""Bytes that are stored with a file."""


class KeptFile(NamedTuple):
    """A file, and whose it is."""

    account: str
    content_type: str
    body: bytes


class Files:
    """The files of this process in a store, which may be shared, and how many bytes each account has there."""

    def __init__(self, store: CacheStore) -> None:
        self._store = store
        self._shares = Shares(MOST_BYTES, MOST_BYTES_OF_ONE)
        self._ends: dict[str, asyncio.TimerHandle] = {}
        """When each of them is kept no more, by its id."""
        self._secret = secrets.token_bytes(32)

    async def keep(self, file: KeptFile) -> str | None:
        """Keep a file, or keep it longer; returns its id, or None where there is no room for it.

        The id is a signature of the account and the content, which nobody can guess: the answers of a cache have one
        for all, and no other account has it.
        """
        name, size = self._signed(file), len(file.body)
        if end := self._ends.pop(name, None):
            end.cancel()
        elif self._has_room(file.account, size):
            self._shares.change(file.account, size)
        else:
            return None
        self._ends[name] = asyncio.get_running_loop().call_later(SECONDS, self._end, name, file.account, size)
        head = orjson.dumps([file.account, file.content_type])
        await self._store.put(_key(name), b"\n".join((head, file.body)), SECONDS)
        return name

    def _signed(self, file: KeptFile) -> str:
        content = b"\n".join((file.account.encode(), file.body))
        return hmac.digest(self._secret, content, "sha256").hex()[:32]

    def _has_room(self, account: str, size: int) -> bool:
        shares = self._shares
        fits = shares.has_room_for_one(account, size) and shares.has_room(size)
        return fits and self._store.takes(size + LONGEST_HEAD)

    def _end(self, name: str, account: str, size: int) -> None:
        del self._ends[name]
        self._shares.change(account, -size)

    async def find(self, name: str) -> KeptFile | None:
        """The file with this id; None for one that is not kept any more."""
        packed = await self._store.get(_key(name))
        if packed is None:
            return None
        head, _, body = packed.partition(b"\n")
        account, content_type = orjson.loads(head)
        return KeptFile(account, content_type, body)


def _key(name: str) -> str:
    return f"file:{name}"
