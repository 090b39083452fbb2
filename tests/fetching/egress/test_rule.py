"""The rule, with addresses in every spelling."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

import ifaddr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdata.domain.errors import TargetError
from webdata.fetching.egress import interfaces, rule
from webdata.fetching.egress.rule import GLOBAL_IPV6, NOT_GLOBAL, Rule, is_global

RULE = Rule(frozenset({80, 443}))
EDGES = [edge for network in NOT_GLOBAL for edge in (network[0], network[-1])]
"""The first and last address of each network, for off-by-one errors; other addresses are random."""

ipv4 = st.one_of(st.sampled_from([a for a in EDGES if a.version == 4]), st.ip_addresses(v=4))
ipv6 = st.one_of(
    st.sampled_from([a for a in EDGES if a.version == 6]),
    st.ip_addresses(v=6),
    st.ip_addresses(v=6, network="2000::/3"),
    st.sampled_from(["::", "::ffff:0:0", "64:ff9b::", "64:ff9b:1::", "2002::"]).flatmap(
        lambda prefix: st.ip_addresses(v=4).map(lambda a: IPv6Address(int(IPv6Address(prefix)) | int(a)))
    ),
)

number = st.sampled_from(["{:d}", "0{:o}", "0x{:x}", "0X{:X}", "0x00{:x}", "000{:o}"])


@st.composite
def spellings4(draw):
    """An IPv4 address, and one of the spellings that browsers accept."""
    address = draw(ipv4)
    parts = draw(st.integers(1, 4))
    first, last = divmod(int(address), 1 << (8 * (5 - parts)))
    numbers = [*first.to_bytes(parts - 1, "big"), last]
    text = ".".join(draw(number).format(value) for value in numbers)
    wide = str.maketrans("0123456789.", "０１２３４５６７８９．")
    text = text.translate(wide) if draw(st.booleans()) else text
    if draw(st.booleans()):
        text = "".join(f"%{byte:02x}" for byte in text.encode())
    return address, text + draw(st.sampled_from(["", "."]))


@st.composite
def spellings6(draw):
    """An IPv6 address, and one of its spellings."""
    address = draw(ipv6)
    tail = IPv4Address(int(address) & 0xFFFFFFFF)
    dotted = ":".join(address.exploded.split(":")[:6]) + f":{tail}"
    return address, draw(st.sampled_from([str(address), address.exploded, str(address).upper(), dotted]))


def is_allowed(url):
    try:
        RULE.check_url(url)
    except TargetError:
        return False
    return True


@settings(max_examples=500, deadline=None)
@given(spellings4())
def test_an_ipv4_address_is_allowed_in_any_spelling_if_it_is_global(spelling):
    """Decimal, octal, hexadecimal, short, full-width and escaped forms are parsed to the same address."""
    address, text = spelling
    assert is_allowed(f"http://{text}/") == is_global(address)
    if is_global(address):
        assert RULE.check_url(f"http://{text}:443/").host == str(address)


@settings(max_examples=500, deadline=None)
@given(spellings6())
def test_an_ipv6_address_is_allowed_in_any_spelling_if_it_is_global(spelling):
    """Compressed, exploded, upper-case and dotted forms are parsed to the same address."""
    address, text = spelling
    assert is_allowed(f"http://[{text}]/") == is_global(address)


@settings(deadline=None)
@given(st.one_of(ipv4, ipv6))
def test_a_global_address_is_global_to_python_too(address):
    """An address that `ipaddress` counts as private, reserved, link-local or multicast is not global."""
    if is_global(address):
        assert address.is_global
        assert not any([address.is_multicast, address.is_reserved, address.is_loopback, address.is_unspecified])


@settings(deadline=None)
@given(ipv6)
def test_no_embedded_ipv4_address_is_global(address):
    """Mapped, 6to4 and Teredo addresses are refused, whatever they embed."""
    if address.ipv4_mapped or address.sixtofour or address.teredo:
        assert not is_global(address)


@pytest.mark.parametrize("network", [n for n in NOT_GLOBAL if n.version == 4], ids=str)
def test_addresses_next_to_a_special_network_are_global(network):
    """The addresses before and after a special network are global, or in another one of the table."""
    for neighbour in (int(network[0]) - 1, int(network[-1]) + 1):
        if 0 <= neighbour < 2**32:
            address = IPv4Address(neighbour)
            assert is_global(address) != any(address in other for other in NOT_GLOBAL)


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"]
)
def test_public_ipv4_addresses_are_global(text):
    """Addresses next to private networks are not private."""
    assert is_global(ipaddress.ip_address(text))


def test_only_allocated_ipv6_addresses_are_global():
    """They are in 2000::/3, outside its special networks, and without a zone."""
    assert is_global(IPv6Address("2606:4700::1111"))
    assert not is_global(IPv6Address("2606:4700::1111%eth0"))
    assert not is_global(GLOBAL_IPV6[0] - 1)
    assert not is_global(GLOBAL_IPV6[-1] + 1)


def test_operators_may_allow_networks():
    """An allowed network adds its own addresses, in any spelling, but no IPv6 addresses that embed them."""
    rule = Rule(frozenset({80}), (ipaddress.ip_network("10.1.0.0/16"),))
    assert rule.check_url("http://10.66049/").host == "10.1.2.1"
    for url in ("http://10.2.0.1/", "http://[::ffff:10.1.2.1]/", "http://127.0.0.1/"):
        with pytest.raises(TargetError):
            rule.check_url(url)


def test_localhost_is_loopback():
    """The names of this machine are allowed when both of its loopback addresses are."""
    with pytest.raises(TargetError):
        Rule(frozenset({80}), (ipaddress.ip_network("127.0.0.0/8"),)).check_url("http://localhost/")
    both = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
    assert Rule(frozenset({80}), both).check_url("http://a.LocalHost./").port == 80


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("HTTP://Example.COM", ("http", "example.com", 80, "http://example.com/")),
        ("https://example.com:443/a?b#c", ("https", "example.com", 443, "https://example.com/a?b")),
        ("http://bücher.example/ü", ("http", "xn--bcher-kva.example", 80, "http://xn--bcher-kva.example/%C3%BC")),
        ("http://[2606:4700:0::1]:80/", ("http", "2606:4700::1", 80, "http://[2606:4700::1]/")),
    ],
)
def test_a_target_is_parsed_as_in_a_browser(url, target):
    """Scheme, host, port and URL are normalized."""
    parsed = RULE.check_url(url)
    assert (parsed.scheme, parsed.host, parsed.port, parsed.url) == target


@pytest.mark.parametrize(
    "host",
    [
        f"{'a' * 64}.example",
        ".".join(["a" * 60] * 5),
        "a..b",
        ".example",
        "a!b.example",
        "a'b.example",
        "a*.example",
        "(a).example",
        "a,b.example",
    ],
)
def test_invalid_names_are_refused(host):
    """A name that exceeds the limits of DNS, or has characters that no host has, is not sent to a resolver."""
    assert not is_allowed(f"http://{host}/")


@settings(deadline=None)
@given(st.text())
def test_any_text_is_allowed_or_refused(text):
    """No text raises another error than TargetError."""
    assert is_allowed(text) in (True, False)
    assert is_allowed(f"http://{text}") in (True, False)


def test_the_refusal_names_the_allowed_ports():
    """The message lists the ports of the rule."""
    for ports, text in (({80, 8443, 443}, "on port 80, 443 or 8443,"), ({80}, "on port 80,")):
        with pytest.raises(TargetError, match=text):
            Rule(frozenset(ports)).check_url("file:///")


SITES = Rule(frozenset({443}), sites=frozenset({"google.com", "google.co.uk"}))


@pytest.mark.parametrize("host", ["google.com", "www.google.com", "a.b.GOOGLE.co.uk", "google.com.", "ｇoogle.com"])
def test_a_site_has_its_subdomains(host):
    """The hosts of a site are its domain and all below it, in any spelling."""
    assert SITES.check_url(f"https://{host}/search").port == 443


@pytest.mark.parametrize(
    "url",
    ["https://google.de/", "https://notgoogle.com/", "https://google.com.evil.example/", "https://com/",
     "https://co.uk/", "https://1.1.1.1/", "https://google.com:22/", "https://google.com@evil.example/",
     "https://evil.example\\@google.com/", "https://evil.example#.google.com", "https://google.com.."],
)  # fmt: skip
def test_other_hosts_are_refused_for_sites(url):
    """A host that only looks like a site, a public address and another port are refused."""
    with pytest.raises(TargetError):
        SITES.check_url(url)


def test_the_machines_own_addresses_are_refused(monkeypatch):
    """A public address of an interface is refused, as a literal and as a name's, unless the operator allows it."""
    own, other = IPv4Address("8.8.4.4"), IPv4Address("8.8.8.8")
    monkeypatch.setattr(rule, "own_addresses", lambda: frozenset({own}))
    with pytest.raises(TargetError):
        RULE.check_url("http://8.8.4.4/")
    with pytest.raises(TargetError):
        RULE.check_addresses([other, own])
    RULE.check_addresses([other])
    Rule(RULE.ports, (ipaddress.ip_network("8.8.4.4/32"),)).check_url("http://8.8.4.4/")


def test_own_addresses_are_those_of_all_interfaces(monkeypatch):
    """Both versions are read, without the scope of an address, and again after a minute."""
    assert IPv4Address("127.0.0.1") in interfaces.own_addresses()
    now, listed = 60.0, [adapter("8.8.4.4", ("2606:4700::1", 0, 3))]
    monkeypatch.setattr(interfaces, "monotonic", lambda: now)
    monkeypatch.setattr(interfaces, "get_adapters", lambda: listed)
    interfaces._read.cache_clear()
    assert interfaces.own_addresses() == {IPv4Address("8.8.4.4"), IPv6Address("2606:4700::1")}
    listed = [adapter("8.8.8.8")]
    now = 119.0
    assert IPv4Address("8.8.4.4") in interfaces.own_addresses()
    now = 120.0
    assert interfaces.own_addresses() == {IPv4Address("8.8.8.8")}
    interfaces._read.cache_clear()


def adapter(*addresses):
    ips = [ifaddr.IP(address, 24, "eth0") for address in addresses]
    return ifaddr.Adapter("eth0", "eth0", ips)
