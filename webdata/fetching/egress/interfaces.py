"""The addresses of this machine's own network interfaces."""

import ipaddress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from time import monotonic

from ifaddr import get_adapters

SECONDS = 60
"""The age after which the addresses are read again."""


def own_addresses() -> frozenset[IPv4Address | IPv6Address]:
    """The addresses of all interfaces, a minute old at most. Those that a NAT or a balancer holds are not known."""
    return _read(int(monotonic()) // SECONDS)


@lru_cache(maxsize=1)
def _read(_minute: int) -> frozenset[IPv4Address | IPv6Address]:
    # IPv6 as (address, flow info, scope id), IPv4 as text
    texts = (ip.ip[0] if isinstance(ip.ip, tuple) else ip.ip for one in get_adapters() for ip in one.ips)
    return frozenset(map(ipaddress.ip_address, texts))
