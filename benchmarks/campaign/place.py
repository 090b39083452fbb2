"""The installation: PostgreSQL, Redis, the sandbox with bad proxies, a service of two workers, and a worker of batches.

Everything lies in one folder and listens on loopback; the service answers by HTTPS. PostgreSQL's data lies in memory,
where its room can end, and webdata's clock is that of `clock.c`, where a C compiler is installed.
"""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from struct import pack
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from benchmarks.campaign.neighbours import Neighbours
from benchmarks.postgresql import prepared, ready
from benchmarks.processes import command_of, descendants

WEBDATA = Path(sys.executable).with_name("webdata")
STARTS_WITHIN = 60.0
STOPS_WITHIN = 60.0
PROXIES = ("ANY", "ANY", "ANY", "ANY", *["ANY dead"] * 3, "ANY flaky=0.5", "ANY slow=1", "ANY locked")
"""Of ten proxies six are bad."""
CREDITS = 1_000_000
DATABASE_ROOM = "600m"
CLOCK = Path(__file__).with_name("clock.c")
UPSTREAMS = '{"home": {"kind": "searxng", "url": "http://127.0.0.1:1", "requests_a_day": 1000000}}'


@dataclass
class Program:
    """A program of the installation, which can be started again after it has ended."""

    command: list[str]
    environ: dict[str, str]
    log: Path
    owner: str | None = None
    """The user that it runs as; None for this one."""
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it, with its output at the end of its log."""
        with self.log.open("ab") as log:
            environ = {**os.environ, **self.environ}
            folder = None if self.owner else self.log.parent
            self.process = subprocess.Popen(
                self.command, env=environ, stdout=log, stderr=log, cwd=folder, user=self.owner
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
    data: Path
    """The file system of the database's files."""
    port: int
    redis_port: int
    postgresql: Program
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

    @property
    def tls(self) -> ssl.SSLContext:
        """A client's, which trusts the certificates of the installation."""
        return ssl.create_default_context(cafile=str(self.folder / "authority.pem"))

    def certify(self, neighbours: Neighbours, *, expired: bool = False) -> None:
        """Replace the service's certificate."""
        leaf = neighbours.certificate(expired=expired)
        leaf.private_key_pem.write_to_path(self.folder / "key.new")
        (self.folder / "cert.new").write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
        for name in ("key", "cert"):
            (self.folder / f"{name}.new").replace(self.folder / f"{name}.pem")

    def step_clock(self, seconds: int) -> None:
        """Set the clock of webdata's programs, in seconds from the true time."""
        with (self.folder / "clock").open("r+b") as file:
            file.write(pack("l", seconds))

    def run(self, *arguments: str) -> str:
        """The output of a command over the database."""
        environ = {**os.environ, **self.service.environ, "LD_PRELOAD": ""}
        done = subprocess.run([WEBDATA, *arguments], env=environ, capture_output=True, text=True, check=True)
        return done.stdout

    def is_ready(self) -> bool:
        """Whether the service answers calls."""
        return self.get("/health/ready")[0] == 200

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of the service's answer; 0 where there is none."""
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=5, context=self.tls)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, HTTPException):
            return 0, ""
        finally:
            connection.close()


@contextmanager
def place(neighbours: Neighbours) -> Iterator[Place]:
    """The running installation, without credits spent; raises RuntimeError where PostgreSQL is not installed."""
    with TemporaryDirectory(prefix="webdata-campaign-") as name, ExitStack() as stack:
        folder = Path(name)
        server = stack.enter_context(prepared(DATABASE_ROOM))
        if server is None:
            raise RuntimeError("a campaign needs PostgreSQL: scripts/servers installs it")
        made = _installed(folder, server.url, server.folder, neighbours)
        made.postgresql = Program(server.command, {}, folder / "postgresql.log", server.owner)
        made.certify(neighbours)
        stack.callback(_end, made)
        made.postgresql.start()
        ready(server.url)
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


