"""The certificates of HTTPS."""

import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.runtime.server.certificates import VALID, certificate_of, load, made, named, names_of, self_signed

NAMES = ("localhost", ip_address("127.0.0.1"))


def pem(one):
    """A certificate or a key in the format of its file."""
    if isinstance(one, x509.Certificate):
        return one.public_bytes(serialization.Encoding.PEM)
    return key_pem(one, serialization.NoEncryption())


def key_pem(key, encryption):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


@pytest.fixture
def pair(tmp_path):
    """Writes a certificate that began some days ago and its key; returns their files."""

    def write(days=0, names=NAMES, folder=tmp_path):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self_signed(key, names, datetime.now(UTC) - timedelta(days=days))
        folder.mkdir(exist_ok=True)
        files = folder / "cert.pem", folder / "key.pem"
        for file, one in zip(files, (certificate, key), strict=True):
            file.write_bytes(pem(one))
        return files

    return write


def test_the_properties_of_a_made_certificate(tmp_path):
    """It covers the hosts of the service and this machine alone, lasts for VALID, and is no authority."""
    config = Config(host="data.example", tls_folder=tmp_path, public_url="https://Public.example:9443")
    certificate = certificate_of(config)
    (one,) = certificate.chain
    wanted = {"localhost", ip_address("127.0.0.1"), ip_address("::1"), "data.example", "public.example"}
    assert wanted <= certificate.names
    assert len(certificate.names) <= len(wanted) + 1
    assert one.subject == one.issuer
    assert one.not_valid_after_utc - one.not_valid_before_utc == VALID
    assert isinstance(one.public_key().curve, ec.SECP256R1)
    constraints = one.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = one.extensions.get_extension_for_class(x509.KeyUsage)
    assert (constraints.critical, constraints.value.ca) == (True, False)
    assert (usage.critical, usage.value.digital_signature, usage.value.key_cert_sign) == (True, True, False)
    assert one.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)
    assert one.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    assert certificate.fingerprint == ":".join(f"{byte:02X}" for byte in one.fingerprint(hashes.SHA256()))


def test_only_the_service_can_read_the_key(tmp_path):
    """With any umask the folder and the key are created readable by their user alone."""
    before = os.umask(0)
    try:
        made(tmp_path / "tls", NAMES)
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "tls", tmp_path / "tls" / "key.pem")}
    assert modes == {"tls": 0o700, "key.pem": 0o600}


def test_hosts_of_the_settings():
    """Listening on all addresses adds no host, nor does an invalid name; an address in brackets is added."""
    loopback = names_of(Config())
    assert loopback == ("localhost", ip_address("127.0.0.1"), ip_address("::1"))
    assert names_of(Config(host="0.0.0.0")) == names_of(Config(host="::")) == loopback
    assert names_of(Config(public_url="https://[2001:db8::1]:8443"))[3:] == (ip_address("2001:db8::1"),)
    assert names_of(Config(host="under_score")) == loopback


def test_a_good_certificate_stays(tmp_path):
    """A second call, or one for fewer hosts, returns the same certificate."""
    first = made(tmp_path, NAMES)
    assert made(tmp_path, NAMES[:1]).fingerprint == first.fingerprint == made(tmp_path, NAMES).fingerprint


@pytest.mark.parametrize("days", [VALID.days - 29, VALID.days + 5])
def test_a_certificate_that_ends_is_replaced(tmp_path, pair, days):
    """With less than 30 days left another is made."""
    before = load(*pair(VALID.days - 60))
    pair(days)
    after = made(tmp_path, NAMES)
    assert after.fingerprint != before.fingerprint
    assert after.until - datetime.now(UTC) > timedelta(days=396)


def test_a_certificate_that_lasts_stays(tmp_path, pair):
    """With more than 30 days left it stays."""
    before = load(*pair(VALID.days - 31))
    assert made(tmp_path, NAMES).fingerprint == before.fingerprint


@pytest.mark.parametrize("file", ["cert.pem", "key.pem"])
@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a_broken_certificate_is_replaced(tmp_path, file, content):
    """A file that is missing, empty or garbage does not keep the service from starting."""
    before = made(tmp_path, NAMES)
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_bytes(content)
    assert made(tmp_path, NAMES).fingerprint != before.fingerprint


def test_a_certificate_of_another_key_or_host_is_replaced(tmp_path):
    """A certificate that does not fit the key, or does not cover a host, is replaced."""
    before = made(tmp_path, NAMES)
    (tmp_path / "key.pem").write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    second = made(tmp_path, NAMES)
    third = made(tmp_path, (*NAMES, "data.example"))
    assert len({one.fingerprint for one in (before, second, third)}) == 3
    assert third.covers("data.example")


