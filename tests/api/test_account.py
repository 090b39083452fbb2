"""What callers may know of the account behind their key."""

from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft202012Validator
from pytest_twisted import ensureDeferred

from webdata.api.account import ACCOUNT, USAGE
from webdata.stores.interfaces import DEFAULT_ACCOUNT

TODAY = datetime.now(UTC).date()


@ensureDeferred
async def test_the_account(ask, test_secret):
    """It tells credits, plan and the key itself, as its schema says, and never the secret."""
    heard = await ask("/api/v1/account")

    Draft202012Validator(ACCOUNT.schema).validate(heard.json)
    assert (heard.json["account"]["id"], heard.json["credits"], heard.json["key"]["test"]) == (
        DEFAULT_ACCOUNT,
        1000,
        True,
    )
    assert heard.json["plan"]["name"] == "default"
    assert test_secret not in heard.body.decode()
    assert (heard.headers["x-credits-cost"], heard.headers["cache-control"]) == ("0", "no-store")


@pytest.mark.parametrize("group_by", ["day", "engine", "key"])
@ensureDeferred
async def test_the_usage(ask, live_secret, group_by):
    """It tells the calls of the last days by day, endpoint or key."""
    for term in ("coffee", "tea"):
        await ask(f"/v1/search?q={term}", headers={"X-Api-Key": live_secret})
    heard = await ask(f"/api/v1/usage?group_by={group_by}")

    Draft202012Validator(USAGE.schema).validate(heard.json)
    [row] = heard.json["usage"]
    assert (row["calls"], row["credits"], row["cached"], row["released"]) == (2, 2, 0, 0)
    if group_by != "key":
        assert row["group"] in (TODAY.isoformat(), "web_search")
    assert heard.json["since"] == (TODAY - timedelta(days=30)).isoformat()


@pytest.mark.parametrize(
    ("query", "name", "right"),
    [
        ("group_by=colour", "group_by", "day, engine"),
        ("since=yesterday", "since", "such as 2026-11-01"),
        ("since=2026-11-02&until=2026-11-01", "until", "before since"),
        ("until=2026-13-01", "until", "such as 2026-11-30"),
    ],
)
@ensureDeferred
async def test_what_cannot_be_asked(ask, query, name, right):
    """A wrong parameter is a 422 that names it and says what would be right."""
    heard = await ask(f"/api/v1/usage?{query}")

    assert (heard.status, heard.problem["code"]) == (422, "validation_error")
    [problem] = heard.json["detail"]
    assert problem["loc"] == ["query", name]
    assert right in problem["msg"]


@pytest.mark.parametrize("query", ["until=9999-12-31", "until=0001-01-01", "since=9000-01-01", "since=2000-01-01"])
@ensureDeferred
async def test_any_day_may_be_asked_for(ask, query):
    """The first and the last day of the calendar, and days to come, are days too."""
    assert (await ask(f"/api/v1/usage?{query}")).status == 200


@ensureDeferred
async def test_ignored(ask):
    """What means nothing is named."""
    assert (await ask("/api/v1/usage?group=day")).headers["x-ignored-params"] == "group"


@ensureDeferred
async def test_other_methods(ask):
    """They are read only."""
    heard = await ask("/api/v1/usage", method="DELETE")

    assert (heard.status, heard.headers["allow"]) == (405, "GET, HEAD")
