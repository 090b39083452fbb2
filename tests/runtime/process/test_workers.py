"""A supervisor and its workers, in a program of their own: each worker answers its number and process id."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.processor_seconds import of_process
from webdata.runtime.process.workers import Slot, State, Worker

PROGRAM = """
import errno, os, signal, sys, time
from itertools import count
from webdata.runtime.process import workers
from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.observability.logs import log_to_standard_error
from webdata.runtime.server.listening import Listening
from webdata.runtime.process.workers import Workers

workers.TICK, workers.HANGS_AFTER = 0.1, 1.0


def answer(worker, client):
    with client:
        client.settimeout(5)
        command = client.recv(10)
        if command == b"die":
            os._exit(3)
        if command == b"hang":
            time.sleep(60)
        if command == b"slow":
            client.sendall(b"wait")
            time.sleep(3)
        client.sendall(b"%d %d" % (worker.number, os.getpid()))


def work(worker):
    if mode == "wrong" and worker.number == 2:
        raise ConfigError("the second one is wrong")
    if mode == "broken" and worker.number == 2:
        raise ZeroDivisionError
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(mode != "stubborn"))
    with reserved.of_its_own() as listening:
        listening.api.settimeout(0.05)
        while not any(stopping) and not worker.orphaned:
            worker.beat()
            try:
                client, _ = listening.api.accept()
            except TimeoutError:
                continue
            answer(worker, client)


def scarce(fork=os.fork, attempts=count(1)):
    if next(attempts) < 3:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()


def on_ready():
    print(reserved.port, flush=True)
    if mode == "scarce":
        os.fork = scarce


mode = sys.argv[1]
log_to_standard_error()
config = Config(port=0, tls=False, workers=int(sys.argv[2]))
with Listening.of(config) as reserved:
    try:
        Workers(config.workers, work, on_ready, lambda number: print("end of", number, flush=True)).run()
    except ConfigError as error:
        sys.exit(f"refused: {error}")
