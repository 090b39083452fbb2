"""The guard's check of names and their addresses, and the time limit of a look-up."""

import ipaddress

import pytest
from twisted.internet.error import DNSLookupError

from webdata.domain.errors import TargetError, UpstreamTimeoutError
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule

RULE = Rule(frozenset({80, 443}))


def resolver(*texts):
    async def resolve(name, caller):
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

    async def resolve(name, caller):
        raise AssertionError(name)

    assert (await Guard(RULE, resolve).check("http://1.1.1.1/")).host == "1.1.1.1"


@pytest.mark.task
async def test_a_name_without_addresses_is_not_found():
    """The error is that of a host that does not exist; a failure of the resolver stays what it is."""

    async def fail(name, caller):
        raise UpstreamTimeoutError("silent", "dns_timeout")

    with pytest.raises(DNSLookupError):
        await Guard(RULE, resolver()).check("http://site.example/")
    with pytest.raises(UpstreamTimeoutError):
        await Guard(RULE, fail).check("http://site.example/")


@pytest.mark.task
async def test_a_look_up_is_its_callers():
    """The resolver is told for whom it resolves a name."""
    callers = []

    async def resolve(name, caller):
        callers.append(caller)
        return [ipaddress.ip_address("1.1.1.1")]

    guard = Guard(RULE, resolve)
    for one in (guard, guard.for_caller("key-1"), guard.for_caller("key-2")):
        await one.check("http://site.example/")
    assert callers == ["", "key-1", "key-2"]
