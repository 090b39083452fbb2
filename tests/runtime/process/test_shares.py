"""Shares of bytes and slots."""

import asyncio

import pytest

from webdata.domain.errors import OverloadedError, RateLimitedError
from webdata.runtime.process.shares import MEBIBYTE, SMALL, CallShare, FairSlots, HeldBytes


@pytest.fixture
def held():
    return HeldBytes(most=10 * MEBIBYTE, most_of_one=6 * MEBIBYTE)


def test_small_pages_are_not_counted(held):
    """A call may hold SMALL bytes, whatever the others hold."""
    CallShare("a", held).hold(6 * MEBIBYTE)
    CallShare("b", held).hold(4 * MEBIBYTE)
    CallShare("a", held).hold(SMALL)
    assert held.total == 10 * MEBIBYTE


def test_an_account_has_a_share_of_its_own(held):
    """An account that holds its share gets no more, and another one still does."""
    CallShare("a", held).hold(4 * MEBIBYTE)
    with pytest.raises(RateLimitedError, match="exceed 6 MiB: let one end first"):
        CallShare("a", held).hold(3 * MEBIBYTE)
    CallShare("b", held).hold(3 * MEBIBYTE)
    assert (held.of("a"), held.of("b")) == (4 * MEBIBYTE, 3 * MEBIBYTE)


def test_one_call_alone_may_hold_any_number(held):
    """The largest page there may be is answered where no other large one is held."""
    CallShare("a", held).hold(20 * MEBIBYTE)
    with pytest.raises(OverloadedError):
        CallShare("b", held).hold(2 * MEBIBYTE)


def test_all_keys_together_have_a_limit(held):
    """Where all keys together hold the most, another call is told that the process is overloaded."""
    CallShare("a", held).hold(6 * MEBIBYTE)
    with pytest.raises(OverloadedError):
        CallShare("b", held).hold(5 * MEBIBYTE)


def test_what_a_call_holds_is_replaced(held):
    """A call's answer replaces its page, a smaller one frees bytes, and a released call holds nothing any more."""
    share = CallShare("a", held)
    for size in (2, 5, 3):
        share.hold(size * MEBIBYTE)
        assert held.total == share.bytes_held == size * MEBIBYTE
    share.release()
    share.hold(5 * MEBIBYTE)
    assert (held.total, held.of("a")) == (0, 0)


def test_the_loss_of_a_large_page_is_told():
    """Garbage is to be collected after a lost call that held something, and after no other."""
    losses = []
    held = HeldBytes(on_loss=lambda: losses.append(held.total))
    answered, small, large = (CallShare(key, held) for key in "abc")
    for share, size in ((answered, 2 * MEBIBYTE), (small, 1), (large, 3 * MEBIBYTE)):
        share.hold(size)
    answered.release()
    small.lose()
    large.lose()
    assert losses == [3 * MEBIBYTE]
    assert held.total == 0


@pytest.mark.task
async def test_slots_are_given_to_accounts_in_turn():
    """However many calls of one account wait, that of another one is the next but one."""
    slots, order = FairSlots(1), []

    async def run(key, number):
        async with slots.slot(key):
            order.append(f"{key}{number}")
            await asyncio.sleep(0)

    calls = [asyncio.ensure_future(run("a", number)) for number in range(4)]
    await asyncio.sleep(0)
    await asyncio.gather(*calls, run("b", 0), run("c", 0), run("b", 1))
    assert order == ["a0", "a1", "a2", "b0", "c0", "a3", "b1"]


@pytest.mark.task
async def test_the_last_slot_is_for_other_accounts():
    """One account never holds all of several slots; what belongs to none may."""
    slots = FairSlots(2)
    async with slots.slot("a"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), slots.slot("a"):
                pass
        async with slots.slot("b"):
            pass
    async with slots.slot(""), slots.slot(""):
        pass


@pytest.mark.task
async def test_slots_survive_cancellation():
    """Calls that are cancelled while they wait, or in the round in which they get a slot, leave all slots free."""
    slots = FairSlots(1)
    async with slots.slot("a"):
        waiting = [asyncio.ensure_future(slots.acquire("b")) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    waiting[1].cancel()  # it has the slot, and does not know yet
    await waiting[2]
    slots.release("b")
    assert (slots._held.total, len(slots._waiting)) == (0, 0)
