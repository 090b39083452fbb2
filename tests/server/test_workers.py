"""Several processes and their parent: small workers that answer who they are, in a program of their own."""

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

from webdata.server.workers import Place

PROGRAM = """
import errno, os, socket, sys, time
from itertools import count as counted
from webdata.server import workers
from webdata.domain.errors import ConfigError
from webdata.observability.logs import log_to_standard_error
from webdata.server.workers import ALIVE, CLOSED, READY, TAKEN, Workers

workers.TICK, workers.BUSY_AFTER, workers.HANGS_AFTER = 0.1, 0.3, 1.0


def told(worker, given):
    with socket.socket(fileno=given) as caller:
        caller.settimeout(5)
        word = caller.recv(10)
        if word == b"die":
            os._exit(3)
        if word == b"hang":
            time.sleep(60)
        if word == b"slow":
            caller.sendall(b"wait")
            time.sleep(3)
        caller.sendall(b"%d %d" % (worker.number, os.getpid()))


def work(worker):
    if how == "wrong" and worker.number == 2:
        raise ConfigError("the second one is wrong")
    if how == "broken" and worker.number == 2:
        raise ZeroDivisionError
    worker.send(READY)
    worker.control.settimeout(0.05)
    while True:
        worker.send(ALIVE)
        try:
            kind, given, *_ = socket.recv_fds(worker.control, 1, 1)
        except TimeoutError:
            continue
        if given:
            worker.send(TAKEN)
            told(worker, given[0])
        elif how != "stubborn":
            worker.send(CLOSED)
            return


def scarce(fork=os.fork, tried=counted(1)):
    if next(tried) < 3:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()


def begun():
    print(listens.getsockname()[1], flush=True)
    if how == "scarce":
        os.fork = scarce


how, count = sys.argv[1], int(sys.argv[2])
log_to_standard_error()
with socket.create_server(("127.0.0.1", 0)) as listens:
    listens.setblocking(False)
    try:
        Workers(count, [listens], work, begun).run()
    except ConfigError as error:
        sys.exit(f"refused: {error}")
"""


@dataclass
class Together:
    """A parent with workers."""

    process: subprocess.Popen
    log: Path

    def begun(self):
        """Wait until all of them have started."""
        self.port = int(self.process.stdout.readline())

    def ask(self, word="who"):
        """The number and process id of the worker that answers; None where none does."""
        with socket.create_connection(("127.0.0.1", self.port), 10) as caller:
            caller.sendall(word.encode())
            try:
                answer = caller.recv(100)
            except ConnectionError:
                return None
        return tuple(map(int, answer.split())) if answer else None

    def workers(self):
        """The process ids by number."""
        return dict(self.ask() for _ in range(8))

    def end(self, *signals):
        """The exit status after these signals, and what the log says."""
        for number in signals:
            self.process.send_signal(number)
        return self.process.wait(20), self.log.read_text()

    def logged(self, pattern):
        """Wait until the log has a line."""
        return until(lambda: re.search(pattern, self.log.read_text()))


@pytest.fixture
def together(tmp_path):
    """Starts a parent with workers, for a block."""

    @contextmanager
    def start(how="serve", count=2):
        log = tmp_path / "log"
        with log.open("ab") as file:
            words = [sys.executable, "-c", PROGRAM, how, str(count)]
            environ = {**os.environ, "TMPDIR": str(tmp_path)}
            process = subprocess.Popen(
                words, env=environ, stdout=subprocess.PIPE, stderr=file, text=True, start_new_session=True
            )
        try:
            yield Together(process, log)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    return start


def until(found, seconds=15):
    """What is found in the end."""
    end = monotonic() + seconds
    while monotonic() < end:
        if result := found():
            return result
        sleep(0.02)
    raise AssertionError("it was not found in time")


