"""The page over engines."""

import pytest

task = pytest.mark.task


@task
async def test_engines_are_shown_to_admins(visitor):
    """An admin sees the state of the service: last calls, transports, circuits, and proxies by label."""
    admin = await visitor().sign_up(role="admin")
    page = (await admin.get("/engines")).body.decode()
    for part in (
        "Degraded",
        "google_web",
        "captcha 1",
        "75 %",
        "half open",
        "US-1",
        "12 s more",
        "No proxy of US works",
    ):
        assert part in page
    sandbox = (await admin.get("/engines?network=sandbox")).body.decode()
    assert "Nothing was fetched yet" in sandbox
    assert (await admin.get("/engines?network=moon")).status == 200


@task
async def test_engines_are_not_shown_to_members(visitor):
    """A member neither sees the page nor a link to it."""
    member = await visitor().sign_up()
    assert (await member.get("/engines")).status == 403
    assert b"/dashboard/engines" not in (await member.get("/keys")).body
