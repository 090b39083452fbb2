"""A worker's end of the line to its parent (`webdata.server.workers`): connections come by it, and the word to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

from twisted.internet import reactor as installed_reactor
from twisted.internet.defer import Deferred, succeed
from twisted.internet.protocol import ServerFactory

from webdata.server.workers import ALIVE, CLOSED, READY, STOP, TAKEN, TICK, Worker

CLOSE_ON_EXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
reactor: Any = installed_reactor  # its type is an interface, which mypy cannot call


class Line:
    """Connections and the word to stop come by it, signs of life go back."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._factories: list[ServerFactory] = []

    def listen(self, stop: Callable[[], None]) -> None:
        """Begin to listen; `stop` is called whenever the parent says so, and when it has died."""
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._worker.line, self._heard)

    def take(self, factory: ServerFactory) -> "HandedPort":
        """Connections of the next listening socket, counted from the first, are this factory's."""
        factory.doStart()
        self._factories.append(factory)
        return HandedPort(self._worker, factory)

    def ready(self) -> None:
        """Tell the parent that connections are taken, and from now on that this process does not hang."""
        self._worker.say(READY)
        self._alive()

    def _alive(self) -> None:
        self._worker.say(ALIVE)
        self._loop.call_later(TICK, self._alive)

    def _heard(self) -> None:
        try:
            kind, given, _, _ = socket.recv_fds(self._worker.line, 1, 1, CLOSE_ON_EXEC | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            kind, given = b"", []
        if given:
            self._worker.say(TAKEN)
        for one in given:
            self._adopt(one, self._factories[kind[0] - 1])
        if not kind:
            self._loop.remove_reader(self._worker.line)
        if kind in (STOP, b""):
            self._stop()

    def _adopt(self, descriptor: int, factory: ServerFactory) -> None:
        with socket.socket(fileno=descriptor) as connection, contextlib.suppress(OSError):  # its caller may have gone
            connection.setblocking(False)
            reactor.adoptStreamConnection(connection.fileno(), connection.family, factory)


class HandedPort:
    """What is handed here, as a port of Twisted's that can be closed."""

    def __init__(self, worker: Worker, factory: ServerFactory) -> None:
        self._worker = worker
        self._factory = factory

    def stopListening(self) -> Deferred[None]:
        """Have the parent hand no more connections here."""
        self._worker.say(CLOSED)
        self._factory.doStop()
        return succeed(None)
