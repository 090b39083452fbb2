"""A parent and its workers, in a program of their own: each worker answers its number and process id."""

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
from select import select
from time import monotonic, sleep

import pytest

from webdata.server.workers import Slot

PROGRAM = """
import errno, os, socket, sys, time
from itertools import count
from webdata.server import workers
from webdata.domain.errors import ConfigError
from webdata.observability.logs import log_to_standard_error
from webdata.server.workers import ALIVE, CLOSED, READY, TAKEN, Workers

workers.TICK, workers.BUSY_AFTER, workers.HANGS_AFTER = 0.1, 0.3, 1.0


def answer(worker, descriptor):
    with socket.socket(fileno=descriptor) as client:
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
    worker.send(READY)
    worker.control.settimeout(0.05)
    while True:
        worker.send(ALIVE)
        try:
            _, descriptors, *_ = socket.recv_fds(worker.control, 1, 1)
        except TimeoutError:
            continue
        if descriptors:
            worker.send(TAKEN)
            answer(worker, descriptors[0])
        elif mode != "stubborn":
            worker.send(CLOSED)
            return


def scarce(fork=os.fork, attempts=count(1)):
    if next(attempts) < 3:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()


def on_ready():
    print(listening.getsockname()[1], flush=True)
    if mode == "scarce":
        os.fork = scarce


mode = sys.argv[1]
log_to_standard_error()
with socket.create_server(("127.0.0.1", 0)) as listening:
    listening.setblocking(False)
    try:
        Workers(int(sys.argv[2]), [listening], work, on_ready).run()
    except ConfigError as error:
        sys.exit(f"refused: {error}")
"""


@dataclass
class Parent:
    """The process of a parent with workers."""

    process: subprocess.Popen
    log: Path

    def wait_until_ready(self):
        """Wait until all workers have started."""
        self.port = int(self.process.stdout.readline())

    def connect(self):
        """A connection to whichever worker is next."""
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
        """The process ids by number."""
        return dict(self.query() for _ in range(8))

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
    """Starts a parent with workers, for a block."""

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
            yield Parent(process, log)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    return start


@pytest.fixture
def parent(start):
    """A parent with two ready workers."""
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