"""


@dataclass
class Supervisor:
    """The process of a supervisor with workers."""

    process: subprocess.Popen
    log: Path

    def wait_until_ready(self):
        """Wait until all workers have started."""
        self.port = int(self.process.stdout.readline())

    def connect(self):
        """A connection to any of the workers."""
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def query(self, command="id"):
        """The number and process id of the worker that answers; None if the connection is closed instead."""
        with self.connect() as client:
            client.sendall(command.encode())
            try:
                answer = client.recv(100)
            except ConnectionError:
                return None
        return tuple(map(int, answer.split())) if answer else None

    def workers(self):
        """The process ids by number; of all workers, since 40 connections hardly leave one out."""
        return dict(filter(None, (self.query() for _ in range(40))))

    def end(self, *signals):
        """The exit status after these signals, and the text of the log."""
        for number in signals:
            self.process.send_signal(number)
        return self.process.wait(20), self.log.read_text()

    def logged(self, pattern):
        """Wait for a line in the log; returns its match."""
        return until(lambda: re.search(pattern, self.log.read_text()))


@pytest.fixture
def start(tmp_path):
    """Starts a supervisor with workers, for a block."""

    @contextmanager
    def start(mode="serve", count=2):
        log = tmp_path / "log"
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, mode, str(count)],
                env={**os.environ, "TMPDIR": str(tmp_path)},
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                start_new_session=True,
            )
        try:
            yield Supervisor(process, log)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    return start


@pytest.fixture
def supervisor(start):
    """A supervisor with two ready workers."""
    with start() as one:
        one.wait_until_ready()
        yield one


def until(condition, seconds=15):
    """Wait until a condition is true; returns its value."""
    end = monotonic() + seconds
    while monotonic() < end:
        if result := condition():
            return result
        sleep(0.02)
    raise AssertionError("the condition did not become true in time")


def runs(pid):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(pids):
    return until(lambda: not any(map(runs, pids)))


def test_connections_are_distributed(supervisor):
    """Of 64 connections that are opened at once each of two workers gets a third or more, in nine of ten bursts."""
    shares = []
    for _ in range(10):
        clients = [supervisor.connect() for _ in range(64)]
        answers = Counter()
        for client in clients:
            with closing(client):
                client.sendall(b"id")
                answers[client.recv(100).split()[0]] += 1
        shares.append(min(answers[b"1"], answers[b"2"]))
    assert sum(share >= 64 // 3 for share in shares) >= 9
    assert supervisor.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_worker_that_dies_is_replaced(supervisor, how):
    """The end of a worker is logged and another is started at once; the others answer meanwhile."""
    before = supervisor.workers()
    if how == "killed":
        os.kill(before[2], signal.SIGKILL)
    else:
        until(lambda: supervisor.query("die") is None)
    end = "was ended by signal 9" if how == "killed" else "has ended with status 3"
    found = supervisor.logged(rf"worker (\d) \(pid (\d+)\) {end}; it is started again\n")
    assert all(supervisor.query() for _ in range(50))
    number, lost = map(int, found.groups())
    assert before[number] == lost
    until(lambda: len(after := supervisor.workers()) == 2 and lost not in after.values())
    assert supervisor.process.stdout.readline() == f"end of {number}\n"
    assert supervisor.end(signal.SIGTERM)[0] == 0


def test_a_killed_worker_loses_its_own_connections(supervisor):
    """Connections of other workers are answered, and new ones are opened to these."""
    killed = supervisor.workers()[1]
    os.kill(killed, signal.SIGSTOP)
    clients = [supervisor.connect() for _ in range(32)]
    for client in clients:
        client.sendall(b"id")
    os.kill(killed, signal.SIGKILL)
    answers = [received(client) for client in clients]
    assert 0 < answers.count(b"") < 32
    assert {answer[:1] for answer in answers if answer} <= {b"1", b"2"}
    assert all(supervisor.query() for _ in range(50))
    assert supervisor.end(signal.SIGTERM)[0] == 0


def received(client):
    """What a client receives until the connection ends."""
    with closing(client):
        try:
            return client.recv(100)
        except ConnectionResetError:
            return b""


def test_pauses_between_starts_grow():
    """Workers that end within seconds, one after another, are started after growing pauses, until one runs longer."""
    slot, now = Slot(1), 100.0
    pauses = []
    for life in [60, 1, 1, 1, 1, 1, 1, 1, 1, 60, 1]:
        slot.begun = now
        now += life
        pauses.append(slot.ended(now))
    assert pauses == [0, 0, 1, 2, 4, 8, 16, 30, 30, 0, 0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all(supervisor, number):
    """After a signal all workers have ended, and the exit status is 0."""
    pids = supervisor.workers().values()
    assert supervisor.end(number) == (0, "")
    assert all_gone(pids)


@pytest.mark.slow
def test_the_supervisor_waits_idle_for_the_last_worker(supervisor):
    """While one worker finishes after a signal and the other has ended, it uses hardly any processor time."""
    pid = supervisor.process.pid
    with supervisor.connect() as client:
        client.sendall(b"slow")
        assert client.recv(4) == b"wait"
        before = of_process(pid)
        supervisor.process.send_signal(signal.SIGTERM)
        until(lambda: not runs(pid))
    assert of_process(pid) - before < 0.3


def test_a_signal_to_the_process_group(supervisor):
    """One signal that reaches the supervisor and the workers, as Ctrl-C does, stops them gracefully."""
    pids = supervisor.workers().values()
    os.killpg(supervisor.process.pid, signal.SIGINT)
    assert supervisor.end() == (0, "")
    assert all_gone(pids)


def test_a_second_signal_kills(start):
    """Workers that do not stop are killed at the second signal."""
    with start("stubborn") as supervisor:
        supervisor.wait_until_ready()
        pids = supervisor.workers().values()
        supervisor.process.send_signal(signal.SIGTERM)
        assert len(supervisor.workers()) == 2
        assert supervisor.end(signal.SIGTERM)[0] == 0
        assert all_gone(pids)


def test_workers_stop_when_their_supervisor_is_killed(supervisor):
    """They see that it has died, and end."""
    pids = supervisor.workers().values()
    assert supervisor.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert all_gone(pids)


@pytest.mark.slow
def test_a_fork_that_fails_is_repeated(start):
    """While the system refuses another process the other workers serve, and the start is repeated."""
    with start("scarce") as supervisor:
        supervisor.wait_until_ready()
        os.kill(supervisor.workers()[2], signal.SIGKILL)
        supervisor.logged(r"worker 2 cannot be started \(Resource temporarily unavailable\); it is tried in 1 s\n")
        assert all(supervisor.query() for _ in range(10))
        until(lambda: len(supervisor.workers()) == 2)
        assert supervisor.end(signal.SIGTERM)[0] == 0


def test_a_worker_that_cannot_start(start):
    """A ConfigError at the first start of a worker ends all of them, and the supervisor raises it."""
    with start("wrong") as supervisor:
        assert supervisor.end() == (1, "refused: the second one is wrong\n")


def test_a_worker_that_fails_at_its_start(start):
    """Another error at the first start ends all of them, with its traceback in the log."""
    with start("broken") as supervisor:
        status, log = supervisor.end()
    assert status == 1
    assert log.count("Traceback") == 1
    assert "ZeroDivisionError" in log


def test_a_worker_that_hangs(supervisor):
    """The stacks of a worker that reports nothing are logged, and it is replaced."""
    with supervisor.connect() as client:
        client.sendall(b"hang")
        hung = int(supervisor.logged(r"\(pid (\d+)\) has reported nothing for 1 s")[1])
        supervisor.logged(r"File \"<string>\", line \d+ in answer")
        supervisor.logged(rf"\(pid {hung}\) was ended by signal 9; it is started again")
        assert client.recv(100) == b""
    until(lambda: len(supervisor.workers()) == 2)
    assert supervisor.end(signal.SIGTERM)[0] == 0


def test_a_pause_of_all_processes(supervisor):
    """No worker counts as hung after a pause of all processes, as of a container."""
    pids = supervisor.workers()
    os.killpg(supervisor.process.pid, signal.SIGSTOP)
    sleep(1.5)  # longer than HANGS_AFTER here
    os.killpg(supervisor.process.pid, signal.SIGCONT)
    assert supervisor.workers() == pids
    assert supervisor.end(signal.SIGTERM) == (0, "")


def test_the_last_worker_of_a_killed_supervisor_removes_files():
    """Files of all are a worker's to remove once its supervisor has died and no other worker runs."""
    states = (State * 2)()
    first, second = (Worker(number, states, supervisor=0) for number in (1, 2))
    first.beat()
    second.beat()
    assert not first.end()
    assert second.end()
    assert not Worker(1, states, supervisor=os.getppid()).end()
