"""Names to addresses: asked of the machine's name servers, in the event loop, with a share for each caller.

`getaddrinfo` cannot tell a name that does not exist from name servers that fail, and takes a thread for each look-up,
which a silent server holds for as long as it likes.
"""

import asyncio
import ipaddress
import logging
import os
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import dns.asyncquery
import dns.exception
import dns.message
from dns.asyncbackend import get_backend
from dns.asyncresolver import Resolver as DnsResolver
from dns.inet import af_for_address, low_level_address_tuple
from dns.nameserver import Do53Nameserver
from dns.resolver import NXDOMAIN, Answer, LifetimeTimeout, NoNameservers, NoResolverConfiguration
from tldextract import TLDExtract

from webdata.domain.errors import UpstreamError, UpstreamTimeoutError
from webdata.fetching.egress.rule import Address, is_valid_name

logger = logging.getLogger(__name__)

Resolver = Callable[[str, str], Awaitable[Sequence[Address]]]
"""Returns the addresses of a name, asked for by a caller: an empty sequence where the name does not exist or has none.

Raises UpstreamTimeoutError or UpstreamError where that is not known, as the name servers were silent or failed.
"""

RESOLV_CONF = Path("/etc/resolv.conf")
HOSTS = Path("/etc/hosts")
DNS_PORT = 53
LOCAL_SERVER = "127.0.0.1"
"""The name server of a machine whose file names none (resolv.conf(5))."""
MOST_SERVERS = 3
SECONDS = 10.0
"""Time limit of a look-up, with the time that it waits for its share."""
SERVER_SECONDS = 2.0
"""That a name server has for an answer, until it is asked again."""
QUESTION_SECONDS = 6.0
"""For which the name servers are asked one question: those that ignore one for AAAA leave time for those for A."""
LONGEST_ANSWER = 2048
"""Bytes of an answer that is read: some 120 addresses. Reading is the event loop's, and anybody may own a zone."""
NAMES_OF_CALLER = 8
"""Names that are asked for at once for one caller; its others wait."""
NAMES_OF_ZONE = 4
"""Names of one zone that are asked for at once for one caller."""
MOST_NAMES = 4096
"""Names whose addresses are stored."""
MOST_STORED_SECONDS = 300.0
NOTHING_SECONDS = 5.0
"""How long it is stored that a name has no addresses, so that one that gets some is soon found."""
NEVER_ASKED = ("invalid", "onion")
"""Domains without addresses (RFC 6761, 6.4; RFC 7686)."""

SHIPPED = TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
"""Knows the public suffixes (`co.uk`) from the list that tldextract ships."""

SILENT = ("the name servers of the upstream did not answer in time", "dns_timeout")
FAILED = ("the name servers could not resolve the upstream's name", "dns_failed")

Read = TypeVar("Read")


class NameResolver:
    """Resolves names by the hosts file and the name servers of resolv.conf, for all crawlers of a process.

    A and AAAA records are asked for over UDP, and over TCP where the answer is truncated (RFC 1035, RFC 7766). Answers
    are stored for their time to live, up to MOST_STORED_SECONDS.

    A name that is waited for holds a share of its caller and, within that, of its zone (the registrable domain). Nobody
    else's names wait for it: the servers of a zone, which anybody may own, can be silent for as long as they like.
    """

    def __init__(
        self,
        resolv_conf: Path = RESOLV_CONF,
        hosts: Path = HOSTS,
        *,
        search: bool = False,
        port: int = DNS_PORT,
        seconds: float = SECONDS,
    ):
        """With `search`, the search domains of resolv.conf are tried: for names of the operator's, never a stranger's.

        `port` is that of the name servers.
        """
        self._search = search
        self._port = port
        self._seconds = seconds
        self._servers = FileContent(resolv_conf, self._of_name_servers)
        self._hosts = FileContent(hosts, hosts_of)
        self._stored: OrderedDict[str, tuple[float, tuple[Address, ...]]] = OrderedDict()
        """Addresses by name, each with the monotonic time at which they expire."""
        self._shares: WeakValueDictionary[tuple[str, ...], asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, name: str, caller: str) -> Sequence[Address]:
        """The addresses of a name (see Resolver)."""
        name = name.removesuffix(".").lower()
        known = self._known(name)
        if known is not None:
            return known
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._share((caller, zone(name)), NAMES_OF_ZONE),  # first: who waits for it holds nothing else
                self._share((caller,), NAMES_OF_CALLER),
            ):
                known = self._known(name)  # another call may have asked for it meanwhile
                return await self._ask(name) if known is None else known
        except TimeoutError:
            raise UpstreamTimeoutError(*SILENT) from None

    def _known(self, name: str) -> Sequence[Address] | None:
        """The addresses of a name that is not to be asked for; else None."""
        if here := self._hosts.read().get(name):
            return here
        if not is_valid_name(name) or name.rpartition(".")[2] in NEVER_ASKED:
            return ()
        expires, addresses = self._stored.get(name, (0.0, ()))
        return addresses if monotonic() < expires else None

    def _share(self, owner: tuple[str, ...], size: int) -> asyncio.Semaphore:
        share = self._shares.get(owner)
        if share is None:
            share = self._shares[owner] = asyncio.Semaphore(size)
        return share

    async def _ask(self, name: str) -> Sequence[Address]:
        """The addresses of both kinds. A failure counts where nothing else is known of the name."""
        answers = await asyncio.gather(*(self._answer(name, kind) for kind in ("A", "AAAA")), return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, Answer) and answer.rrset is not None]
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if not found and failures and None not in answers:
            raise failures[0]
        addresses = tuple(ipaddress.ip_address(record.address) for answer in found for record in answer)
        seconds = min((answer.chaining_result.minimum_ttl for answer in found), default=NOTHING_SECONDS)
        self._stored.pop(name, None)
        self._stored[name] = (monotonic() + min(seconds, MOST_STORED_SECONDS), addresses)
        if len(self._stored) > MOST_NAMES:
            self._stored.popitem(last=False)
        return addresses

    async def _answer(self, name: str, kind: str) -> Answer | None:
        """What the name servers answer about a name, maybe without records; None where there is no such name."""
        try:
            return await self._servers.read().resolve(name, kind, raise_on_no_answer=False, search=self._search)
        except NXDOMAIN:
            return None
        except LifetimeTimeout as error:
            raise UpstreamTimeoutError(*SILENT) from error
        except (NoNameservers, dns.exception.DNSException) as error:
            logger.info("The name servers failed: %s", error)
            raise UpstreamError(*FAILED) from error

    def _of_name_servers(self, path: Path) -> DnsResolver:
        """What asks the name servers of a file like resolv.conf."""
        resolver = DnsResolver(configure=False)
        try:
            resolver.read_resolv_conf(path)
        except (NoResolverConfiguration, ValueError, dns.exception.DNSException):
            logger.warning("%s names no name server that can be used, so %s is asked", path, LOCAL_SERVER)
            resolver.nameservers = [LOCAL_SERVER]
        resolver.nameservers = [NameServer(str(one), self._port) for one in resolver.nameservers[:MOST_SERVERS]]
        resolver.timeout, resolver.lifetime = SERVER_SECONDS, QUESTION_SECONDS
        return resolver


