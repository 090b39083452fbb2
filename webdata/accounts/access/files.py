"""Files of answers, such as screenshots, that their account can read again for some minutes by a link."""

import asyncio
from secrets import token_urlsafe
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

    async def keep(self, file: KeptFile) -> str | None:
        """Keep a file; returns its id, which nobody can guess, or None where there is no room for it."""
        size = len(file.body)
        if not self._store.takes(size + LONGEST_HEAD):
            return None
        if not (self._shares.has_room_for_one(file.account, size) and self._shares.has_room(size)):
            return None
        self._shares.change(file.account, size)
        asyncio.get_running_loop().call_later(SECONDS, self._shares.change, file.account, -size)
        name = token_urlsafe(24)
        head = orjson.dumps([file.account, file.content_type])
        await self._store.put(_key(name), b"\n".join((head, file.body)), SECONDS)
        return name

    async def find(self, name: str, account: str) -> KeptFile | None:
        """The file of an account with this id; None for another account's, and for one that is not kept any more."""
        packed = await self._store.get(_key(name))
        if packed is None:
            return None
        head, _, body = packed.partition(b"\n")
        owner, content_type = orjson.loads(head)
        return KeptFile(owner, content_type, body) if owner == account else None


def _key(name: str) -> str:
    return f"file:{name}"
