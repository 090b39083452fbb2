"""Contexts without a browser: which are kept, which are replaced, which are closed."""

import pytest

from webdata.transports.browser import contexts
from webdata.transports.browser.contexts import Contexts, Profile

pytestmark = pytest.mark.task


def profile(jar="DE/desktop", **fields):
    given = {"engine": "one", "device": None, "languages": ("de",), "proxy": None, "lenient": False, **fields}
    return Profile(jar=jar, **given)


class Opened:
    """What Playwright would have opened."""

    closed = False
    pages = ()

    def __init__(self, fault=None):
        self.fault = fault

    async def close(self):
        self.closed = True
        if self.fault:
            raise self.fault


@pytest.fixture
def hung():
    return []


@pytest.fixture
def kept(hung):
    async def tell():
        hung.append(True)

    return Contexts(tell)


async def used(kept, who, opened=None):
    async with kept.lent(who, None) as context:
        context.opened = context.opened or opened or Opened()
    return context


async def test_equal_profiles_share_a_context(kept):
    """Who has the same identity and the same proxy has the same context."""
    assert await used(kept, profile()) is await used(kept, profile())
    for other in (profile("US/desktop"), profile(proxy="http://127.0.0.1:1"), profile(engine="two")):
        assert await used(kept, other) is not await used(kept, profile())


@pytest.mark.parametrize("limit", ["USES", "SECONDS"])
async def test_a_worn_context_is_replaced(kept, monkeypatch, limit):
    """After its uses or its time a context is closed, and the next page gets a new one."""
    first = await used(kept, profile())
    opened = first.opened
    monkeypatch.setattr(contexts, limit, 0)
    async with kept.lent(profile(), None) as second:
        assert second is not first
    assert opened.closed


async def test_a_context_in_use_is_not_closed(kept):
    """One that is given up goes when its last page is closed."""
    async with kept.lent(profile(), None) as context:
        context.opened = opened = Opened()
        await kept.close()
        assert not opened.closed
    assert opened.closed
    assert len(kept) == 0


async def test_the_number_is_bounded(kept, monkeypatch):
    """Beyond the limit those go that were used least lately."""
    monkeypatch.setattr(contexts, "LIMIT", 2)
    opened = {jar: (await used(kept, profile(jar))).opened for jar in ("a", "b")}
    await used(kept, profile("a"))
    await used(kept, profile("c"))
    assert (opened["a"].closed, opened["b"].closed) == (False, True)
    assert len(kept) == 2


async def test_engines_close_their_own(kept):
    """An engine that ends leaves those of others alone."""
    mine, others = [(await used(kept, profile(engine=engine))).opened for engine in ("one", "two")]
    await kept.close("one")
    assert (mine.closed, others.closed) == (True, False)


async def test_a_context_that_cannot_be_closed_is_told(kept, hung):
    """Where the browser does not answer it is to be ended; one that has died needs nothing."""
    await used(kept, profile("a"), Opened(TimeoutError()))
    await used(kept, profile("b"), Opened(RuntimeError("Target closed")))
    await kept.close()
    assert hung == [True]
    assert len(kept) == 0


async def test_a_dead_browser_takes_its_contexts_along(kept):
    """After a death nothing of the old browser is lent."""
    first = await used(kept, profile())
    kept.forget()
    assert (await used(kept, profile())) is not first


def test_a_profile_hides_its_proxy():
    """A password is not shown with the profile."""
    assert "secret" not in repr(profile(proxy="http://user:secret@host:1"))


@pytest.mark.parametrize(
    ("url", "parted"),
    [
        ("http://127.0.0.1:8081", {"server": "http://127.0.0.1:8081"}),
        ("https://a%40b:c%3Ad@host:1", {"server": "https://host:1", "username": "a@b", "password": "c:d"}),
    ],
)
def test_a_proxy_is_told_as_playwright_wants_it(url, parted):
    """User and password are unescaped, and apart from the address."""
    assert contexts._parted(url) == parted
