"""What an operator reads at the start."""

import errno
import sys
from dataclasses import replace
from io import StringIO

import pytest

from webdata.config.config import Config
from webdata.domain.api_key import FirstKeys
from webdata.server.banner import show_banner
from webdata.server.listening import Listening

FIRST = FirstKeys("wd_test_a", "wd_live_b", 100_000)


class ClosedPipe(StringIO):
    """Standard output whose reader has ended."""

    def write(self, _):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.fixture
def plain():
    """The sockets of a service without TLS, and its settings."""
    config = Config(tls=False, port=0)
    with Listening.of(config) as listening:
        yield listening, config


def test_first_keys_are_shown(plain, capsys):
    """The banner has both keys and the balance, and its last line calls the service with the test key."""
    show_banner(*plain, FIRST)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"webdata answers on {plain[0].url}"
    assert "live key (goes out to the internet):         wd_live_b" in lines
    assert any("100,000 credits" in line for line in lines)
    assert lines[-1] == f"try: curl -H 'X-Api-Key: wd_test_a' '{plain[0].url}/v1/search?q=coffee+shops&num=3'"


def test_without_first_keys(plain, capsys):
    """The banner has the command that makes a key, and its last line reads one from the environment."""
    show_banner(*plain, None)
    text = capsys.readouterr().out
    assert "webdata keys create" in text
    assert '-H "X-Api-Key: $WEBDATA_KEY"' in text.splitlines()[-1]


def test_a_made_certificate_is_named(tmp_path, capsys):
    """With TLS the last line has the certificate's file for curl."""
    config = Config(port=0, http_port=None, tls_folder=tmp_path)
    with Listening.of(config) as listening:
        show_banner(listening, replace(config, workers=3), FIRST)
    text = capsys.readouterr().out
    assert f"--cacert {tmp_path}/cert.pem " in text.splitlines()[-1]
    assert "3 times as often as its plan allows" in text


def test_a_closed_standard_output(plain, monkeypatch, caplog):
    """A banner that cannot be written is logged, and the service starts."""
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    show_banner(*plain, None)
    assert "could not be written (Broken pipe)" in caplog.text
