"""Conversion of pages to Markdown in processes that can be killed."""

import asyncio
import gzip
import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

from tests.composed_office import ENDLESS
from tests.composed_pdf import hostile
from webdata.domain.errors import UnsupportedContentError, UpstreamError, UpstreamTimeoutError
from webdata.fetching.conversion import processes as conversion
from webdata.fetching.conversion.processes import LARGE, LARGE_AT_ONCE, WORKERS, Conversions, LargePageLimit
from webdata.pages import url
from webdata.resources.terms.extraction import Extraction
from webdata.runtime.process.pools import process_pool

RESPONSE = {"url": "https://example.com/", "status": 200, "headers": {"content-type": "text/html"}}
MARKDOWN = {**RESPONSE, "response_type": "markdown"}
SMALL = b"<h1>Tea</h1><p>It is <b>green</b>.</p>"
LONG = b"<html><body>" + b"<p>Some <b>words</b> of text.</p>" * 15_000
ENTITIES = b"<p>" + b"&eacute;" * 2_000_000
BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def earlier_processes():
    """Record the worker processes of earlier tests, whose spiders hold no pool."""
    BEFORE.clear()
    BEFORE.update(child.pid for child in multiprocessing.active_children())


def processes():
    """The worker processes of the running test."""
    return [child for child in multiprocessing.active_children() if child.pid not in BEFORE]


async def converted(body, seconds=5.0, seconds_bare=5.0, left=20.0):
    """Convert a page in a pool of its own, which is stopped afterwards."""
    conversions = Conversions(seconds, seconds_bare)
    conversions.hold()
    try:
        return await conversions.page(body, left, MARKDOWN)
    finally:
        await conversions.release()


@pytest.mark.task
async def test_a_process_returns_the_record_of_the_page_module():
    """The record from a worker process equals the one from a direct call."""
    assert await converted(SMALL) == url.page(SMALL, response_type="markdown", **RESPONSE)


@pytest.mark.task
async def test_a_page_that_takes_too_long_is_converted_without_markup():
    """After the first time limit the record holds the page's plain text."""
    assert (await converted(LONG, seconds=0.1))["data"].startswith("Some words of text.\nSome words")


@pytest.mark.timed
@pytest.mark.task
async def test_a_page_whose_text_takes_too_long_is_an_error():
    """When both conversions exceed their limits, an error of kind `too_complex` is raised after a bounded time."""
    begun = monotonic()
    with pytest.raises(UpstreamError, match="too long to convert") as caught:
        await converted(ENTITIES, seconds=0.01, seconds_bare=0.01)
    assert (caught.value.kind, monotonic() - begun < 10) == ("too_complex", True)


@pytest.mark.task
async def test_processes_that_cannot_begin_begin_at_the_next_attempt(monkeypatch):
    """Where the processes' server has just died, the page is converted by others, without markup."""
    pools = [BrokenPool()]

    def pool(*arguments):
        return pools.pop() if pools else process_pool(*arguments)

    monkeypatch.setattr(conversion, "process_pool", pool)
    assert await converted(SMALL) == url.page(SMALL, response_type="markdown", bare=True, **RESPONSE)


@pytest.mark.task
async def test_the_event_loop_goes_on_while_the_processes_start(monkeypatch):
    """The first page starts them, which would delay all other calls by most of a second."""
    began, goes_on, waited = Event(), Event(), []

    def slow_pool(*arguments):
        pool = process_pool(*arguments)
        schedule = pool.schedule

        def scheduled(*task, **options):
            began.set()
            waited.append(goes_on.wait(10))
            return schedule(*task, **options)

        pool.schedule = scheduled
        return pool

    monkeypatch.setattr(conversion, "process_pool", slow_pool)
    conversions = Conversions()
    conversions.hold()
    pages = [asyncio.create_task(conversions.page(SMALL, 20, MARKDOWN)) for _ in range(WORKERS)]
    await asyncio.to_thread(began.wait, 10)
    goes_on.set()
    assert [page["data"] for page in await asyncio.gather(*pages)] == ["# Tea\n\nIt is **green**.\n"] * WORKERS
    await conversions.release()
    assert waited == [True] * WORKERS


class BrokenPool:
    """A pool whose processes cannot begin."""

    active = False

    def schedule(self, *_arguments, **_options):
        raise BrokenProcessPool

    def stop(self):
        pass

    join = stop


@pytest.mark.task
async def test_an_expression_without_end_is_the_callers():
    """A selector that takes more than the time limit is refused by name: to try the page again would not help."""
    wanted = Extraction(xpath="//*" + "[//*" * 12 + "[. = 9]" + "]" * 12)
    arguments = {**RESPONSE, "response_type": "markdown", "extract": {"it": wanted}}
    conversions = Conversions(seconds=0.5)
    conversions.hold()
    try:
        with pytest.raises(UnsupportedContentError, match=r"extract would take too much time .* give simpler"):
            await conversions.page(SMALL * 30, 20.0, {**arguments, "bare": False})
    finally:
        await conversions.release()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forms of forms of forms", "a bomb", "a million lines"])
