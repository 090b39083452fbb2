"""Submissions as they arrive: from the body of a request, through a process that validates it, to a file of chunks."""

import asyncio
import contextlib
import logging
import pickle
import socket
import subprocess
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar

from webdata.batches import validation_process
from webdata.batches.validation import Task, Validated, validated
from webdata.batches.validation_process import error_of
from webdata.domain.errors import OverloadedError, RateLimitedError, SlowBodyError
from webdata.domain.query import Query
from webdata.runtime.process.child_process import received_answer, start_child
from webdata.runtime.process.private_files import make_folder
from webdata.runtime.process.shares import Shares
from webdata.runtime.server.streams import BodyStream

logger = logging.getLogger(__name__)
T = TypeVar("T")

MOST_OF_ACCOUNT = 2
"""Large submissions of one account at once."""
MOST_OF_TEST = 1
"""Submissions at once of an account's test keys."""
MOST_SUBMISSIONS = 8
"""Submissions of all accounts at once, each of which has a process."""
RETRY_AFTER = 5
SMALL = 16 * 1024
"""Bytes of the largest body that is validated at once, in memory: in some milliseconds, where a process takes 200 to
begin. It needs no place."""
BODY_SECONDS = 900.0
"""Within which a whole body comes, and is validated: 1.1 MB a second for the largest."""
PROGRESS_SECONDS = 60.0
"""Within which the process reads more of the body."""

Body = bytes | BodyStream


@dataclass
class Submission:
    """Validated queries, in memory or in a file that is gone when the submission has ended."""

    result: Validated
    _file: IO[bytes]

    def queries(self) -> Iterator[tuple[int, bytes]]:
        """The number of each query in what was submitted, and it as a JSON object. They may be read from a disk."""
        self._file.seek(0)
        for line in self._file:
            number, _, query = line.rstrip(b"\n").partition(b"\t")
            yield int(number), query


class Intake:
    """Takes submissions; the files of large ones are in `folder`, without names: a killed process leaves none."""

    def __init__(self, folder: Path, queries: Mapping[str, type[Query]]) -> None:
        self._folder = folder
        self._queries = queries
        self._places = Shares(MOST_SUBMISSIONS, MOST_OF_ACCOUNT)
        self._test_places = Shares(MOST_SUBMISSIONS, MOST_OF_TEST)

    @asynccontextmanager
    async def taken(
        self, account_id: str, body: Body, given: Mapping[str, Any], *, ndjson: bool, test: bool = False
    ) -> AsyncIterator[Submission]:
        """A submission, once all of its body is read and validated. `given` are the parameters in its URL.

        A body of more than SMALL bytes takes a place of its account, and of its `test` keys. Raises RateLimitedError
        and OverloadedError where there is none, SlowBodyError for a body that has not come within BODY_SECONDS, the
        errors of the body, and those of `webdata.batches.validation.validated`.
        """
        task = Task(self._queries, given, ndjson)
        async with _arrival():
            begin, rest = await _begin(body)
            if rest is None:
                accepted = BytesIO()
                small = Submission(validated(task, BytesIO(begin), accepted), accepted)
        if rest is None:
            yield small
            return
        with self._place(account_id, test), self._new_file() as file:
            async with _arrival():
                large = Submission(await _validated(task, begin, rest, file), file)
            yield large

    @contextlib.contextmanager
    def _place(self, account_id: str, test: bool) -> Iterator[None]:
        held = [self._places, *([self._test_places] if test else [])]
        for places in held:
            if not places.has_room_for_one(account_id, 1):
                whose = "the test keys of this account" if places is self._test_places else "this account"
                most = f"{places.most_of_one} large submission{'s' if places.most_of_one > 1 else ''} of {whose}"
                raise RateLimitedError(f"{most} arrive already, the most at once: let one be complete", RETRY_AFTER)
        if self._places.of(account_id) and self._places.total >= self._places.most // 2:  # the others' first
            busy = "one large submission of this account arrives already, the most while many accounts send some"
            raise RateLimitedError(f"{busy}: let it be complete", RETRY_AFTER)
        if not self._places.has_room(1):
            raise OverloadedError(f"{MOST_SUBMISSIONS} large submissions are arriving", RETRY_AFTER)
        for places in held:
            places.change(account_id, 1)
        try:
            yield
        finally:
            for places in held:
                places.change(account_id, -1)

    def _new_file(self) -> IO[bytes]:
        try:
            make_folder(self._folder)
            return TemporaryFile(dir=self._folder)
        except OSError as error:
            logger.warning("a batch cannot be taken, as no file can be made in %s: %s", self._folder, error.strerror)
            raise OverloadedError("no file can be made", RETRY_AFTER) from error


@asynccontextmanager
async def _arrival() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            yield
    except TimeoutError as error:
        minutes = f"{BODY_SECONDS / 60:.0f} minutes"
        raise SlowBodyError(
            f"The body has not come within {minutes}, so nothing was taken: send it faster, or as several batches"
        ) from error


async def _begin(body: Body) -> tuple[bytes, AsyncIterator[bytes] | None]:
    """The first bytes of a body, and what iterates over the rest; None where it is SMALL, and this is all of it."""
    if isinstance(body, bytes):
        return (body, None) if len(body) <= SMALL else (b"", _whole(body))
    if (body.length or 0) > SMALL:
        return b"", body
    begin = bytearray()
    async for piece in body:
        begin += piece
        if len(begin) > SMALL:
            return bytes(begin), body
    return bytes(begin), None


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _validated(task: Task, begin: bytes, rest: AsyncIterator[bytes], file: IO[bytes]) -> Validated:
    process, pipe = _started(file)
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has its answer already, or has died
            loop = asyncio.get_running_loop()
            await _in_time(loop.sock_sendall(pipe, pickle.dumps(task) + begin))
            async for piece in rest:
                await _in_time(loop.sock_sendall(pipe, piece))
            pipe.shutdown(socket.SHUT_WR)
        answer = await _answer(pipe, process)
    finally:
        pipe.close()
        process.kill()
        await asyncio.shield(asyncio.to_thread(process.wait))
    if isinstance(answer, Validated):
        return answer
    raise error_of(answer)


async def _answer(pipe: socket.socket, process: "subprocess.Popen[bytes]") -> Validated | tuple[str, Any]:
    try:
        answer: Validated | tuple[str, Any] = await _in_time(received_answer(pipe))
    except (EOFError, OSError) as error:
        raise RuntimeError(f"the process that validates a batch has ended (status {process.poll()})") from error
    return answer


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    """The result of a step that the process takes part in; raises RuntimeError where it hangs."""
    try:
        async with asyncio.timeout(PROGRESS_SECONDS):
            return await work
    except TimeoutError as error:
        raise RuntimeError(f"the process that validates a batch has hung for {PROGRESS_SECONDS:g} seconds") from error


def _started(file: IO[bytes]) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    pipe, child_pipe = socket.socketpair()
    try:
        process = start_child(validation_process.__name__, child_pipe.fileno(), file.fileno())
    except OSError as error:
        pipe.close()
        raise OverloadedError(f"no process can be started: {error}", RETRY_AFTER) from error
    finally:
        child_pipe.close()
    pipe.setblocking(False)
    return process, pipe
