"""The installation: PostgreSQL, Redis, the sandbox with bad proxies, a service of two workers, and a worker of batches.

Everything lies in one folder and listens on loopback.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from benchmarks.postgresql import postgresql

WEBDATA = Path(sys.executable).with_name("webdata")
STARTS_WITHIN = 60.0
STOPS_WITHIN = 60.0
PROXIES = ("ANY", "ANY", "ANY", "ANY", *["ANY dead"] * 3, "ANY flaky=0.5", "ANY slow=1", "ANY locked")
"""Of ten proxies six are bad."""
CREDITS = 1_000_000
UPSTREAMS = '{"home": {"kind": "searxng", "url": "http://127.0.0.1:1", "requests_a_day": 1000000}}'


@dataclass
class Program:
    """A program of the installation, which can be started again after it has ended."""

    command: list[str]
    environ: dict[str, str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it, with its output at the end of its log."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **self.environ}, stdout=log, stderr=log, cwd=self.log.parent
            )

    @property
    def pid(self) -> int:
        """Of its last process."""
        assert self.process
        return self.process.pid

    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> int | None:
        """End it by SIGTERM; returns its exit status, None where it had to be killed."""
        assert self.process
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


@dataclass
class Place:
    """What runs, and where."""

    folder: Path
    database: str
    port: int
    redis_port: int
    service: Program
    worker: Program
    redis: Program
    sandbox: Program
    key: str = ""
    began: float = field(default_factory=monotonic)

    @property
    def programs(self) -> tuple[Program, ...]:
        """Those of webdata."""
        return self.service, self.worker, self.sandbox

    def run(self, *arguments: str) -> str:
        """The output of a command over the database."""
        environ = {**os.environ, **self.service.environ}
        done = subprocess.run([WEBDATA, *arguments], env=environ, capture_output=True, text=True, check=True)
        return done.stdout

    def is_ready(self) -> bool:
        """Whether the service answers calls."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def place(receiver_port: int, backend_port: int) -> Iterator[Place]:
    """The running installation, without credits spent; raises RuntimeError where PostgreSQL is not installed."""
    with TemporaryDirectory(prefix="webdata-campaign-") as name, ExitStack() as stack:
        folder = Path(name)
        database = stack.enter_context(postgresql())
        if database is None:
            raise RuntimeError("a campaign needs PostgreSQL: scripts/servers installs it")
        made = _installed(folder, database, receiver_port, backend_port)
        stack.callback(_end, made)
        made.redis.start()
        made.sandbox.start()
        _use_proxies(made)
        made.service.start()
        try:
            wait(made.is_ready, STARTS_WITHIN, "the service")
        except TimeoutError:
            raise RuntimeError(made.service.log.read_text(encoding="utf-8")) from None
        made.run("plans", "set", "default", "--requests", "1000000", "--seconds", "60", "--in-flight", "10000")
        made.run("accounts", "credit", "default", str(CREDITS))
        made.key = made.run("keys", "create", "--live", "--name", "campaign").split()[-1]
        made.worker.start()
        yield made


def _installed(folder: Path, database: str, receiver_port: int, backend_port: int) -> Place:
    port, redis_port, sandbox_port = free_port(), free_port(), free_port()
    for name in ("records", "temporary"):
        (folder / name).mkdir()
    environ = {
        "WEBDATA_DATABASE": database,
        "WEBDATA_REDIS": f"redis://127.0.0.1:{redis_port}/0",
        "WEBDATA_TLS": "off",
        "WEBDATA_HTTP_PORT": "off",
        "WEBDATA_PORT": str(port),
        "WEBDATA_WORKERS": "2",
        "WEBDATA_WORKER": "off",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_SANDBOX_URL": f"http://127.0.0.1:{sandbox_port}",
        "WEBDATA_PROXIES_FILE": str(folder / "proxies"),
        "WEBDATA_UPSTREAMS": UPSTREAMS,
        "WEBDATA_GATEWAY_ROUTES": f"shop=http://127.0.0.1:{backend_port}",
        "WEBDATA_EGRESS_ALLOW": "127.0.0.1/32",
        "WEBDATA_EGRESS_PORTS": f"80,443,{receiver_port}",
        "WEBDATA_WEBHOOKS_HTTP": "on",
        "WEBDATA_BATCH_STORE": str(folder / "records"),
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(folder / "temporary"),
    }
    proxies = [argument for proxy in PROXIES for argument in ("--proxy", proxy)]
    sandbox = [str(WEBDATA), "sandbox", "--port", str(sandbox_port), *proxies]
    redis = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return Place(
        folder,
        database,
        port,
        redis_port,
        service=Program([str(WEBDATA), "serve"], environ, folder / "service.log"),
        worker=Program([str(WEBDATA), "worker"], environ, folder / "worker.log"),
        redis=Program(redis, {}, folder / "redis.log"),
        sandbox=Program(sandbox, {"PYTHONUNBUFFERED": "1"}, folder / "sandbox.log"),
    )


def _use_proxies(made: Place) -> None:
    def lines() -> list[str]:
        text = made.sandbox.log.read_text(encoding="utf-8") if made.sandbox.log.exists() else ""
        return re.findall(r"^ +([A-Z]+ http://\S+)$", text, re.MULTILINE)

    wait(lambda: len(lines()) == len(PROXIES), STARTS_WITHIN, "the sandbox")
    (made.folder / "proxies").write_text("\n".join(lines()) + "\n", encoding="utf-8")


def _end(made: Place) -> None:
    for program in (made.service, made.worker, made.sandbox, made.redis):
        if program.runs():
            program.stop()


def wait(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until a condition holds; raises TimeoutError, which names what was waited for."""
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            raise TimeoutError(f"{what} was not there within {seconds:.0f} s")
        sleep(0.2)


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
