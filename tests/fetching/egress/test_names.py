"""Names to addresses, by name servers of the tests on loopback."""

import asyncio
import ipaddress
import socket
from contextlib import asynccontextmanager, closing
from time import monotonic

import pytest
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.names import dns

from webdata.domain.errors import UpstreamError, UpstreamTimeoutError
from webdata.fetching.egress import names
from webdata.fetching.egress.names import MOST_NAMES, NAMES_OF_CALLER, NAMES_OF_ZONE, NameResolver, zone
from webdata.fetching.egress.reactor_names import ReactorNames

pytestmark = pytest.mark.task


class NameServer(asyncio.DatagramProtocol):
    """Answers over UDP and TCP what the first label of a name says; a label that it does not know has one address."""

    def __init__(self):
        self.asked = []
        self.over_tcp = []
        self.ttl = 60
        self.records = {}

    async def start(self, host="127.0.0.1"):
        self.server = await asyncio.start_server(self._serve, host, 0)
        self.port = self.server.sockets[0].getsockname()[1]
        try:
            loop = asyncio.get_running_loop()
            self.transport, _ = await loop.create_datagram_endpoint(lambda: self, (host, self.port))
        except OSError:  # the port is somebody else's for UDP
            self.server.close()
            await self.start(host)

    def stop(self):
        self.transport.close()
        self.server.close()

    def connection_made(self, transport):
        """The transport is that of `start`."""

    def datagram_received(self, data, addr):
        if answer := self._answer(data):
            if len(answer) > 512:
                short = message(data, answer=1, trunc=1)
                answer = short.toStr()
            self.transport.sendto(answer, addr)

    async def _serve(self, reader, writer):
        with closing(writer):
            data = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
            self.over_tcp.append(message(data).queries[0].name.name.decode())
            answer = self._answer(data)
            writer.write(len(answer).to_bytes(2, "big") + answer)

    def _answer(self, data):
        reply = message(data, answer=1)
        question = reply.queries[0]
        name, kind = question.name.name.decode(), {dns.A: "A", dns.AAAA: "AAAA"}[question.type]
        self.asked.append((name, kind))
        word = name.split(".")[0].rstrip("0123456789")
        if word == "silent" or (word == "half" and kind == "AAAA"):
            return None
        reply.rCode = {"servfail": 2, "nxdomain": 3, "refused": 5}.get(word, 0)
        for owner, of, values in self._records(word, name):
            if of in (kind, "CNAME"):
                reply.answers += [record(owner, of, value, self.ttl) for value in values]
        return data[:2] + b"no answer at all" if word == "nonsense" else reply.toStr()

    def _records(self, word, name):
        if word in self.records:
            return [(name, "AAAA" if ":" in value else "A", [value]) for value in self.records[word]]
        return {
            "servfail": [],
            "nxdomain": [],
            "refused": [],
            "empty": [],
            "six": [(name, "AAAA", ["2606:4700::1"])],
            "both": [(name, "A", ["1.1.1.1", "1.0.0.1"]), (name, "AAAA", ["2606:4700::1"])],
            "private": [(name, "A", ["10.0.0.1"])],
            "alias": [(name, "CNAME", ["end.example"]), ("end.example", "A", ["1.1.1.1"])],
            "dangling": [(name, "CNAME", ["gone.example"])],
            "loop": [(name, "CNAME", ["other.example"]), ("other.example", "CNAME", [name])],
            "stranger": [("other.example", "A", ["1.1.1.1"])],
            "many": [(name, "A", [f"1.1.1.{last}" for last in range(60)])],
            "endless": [(name, "A", [f"1.1.{part}.{last}" for part in range(2) for last in range(200)])],
        }.get(word, [(name, "A", ["1.1.1.1"])])


def message(data, **flags):
    """The question that a message asks, in a message with these flags."""
    received = dns.Message()
    received.fromStr(data)
    made = dns.Message(id=received.id, maxSize=0, **flags)
    made.queries = received.queries
    return made


def record(owner, kind, value, ttl):
    made = {"A": dns.Record_A, "AAAA": dns.Record_AAAA, "CNAME": dns.Record_CNAME}[kind](value, ttl)
    return dns.RRHeader(owner.encode(), made.TYPE, ttl=ttl, payload=made)


