"""The journal of a job, from which a killed run is resumed.

A journal is an append-only file of JSON lines. The first line is the job and its feeds; each further line is one query
that has ended: `[row, outcome, length, …]`, with the lengths of the feeds in bytes. A line is written after the feeds:
the last whole line is valid, and the next run truncates the feeds to its lengths.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from webdata.domain.errors import ConfigError

if sys.platform != "win32":
    import fcntl

NAME = "webdata.journal"
MARKS = 4096


class Lines:
    """A set of line numbers, one byte each."""

    def __init__(self) -> None:
        self._marks = bytearray()

    def __contains__(self, line: int) -> bool:
        return line < len(self._marks) and self._marks[line] == 1

    def add(self, line: int) -> None:
        """Add a line number, 0 or more."""
        if line >= len(self._marks):
            self._marks.extend(bytes(line + MARKS - len(self._marks)))
        self._marks[line] = 1


class Journal:
    """The journal of the job in a folder; the first run begins it, later runs continue it.

    `job` identifies the job, as JSON values. Raises ConfigError if the folder holds another job, if another run of the
    job is active, or if a feed is shorter than its journal says.
    """

    def __init__(self, folder: Path, job: Mapping[str, Any]):
        self.folder = folder
        self.job = dict(job)
        self.begun = False
        """Whether its first line is written, by this run or an earlier one."""
        self.paths: list[str] = []
        """The files of the feeds."""
        self.lengths: list[int] = []
        """The valid bytes of each file."""
        self.done = Lines()
        """The rows that have ended."""
        self.ended: Counter[str] = Counter()
        """The number of queries by outcome."""
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / NAME).open("a+b", buffering=0)
        try:
            self._lock()
            self._load()
            self._check_files()
        except ConfigError:
            self.close()
            raise

    def begin(self, paths: list[str], lengths: list[int]) -> None:
        """Write the first line: the feeds' files and their lengths in bytes."""
        self.begun, self.paths, self.lengths = True, paths, lengths
        self._write({"job": self.job, "paths": paths, "lengths": lengths})

    def commit(self, row: int, outcome: str, lengths: list[int]) -> None:
        """Append a row that has ended and is in the feeds, with the outcome and the feeds' lengths in bytes."""
        self._write([row, outcome, *lengths])

    def close(self) -> None:
        """Close the file, which releases its lock."""
        self._file.close()

    def _write(self, entry: Any) -> None:
        data = orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
        if self._file.write(data) != len(data):
            raise OSError(f"{self.folder / NAME} could not be written whole")

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another run is at work on the job in {self.folder}: let it end first") from None

    def _load(self) -> None:
        whole = 0
        with (self.folder / NAME).open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):  # torn when the run was killed
                    break
                self._read(file, line)
                whole += len(line)
        self._file.truncate(whole)

    def _read(self, file: BinaryIO, line: bytes) -> None:
        try:
            entry = orjson.loads(line)
            if not self.begun:
                self._check_job(entry["job"])
                self.begun, self.paths, self.lengths = True, entry["paths"], entry["lengths"]
            else:
                row, outcome, *self.lengths = entry
                self.done.add(row)
                self.ended[outcome] += 1
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{file.name} is damaged: give another JOBDIR, and begin again") from error

    def _check_job(self, job: Mapping[str, Any]) -> None:
        for key, now in self.job.items():
            if job[key] != now:
                raise ConfigError(
                    f"{self.folder} holds another job, with other {key}: {job[key]!r} then, {now!r} now; "
                    "resume with the very same command, or give another JOBDIR"
                )

    def _check_files(self) -> None:
        for path, length in zip(self.paths, self.lengths, strict=True):
            size = Path(path).stat().st_size if Path(path).exists() else 0
            if size < length:
                raise ConfigError(
                    f"{path} holds {size} bytes, but the job in {self.folder} has written {length}: "
                    "put the file back, or give another JOBDIR to begin again"
                )
