"""The rule: which URLs and addresses may be reached. Plain data, no network."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING

from ada_url import URL

from webdata.domain.errors import TargetError
from webdata.fetching.egress.interfaces import own_addresses

if TYPE_CHECKING:  # the program that delivers webhooks has no Scrapy
    from scrapy import Spider
    from scrapy.settings import BaseSettings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

SCHEMES = {"http:": 80, "https:": 443}
LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
LONGEST_NAME = 253
LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
"""A part of a host's name: URLs may have other characters in it, which no host has."""
RECENT = 64
"""URLs and hosts whose parts are remembered: the parts of a request check the same one, one after another."""


def networks(*texts: str) -> tuple[Network, ...]:
    """Parse networks in CIDR notation; raises ValueError."""
    return tuple(ipaddress.ip_network(text) for text in texts)


NOT_GLOBAL = networks(
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",  # carrier-grade NAT
    "127.0.0.0/8",
    "169.254.0.0/16",  # link-local; cloud machines read their credentials there
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "2001::/23",  # Teredo, benchmarking, ORCHID
    "2001:db8::/32",
    "2002::/16",  # 6to4
    "3fff::/20",  # documentation
)
"""The IANA's special-purpose registries, and multicast and reserved space.

A table of our own, since `ipaddress.is_global` differs between patch releases of Python and counts multicast and 6to4
as global. https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry
"""

GLOBAL_IPV6 = IPv6Network("2000::/3")
"""All allocated IPv6 space. Addresses that embed IPv4 (mapped, compatible, NAT64) are outside it or in NOT_GLOBAL."""


@dataclass(frozen=True)
class Target:
    """The parts of a URL, parsed as browsers do (https://url.spec.whatwg.org)."""

    scheme: str
    host: str
    """A name in ASCII, or an address; IPv6 without brackets."""
    port: int
    url: str
    """The normalized URL, without its fragment."""


@dataclass(frozen=True)
class Rule:
    """Allows targets on `ports` whose addresses are global and not this machine's, or in a network of `allow`."""

    ports: frozenset[int]
    allow: tuple[Network, ...] = ()
    sites: frozenset[str] | None = None
    """Domains whose hosts, and those of their subdomains, are the only ones to be reached; None for all hosts."""

    origin: str | None = None
    """The only scheme, host and port to be reached, such as `http://10.0.0.5:8888`; None for any."""

    @classmethod
    def from_settings(cls, settings: "BaseSettings") -> "Rule":
        """The rule of the settings `EGRESS_PORTS` and `EGRESS_ALLOW`."""
        return cls(frozenset(settings["EGRESS_PORTS"]), tuple(settings["EGRESS_ALLOW"]))

    @classmethod
    def of_spider(cls, settings: "BaseSettings", spider: "type[Spider]") -> "Rule":
        """The rule of the settings for a spider's own sites, which are its `allowed_domains`, or for `EGRESS_ORIGIN`.

        An engine that declares none reaches nothing. All hosts may be reached with its attribute `any_site`, and by a
        spider without that attribute, as in Scrapy's own commands.
        """
        rule = cls.from_settings(settings)
        if getattr(spider, "any_site", True):
            return rule
        sites = frozenset(getattr(spider, "allowed_domains", ()))
        return replace(rule, sites=sites, origin=settings.get("EGRESS_ORIGIN"))

    def check_url(self, url: str) -> Target:
        """The target of a URL, before its name is resolved; raises TargetError for one that may not be fetched."""
        target = _target(url)
        if target is None or target.port not in self.ports or not self._is_on_sites(target.host):
            raise self.refusal()
        if self.origin and not is_of_origin(target, self.origin):
            raise self.refusal()
        self.check_addresses(known_addresses(target.host))
        return target

    def check_addresses(self, addresses: Iterable[Address]) -> None:
        """Raise TargetError unless every address may be reached."""
        if not all(self.allows(address) for address in addresses):
            raise self.refusal()

    def allows(self, address: Address) -> bool:
        """Whether an address is global and of another machine, or in an allowed network."""
        if is_global(address) and address not in own_addresses():
            return True
        return any(address in network for network in self.allow)

    def refusal(self) -> TargetError:
        """The same error for every reason, so that it does not help to map the network."""
        *most, last = map(str, sorted(self.ports))
        ports = f"{', '.join(most)} or {last}" if most else last
        return TargetError(
            "the target is not allowed: give an http or https URL of a public host, "
            f"on port {ports}, without user and password"
        )

    def _is_on_sites(self, host: str) -> bool:
        """Whether a host, in lower case, is one of the sites, or a subdomain of one."""
        if self.sites is None:
            return True
        domain = host.removesuffix(".")
        while domain and domain not in self.sites:
            domain = domain.partition(".")[2]
        return bool(domain)


def is_of_origin(target: Target, origin: str) -> bool:
    """Whether a target has the scheme, host and port of a URL."""
    other = _target(origin)
    return other is not None and (target.scheme, target.host, target.port) == (other.scheme, other.host, other.port)


@lru_cache(maxsize=RECENT)
def _target(url: str) -> Target | None:
    try:
        parts = URL(url)
    except ValueError:
        return None
    if parts.protocol not in SCHEMES or parts.username or parts.password:
        return None
    parts.hash = ""
    host = parts.hostname.strip("[]")
    port = int(parts.port or SCHEMES[parts.protocol])
    return Target(parts.protocol[:-1], host, port, parts.href) if ":" in host or is_valid_name(host) else None


def is_global(address: Address) -> bool:
    """Whether an address belongs to a host of the public internet."""
    if isinstance(address, IPv6Address) and (address.scope_id or address not in GLOBAL_IPV6):
        return False
    return not any(address in network for network in NOT_GLOBAL)


@lru_cache(maxsize=RECENT)
def known_addresses(host: str) -> tuple[Address, ...]:
    """The addresses of a host that needs no look-up: a literal address, or localhost (RFC 6761); else none."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return LOOPBACK
    try:
        return (ipaddress.ip_address(host),)
    except ValueError:
        return ()


def is_valid_name(name: str) -> bool:
    """Whether a name and its labels have valid lengths (RFC 1035) and characters; resolvers fail on others."""
    return len(name) <= LONGEST_NAME and all(map(LABEL.fullmatch, name.removesuffix(".").split(".")))
