"""The sandbox's own certificate authority."""

import pytest
from cryptography import x509

from webdata.sandbox.certificates import Authority


def test_the_authority_has_a_ca_certificate():
    """The authority's certificate may sign others."""
    certificate = x509.load_pem_x509_certificate(Authority().pem)
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_each_host_has_one_certificate():
    """A host's certificate is cached, another host gets another one."""
    authority = Authority()
    assert authority.host_tls("www.example.com") is authority.host_tls("www.example.com")
    assert authority.host_tls("www.example.com") is not authority.host_tls("www.example.org")


def test_ip_addresses_get_certificates():
    """An IP address gets a certificate like a name."""
    assert Authority().host_tls("192.0.2.1")
    assert Authority().host_tls("2001:db8::1")


@pytest.mark.parametrize("name", ["", "..", "-a-.com", "a" * 300])
def test_invalid_host_names_are_refused(name):
    """A name that no certificate can hold raises ValueError."""
    with pytest.raises(ValueError, match=r".*"):
        Authority().host_tls(name)
