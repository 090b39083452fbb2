"""A PostgreSQL server for a benchmark, on a port and in a folder of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

STARTS_WITHIN = 20.0


@contextmanager
def postgresql() -> Iterator[str | None]:
    """The URL of an empty database; None where no PostgreSQL is installed. Its data is synced as a server's is."""
    initdb, server = _program("initdb"), _program("postgres")
    if not initdb or not server:
        yield None
        return
    owner = "nobody" if os.getuid() == 0 else None  # it does not run as root
    folder = Path(tempfile.mkdtemp(prefix="webdata-benchmark-"))
    if owner:
        shutil.chown(folder, owner)
    run = {"user": owner, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    port = _free_port()
    try:
        subprocess.run([initdb, "-D", folder / "data", "-A", "trust", "-U", "webdata"], check=True, **run)
        listen = ["-h", "127.0.0.1", "-p", str(port), "-k", ""]
        process = subprocess.Popen([server, "-D", folder / "data", *listen], **run)
        try:
            yield _ready(f"postgresql://webdata@127.0.0.1:{port}/postgres")
        finally:
            process.terminate()
            process.wait()
    finally:
        shutil.rmtree(folder)


def _program(name: str) -> str | None:
    folders = [*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), os.environ["PATH"]]
    return shutil.which(name, path=os.pathsep.join(folders))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _ready(url: str) -> str:
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
