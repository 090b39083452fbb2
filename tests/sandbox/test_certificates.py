"""The sandbox's own certificate authority."""

import pytest
from cryptography import x509

from webdata.sandbox.certificates import Authority


def test_its_certificate_can_be_trusted():
    """The authority shows a certificate that may sign others."""
    certificate = x509.load_pem_x509_certificate(Authority().pem)
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_host_is_signed_once():
    """A host keeps its certificate, another host gets another."""
    authority = Authority()
    assert authority.host_tls("www.example.com") is authority.host_tls("www.example.com")
    assert authority.host_tls("www.example.com") is not authority.host_tls("www.example.org")


def test_addresses_are_hosts_too():
    """A numeric address gets a certificate like a name."""
    assert Authority().host_tls("192.0.2.1")
    assert Authority().host_tls("2001:db8::1")


@pytest.mark.parametrize("name", ["", "..", "-a-.com", "a" * 300])
def test_what_is_no_host_gets_none(name):
    """A name that no certificate can carry raises ValueError."""
    with pytest.raises(ValueError, match=r".*"):
        Authority().host_tls(name)
