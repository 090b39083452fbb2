"""Pages are converted in processes that end when they must."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from webdata.conversion.processes import LARGE, LARGE_AT_ONCE, Conversions, Turns
from webdata.domain.errors import UnsupportedContentError, UpstreamError, UpstreamTimeoutError
from webdata.pages import url

TOLD = {"url": "https://example.com/", "status": 200, "headers": {"content-type": "text/html"}}
ASKED = {**TOLD, "response_type": "markdown"}
SMALL = b"<h1>Tea</h1><p>It is <b>green</b>.</p>"
LONG = b"<html><body>" + b"<p>Some <b>words</b> of text.</p>" * 15_000
ENTITIES = b"<p>" + b"&eacute;" * 2_000_000


BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def others():
    """The processes that earlier tests' spiders, which hold none, have left to the end of the program."""
    BEFORE.clear()
    BEFORE.update(child.pid for child in multiprocessing.active_children())


def processes():
    """Those that convert for the test that runs."""
    return [child for child in multiprocessing.active_children() if child.pid not in BEFORE]


async def converted(body, seconds=5.0, seconds_bare=5.0, left=20.0):
    """What processes of their own make of a page; they are gone afterwards."""
    conversions = Conversions(seconds, seconds_bare)
    conversions.hold()
    try:
        return await conversions.page(body, left, ASKED)
    finally:
        await conversions.release()


@pytest.mark.task
async def test_a_page_is_what_it_is_elsewhere():
    """A process gives the same record as the page module itself."""
    assert await converted(SMALL) == url.page(SMALL, response_type="markdown", **TOLD)


@pytest.mark.task
async def test_what_takes_too_long_is_given_without_markup():
    """A page whose conversion is ended is answered with its text."""
    assert (await converted(LONG, seconds=0.1))["data"].startswith("Some words of text.\nSome words")


@pytest.mark.task
async def test_nothing_in_time():
    """A page of which even the text takes too long is an error that says so, after a bounded time."""
    begun = monotonic()
    with pytest.raises(UpstreamError, match="too long to convert") as caught:
        await converted(ENTITIES, seconds=0.01, seconds_bare=0.01)
    assert (caught.value.kind, monotonic() - begun < 10) == ("too_complex", True)


@pytest.mark.task
async def test_no_longer_than_the_call():
    """A conversion ends with the time of the call that it is for."""
    with pytest.raises(UpstreamTimeoutError):
        await converted(LONG, left=0.05)


@pytest.mark.task
async def test_what_is_no_text():
    """Content that cannot be Markdown is told with its type, from a process too."""
    with pytest.raises(UnsupportedContentError) as caught:
        await converted(b"%PDF-1.4 \xe2\xe3")
    assert caught.value.content_type == "application/pdf"


@pytest.mark.task
async def test_processes_end_when_nobody_holds_them():
    """They serve all who hold them, end with the last, and begin anew when they are asked again."""
    conversions = Conversions()
    for holders in (2, 1):
        for _ in range(holders):
            conversions.hold()
        for _ in range(holders):
            assert (await conversions.page(SMALL, 20, ASKED))["data"].startswith("# Tea")
            assert processes()
            await conversions.release()
    assert not processes()


@pytest.mark.task
async def test_a_process_that_dies_is_replaced():
    """Killed processes cost no later page its answer."""
    conversions = Conversions()
    conversions.hold()
    await conversions.page(SMALL, 20, ASKED)
    for child in processes():
        os.kill(child.pid, signal.SIGKILL)
    await asyncio.sleep(0.3)  # it is noticed ten times a second
    assert (await conversions.page(SMALL, 20, ASKED))["data"].startswith("# Tea")
    await conversions.release()


PROGRAM = """
import asyncio, multiprocessing
from webdata.conversion.processes import CONVERSIONS

async def run():
    told = {"url": "https://example.com/", "status": 200, "headers": {}, "response_type": "markdown"}
    await CONVERSIONS.page(b"<p>tea", 20, told)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    await CONVERSIONS.page(b"<p>" + b"&eacute; <b>x</b>" * 39_000, 20, told)
    await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(run())
"""


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_no_orphans(tmp_path):
    """Nobody is left behind by a program that is killed in the middle of a page."""
    (tmp_path / "program.py").write_text(PROGRAM)
    program = subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True)
    pids = program.stdout.readline().split()
    program.kill()
    program.wait()
    program.stdout.close()
    end = monotonic() + 8
    while any(map(alive, pids)) and monotonic() < end:
        sleep(0.1)
    assert pids
    assert not [pid for pid in pids if alive(pid)]


@pytest.mark.task
async def test_large_pages_wait_for_a_place():
    """Few large pages are worked on at once, the others wait within their time, and small ones never do."""
    turns = Turns()
    held = [turns.turn(LARGE, 1) for _ in range(LARGE_AT_ONCE)]
    for one in held:
        await one.__aenter__()
    async with turns.turn(LARGE - 1, 0):
        pass
    with pytest.raises(UpstreamTimeoutError):
        async with turns.turn(LARGE, 0.01):
            pass
    await held[0].__aexit__(None, None, None)
    async with turns.turn(LARGE, 1):
        pass
