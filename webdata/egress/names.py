"""Names to addresses: asked of the machine's name servers, in the event loop, with a share for each caller.

`getaddrinfo` cannot tell a name that does not exist from name servers that fail, and takes a thread for each look-up,
which a silent server holds for as long as it likes.
"""

import asyncio
import ipaddress
import logging
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from time import monotonic
from typing import Any, Generic, TypeVar, cast
from weakref import WeakValueDictionary

from tldextract import TLDExtract
from twisted.names import dns

from webdata.domain.errors import UpstreamError, UpstreamTimeoutError
from webdata.egress.rule import Address, is_valid_name

logger = logging.getLogger(__name__)

Resolver = Callable[[str, str], Awaitable[Sequence[Address]]]
"""Returns the addresses of a name, asked for by a caller: an empty sequence where the name does not exist or has none.

Raises UpstreamTimeoutError or UpstreamError where that is not known, as the name servers were silent or failed.
"""

RESOLV_CONF = Path("/etc/resolv.conf")
HOSTS = Path("/etc/hosts")
LOCAL_SERVER = "127.0.0.1"
"""The name server of a machine whose file names none (resolv.conf(5))."""
MOST_SERVERS = 3
SECONDS = 10.0
"""Time limit of a look-up, with the time that it waits for its share."""
ROUNDS = (2.0, 4.0)
"""Seconds that a name server has for an answer, when it is asked for the first and the second time."""
LONGEST_ANSWER = 2048
"""Bytes of an answer that is read: some 120 addresses. Reading is the event loop's, and anybody may own a zone."""
MOST_ALIASES = 16
"""Names that one may be an alias of, each of the next (CNAME)."""
OF_CALLER = 8
"""Names that are asked for at once for one caller; its others wait."""
OF_ZONE = 4
"""Of these, names of one zone."""
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
        port: int = dns.PORT,
        seconds: float = SECONDS,
    ):
        """With `search`, the search domains of resolv.conf are tried: for names of the operator's, never a stranger's.

        `port` is that of the name servers.
        """
        self._search = search
        self._port = port
        self._seconds = seconds
        self._servers = FileContent(resolv_conf, name_servers)
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
                self._share((caller, zone(name)), OF_ZONE),  # first: who waits for it holds nothing else
                self._share((caller,), OF_CALLER),
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
        servers = self._servers.read()
        found = Records()
        for candidate in servers.candidates(name) if self._search else (name,):
            found = await self._records(servers, candidate)
            if found.addresses:
                break
        self._stored.pop(name, None)
        self._stored[name] = (monotonic() + found.seconds, found.addresses)
        if len(self._stored) > MOST_NAMES:
            self._stored.popitem(last=False)
        return found.addresses

    async def _records(self, servers: "Servers", name: str) -> "Records":
        """Those of both types. A failure counts where nothing else is known of the name."""
        questions = (self._answer(servers, name, kind) for kind in (dns.A, dns.AAAA))
        answers = await asyncio.gather(*questions, return_exceptions=True)
        known = [answer for answer in answers if isinstance(answer, Records)]
        found = [answer for answer in known if answer.addresses]
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if failures and not found and not any(answer.missing for answer in known):
            raise failures[0]
        addresses = tuple(address for answer in found for address in answer.addresses)
        return Records(addresses, min((answer.seconds for answer in found), default=NOTHING_SECONDS))

    async def _answer(self, servers: "Servers", name: str, kind: int) -> "Records":
        """The first answer of a name server that says whether there are such records; UpstreamError without one."""
        for seconds in ROUNDS:
            silent = False
            for server in servers.addresses:
                try:
                    async with asyncio.timeout(seconds):
                        return records_of(await exchange(server, self._port, name, kind), name, kind)
                except TimeoutError:
                    silent = True
                except (AnswerError, OSError, EOFError) as error:
                    logger.info("A name server failed: %s", error)
            if not silent:
                raise UpstreamError(*FAILED)
        raise UpstreamTimeoutError(*SILENT)


@dataclass(frozen=True)
class Records:
    """What is known of a name."""

    addresses: tuple[Address, ...] = ()
    seconds: float = 0
    """For which they may be stored."""
    missing: bool = False
    """Whether there is no such name, with any type of records (NXDOMAIN)."""


class AnswerError(Exception):
    """An answer that does not say whether there are such records."""


