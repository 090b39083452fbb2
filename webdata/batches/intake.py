"""Submissions as they arrive: from the body of a request, through a process that validates it, to a file of chunks."""

import asyncio
import contextlib
import logging
import pickle
import socket
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from webdata.batches import validation_process
from webdata.batches.validation import Task, Validated, validated
from webdata.batches.validation_process import error_of
from webdata.domain.errors import OverloadedError, RateLimitedError
from webdata.domain.query import Query
from webdata.server.child_process import received_answer, start_child
from webdata.server.private_files import make_folder
from webdata.server.streams import BodyStream

logger = logging.getLogger(__name__)

MOST_OF_KEY = 2
"""Submissions of one key at once."""
MOST = 8
"""Those of all keys at once, each of which has a process."""
RETRY_AFTER = 5
SMALL = 16 * 1024
"""Bytes of the largest body that is validated at once, in memory: in some milliseconds, where a process takes 200 to
begin."""
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
        self._of_key: Counter[str] = Counter()

    @asynccontextmanager
    async def taken(
        self, key_id: str, body: Body, given: Mapping[str, Any], *, ndjson: bool
    ) -> AsyncIterator[Submission]:
        """A submission, once all of its body is read and validated. `given` are the parameters in its URL.

        Raises RateLimitedError and OverloadedError without reading, the errors of the body, and those of
        `webdata.batches.validation.validated`.
        """
        task = Task(self._queries, given, ndjson)
        with self._share(key_id):
            if isinstance(body, bytes) and len(body) <= SMALL:
                accepted = BytesIO()
                yield Submission(validated(task, BytesIO(body), accepted), accepted)
                return
            with self._new_file() as file:
                yield Submission(await _validated(task, body, file), file)

    @contextlib.contextmanager
    def _share(self, key_id: str) -> Iterator[None]:
        if self._of_key[key_id] >= MOST_OF_KEY:
            message = f"{MOST_OF_KEY} submissions of this key are arriving, the most at once: let one be complete first"
            raise RateLimitedError(message, RETRY_AFTER)
        if self._of_key.total() >= MOST:
            raise OverloadedError(f"{MOST} submissions are arriving", RETRY_AFTER)
        self._of_key[key_id] += 1
        try:
            yield
        finally:
            self._of_key[key_id] -= 1
            self._of_key += Counter()  # without those that have none

    def _new_file(self) -> IO[bytes]:
        try:
            make_folder(self._folder)
            return TemporaryFile(dir=self._folder)
        except OSError as error:
            logger.warning("a batch cannot be taken, as no file can be made in %s: %s", self._folder, error.strerror)
            raise OverloadedError("no file can be made", RETRY_AFTER) from error


async def _validated(task: Task, body: Body, file: IO[bytes]) -> Validated:
    process, pipe = _started(file)
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has its answer already, or has died
            await _send(pipe, pickle.dumps(task))
            async for piece in _pieces(body):
                await _send(pipe, piece)
            pipe.shutdown(socket.SHUT_WR)
        answer = await _answer(pipe, process)
    finally:
        pipe.close()
        process.kill()
        await asyncio.shield(asyncio.to_thread(process.wait))
    if isinstance(answer, Validated):
        return answer
    raise error_of(answer)


async def _pieces(body: Body) -> AsyncIterator[bytes]:
    if isinstance(body, bytes):
        yield body
        return
    async for piece in body:
        yield piece


async def _send(pipe: socket.socket, data: bytes) -> None:
    async with asyncio.timeout(PROGRESS_SECONDS):
        await asyncio.get_running_loop().sock_sendall(pipe, data)


async def _answer(pipe: socket.socket, process: "subprocess.Popen[bytes]") -> Validated | tuple[str, Any]:
    try:
        async with asyncio.timeout(PROGRESS_SECONDS):
            answer: Validated | tuple[str, Any] = await received_answer(pipe)
            return answer
    except (EOFError, OSError, TimeoutError) as error:
        raise RuntimeError(f"the process that validates a batch has ended (status {process.poll()})") from error


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