@asynccontextmanager
async def serving(tmp_path, hosts="", resolv_conf="nameserver 127.0.0.1\n", **options):
    """A name server, and a resolver that asks it."""
    server = NameServer()
    await server.start()
    (tmp_path / "hosts").write_text(hosts)
    (tmp_path / "resolv.conf").write_text(resolv_conf)
    try:
        yield server, NameResolver(tmp_path / "resolv.conf", tmp_path / "hosts", port=server.port, **options)
    finally:
        server.stop()


async def addresses(resolver, name, caller="key"):
    return list(map(str, await resolver(name, caller)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.example", ["1.1.1.1"]),
        ("PLAIN.example.", ["1.1.1.1"]),
        ("x_y.example", ["1.1.1.1"]),
        ("single", ["1.1.1.1"]),
        ("six.example", ["2606:4700::1"]),
        ("both.example", ["1.1.1.1", "1.0.0.1", "2606:4700::1"]),
        ("alias.example", ["1.1.1.1"]),
        ("private.example", ["10.0.0.1"]),
        ("nxdomain.example", []),
        ("empty.example", []),
        ("dangling.example", []),
        ("stranger.example", []),
    ],
)
async def test_a_name_has_the_addresses_of_both_kinds(tmp_path, name, expected):
    """All records of the name or of what it is an alias of; none for no such name, no records, or those of another."""
    async with serving(tmp_path) as (server, resolver):
        assert sorted(await addresses(resolver, name)) == sorted(expected)
        assert {kind for _, kind in server.asked} == {"A", "AAAA"}


@pytest.mark.parametrize("word", ["servfail", "refused", "loop", "endless", "nonsense"])
async def test_a_failure_of_the_name_servers_is_no_missing_name(tmp_path, word):
    """An error, a loop of aliases, too long an answer and nonsense are failures, which are not stored."""
    async with serving(tmp_path) as (server, resolver):
        for _ in range(2):
            server.asked.clear()
            with pytest.raises(UpstreamError) as caught:
                await addresses(resolver, f"{word}.example")
            assert (type(caught.value), caught.value.kind) == (UpstreamError, "dns_failed")
            assert server.asked


@pytest.mark.timed
async def test_a_name_server_that_is_down_is_a_failure_at_once(tmp_path):
    """Nothing listens at the server's port."""
    async with serving(tmp_path) as (server, resolver):
        server.stop()
        began = monotonic()
        with pytest.raises(UpstreamError) as caught:
            await addresses(resolver, "plain.example")
        assert caught.value.kind == "dns_failed"
        assert monotonic() - began < 1


async def test_a_silent_name_server_is_a_timeout(tmp_path):
    """A look-up has a time limit."""
    async with serving(tmp_path, seconds=0.05) as (_, resolver):
        with pytest.raises(UpstreamTimeoutError) as caught:
            await addresses(resolver, "silent.example")
        assert caught.value.kind == "dns_timeout"


async def test_a_silent_name_server_is_asked_again(tmp_path, monkeypatch):
    """A question that is lost costs some seconds, not the answer; the end of the time limit is a timeout."""
    monkeypatch.setattr(names, "SERVER_SECONDS", 0.05)
    monkeypatch.setattr(names, "QUESTION_SECONDS", 1.0)
    async with serving(tmp_path) as (server, resolver):
        waiting = asyncio.create_task(addresses(resolver, "silent.example"))
        while len(server.asked) < 4:  # noqa: ASYNC110  # nothing signals what the server was asked
            await asyncio.sleep(0.01)
        with pytest.raises(UpstreamTimeoutError) as caught:
            await waiting
        assert caught.value.kind == "dns_timeout"


async def test_a_name_has_addresses_where_only_one_question_is_answered(tmp_path, monkeypatch):
    """Servers that answer no question for AAAA do not make a name unreachable."""
    monkeypatch.setattr(names, "SERVER_SECONDS", 0.1)
    monkeypatch.setattr(names, "QUESTION_SECONDS", 0.3)
    async with serving(tmp_path) as (_, resolver):
        assert await addresses(resolver, "half.example") == ["1.1.1.1"]


async def test_a_truncated_answer_is_asked_for_over_tcp(tmp_path):
    """An answer that is too long for UDP is read whole."""
    async with serving(tmp_path) as (server, resolver):
        assert len(await addresses(resolver, "many.example")) == 60
        assert server.over_tcp == ["many.example"]


