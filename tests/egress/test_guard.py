"""The guard's check of names and their addresses, and the time limit of a look-up."""

import asyncio
import ipaddress

import pytest
from twisted.internet.error import DNSLookupError

from webdata.domain.errors import TargetError
from webdata.egress.guard import Guard, sandbox_resolver
from webdata.egress.rule import Rule

RULE = Rule(frozenset({80, 443}))


def resolver(*texts):
    async def resolve(name):
        return [ipaddress.ip_address(text) for text in texts]

    return resolve


@pytest.mark.task
async def test_every_address_of_a_name_is_returned_once():
    """Addresses are in the resolver's order, without duplicates."""
    guard = Guard(RULE, resolver("1.1.1.1", "2606:4700::1", "1.1.1.1"))
    addresses = await guard.addresses(RULE.check_url("http://site.example/"))
    assert list(map(str, addresses)) == ["1.1.1.1", "2606:4700::1"]


@pytest.mark.task
async def test_a_name_with_one_private_address_is_refused():
    """All addresses of a name must be allowed."""
    guard = Guard(RULE, resolver("1.1.1.1", "10.0.0.1"))
    with pytest.raises(TargetError):
        await guard.check("http://site.example/")


@pytest.mark.task
async def test_literal_addresses_are_not_looked_up():
    """A URL with an address needs no resolver."""

    async def resolve(name):
        raise AssertionError(name)

    assert (await Guard(RULE, resolve).check("http://1.1.1.1/")).host == "1.1.1.1"


@pytest.mark.task
async def test_a_look_up_has_a_time_limit():
    """A resolver that does not answer and a name without addresses raise the same error."""

    async def resolve(name):
        await asyncio.sleep(60)

    for guard in (Guard(RULE, resolve, seconds=0.01), Guard(RULE, resolver())):
        with pytest.raises(DNSLookupError):
            await guard.check("http://site.example/")


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("www.google.com", ["192.0.32.8"]),
        ("10-0-0-1.trap.example", ["10.0.0.1"]),
        ("FD00--1.Trap.Example.", ["fd00::1"]),
        ("1-1-1-1.127-0-0-1.trap.example", ["1.1.1.1", "127.0.0.1"]),
        ("nowhere.trap.example", []),
        ("trap.example", ["192.0.32.8"]),
    ],
)
@pytest.mark.task
async def test_the_sandbox_resolver_needs_no_look_up(name, addresses):
    """Names under trap.example have the addresses that they spell; all others have a public one."""
    assert list(map(str, await sandbox_resolver(name))) == addresses
