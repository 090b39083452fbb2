"""A PostgreSQL server for a benchmark, on a port and in a folder of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

STARTS_WITHIN = 20.0


@dataclass(frozen=True)
class Prepared:
    """A server that can be started, also again after its end."""

    command: list[str]
    owner: str | None
    """The user that it runs as; None for this one."""
    folder: Path
    url: str


@contextmanager
def postgresql() -> Iterator[str | None]:
    """The URL of an empty database; None where no PostgreSQL is installed. Its data is synced as a server's is."""
    with prepared() as server:
        if server is None:
            yield None
            return
        run: dict[str, Any] = {
            "user": server.owner,
            "cwd": server.folder,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        process = subprocess.Popen(server.command, **run)
        try:
            yield ready(server.url)
        finally:
            process.terminate()
            process.wait()


@contextmanager
def prepared(room: str = "") -> Iterator[Prepared | None]:
    """A server with an empty database, which does not run; None where no PostgreSQL is installed.

    With `room`, such as `500m`, its data lies in a file system in memory of that size, which only root can make.
    """
    initdb, server = _program("initdb"), _program("postgres")
    if not initdb or not server:
        yield None
        return
    owner = "nobody" if os.getuid() == 0 else None  # it does not run as root
    folder = Path(tempfile.mkdtemp(prefix="webdata-benchmark-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(folder)]
    mounted = bool(room) and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        if owner:
            shutil.chown(folder, owner)
        run: dict[str, Any] = {"user": owner, "cwd": folder, "stdout": subprocess.DEVNULL}
        subprocess.run([initdb, "-D", folder / "data", "-A", "trust", "-U", "webdata"], check=True, **run)
        port = _free_port()
        command = [server, "-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port), "-k", ""]
        yield Prepared(command, owner, folder, f"postgresql://webdata@127.0.0.1:{port}/postgres")
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)
        shutil.rmtree(folder)


def _program(name: str) -> str | None:
    folders = [*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), os.environ["PATH"]]
    return shutil.which(name, path=os.pathsep.join(folders))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def ready(url: str) -> str:
    """Wait until the server answers; returns its URL."""
    import psycopg  # noqa: PLC0415  # installed only where PostgreSQL is used

    end = monotonic() + STARTS_WITHIN
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            if monotonic() > end:
                raise
            sleep(0.1)
        else:
            return url