@pytest.mark.task
async def test_a_document_that_takes_too_much_is_an_error(name):
    """A PDF that loops or fills the memory ends as an error of kind `too_complex`, or as one without text."""
    with pytest.raises((UpstreamError, UnsupportedContentError), match=r"too long to convert|no text"):
        await converted(hostile()[name], seconds=1, seconds_bare=1)


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.task
async def test_an_office_document_that_takes_too_much_is_an_error(name):
    """One that repeats a part without end, or fills the memory, is refused by whichever bound it reaches first."""
    with pytest.raises(
        UnsupportedContentError, match=r"takes too much time or memory to read|more paragraphs or cells"
    ):
        await converted(ENDLESS[name](), seconds=2, seconds_bare=2)


@pytest.mark.task
async def test_a_conversion_ends_with_the_time_of_its_call():
    """When the call's time is over, UpstreamTimeoutError is raised."""
    with pytest.raises(UpstreamTimeoutError):
        await converted(LONG, left=0.05)


@pytest.mark.task
async def test_content_that_is_not_text_is_an_error_with_its_type():
    """UnsupportedContentError from a worker process carries the content type."""
    with pytest.raises(UnsupportedContentError) as caught:
        await converted(b"%PDF-1.4 \xe2\xe3")
    assert caught.value.content_type == "application/pdf"


@pytest.mark.task
async def test_processes_stop_with_their_last_holder():
    """The pool serves all of its holders, stops after the last release, and starts again for the next page."""
    conversions = Conversions()
    for holders in (2, 1):
        for _ in range(holders):
            conversions.hold()
        for _ in range(holders):
            assert (await conversions.page(SMALL, 20, MARKDOWN))["data"].startswith("# Tea")
            assert processes()
            await conversions.release()
    assert not processes()


@pytest.mark.task
async def test_a_killed_process_is_replaced():
    """Pages are converted after all worker processes were killed."""
    conversions = Conversions()
    conversions.hold()
    await conversions.page(SMALL, 20, MARKDOWN)
    for child in processes():
        os.kill(child.pid, signal.SIGKILL)
    await asyncio.sleep(0.3)  # the pool checks its processes ten times a second
    assert (await conversions.page(SMALL, 20, MARKDOWN))["data"].startswith("# Tea")
    await conversions.release()


@pytest.mark.task
async def test_the_others_of_a_killed_process_end():
    """Where an idle process dies, the others are ended when pages are converted by new ones."""
    conversions = Conversions()
    conversions.hold()
    await conversions.page(SMALL, 20, MARKDOWN)
    first, *others = processes()
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.sleep(0.3)
    await conversions.page(SMALL, 20, MARKDOWN)
    await conversions.release()
    for child in others:
        await asyncio.to_thread(child.join, 10)
    assert others
    assert not processes()


PROGRAM = """
import asyncio, multiprocessing
from webdata.fetching.conversion import processes as conversion
from webdata.fetching.conversion.processes import CONVERSIONS

async def run():
    arguments = {"url": "https://example.com/", "status": 200, "headers": {}, "response_type": "markdown"}
    await CONVERSIONS.page(b"<p>tea", 20, arguments)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    await CONVERSIONS.page(b"<p>" + b"&eacute; <b>x</b>" * 39_000, 20, arguments)
    await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(run())
"""


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.timed
def test_processes_end_with_a_killed_program(tmp_path):
    """No worker process outlives a program that is killed during a conversion."""
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
async def test_large_pages_wait_for_a_slot():
    """Few large pages are converted at once, others wait within their time, and small pages never wait."""
    limit = LargePageLimit()
    slots = [limit.slot(LARGE, 1) for _ in range(LARGE_AT_ONCE)]
    for slot in slots:
        await slot.__aenter__()
    async with limit.slot(LARGE - 1, 0):
        pass
    with pytest.raises(UpstreamTimeoutError):
        async with limit.slot(LARGE, 0.01):
            pass
    await slots[0].__aexit__(None, None, None)
    async with limit.slot(LARGE, 1):
        pass


@pytest.mark.task
async def test_a_key_converts_so_many_bytes_a_second(monkeypatch):
    """The next large page of a key waits for a time that grows with the one before; that of another key does not."""
    monkeypatch.setattr("webdata.fetching.conversion.processes.SECONDS_OF_MEBIBYTE", 0.1)
    limit, began = LargePageLimit(), monotonic()
    async with limit.slot(3 * LARGE, 1, "a"):
        pass
    async with limit.slot(LARGE, 1, "b"):
        assert monotonic() - began < 0.1
    async with limit.slot(LARGE, 1, "a"):
        assert monotonic() - began >= 0.3