async def test_answers_are_stored_for_their_time_to_live(tmp_path):
    """A name is asked for again when its answer has expired; one of no seconds is not stored."""
    async with serving(tmp_path) as (server, resolver):
        for name in ("plain.example", "plain.example", "nxdomain.example", "nxdomain.example"):
            await addresses(resolver, name)
        assert len(server.asked) == 4
        server.ttl = 0
        for _ in range(2):
            await addresses(resolver, "brief.example")
        assert len(server.asked) == 8


async def test_the_stored_answers_are_bounded(tmp_path, monkeypatch):
    """The oldest is dropped, however many names a caller asks for."""
    assert MOST_NAMES <= 10_000
    monkeypatch.setattr(names, "MOST_NAMES", 3)
    async with serving(tmp_path) as (_, resolver):
        for number in range(6):
            await addresses(resolver, f"plain{number}.example")
        assert list(resolver._stored) == ["plain3.example", "plain4.example", "plain5.example"]


async def test_a_silent_zone_delays_no_other_zone(tmp_path):
    """A caller whose names of one zone are waited for gets those of another at once."""
    async with serving(tmp_path) as (server, resolver):
        waiting = [asyncio.create_task(resolver(f"silent{n}.evil.example", "key")) for n in range(NAMES_OF_CALLER * 2)]
        async with asyncio.timeout(10):
            while len({name for name, _ in server.asked}) < NAMES_OF_ZONE:  # noqa: ASYNC110  # nothing signals it
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len({name for name, _ in server.asked}) == NAMES_OF_ZONE
        assert await asyncio.wait_for(addresses(resolver, "plain.fine.example"), 0.5) == ["1.1.1.1"]
        await ended(waiting)


async def test_a_callers_silent_names_delay_no_other_caller(tmp_path):
    """A caller has so many unanswered names at most, over all zones; others have their own shares, in any zone."""
    async with serving(tmp_path) as (server, resolver):
        waiting = [asyncio.create_task(resolver(f"silent.evil{n}.example", "evil")) for n in range(NAMES_OF_CALLER * 4)]
        async with asyncio.timeout(10):
            while len(server.asked) < NAMES_OF_CALLER:  # noqa: ASYNC110  # nothing signals what the server was asked
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len({name for name, _ in server.asked}) == NAMES_OF_CALLER
        for name in ("plain.evil0.example", "plain.fine.example"):
            assert await asyncio.wait_for(addresses(resolver, name, "victim"), 5) == ["1.1.1.1"]
        await ended(waiting)


async def test_names_that_are_stored_do_not_wait(tmp_path):
    """A caller all of whose shares are taken still gets names that need no question."""
    async with serving(tmp_path, "1.0.0.1 here.example\n") as (_, resolver):
        await resolver("plain.example", "key")
        waiting = [asyncio.create_task(resolver(f"silent.evil{n}.example", "key")) for n in range(NAMES_OF_CALLER)]
        await asyncio.sleep(0.05)
        for name in ("plain.example", "here.example", "no.invalid"):
            await asyncio.wait_for(resolver(name, "key"), 0.2)
        await ended(waiting)


