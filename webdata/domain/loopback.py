"""Which hosts are this machine alone."""

from contextlib import suppress
from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether an address, or a name that no name server answers for (RFC 6761 6.3), is of this machine alone."""
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host.lower().rstrip(".").rpartition(".")[2] == "localhost"