def _installed(folder: Path, database: str, data: Path, neighbours: Neighbours) -> Place:
    port, redis_port, sandbox_port = free_port(), free_port(), free_port()
    for name in ("records", "temporary"):
        (folder / name).mkdir()
    neighbours.authority.cert_pem.write_to_path(folder / "authority.pem")
    environ = {
        "WEBDATA_DATABASE": database,
        "WEBDATA_REDIS": f"redis://127.0.0.1:{redis_port}/0",
        "WEBDATA_TLS_CERT": str(folder / "cert.pem"),
        "WEBDATA_TLS_KEY": str(folder / "key.pem"),
        "WEBDATA_HTTP_PORT": "off",
        "WEBDATA_PORT": str(port),
        "WEBDATA_WORKERS": "2",
        "WEBDATA_WORKER": "off",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_SANDBOX_URL": f"http://127.0.0.1:{sandbox_port}",
        "WEBDATA_PROXIES_FILE": str(folder / "proxies"),
        "WEBDATA_UPSTREAMS": UPSTREAMS,
        "WEBDATA_GATEWAY_ROUTES": f"shop=https://127.0.0.1:{neighbours.backend.port}",
        "WEBDATA_EGRESS_ALLOW": "127.0.0.1/32",
        "WEBDATA_EGRESS_PORTS": f"80,443,{neighbours.receiver.port}",
        "WEBDATA_BATCH_STORE": str(folder / "records"),
        "SSL_CERT_FILE": str(folder / "authority.pem"),
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(folder / "temporary"),
        **_clock(folder),
    }
    proxies = [argument for proxy in PROXIES for argument in ("--proxy", proxy)]
    sandbox = [str(WEBDATA), "sandbox", "--port", str(sandbox_port), *proxies]
    redis = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return Place(
        folder,
        database,
        data,
        port,
        redis_port,
        postgresql=Program([], {}, folder / "postgresql.log"),
        service=Program([str(WEBDATA), "serve"], environ, folder / "service.log"),
        worker=Program([str(WEBDATA), "worker"], environ, folder / "worker.log"),
        redis=Program(redis, {}, folder / "redis.log"),
        sandbox=Program(sandbox, {"PYTHONUNBUFFERED": "1"}, folder / "sandbox.log"),
    )


def _clock(folder: Path) -> dict[str, str]:
    """The variables of programs whose clock can be stepped; none where there is no C compiler."""
    (folder / "clock").write_bytes(pack("l", 0))
    library = folder / "clock.so"
    compiled = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(CLOCK), "-ldl"]
    if shutil.which("cc") is None or subprocess.run(compiled, check=False).returncode:
        return {}
    return {"LD_PRELOAD": str(library), "CLOCK_STEP": str(folder / "clock")}


def _use_proxies(made: Place) -> None:
    def lines() -> list[str]:
        text = made.sandbox.log.read_text(encoding="utf-8") if made.sandbox.log.exists() else ""
        return re.findall(r"^ +([A-Z]+ http://\S+)$", text, re.MULTILINE)

    wait(lambda: len(lines()) == len(PROXIES), STARTS_WITHIN, "the sandbox")
    (made.folder / "proxies").write_text("\n".join(lines()) + "\n", encoding="utf-8")


def _end(made: Place) -> None:
    for program in (made.service, made.worker, made.sandbox, made.redis, made.postgresql):
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


def processes(place: Place) -> list[int]:
    """All of webdata: its programs, and whatever has its folder of temporary files, whoever started it."""
    known = {pid for one in place.programs if one.runs() for pid in (one.pid, *descendants(one.pid))}
    mark = f"\0TMPDIR={place.folder}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in b"\0" + path.read_bytes():
                known.add(int(path.parent.name))
    return sorted(known)


KINDS = (
    ("ledger_process", "the writer of the ledger"),
    ("webdata.deliverer", "the deliverer"),
    ("webdata.worker", "the worker of batches"),
    ("webdata worker", "the worker of batches"),
    ("webdata sandbox", "the sites"),
    ("resource_tracker", "the resource tracker"),
    ("forkserver", "a conversion process"),
    ("playwright/driver", "the driver of Chromium"),
    ("crashpad", "Chromium's crash handler"),
    ("--type=renderer", "a page of Chromium"),
    ("--type=", "a helper of Chromium"),
    ("chromium", "Chromium"),
)
"""What a process is, by its command line."""


def kind_of(place: Place, pid: int) -> str:
    """What a process of webdata is; "" after its end."""
    command = command_of(pid)
    if "webdata serve" in command:
        return "the supervisor" if pid == place.service.pid else "a worker of the service"
    return next((kind for word, kind in KINDS if word in command), "another" if command else "")
