"""Files of records in a folder or an S3 bucket, by obstore."""

import asyncio
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from webdata.domain.errors import ConfigError
from webdata.domain.extras import extra

S3 = "s3://"
MOST_LISTED = 1000


class PartStore:
    """Files of records in a folder, or in `s3://bucket/prefix` with the credentials of AWS's usual variables.

    Its functions run in threads: obstore's own coroutines end the interpreter with an abort (0.12). Raises ConfigError
    where obstore is not installed, and OSError where the store fails.
    """

    def __init__(self, url: str) -> None:
        with extra("s3"):
            import obstore  # noqa: PLC0415
            from obstore.store import LocalStore, S3Store  # noqa: PLC0415
        self._obstore: Any = obstore
        try:
            self._store: Any = (
                S3Store.from_url(url)
                if url.startswith(S3)
                else LocalStore(Path(url).absolute(), automatic_cleanup=True, mkdir=True)
            )
        except Exception as error:
            raise ConfigError(f"WEBDATA_BATCH_STORE cannot be used: {str(error).partition(chr(10))[0]}") from error

    async def put(self, name: str, data: bytes) -> None:
        """Store a file; its name has the id of the batch before a slash."""
        await self._run(self._obstore.put, name, data)

    async def read(self, name: str, offset: int, length: int) -> bytes:
        """Some bytes of a file."""
        return bytes(await self._run(self._obstore.get_range, name, start=offset, length=length))

    async def batches(self) -> Sequence[str]:
        """The ids of batches that have files."""
        listed = await self._run(self._obstore.list_with_delimiter)
        return list(listed["common_prefixes"])

    async def remove(self, batch_id: str, most: int) -> int:
        """Remove at most `most` files of a batch; returns how many."""
        return await asyncio.to_thread(self._remove, batch_id, most)

    def _remove(self, batch_id: str, most: int) -> int:
        pages = self._obstore.list(self._store, prefix=batch_id, chunk_size=MOST_LISTED)
        names = [one["path"] for one in islice((one for page in pages for one in page), most)]
        if names:
            self._obstore.delete(self._store, names)
        return len(names)

    async def _run(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """Raises OSError for all that goes wrong with the store."""
        try:
            return await asyncio.to_thread(function, self._store, *arguments, **options)
        except OSError:
            raise
        except Exception as error:
            raise OSError(str(error).partition("\n")[0]) from error


def open_parts(url: str | None) -> PartStore | None:
    """The store at a URL or in a folder; None without one."""
    return PartStore(url) if url else None