class NameServer(Do53Nameserver):
    """Asks a name server over UDP, and over TCP where the answer is truncated (RFC 1035, RFC 7766).

    The kernel connects the socket: it receives only what the name server sends, or that nothing listens there.
    """

    async def async_query(
        self,
        request: dns.message.QueryMessage,
        timeout: float,  # noqa: ASYNC109  # the library's own
        *_: Any,
        max_size: bool = False,
        **__: Any,
    ) -> dns.message.Message:
        try:
            async with asyncio.timeout(timeout):
                return await (self._over_tcp(request) if max_size else self._over_udp(request))
        except TimeoutError as error:
            raise dns.exception.Timeout from error  # the library asks again after its own, as no other error

    async def _over_udp(self, request: dns.message.QueryMessage) -> dns.message.Message:
        family = af_for_address(self.address)
        server = low_level_address_tuple((self.address, self.port), family)
        backend = get_backend("asyncio")
        async with await backend.make_socket(family, socket.SOCK_DGRAM, 0, None, server) as connected:
            return await dns.asyncquery.udp(
                request, self.address, port=self.port, raise_on_truncation=True, sock=connected
            )

    async def _over_tcp(self, request: dns.message.QueryMessage) -> dns.message.Message:
        reader, writer = await asyncio.open_connection(self.address, self.port)
        with closing(writer):
            writer.write(request.to_wire(prepend_length=True))
            size = int.from_bytes(await reader.readexactly(2), "big")
            if size > LONGEST_ANSWER:
                raise dns.exception.FormError(f"the answer is longer than {LONGEST_ANSWER} bytes")
            answer = dns.message.from_wire(await reader.readexactly(size))
        if not request.is_response(answer):
            raise dns.exception.FormError("the answer is to another question")
        return answer


def zone(name: str) -> str:
    """The registrable domain of a name; its last two labels where the list of public suffixes does not say."""
    return SHIPPED(name).top_domain_under_public_suffix or ".".join(name.split(".")[-2:])


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def hosts_of(path: Path) -> Mapping[str, Sequence[Address]]:
    """The addresses of each name of a file like hosts (hosts(5)); lines that cannot be read are passed over."""
    found: dict[str, list[Address]] = {}
    for address, *names in map(str.split, _lines(path)):
        if _is_address(address):
            for name in names:
                found.setdefault(name.removesuffix(".").lower(), []).append(ipaddress.ip_address(address))
    return found


def _lines(path: Path) -> Sequence[str]:
    """The lines of a file that are not empty, without comments; none where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    lines = (line.partition("#")[0].partition(";")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


class FileContent(Generic[Read]):
    """What a file says, read again when the file has changed."""

    def __init__(self, path: Path, read: Callable[[Path], Read]):
        self._path = path
        self._read = read
        self._version: tuple[int, ...] | None = None
        self._content: Read

    def read(self) -> Read:
        version = self._current_version()
        if self._version != version:
            self._content, self._version = self._read(self._path), version
        return self._content

    def _current_version(self) -> tuple[int, ...]:
        try:
            status = os.stat(self._path)  # noqa: PTH116  # half the time of Path.stat, and it is done for each name
        except OSError:
            return ()
        return status.st_ino, status.st_mtime_ns, status.st_size
