"""Files of answers behind links."""

import asyncio

import pytest

from webdata.accounts.access.files import Files, KeptFile
from webdata.runtime.process.shares import MEBIBYTE
from webdata.stores.ephemeral.cache_memory import MemoryCache

pytestmark = pytest.mark.task
PICTURE = KeptFile("acc_one", "image/png", b"\x89PNG\nmore")


@pytest.fixture
def store():
    return MemoryCache(80 * MEBIBYTE)


async def test_a_file_is_found_by_its_id(store):
    """By one, however often it is kept, which another account, or another service, does not give the same content."""
    kept = Files(store)
    first, second = await kept.keep(PICTURE), await kept.keep(PICTURE)
    assert await kept.find(first) == PICTURE
    assert first == second
    assert await kept.find("0" * 32) is None
    assert first not in (await kept.keep(PICTURE._replace(account="acc_two")), await Files(store).keep(PICTURE))


async def test_an_account_has_a_share_of_what_is_kept(store):
    """Beyond it nothing more of it is kept, and others still have room; a file that is kept again takes no more."""
    kept = Files(store)
    files = [PICTURE._replace(body=b"%d" % number + b"x" * 6 * MEBIBYTE) for number in range(3)]
    ids = [await kept.keep(one) for one in (*files, files[0], files[2]._replace(account="acc_two"))]
    assert [one is not None for one in ids] == [True, True, False, True, True]


async def test_the_share_is_free_again_when_a_file_has_expired(store, monkeypatch):
    """After the time for which it is kept."""
    monkeypatch.setattr("webdata.accounts.access.files.SECONDS", 0.01)
    kept = Files(store)
    large = PICTURE._replace(body=b"x" * 15 * MEBIBYTE)
    monkeypatch.setattr(store, "takes", lambda _: True)
    first = await kept.keep(large)
    assert await kept.keep(PICTURE._replace(body=b"y" * 2 * MEBIBYTE)) is None
    await asyncio.sleep(0.05)
    assert await kept.find(first) is None
    assert await kept.keep(PICTURE._replace(body=b"y" * 2 * MEBIBYTE))


async def test_a_file_that_the_store_does_not_take_has_no_link():
    """A link that leads nowhere is worse than none."""
    assert await Files(MemoryCache(1000)).keep(PICTURE) is None
