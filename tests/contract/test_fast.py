"""What a fast test must not do is noticed, so that `make test-fast` needs no server, process or saved page."""

import socket
import subprocess
import sys

import pytest

from tests.fast import watched


def test_a_server_is_noticed(starts):
    """Listening on a port and connecting to one are noticed."""
    with watched() as seen, socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert seen == {"listens", "connects to a server"}


def test_a_process_is_noticed(starts):
    """Starting a process is noticed."""
    with watched() as seen:
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert seen == {"starts a process"}


def test_a_saved_page_is_noticed(captures):
    """Reading a real saved page is noticed."""
    with watched() as seen:
        next(captures.glob("*/*.html")).read_bytes()
    assert seen == {"reads a saved page"}


def test_a_fast_test_that_starts_something_fails(request, starts):
    """The error says what it did, and what to ask for."""
    from tests.fast import _held_to_be_fast

    request.node.add_marker("fast")
    running = _held_to_be_fast(request.node)
    next(running)
    socket.create_server(("127.0.0.1", 0)).close()
    with pytest.raises(AssertionError, match="it listens: its fixture, or the test, must ask for `starts`"):
        running.send(None)