def records_of(answer: dns.Message, name: str, kind: int) -> Records:
    """The addresses of a type that an answer has for a name, or for what that is an alias of; raises AnswerError."""
    if answer.rCode not in (dns.OK, dns.ENAME):
        raise AnswerError(f"the answer has status {answer.rCode}")
    owner, seconds = name.encode(), MOST_STORED_SECONDS
    aliases = {record.name.name.lower(): record for record in answer.answers if record.type == dns.CNAME}
    for _ in range(MOST_ALIASES):
        if owner not in aliases:
            break
        seconds = min(seconds, aliases[owner].ttl)
        owner = cast(Any, aliases[owner].payload).name.name.lower()
    else:
        raise AnswerError("the name is an alias of too many others")
    found = [record for record in answer.answers if record.type == kind and record.name.name.lower() == owner]
    addresses = tuple(ipaddress.ip_address(cast(Any, record.payload).address) for record in found)
    return Records(addresses, min((record.ttl for record in found), default=seconds), answer.rCode == dns.ENAME)


async def exchange(server: str, port: int, name: str, kind: int) -> dns.Message:
    """The answer of a name server to one question; raises AnswerError, OSError or EOFError."""
    question = dns.Message(id=randbelow(1 << 16), recDes=1)
    question.queries = [dns.Query(name.encode(), kind, dns.IN)]
    answer = _read(await _over_udp(server, port, question.toStr()), question)
    return _read(await _over_tcp(server, port, question.toStr()), question) if answer.trunc else answer


def _read(data: bytes, question: dns.Message) -> dns.Message:
    answer = dns.Message()
    try:
        answer.fromStr(data)
    except Exception as error:  # whatever Twisted raises for the bytes of a stranger
        raise AnswerError("the answer cannot be read") from error
    asked = [(query.name.name.lower(), query.type) for query in answer.queries]
    if not answer.answer or asked != [(query.name.name, query.type) for query in question.queries]:
        raise AnswerError("the answer is to another question")
    return answer


async def _over_udp(server: str, port: int, question: bytes) -> bytes:
    """The kernel connects the socket: it receives only what the name server sends, or that nothing listens there."""
    loop, waiting = asyncio.get_running_loop(), _Datagram(question[:2])
    transport, _ = await loop.create_datagram_endpoint(lambda: waiting, remote_addr=(server, port))
    with closing(transport):
        transport.sendto(question)
        return await waiting.answer


class _Datagram(asyncio.DatagramProtocol):
    """Waits for the datagram with the id of its question."""

    def __init__(self, id_: bytes):
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._id = id_

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if data[:2] == self._id and len(data) <= LONGEST_ANSWER and not self.answer.done():
            self.answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc)


async def _over_tcp(server: str, port: int, question: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(server, port)
    with closing(writer):
        writer.write(len(question).to_bytes(2, "big") + question)
        size = int.from_bytes(await reader.readexactly(2), "big")
        if size > LONGEST_ANSWER:
            raise AnswerError(f"the answer is longer than {LONGEST_ANSWER} bytes")
        answer = await reader.readexactly(size)
    if answer[:2] != question[:2]:
        raise AnswerError("the answer is to another question")
    return answer


def zone(name: str) -> str:
    """The registrable domain of a name; its last two labels where the list of public suffixes does not say."""
    return SHIPPED(name).top_domain_under_public_suffix or ".".join(name.split(".")[-2:])


@dataclass(frozen=True)
class Servers:
    """What resolv.conf says (resolv.conf(5))."""

    addresses: tuple[str, ...]
    """Of the name servers, in the order in which they are asked."""
    search: tuple[str, ...] = ()
    ndots: int = 1
    """Dots in a name that is tried as it is before the search domains."""

    def candidates(self, name: str) -> Sequence[str]:
        """The names that a name of the operator's may stand for, in their order."""
        inside = [f"{name}.{domain}" for domain in self.search]
        return [name, *inside] if name.count(".") >= self.ndots else [*inside, name]


def name_servers(path: Path) -> Servers:
    """The name servers and search domains of a file like resolv.conf; what cannot be used is passed over."""
    addresses, search, ndots = list[str](), tuple[str, ...](), 1
    for keyword, *words in map(str.split, _lines(path)):
        match keyword, words:
            case "nameserver", [address, *_] if _is_address(address):
                addresses.append(address)
            case "search" | "domain", _:
                search = tuple(word.strip(".").lower() for word in words)
            case "options", _:
                given = [word.removeprefix("ndots:") for word in words if word.startswith("ndots:")]
                ndots = int(given[-1]) if given and given[-1].isdecimal() else ndots
    if not addresses:
        logger.warning("%s names no name server that can be used, so %s is asked", path, LOCAL_SERVER)
    return Servers(tuple(addresses[:MOST_SERVERS]) or (LOCAL_SERVER,), search, ndots)


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
