"""The bundle of authorities for clients."""

import ssl
import stat
from pathlib import Path

import certifi
import pytest
from click.testing import CliRunner

from webdata.main import main
from webdata.runtime.server import certificates


@pytest.fixture
def bundle(in_thread, tmp_path):
    """Runs `webdata certificates bundle` with a folder for the certificate."""
    environ = {"WEBDATA_TLS_FOLDER": str(tmp_path / "tls")}
    return lambda *arguments: in_thread(
        lambda: CliRunner().invoke(main, ["certificates", "bundle", *arguments], env=environ)
    )


def test_the_bundle_has_the_authorities_and_the_certificate(bundle, tmp_path):
    """All of them can be read; the certificate is made if there is none. Anybody may read the file."""
    result = bundle()
    file = tmp_path / "tls" / "bundle.pem"
    assert result.exit_code == 0, result.output
    assert f"SSL_CERT_FILE={file} REQUESTS_CA_BUNDLE={file}\n" in result.output
    assert f"NODE_EXTRA_CA_CERTS={tmp_path}/tls/cert.pem\n" in result.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    authorities = certificates.authorities_file().read_bytes()
    assert file.read_bytes() == authorities + b"\n" + (tmp_path / "tls" / "cert.pem").read_bytes()
    assert len(ssl.create_default_context(cafile=file).get_ca_certs()) > 50


def test_the_bundle_may_be_written_again(bundle, tmp_path):
    """It has the certificate once, also in a file elsewhere."""
    file = tmp_path / "deep" / "joined.pem"
    assert bundle("--output", str(file)).exit_code == 0
    before = file.read_bytes()
    assert bundle("--output", str(file)).exit_code == 0
    assert file.read_bytes() == before


def test_a_file_that_cannot_be_written_is_named(bundle):
    """The message says what to do."""
    result = bundle("--output", "/proc/none/bundle.pem")
    assert result.exit_code == 1
    assert "/proc/none/bundle.pem cannot be written" in result.output
    assert "give another --output" in result.output


def test_without_a_file_of_the_system_the_authorities_are_certifis(monkeypatch):
    """Some systems have none."""
    monkeypatch.setattr(certificates, "SYSTEM_FILES", ())
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: ssl.DefaultVerifyPaths("", "", "", "", "", ""))
    assert certificates.authorities_file() == Path(certifi.where())
