"""Browser contexts, without a browser: which are shared, replaced and closed."""

import pytest

from webdata.fetching.transports.browser.contexts import Contexts, Profile, proxy_settings

pytestmark = pytest.mark.task


def profile(jar="DE/desktop", **fields):
    given = {"engine": "one", "device": None, "languages": ("de",), "proxy": None, "lenient": False, **fields}
    return Profile(jar=jar, **given)


class PlaywrightContext:
    """A stand-in for Playwright's context."""

    closed = False
    pages = ()

    def __init__(self, error=None):
        self.error = error

    async def close(self):
        self.closed = True
        if self.error:
            raise self.error


@pytest.fixture
def hangs():
    return []


@pytest.fixture
def contexts(hangs):
    async def on_hang():
        hangs.append(True)

    return Contexts(on_hang)


async def visit(contexts, profile, opened=None):
    async with contexts.borrow(profile, None) as context:
        context.opened = context.opened or opened or PlaywrightContext()
    return context


async def test_equal_profiles_share_a_context(contexts):
    """Another cookie jar, proxy or engine gets a context of its own."""
    assert await visit(contexts, profile()) is await visit(contexts, profile())
    for other in (profile("US/desktop"), profile(proxy="http://127.0.0.1:1"), profile(engine="two")):
        assert await visit(contexts, other) is not await visit(contexts, profile())


@pytest.mark.parametrize("limit", ["USES", "SECONDS"])
async def test_an_expired_context_is_replaced(contexts, monkeypatch, limit):
    """After USES visits or SECONDS a context is closed, and the next visit gets a new one."""
    first = await visit(contexts, profile())
    opened = first.opened
    monkeypatch.setattr(f"webdata.fetching.transports.browser.contexts.{limit}", 0)
    async with contexts.borrow(profile(), None) as second:
        assert second is not first
    assert opened.closed


async def test_a_context_in_use_is_not_closed(contexts):
    """A retired context is closed after its last visit."""
    async with contexts.borrow(profile(), None) as context:
        context.opened = opened = PlaywrightContext()
        await contexts.close()
        assert not opened.closed
    assert opened.closed
    assert len(contexts) == 0


async def test_the_number_of_contexts_is_limited(contexts, monkeypatch):
    """Beyond LIMIT the least recently used context is closed."""
    monkeypatch.setattr("webdata.fetching.transports.browser.contexts.MOST_CONTEXTS", 2)
    opened = {jar: (await visit(contexts, profile(jar))).opened for jar in ("a", "b")}
    await visit(contexts, profile("a"))
    await visit(contexts, profile("c"))
    assert (opened["a"].closed, opened["b"].closed) == (False, True)
    assert len(contexts) == 2


async def test_an_engine_closes_its_own_contexts(contexts):
    """Contexts of other engines stay open."""
    own, other = [(await visit(contexts, profile(engine=engine))).opened for engine in ("one", "two")]
    await contexts.close("one")
    assert (own.closed, other.closed) == (True, False)


async def test_a_context_that_cannot_be_closed_is_reported(contexts, hangs):
    """`on_hang` is called when the browser does not answer, but not when it has died."""
    await visit(contexts, profile("a"), PlaywrightContext(TimeoutError()))
    await visit(contexts, profile("b"), PlaywrightContext(RuntimeError("Target closed")))
    await contexts.close()
    assert hangs == [True]
    assert len(contexts) == 0


async def test_the_contexts_of_a_dead_browser_are_not_used_again(contexts):
    """After `retire_all` a visit gets a new context."""
    first = await visit(contexts, profile())
    contexts.retire_all()
    assert (await visit(contexts, profile())) is not first


def test_a_profile_hides_its_proxy():
    """The representation of a profile contains no password."""
    assert "secret" not in repr(profile(proxy="http://user:secret@host:1"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8081", {"server": "http://127.0.0.1:8081"}),
        ("https://a%40b:c%3Ad@host:1", {"server": "https://host:1", "username": "a@b", "password": "c:d"}),
    ],
)
def test_a_proxy_url_becomes_playwrights_settings(url, expected):
    """User and password are unescaped, and separate from the address."""
    assert proxy_settings(url) == expected