def runs(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(pids):
    return until(lambda: not any(map(runs, pids)))


@pytest.mark.parametrize(("count", "burst"), [(2, 16), (4, 100)])
def test_connections_are_handed_out_in_turn(together, count, burst):
    """Connections that are opened at once are spread over all workers alike."""
    with together(count=count) as one:
        one.begun()
        callers = [socket.create_connection(("127.0.0.1", one.port), 10) for _ in range(burst)]
        answers = Counter()
        for caller in callers:
            with closing(caller):
                caller.sendall(b"who")
                answers[caller.recv(100).split()[0]] += 1
        assert list(answers.values()) == [burst // count] * count
        assert one.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_one_that_dies_is_replaced(together, how):
    """A worker that dies is told in the log and started again at once; the others answer all along."""
    with together() as one:
        one.begun()
        before = one.workers()
        if how == "killed":
            os.kill(before[2], signal.SIGKILL)
        else:
            until(lambda: one.ask("die") is None)
        assert all(one.ask() for _ in range(50))
        told = "was ended by signal 9" if how == "killed" else "has ended with status 3"
        lost = int(one.logged(rf"worker \d \(pid (\d+)\) {told}; it is started again\n")[1])
        assert lost in before.values()
        until(lambda: len(after := one.workers()) == 2 and lost not in after.values())
        assert one.end(signal.SIGTERM)[0] == 0


def test_what_a_dead_one_had_not_taken(together):
    """Connections that a worker had not taken when it died are answered by another, and closed when that one does."""
    with together() as one:
        one.begun()
        frozen = one.workers()[1]
        os.kill(frozen, signal.SIGSTOP)
        callers = [socket.create_connection(("127.0.0.1", one.port), 10) for _ in range(8)]
        for caller in callers:
            caller.sendall(b"who")
        answered = set()
        while len(answered) < 4:  # the other's share, so that all have been handed out
            answered |= set(select(callers, [], [], 10)[0])
        os.kill(frozen, signal.SIGKILL)
        for caller in callers:
            with closing(caller):
                assert caller.recv(100)
                assert caller.recv(100) == b""
        assert one.end(signal.SIGTERM)[0] == 0


def test_pauses():
    """One that ends again and again within seconds is started after growing pauses, until it holds for a while."""
    place, now = Place(1), 100.0
    pauses = []
    for life in [60, 1, 1, 1, 1, 1, 1, 1, 1, 60, 1]:
        place.begun = now
        now += life
        pauses.append(place.ended(now))
    assert pauses == [0, 0, 1, 2, 4, 8, 16, 30, 30, 0, 0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end(together, number):
    """After a signal all workers stop, nobody is left, the folder is gone, and the exit status is 0."""
    with together() as one:
        one.begun()
        pids = one.workers().values()
        status, log = one.end(number)
        assert (status, log) == (0, "")
        assert all_gone(pids)
        assert not list(one.log.parent.glob("webdata-*"))


def test_a_signal_to_all_of_them(together):
    """Ctrl-C and what systemd does reach parent and workers at once, and are one wish to stop, not two."""
    with together() as one:
        one.begun()
        pids = one.workers().values()
        os.killpg(one.process.pid, signal.SIGINT)
        assert one.end() == (0, "")
        assert all_gone(pids)


def test_a_second_signal(together):
    """Workers that do not stop are ended by a second signal."""
    with together("stubborn") as one:
        one.begun()
        pids = one.workers().values()
        one.process.send_signal(signal.SIGTERM)
        assert len(one.workers()) == 2
        assert one.end(signal.SIGTERM)[0] == 0
        assert all_gone(pids)


def test_the_parents_death(together):
    """Workers whose parent was killed stop by themselves."""
    with together() as one:
        one.begun()
        pids = one.workers().values()
        assert one.end(signal.SIGKILL)[0] == -signal.SIGKILL
        assert all_gone(pids)
        assert not list(one.log.parent.glob("webdata-*"))


def test_a_successor_of_the_parent(together):
    """While the workers of a parent that was killed finish, its port is free for another one."""
    with together() as one:
        one.begun()
        with socket.create_connection(("127.0.0.1", one.port), 10) as caller:
            caller.sendall(b"slow")
            assert caller.recv(4) == b"wait"
            one.end(signal.SIGKILL)
            with socket.create_server(("127.0.0.1", one.port)):
                assert caller.recv(100)


def test_a_caller_whose_worker_dies(together):
    """A connection ends with the worker that has it, though it came while others were started."""
    with together() as one:
        one.begun()
        pids = one.workers().values()
        for how in (signal.SIGSTOP, signal.SIGKILL):  # the next ones are started while it waits
            for pid in pids:
                os.kill(pid, how)
            if how == signal.SIGSTOP:
                caller = socket.create_connection(("127.0.0.1", one.port), 10)
                sleep(0.1)
        with caller:
            assert one.ask()  # the other one has started too
            caller.sendall(b"die")
            assert caller.recv(100) == b""


def test_no_room_for_another(together):
    """While the system lets no worker be started again the others go on, and it is tried until there is room."""
    with together("scarce") as one:
        one.begun()
        os.kill(one.workers()[2], signal.SIGKILL)
        one.logged(r"worker 2 cannot be started \(Resource temporarily unavailable\); it is tried in 1 s\n")
        assert all(one.ask() for _ in range(10))
        until(lambda: len(one.workers()) == 2)
        assert one.end(signal.SIGTERM)[0] == 0


def test_one_that_cannot_start(together):
    """What keeps a worker from its first start ends all of them, and is told as with one process."""
    with together("wrong") as one:
        status, log = one.end()
    assert (status, log) == (1, "refused: the second one is wrong\n")


def test_one_that_fails_at_its_start(together):
    """An error at the first start ends all of them, with its traceback."""
    with together("broken") as one:
        status, log = one.end()
    assert status == 1
    assert log.count("ZeroDivisionError") == 1


def test_one_that_hangs(together):
    """A worker that is not heard any more is handed nothing, tells where it is, and is replaced."""
    with together() as one:
        one.begun()
        with socket.create_connection(("127.0.0.1", one.port), 10) as caller:
            caller.sendall(b"hang")
            hung = int(one.logged(r"\(pid (\d+)\) has not been heard for 1 s")[1])
            one.logged(r"File \"<string>\", line \d+ in told")
            one.logged(rf"\(pid {hung}\) was ended by signal 9; it is started again")
            assert caller.recv(100) == b""
        until(lambda: len(one.workers()) == 2)
        assert one.end(signal.SIGTERM)[0] == 0


def test_all_of_them_held_up(together):
    """A pause of all processes, as of a container, is taken for no worker's fault."""
    with together() as one:
        one.begun()
        pids = one.workers()
        os.killpg(one.process.pid, signal.SIGSTOP)
        sleep(1.5)  # longer than one may be silent here
        os.killpg(one.process.pid, signal.SIGCONT)
        assert one.workers() == pids
        assert one.end(signal.SIGTERM) == (0, "")
