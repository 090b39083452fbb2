"""The names of the sandbox."""

import pytest

from webdata.sandbox.names import sandbox_resolver


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