async def ended(tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_callers_that_wait_leave_nothing_behind(tmp_path):
    """Shares are dropped with the last name that is waited for, whether it was found or not."""
    async with serving(tmp_path, seconds=0.05) as (_, resolver):
        for name in ("plain.example", "servfail.example", "silent.example"):
            await asyncio.gather(resolver(name, name), return_exceptions=True)
        assert not dict(resolver._shares)


async def test_the_hosts_file_comes_first(tmp_path):
    """Its names, in any letter case, are not asked for; it is read again when it has changed."""
    hosts = "# a comment\n127.0.0.1\tlocal.example Other.Example # more\n::1 local.example\nnonsense here\n"
    async with serving(tmp_path, hosts) as (server, resolver):
        assert await addresses(resolver, "local.example") == ["127.0.0.1", "::1"]
        assert await addresses(resolver, "OTHER.example.") == ["127.0.0.1"]
        (tmp_path / "hosts").write_text("10.0.0.1 local.example\n")
        assert await addresses(resolver, "local.example") == ["10.0.0.1"]
        assert not server.asked


async def test_domains_without_addresses_are_not_asked_for(tmp_path):
    """Names under `invalid` and `onion` stay on this machine."""
    async with serving(tmp_path) as (server, resolver):
        assert await addresses(resolver, "www.invalid") == await addresses(resolver, "abc.onion") == []
        assert not server.asked


async def test_resolv_conf_is_read_again(tmp_path):
    """Another name server is asked once the file names it; a file that names none means this machine's."""
    async with serving(tmp_path, resolv_conf="nameserver 127.0.0.9\n") as (server, resolver):
        with pytest.raises(UpstreamError):
            await resolver("plain.example", "key")
        (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        assert await addresses(resolver, "plain.example") == ["1.1.1.1"]
        (tmp_path / "resolv.conf").write_text("nameserver nonsense\n")
        assert await addresses(resolver, "other.example") == ["1.1.1.1"]
        (tmp_path / "resolv.conf").unlink()
        assert await addresses(resolver, "third.example") == ["1.1.1.1"]
        assert len(server.asked) == 6


async def test_the_next_name_server_is_asked_where_one_fails(tmp_path):
    """The order is that of the file."""
    async with serving(tmp_path, resolv_conf="nameserver 127.0.0.9\nnameserver 127.0.0.1\n") as (_, resolver):
        assert await addresses(resolver, "plain.example") == ["1.1.1.1"]


async def test_search_domains_are_the_operators_only(tmp_path):
    """They are tried for names of the operator's, never for those of a stranger's URL."""
    conf = "nameserver 127.0.0.1\nsearch inner.example\n"
    async with serving(tmp_path, resolv_conf=conf) as (server, resolver):
        for name in ("proxy", "nxdomain.example"):
            await addresses(resolver, name)
        assert {name for name, _ in server.asked} == {"proxy", "nxdomain.example"}
    async with serving(tmp_path, resolv_conf=conf, search=True) as (server, resolver):
        assert await addresses(resolver, "proxy") == ["1.1.1.1"]
        assert {name for name, _ in server.asked} == {"proxy.inner.example"}


async def test_answers_of_others_are_dropped(tmp_path):
    """A datagram from another address than the name server's is not an answer, however well it guesses."""
    async with serving(tmp_path, seconds=0.3) as (server, resolver):

        def forge(data, addr):
            reply = message(data, answer=1)
            reply.answers = [record("plain.example", "A", "9.9.9.9", 60)]
            with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as forger:
                forger.bind(("127.0.0.3", 0))
                forger.sendto(reply.toStr(), addr)

        server.datagram_received = forge
        with pytest.raises(UpstreamTimeoutError):
            await addresses(resolver, "plain.example")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("a.somebody.github.io", "somebody.github.io"),
        ("a.b.unknown-suffix", "b.unknown-suffix"),
        ("single", "single"),
    ],
)
async def test_a_zone_is_what_somebody_can_register(name, expected):
    """The domain below a public suffix, those of companies that give out names included."""
    assert zone(name) == expected


class Receiver:
    """Collects what a resolver of the reactor reports."""

    def __init__(self):
        self.found, self.complete = [], asyncio.Event()

    def resolutionBegan(self, resolution):  # noqa: N802 - Twisted's name
        self.resolution = resolution

    def addressResolved(self, address):  # noqa: N802
        self.found.append(address)

    def resolutionComplete(self):  # noqa: N802
        self.complete.set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("six.example", [IPv6Address("TCP", "2606:4700::1", 80)]),
        ("localhost", [IPv4Address("TCP", "127.0.0.1", 80), IPv6Address("TCP", "::1", 80)]),
        ("192.0.2.1", [IPv4Address("TCP", "192.0.2.1", 80)]),
        ("nxdomain.example", []),
        ("servfail.example", []),
    ],
)
async def test_the_reactor_resolves_without_threads(tmp_path, name, expected):
    """Twisted's connections get the same addresses; a failure leaves them without any."""
    async with serving(tmp_path) as (_, resolver):
        receiver = Receiver()
        ReactorNames(resolver).resolveHostName(receiver, name, 80)
        await asyncio.wait_for(receiver.complete.wait(), 1)
        assert receiver.found == expected
        receiver = Receiver()
        ReactorNames(resolver).resolveHostName(receiver, name, 80, [IPv4Address])
        await asyncio.wait_for(receiver.complete.wait(), 1)
        assert receiver.found == [address for address in expected if isinstance(address, IPv4Address)]


async def test_private_addresses_reach_the_guard(tmp_path):
    """Addresses are the name server's, and the rule judges them: nothing is left out."""
    async with serving(tmp_path) as (server, resolver):
        server.records["mixed"] = ["1.1.1.1", "10.0.0.1", "::1"]
        found = await resolver("mixed.example", "key")
        assert set(found) == set(map(ipaddress.ip_address, server.records["mixed"]))