@pytest.mark.task
async def test_a_key_leaves_a_process_to_others():
    """While one key has as much work without an end as there are processes, the page of another is converted."""
    conversions = Conversions()
    conversions.hold()
    endless = [asyncio.create_task(conversions._attempt(sleep, (300.0,), 300.0, "a")) for _ in range(WORKERS)]
    await asyncio.sleep(0)
    plain = await conversions.decompressed(gzip.compress(b"tea"), "gzip", 1_000_000, 60.0, "b")
    assert (plain.body, sum(work.done() for work in endless)) == (b"tea", 0)
    for work in endless:
        work.cancel()
    await conversions.release()


SLOW_BODY = b"\x0c" + b"\x06" * 200_000_000
"""Empty blocks of Brotli."""


async def decompressed(body, encoding="gzip", limit=1_000_000, seconds=5.0, left=20.0):
    """Decompress a page in a pool of its own, which is stopped afterwards."""
    conversions = Conversions(seconds)
    conversions.hold()
    try:
        return await conversions.decompressed(body, encoding, limit, left)
    finally:
        await conversions.release()


@pytest.mark.task
async def test_a_process_decompresses_a_page():
    """The plain body comes from a worker process, and so do the reason and the kind of an error."""
    assert await decompressed(gzip.compress(SMALL)) == (SMALL, True)
    assert await decompressed(SMALL) == (SMALL, True)
    with pytest.raises(UpstreamError, match="larger than what is read") as caught:
        await decompressed(gzip.compress(bytes(2_000_000)))
    assert caught.value.kind == "too_large"


@pytest.mark.slow
@pytest.mark.task
async def test_a_decompression_that_takes_too_long_is_killed():
    """It ends after its own limit, or with the time of its call."""
    with pytest.raises(UpstreamError, match="too long to decompress") as caught:
        await decompressed(SLOW_BODY, "br", seconds=0.2)
    assert caught.value.kind == "too_complex"
    with pytest.raises(UpstreamTimeoutError):
        await decompressed(SLOW_BODY, "br", left=0.2)


@pytest.mark.timed
@pytest.mark.task
async def test_a_running_decompression_does_not_delay_the_end():
    """The processes are killed when the last holder releases them, whatever they work on."""
    conversions = Conversions()
    conversions.hold()
    await conversions.decompressed(gzip.compress(SMALL), "gzip", 1000, 20.0)
    running = asyncio.create_task(conversions.decompressed(SLOW_BODY, "br", 1000, 20.0))
    await asyncio.sleep(0.3)
    begun = monotonic()
    await conversions.release()
    await asyncio.wait([running])
    assert monotonic() - begun < 3
    assert not processes()


SLOW_FORMS = {
    # the sign in some values hides how many attributes the tag has from those who count them without a parser
    "attributes": " ".join(f"a{number}" if number % 1000 else f'a{number}=">"' for number in range(60_000)).join(
        ["<form ", ">"]
    ),
    "open formatting": "<p>" + "".join(f"<b a{number}>" for number in range(1900)) + "<p>x" * 4000,
}


@pytest.mark.task
@pytest.mark.parametrize("slow", SLOW_FORMS.values(), ids=SLOW_FORMS)
async def test_a_consent_page_is_read_in_a_process(slow):
    """A form is found in a large page too; one that was made to be slow is given up, and never holds the loop."""
    conversions = Conversions(seconds=1.0)
    conversions.hold()
    form = b'<form action="/save"><button name="x" value="y">Reject all</button></form>'
    page = slow.encode() + form
    try:
        found = await conversions.consent_form(b"<p>word</p>" * 4000 + form, "https://consent.example/", 30)
        assert found.url == "https://consent.example/save"
        reading, ticks = asyncio.ensure_future(conversions.consent_form(page, "https://consent.example/", 30)), 0
        while not reading.done():  # the loop itself is tested
            await asyncio.sleep(0.01)
            ticks += 1
        assert (await reading, ticks > 20) == (None, True)
        assert await conversions.consent_form(page, "https://consent.example/", 0) is None  # no time is left
    finally:
        await conversions.release()


@pytest.mark.parametrize("arguments", [["program.py"], ["-m", "program"]], ids=["a file", "a module"])
def test_a_process_does_not_import_the_program(tmp_path, arguments):
    """What only the program imports takes no memory of the processes."""
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio, wave\n"
        "from webdata.fetching.conversion.processes import CONVERSIONS\n"
        "if __name__ == '__main__':\n"
        '    imported = CONVERSIONS._attempt(eval, (\'"wave" in __import__("sys").modules\', {}), 20, "")\n'
        "    print(asyncio.run(imported))\n"
    )
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "False\n"
