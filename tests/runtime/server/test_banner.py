"""What an operator reads at the start."""

import errno
import stat
import subprocess
import sys
from io import StringIO

import pytest

from webdata.config.config import Config
from webdata.domain.api_key import FirstKeys
from webdata.runtime.server.banner import banner, show
from webdata.runtime.server.listening import Listening

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


class Terminal(StringIO):
    """Standard output of a terminal."""

    def isatty(self):
        return True


def test_first_keys_are_shown(plain, monkeypatch):
    """On a terminal the banner has both keys and the balance, and its last line calls with the test key."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    lines = banner(*plain, FIRST).splitlines()
    assert lines[0] == f"webdata answers on {plain[0].url}"
    assert "live key (goes out to the internet):         wd_live_b" in lines
    assert any("100,000 credits" in line for line in lines)
    assert lines[-1] == f"try: curl -H 'X-Api-Key: wd_test_a' '{plain[0].url}/v1/search?q=coffee+shops&num=3'"


def test_first_keys_are_written_to_a_file(plain, tmp_path):
    """Where no terminal shows them, they are in a file that only its owner can read, and the banner has its path."""
    listening, config = plain
    text = banner(listening, config.with_options(database=f"sqlite:///{tmp_path}/new/webdata.sqlite3"), FIRST)
    lines, file = text.splitlines(), tmp_path / "new" / "first-keys.txt"
    assert f"keys: a test key and a live key are in {file}, which only its owner can read." in lines
    assert any("100,000 credits" in line for line in lines)
    assert FIRST.test not in "\n".join(lines)
    assert FIRST.live not in "\n".join(lines)
    assert (stat.S_IMODE(file.parent.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)
    header = lines[-1].partition('-H "X-Api-Key: ')[2].partition('" ')[0]
    shown = subprocess.run(["sh", "-c", f'echo "{header}"'], capture_output=True, text=True, timeout=10, check=True)
    assert shown.stdout.strip() == FIRST.test
    assert FIRST.live in file.read_text()


def test_first_keys_that_cannot_be_written(plain, tmp_path):
    """Where the file cannot be written, the banner says so, and how to make other keys."""
    listening, config = plain
    (tmp_path / "file").write_text("no folder")
    text = banner(listening, config.with_options(database=f"sqlite:///{tmp_path}/file/webdata.sqlite3"), FIRST)
    assert "first-keys.txt cannot be written (Not a directory): make others with" in text
    assert FIRST.live not in text


def test_without_first_keys(plain, monkeypatch):
    """The banner has the command that makes a key, and its last line reads one from the environment."""
    monkeypatch.setattr(sys, "argv", [".venv/bin/webdata", "serve"])
    text = banner(*plain, None)
    assert "export WEBDATA_KEY=$(.venv/bin/webdata keys create)" in text
    assert '-H "X-Api-Key: $WEBDATA_KEY"' in text.splitlines()[-1]


def test_a_made_certificate_is_named(tmp_path):
    """With TLS the last line has the certificate's file for curl."""
    config = Config(port=0, http_port=None, tls_folder=tmp_path)
    with Listening.of(config) as listening:
        text = banner(listening, config.with_options(workers=3), None)
    assert f"--cacert {tmp_path}/cert.pem " in text.splitlines()[-1]
    assert "3 times as often as its plan allows" in text


def test_plain_http_stands_first_on_loopback(tmp_path):
    """HTTPS is on the second line, with the absolute path of the bundle; the last line needs no certificate."""
    config = Config(port=0, http_port=0, tls_folder=tmp_path)
    with Listening.of(config) as listening:
        first, second, *_, last = banner(listening, config, None).splitlines()
    assert first == f"webdata answers on {listening.url}"
    assert first.startswith("webdata answers on http://127.0.0.1:")
    assert second == f"and on https://127.0.0.1:{listening.port}, for clients that trust {tmp_path}/bundle.pem"
    assert (listening.url in last, "cacert" in last) == (True, False)


@pytest.mark.parametrize(
    ("environ", "browser"),
    [
        ({"WEBDATA_CHROMIUM": sys.executable}, sys.executable),
        ({"WEBDATA_BROWSER_URL": "ws://127.0.0.1:9/token"}, "a browser that runs elsewhere (WEBDATA_BROWSER_URL)"),
    ],
)
def test_the_browser_is_named(plain, environ, browser):
    """The banner names the browser, without a URL, which may hold a token."""
    text = banner(plain[0], Config.from_environ({"WEBDATA_TRANSPORTS": "http,browser", **environ}), None)
    assert f"browser transport: {browser}\n" in text


def test_a_closed_standard_output(plain, monkeypatch, caplog):
    """A banner that cannot be written is logged, and the service starts."""
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    show(banner(*plain, None))
    assert "could not be written (Broken pipe)" in caplog.text


def test_the_link_of_the_first_admin(plain, monkeypatch, tmp_path):
    """The link to the dashboard stands beside the first keys, on a terminal or in their file, never in a log."""
    listening, config = plain
    config = config.with_options(database=f"sqlite:///{tmp_path}/new/webdata.sqlite3")
    first = FirstKeys("wd_test_a", "wd_live_b", 1, "/dashboard/invitations/wd_invite_c")
    link = f"{listening.url}/dashboard/invitations/wd_invite_c"
    assert "wd_invite_" not in banner(listening, config, first)
    assert link in (tmp_path / "new" / "first-keys.txt").read_text(encoding="utf-8")
    assert f"dashboard: {listening.url}/dashboard" in banner(listening, config, None).splitlines()
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert link in banner(listening, config, first)
