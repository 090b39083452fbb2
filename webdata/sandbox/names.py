"""The names of the sandbox's hosts, as the guard resolves them."""

import ipaddress
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

PUBLIC = ipaddress.ip_address("192.0.32.8")
TRAP = ".trap.example"

Address = IPv4Address | IPv6Address


async def sandbox_resolver(name: str, _caller: str = "") -> Sequence[Address]:
    """The sandbox's names, without a look-up: any name has one public address, which is never connected to.

    A name under `trap.example` has the addresses that its labels spell, with hyphens for dots and colons:
    `10-0-0-1.trap.example`, `fd00--1.trap.example`, `192-0-32-8.127-0-0-1.trap.example`. Other labels add none.
    """
    name = name.rstrip(".").lower()
    if not name.endswith(TRAP):
        return (PUBLIC,)
    addresses = (_spelled_address(label) for label in name.removesuffix(TRAP).split("."))
    return [address for address in addresses if address]


def _spelled_address(label: str) -> Address | None:
    for separator in ".:":
        try:
            return ipaddress.ip_address(label.replace("-", separator))
        except ValueError:
            continue
    return None