def processor_time(pid):
    """Seconds that a process has used the processor (proc(5): utime and stime)."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def all_gone(pids):
    return until(lambda: not any(map(runs, pids)))


@pytest.mark.parametrize(("count", "burst"), [(2, 16), (4, 100)])
def test_connections_are_distributed_evenly(start, count, burst):
    """Connections that are opened at once are spread evenly over all workers."""
    with start(count=count) as parent:
        parent.wait_until_ready()
        clients = [parent.connect() for _ in range(burst)]
        answers = Counter()
        for client in clients:
            with closing(client):
                client.sendall(b"id")
                answers[client.recv(100).split()[0]] += 1
        assert list(answers.values()) == [burst // count] * count
        assert parent.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_worker_that_dies_is_replaced(parent, how):
    """The end of a worker is logged and another is started at once; the others answer meanwhile."""
    before = parent.workers()
    if how == "killed":
        os.kill(before[2], signal.SIGKILL)
    else:
        until(lambda: parent.query("die") is None)
    assert all(parent.query() for _ in range(50))
    end = "was ended by signal 9" if how == "killed" else "has ended with status 3"
    lost = int(parent.logged(rf"worker \d \(pid (\d+)\) {end}; it is started again\n")[1])
    assert lost in before.values()
    until(lambda: len(after := parent.workers()) == 2 and lost not in after.values())
    assert parent.end(signal.SIGTERM)[0] == 0


def test_connections_that_a_dead_worker_had_not_taken(parent):
    """They are answered by another worker, and closed once that has answered."""
    frozen = parent.workers()[1]
    os.kill(frozen, signal.SIGSTOP)
    clients = [parent.connect() for _ in range(8)]
    for client in clients:
        client.sendall(b"id")
    answered = set()
    while len(answered) < 4:  # the other worker's half, so that all connections have been sent to workers
        answered |= set(select(clients, [], [], 10)[0])
    os.kill(frozen, signal.SIGKILL)
    for client in clients:
        with closing(client):
            assert client.recv(100)
            assert client.recv(100) == b""
    assert parent.end(signal.SIGTERM)[0] == 0


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
def test_a_signal_stops_all(parent, number):
    """After a signal all workers have ended, the folder is removed, and the exit status is 0."""
    pids = parent.workers().values()
    assert parent.end(number) == (0, "")
    assert all_gone(pids)
    assert not list(parent.log.parent.glob("webdata-*"))


def test_the_parent_waits_idle_for_the_last_worker(parent):
    """While one worker finishes after a signal and the other has ended, the parent uses hardly any processor time."""
    pid = parent.process.pid
    with parent.connect() as client:
        client.sendall(b"slow")
        assert client.recv(4) == b"wait"
        before = processor_time(pid)
        parent.process.send_signal(signal.SIGTERM)
        until(lambda: not runs(pid))
    assert processor_time(pid) - before < 0.3


def test_a_signal_to_the_process_group(parent):
    """One signal that reaches the parent and the workers, as Ctrl-C does, stops them gracefully."""
    pids = parent.workers().values()
    os.killpg(parent.process.pid, signal.SIGINT)
    assert parent.end() == (0, "")
    assert all_gone(pids)


def test_a_second_signal_kills(start):
    """Workers that do not stop are killed at the second signal."""
    with start("stubborn") as parent:
        parent.wait_until_ready()
        pids = parent.workers().values()
        parent.process.send_signal(signal.SIGTERM)
        assert len(parent.workers()) == 2
        assert parent.end(signal.SIGTERM)[0] == 0
        assert all_gone(pids)


def test_workers_stop_when_their_parent_is_killed(parent):
    """They end, and the last one removes the folder."""
    pids = parent.workers().values()
    assert parent.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert all_gone(pids)
    assert not list(parent.log.parent.glob("webdata-*"))


def test_the_port_of_a_killed_parent_is_free(parent):
    """Another process can listen on the port while the workers still finish."""
    with parent.connect() as client:
        client.sendall(b"slow")
        assert client.recv(4) == b"wait"
        parent.end(signal.SIGKILL)
        with socket.create_server(("127.0.0.1", parent.port)):
            assert client.recv(100)


def test_a_connection_ends_with_its_worker(parent):
    """It does though it waited, accepted, while other workers were forked."""
    pids = parent.workers().values()
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)
        if number == signal.SIGSTOP:
            client = parent.connect()
            sleep(0.1)
    with client:
        assert parent.query()  # the other worker has started too
        client.sendall(b"die")
        assert client.recv(100) == b""


def test_a_fork_that_fails_is_repeated(start):
    """While the system refuses another process the other workers serve, and the start is repeated."""
    with start("scarce") as parent:
        parent.wait_until_ready()
        os.kill(parent.workers()[2], signal.SIGKILL)
        parent.logged(r"worker 2 cannot be started \(Resource temporarily unavailable\); it is tried in 1 s\n")
        assert all(parent.query() for _ in range(10))
        until(lambda: len(parent.workers()) == 2)
        assert parent.end(signal.SIGTERM)[0] == 0


def test_a_worker_that_cannot_start(start):
    """A ConfigError at the first start of a worker ends all of them, and the parent raises it."""
    with start("wrong") as parent:
        assert parent.end() == (1, "refused: the second one is wrong\n")


def test_a_worker_that_fails_at_its_start(start):
    """Another error at the first start ends all of them, with its traceback in the log."""
    with start("broken") as parent:
        status, log = parent.end()
    assert status == 1
    assert log.count("ZeroDivisionError") == 1


def test_a_worker_that_hangs(parent):
    """A worker that sends nothing gets no connections; its stacks are logged, and it is replaced."""
    with parent.connect() as client:
        client.sendall(b"hang")
        hung = int(parent.logged(r"\(pid (\d+)\) has sent nothing for 1 s")[1])
        parent.logged(r"File \"<string>\", line \d+ in answer")
        parent.logged(rf"\(pid {hung}\) was ended by signal 9; it is started again")
        assert client.recv(100) == b""
    until(lambda: len(parent.workers()) == 2)
    assert parent.end(signal.SIGTERM)[0] == 0


def test_a_pause_of_all_processes(parent):
    """No worker counts as hung after a pause of all processes, as of a container."""
    pids = parent.workers()
    os.killpg(parent.process.pid, signal.SIGSTOP)
    sleep(1.5)  # longer than HANGS_AFTER here
    os.killpg(parent.process.pid, signal.SIGCONT)
    assert parent.workers() == pids
    assert parent.end(signal.SIGTERM) == (0, "")
