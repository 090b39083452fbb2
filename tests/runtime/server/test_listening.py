"""The listening sockets of the service."""

import resource
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.runtime.server.listening import OTHER_FILES, Listening, room_for

ANY = Config(port=0, http_port=0)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Certificates are made in the test's folder."""
    monkeypatch.chdir(tmp_path)


def port_of(one):
    return one.getsockname()[1]


def test_the_address_of_the_service():
    """The address has the scheme, host and port; for a service that listens on all addresses the host is loopback."""
    for host, tls, url in [
        ("127.0.0.1", True, "http://127.0.0.1"),
        ("127.0.0.1", False, "http://127.0.0.1"),
        ("0.0.0.0", True, "https://127.0.0.1"),
        ("::1", True, "http://[::1]"),
        ("::", True, "https://[::1]"),
        ("localhost", True, "http://127.0.0.1"),
    ]:
        try:
            listening = Listening.of(ANY.with_options(host=host, tls=tls))
        except ConfigError:
            assert ":" in host, "only IPv6 may be missing"
            continue
        with listening:
            first = listening.plain if tls and url.startswith("http:") else listening.api
            assert listening.url in (f"{url}:{port_of(first)}", f"http://[::1]:{port_of(first)}")


def test_a_public_address():
    """WEBDATA_PUBLIC_URL, such as a reverse proxy's, is the address instead."""
    with Listening.of(ANY.with_options(public_url="https://data.example.com")) as listening:
        assert listening.url == "https://data.example.com"


def test_the_socket_of_plain_http():
    """With TLS there is a second socket, unless it is off."""
    with Listening.of(ANY) as both, Listening.of(Config(port=0, http_port=None)) as one:
        assert (both.plain is None, one.plain is None) == (False, True)
        assert port_of(both.plain) != port_of(both.api)
    with Listening.of(ANY.with_options(tls=False)) as plain:
        assert plain.plain is None


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_that_is_taken(host):
    """The message names the address, the reason and what to change, and no socket stays open."""
    with closing(socket.create_server((host, 0))) as other:
        taken = ANY.with_options(host=host, port=port_of(other))
        with pytest.raises(ConfigError, match=rf"{host}:{port_of(other)}: Address already in use; .*--port"):
            Listening.of(taken)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_of_plain_http_that_is_taken(host, caplog):
    """HTTPS is served without it, and the log says why."""
    with closing(socket.create_server((host, 0))) as other:
        taken = port_of(other)
        listening = Listening.of(ANY.with_options(host=host, http_port=taken))
    with listening:
        assert listening.plain is None
        assert listening.url == f"https://127.0.0.1:{port_of(listening.api)}"
    assert f"{taken}: Address already in use; choose another with --host and WEBDATA_HTTP_PORT" in caplog.text


def test_a_port_of_https_that_is_taken_unchosen(caplog):
    """On loopback plain HTTP is served without HTTPS, and the log says why; with both taken the start ends."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        unchosen = Config(http_port=0).model_copy(update={"port": port_of(other)})
        unchosen.model_fields_set.discard("port")
        with Listening.of(unchosen) as listening:
            assert (listening.url, listening.plain) == (f"http://127.0.0.1:{port_of(listening.api)}", None)
            assert listening.certificate is None
        assert "HTTPS is not answered: cannot listen on" in caplog.text
        both = unchosen.model_copy(update={"http_port": port_of(other)})
        both.model_fields_set.discard("port")
        with pytest.raises(ConfigError, match="Address already in use"):
            Listening.of(both)


SHARED = ANY.with_options(workers=2)


def forked(reserved):
    """The copies of its sockets that a worker has."""
    return replace(reserved, api=reserved.api.dup(), plain=reserved.plain.dup())


@pytest.mark.parametrize("workers", [1, 2])
def test_all_addresses_are_those_of_both_families(workers):
    """`--host ::` takes connections by IPv6 and IPv4, in each worker."""
    try:
        listening = Listening.of(ANY.with_options(host="::", workers=workers))
    except ConfigError:
        pytest.skip("this machine has no IPv6")
    with listening, forked(listening) as fork, fork.of_its_own() if workers > 1 else fork:
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, listening.port), 5).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
def test_workers_share_ports(host):
    """Each worker listens on the ports that the supervisor has reserved, also those that the kernel chose."""
    try:
        reserved = Listening.of(SHARED.with_options(host=host))
    except ConfigError:
        assert ":" in host, "only IPv6 may be missing"
        return
    with reserved, forked(reserved).of_its_own() as first, forked(reserved).of_its_own() as second:
        for one in (first, second):
            assert (port_of(one.api), port_of(one.plain)) == (reserved.port, port_of(reserved.plain))


def test_a_reservation_gets_no_connections():
    """While no worker listens connections are refused."""
    with Listening.of(SHARED) as reserved, pytest.raises(ConnectionRefusedError):
        socket.create_connection(reserved.api.getsockname(), 5)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_other_workers_share(workers):
    """A service does not join the workers of another one, neither while these listen nor before they do."""
    with Listening.of(SHARED) as reserved:
        again = ANY.with_options(port=reserved.port, workers=workers)
        with pytest.raises(ConfigError, match="Address already in use"):
            Listening.of(again)
        with forked(reserved).of_its_own(), pytest.raises(ConfigError, match="Address already in use"):
            Listening.of(again)


@pytest.mark.parametrize("before", [1, 2])
def test_a_port_with_connections_in_time_wait(before):
    """Workers can share a port right after another service has closed it together with its connections."""
    with Listening.of(ANY.with_options(workers=before)) as previous:
        listening = forked(previous).of_its_own() if before > 1 else previous
        with listening, closing(socket.create_connection(listening.api.getsockname(), 5)):
            listening.api.setblocking(True)
            listening.api.accept()[0].close()
    with Listening.of(SHARED.with_options(port=previous.port)) as reserved:
        assert reserved.port == previous.port


def test_a_host_that_is_not_here():
    """A name without an address of this machine is an error that names it."""
    for host in ("no.such.host.invalid", "192.0.2.1"):
        with pytest.raises(ConfigError, match=f"cannot listen on {host}:0: "):
            Listening.of(ANY.with_options(host=host))


def test_the_certificate_is_there_before_anything_starts():
    """Opening the sockets makes the certificate, or raises the reason, and installs no reactor."""
    with Listening.of(ANY) as first, Listening.of(ANY) as second:
        assert first.certificate.fingerprint == second.certificate.fingerprint
    with Listening.of(ANY.with_options(tls=False)) as plain:
        assert plain.certificate is None
    with pytest.raises(ConfigError, match="WEBDATA_TLS_CERT"):
        Listening.of(ANY.with_options(tls_cert=Path(__file__), tls_key=Path(__file__)))
    check = "import sys, webdata.runtime.server.listening; sys.exit('twisted.internet.reactor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False, timeout=60).returncode == 0


def test_the_limit_of_open_files(monkeypatch, caplog):
    """The soft limit is raised as far as needed; where the hard limit is too low, a warning has the limit to set."""
    limits = {"now": (1024, 20_000)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limits.update(now=new))
    assert room_for(1000) == 1000
    assert limits["now"] == (1000 + OTHER_FILES, 20_000)
    assert room_for(10) == 10
    assert limits["now"] == (1000 + OTHER_FILES, 20_000)
    assert not caplog.messages
    assert room_for(30_000) == 20_000 - OTHER_FILES
    assert limits["now"] == (20_000, 20_000)
    (message,) = caplog.messages
    assert f"raise that to {30_000 + OTHER_FILES} (ulimit -Hn" in message
