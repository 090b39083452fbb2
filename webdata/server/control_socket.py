"""The worker's side of its control socket: the parent sends connections and the command to stop, the worker its state.

`webdata.server.workers` describes the protocol and is the parent's side.
"""

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


class ControlSocket:
    """Receives connections for the factories of a worker, and reports that the worker runs."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._factories: list[ServerFactory] = []

    def start(self, stop: Callable[[], None]) -> None:
        """Begin to receive; `stop` is called for each command to stop, and when the parent has died."""
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._worker.control, self._receive)

    def listen(self, factory: ServerFactory) -> "ForwardedPort":
        """Serve the connections of the parent's next listening socket, from its first, with this factory."""
        factory.doStart()
        self._factories.append(factory)
        return ForwardedPort(self._worker, factory)

    def ready(self) -> None:
        """Report that this worker takes connections, and from now on, every TICK, that it runs."""
        self._worker.send(READY)
        self._report_alive()

    def _report_alive(self) -> None:
        self._worker.send(ALIVE)
        self._loop.call_later(TICK, self._report_alive)

    def _receive(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._worker.control, 1, 1, CLOSE_ON_EXEC | socket.MSG_DONTWAIT
            )
        except BlockingIOError:
            return
        except OSError:
            message, descriptors = b"", []
        if descriptors:
            self._worker.send(TAKEN)
        for descriptor in descriptors:
            self._adopt(descriptor, self._factories[message[0] - 1])
        if not message:
            self._loop.remove_reader(self._worker.control)
        if message in (STOP, b""):
            self._stop()

    def _adopt(self, descriptor: int, factory: ServerFactory) -> None:
        with socket.socket(fileno=descriptor) as connection, contextlib.suppress(OSError):  # its client may have gone
            connection.setblocking(False)
            reactor.adoptStreamConnection(connection.fileno(), connection.family, factory)


class ForwardedPort:
    """A listening socket of the parent, to be closed as a port of Twisted's."""

    def __init__(self, worker: Worker, factory: ServerFactory) -> None:
        self._worker = worker
        self._factory = factory

    def stopListening(self) -> Deferred[None]:
        """Report that this worker takes no more connections."""
        self._worker.send(CLOSED)
        self._factory.doStop()
        return succeed(None)