def test_a_certificate_that_was_not_made_here_stays(tmp_path, pair):
    """The files of an authority's certificate are not overwritten, and the error names the right settings."""
    _, key_file = pair()
    key = serialization.load_pem_private_key(key_file.read_bytes(), None)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "data.example")])
    times = datetime.now(UTC) - timedelta(days=9), datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), *times)
    (tmp_path / "cert.pem").write_bytes(pem(builder.sign(key, hashes.SHA256())))
    before = [file.read_bytes() for file in (tmp_path / "cert.pem", key_file)]
    with pytest.raises(ConfigError, match="was not made here; give it with WEBDATA_TLS_CERT and WEBDATA_TLS_KEY"):
        made(tmp_path, NAMES)
    assert [file.read_bytes() for file in (tmp_path / "cert.pem", key_file)] == before


PRINTS_FINGERPRINT = """
import sys
from pathlib import Path
from webdata.runtime.server.certificates import made
print(made(Path(sys.argv[1]), ("localhost",)).fingerprint)
"""


def test_processes_make_one_certificate(tmp_path):
    """Processes that start at once use one certificate, and leave no temporary files."""
    command = [sys.executable, "-c", PRINTS_FINGERPRINT, tmp_path / "tls"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    fingerprints = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert fingerprints == {made(tmp_path / "tls", ("localhost",)).fingerprint}
    assert {file.name for file in (tmp_path / "tls").iterdir()} == {"bundle.pem", "cert.pem", "key.pem", "lock"}


def test_a_folder_that_cannot_be_written(tmp_path):
    """The error names the variable, the folder and the reason."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=r"WEBDATA_TLS_FOLDER cannot be '.*file/tls': Not a directory; give a folder"):
        made(tmp_path / "file" / "tls", NAMES)


def test_an_own_certificate_with_its_chain(tmp_path, pair):
    """The operator's certificate is read with those of its issuers, in their order."""
    cert, key = pair()
    issuer = self_signed(ec.generate_private_key(ec.SECP256R1()), ("issuer.example",), datetime.now(UTC))
    cert.write_bytes(cert.read_bytes() + pem(issuer))
    certificate = certificate_of(Config(tls_cert=cert, tls_key=key))
    assert [one.subject for one in certificate.chain][1:] == [issuer.subject]
    assert not certificate.made


def of_another(files):
    files[1].write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))


def encrypted(files):
    key = serialization.load_pem_private_key(files[1].read_bytes(), None)
    files[1].write_bytes(key_pem(key, serialization.BestAvailableEncryption(b"secret")))


def swapped(files):
    files[0].write_bytes(files[1].read_bytes())


def no_key(files):
    files[1].write_bytes(files[0].read_bytes())


def folder_for_key(files):
    files[1].unlink()
    files[1].mkdir()


def dsa_key(files):
    files[1].write_bytes(pem(dsa.generate_private_key(2048)))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (of_another, "WEBDATA_TLS_KEY cannot be '.*': it belongs to another certificate; give the key of the first"),
        (encrypted, "WEBDATA_TLS_KEY cannot be '.*': it is encrypted with a password; give it without one"),
        (swapped, "WEBDATA_TLS_CERT cannot be '.*': it holds no certificate that can be read; give a certificate"),
        (no_key, "WEBDATA_TLS_KEY cannot be '.*': it holds no private key that can be read; give the certificate's"),
        (folder_for_key, "WEBDATA_TLS_KEY cannot be '.*': Is a directory; give a file that the service's user may"),
        (dsa_key, "WEBDATA_TLS_KEY cannot be '.*': TLS knows no such kind of key; give an RSA or an EC key"),
    ],
)
def test_an_own_certificate_that_cannot_be_used(pair, spoil, message):
    """The message names the variable, the reason, and what would be right."""
    files = pair()
    spoil(files)
    with pytest.raises(ConfigError, match=message):
        load(*files)


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (VALID.days + 1, r"it ended on \d{4}-\d\d-\d\d \d\d:\d\d UTC; give a renewed one"),
        (-2, r"it begins on \d{4}-\d\d-\d\d \d\d:\d\d UTC; give one that is valid now, or set the machine's clock"),
    ],
)
def test_an_own_certificate_of_another_time(pair, days, message):
    """The message for one that has ended or not begun has the time."""
    with pytest.raises(ConfigError, match=f"WEBDATA_TLS_CERT cannot be '.*': {message}"):
        load(*pair(days))


@pytest.mark.parametrize(
    ("host", "covered"),
    [
        ("api.example.com", True),
        ("API.example.com", True),
        ("example.com", False),
        ("a.api.example.com", False),
        ("127.0.0.1", True),
        ("[::1]", False),
    ],
)
def test_covered_hosts(pair, host, covered):
    """A wildcard covers one label; addresses are compared as addresses."""
    certificate = load(*pair(names=("*.example.com", ip_address("127.0.0.1"))))
    assert certificate.covers(host) == covered
    assert named("[::1]") == ip_address("::1")
