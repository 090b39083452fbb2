"""Files of answers behind links."""

import asyncio

import pytest

from webdata.accounts.access import files
from webdata.accounts.access.files import Files, KeptFile
from webdata.runtime.process.shares import MEBIBYTE
from webdata.stores.ephemeral.cache_memory import MemoryCache

pytestmark = pytest.mark.task
PICTURE = KeptFile("acc_one", "image/png", b"\x89PNG\nmore")


@pytest.fixture
def store():
    return MemoryCache(80 * MEBIBYTE)


async def test_a_file_is_found_by_its_own_account(store):
    """By an id that is new each time; for another account, and for another id, there is none."""
    kept = Files(store)
    first, second = await kept.keep(PICTURE), await kept.keep(PICTURE)
    assert await kept.find(first, "acc_one") == PICTURE
    assert first != second
    assert await kept.find(first, "acc_two") is None
    assert await kept.find("x" * 32, "acc_one") is None


async def test_an_account_has_a_share_of_what_is_kept(store, monkeypatch):
    """Beyond it nothing more of it is kept, and others still have room, up to what all have together."""
    monkeypatch.setattr(files, "MOST_BYTES_OF_ONE", 2 * MEBIBYTE)
    monkeypatch.setattr(files, "MOST_BYTES", 3 * MEBIBYTE)
    kept = Files(store)
    large = PICTURE._replace(body=b"x" * MEBIBYTE)
    ids = [await kept.keep(large) for _ in range(3)]
    others = [await kept.keep(large._replace(account=name)) for name in ("acc_two", "acc_three")]
    assert [one is not None for one in (*ids, *others)] == [True, True, False, True, False]


async def test_the_share_is_free_again_when_the_file_has_expired(store, monkeypatch):
    """After the time for which it is kept."""
    monkeypatch.setattr(files, "SECONDS", 0.01)
    monkeypatch.setattr(files, "MOST_BYTES_OF_ONE", 1)
    kept = Files(store)
    first = await kept.keep(PICTURE)
    assert await kept.keep(PICTURE) is None
    await asyncio.sleep(0.05)
    assert await kept.find(first, "acc_one") is None
    assert await kept.keep(PICTURE)


async def test_a_file_that_the_store_does_not_take_has_no_link(monkeypatch):
    """A link that leads nowhere is worse than none."""
    assert await Files(MemoryCache(1000)).keep(PICTURE) is None
