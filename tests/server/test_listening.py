"""The sockets of the service."""

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
from webdata.server.listening import OTHER_FILES, Listening, room_for

ANY = Config(port=0, http_port=0)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Certificates are made in a folder of the test's."""
    monkeypatch.chdir(tmp_path)


def port_of(one):
    return one.getsockname()[1]


def test_callers_find_the_service_where_it_listens():
    """The address of a service names its scheme, host and port; one that listens everywhere is called at loopback."""
    for host, tls, url in [
        ("127.0.0.1", True, "https://127.0.0.1"),
        ("127.0.0.1", False, "http://127.0.0.1"),
        ("0.0.0.0", True, "https://127.0.0.1"),
        ("::1", True, "https://[::1]"),
        ("::", True, "https://[::1]"),
        ("localhost", True, "https://127.0.0.1"),
    ]:
        try:
            listening = Listening.of(replace(ANY, host=host, tls=tls))
        except ConfigError:
            assert ":" in host, "only IPv6 may be absent"
            continue
        with listening:
            assert listening.url in (f"{url}:{port_of(listening.api)}", f"https://[::1]:{port_of(listening.api)}")


def test_an_own_address_is_told():
    """Where a proxy or a port mapping stands in front, callers are told that address."""
    with Listening.of(replace(ANY, public_url="https://data.example.com")) as listening:
        assert listening.url == "https://data.example.com"


def test_plain_http_listens_where_it_is_wanted():
    """There is a second socket with TLS, unless it is turned off."""
    with Listening.of(ANY) as both, Listening.of(replace(ANY, http_port=None)) as one:
        assert (both.redirect is None, one.redirect is None) == (False, True)
        assert port_of(both.redirect) != port_of(both.api)
    with Listening.of(replace(ANY, tls=False)) as plain:
        assert plain.redirect is None


@pytest.mark.parametrize("taken", ["port", "http_port"])
def test_a_port_that_is_taken(taken):
    """The message names the address, the reason and what to change, and no socket stays open."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        other_way = {"port": "--port", "http_port": "WEBDATA_HTTP_PORT"}[taken]
        with pytest.raises(ConfigError, match=rf"127.0.0.1:{port_of(other)}: Address already in use; .*{other_way}"):
            Listening.of(replace(ANY, **{taken: port_of(other)}))


def test_a_host_that_is_none():
    """A name that means no address of this machine is told as such."""
    for host in ("no.such.host.invalid", "192.0.2.1"):
        with pytest.raises(ConfigError, match=f"cannot listen on {host}:0: "):
            Listening.of(replace(ANY, host=host))


def test_the_certificate_is_there_before_anything_starts():
    """Whoever makes the sockets has the certificate, or the reason why there is none, and no reactor yet."""
    with Listening.of(ANY) as first, Listening.of(ANY) as second:
        assert first.certificate.fingerprint == second.certificate.fingerprint
    with Listening.of(replace(ANY, tls=False)) as plain:
        assert plain.certificate is None
    with pytest.raises(ConfigError, match="WEBDATA_TLS_CERT"):
        Listening.of(replace(ANY, tls_cert=Path(__file__), tls_key=Path(__file__)))
    lean = "import sys, webdata.server.listening; sys.exit('twisted.internet.reactor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", lean], check=False, timeout=60).returncode == 0


def test_room_for_connections(monkeypatch, caplog):
    """The limit of open files is raised as far as need be; where the system's is too low, the log says what to do."""
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
    (told,) = caplog.messages
    assert f"raise that to {30_000 + OTHER_FILES} (ulimit -Hn" in told
