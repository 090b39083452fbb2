"""The endpoints of a caller's own account."""

from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft202012Validator
from pytest_twisted import ensureDeferred

from webdata.faces.api.account import KEY_PAGES
from webdata.stores.accounts.model import DEFAULT_ACCOUNT


@ensureDeferred
async def test_the_account_has_credits_plan_and_key(send, test_secret):
    """The account has credits, plan and key, by its schema, and never the secret."""
    response = await send("/api/v1/account")

    Draft202012Validator(KEY_PAGES[0].schema).validate(response.json)
    assert (response.json["account"]["id"], response.json["credits"], response.json["key"]["test"]) == (
        DEFAULT_ACCOUNT,
        1000,
        True,
    )
    assert response.json["plan"]["name"] == "default"
    assert test_secret not in response.body.decode()
    assert (response.headers["x-credits-cost"], response.headers["cache-control"]) == ("0", "no-store")


@pytest.mark.parametrize("group_by", ["day", "engine", "key"])
@ensureDeferred
async def test_the_usage_is_grouped(send, live_secret, group_by):
    """The usage has the calls of the last 30 days by day, endpoint or key."""
    today = datetime.now(UTC).date()
    for term in ("coffee", "tea"):
        await send(f"/v1/search?q={term}", headers={"X-Api-Key": live_secret})
    response = await send(f"/api/v1/usage?group_by={group_by}")

    Draft202012Validator(KEY_PAGES[1].schema).validate(response.json)
    [row] = response.json["usage"]
    assert (row["calls"], row["credits"], row["cached"], row["released"]) == (2, 2, 0, 0)
    if group_by != "key":
        assert row["group"] in (today.isoformat(), "web_search")
    assert response.json["since"] == (today - timedelta(days=30)).isoformat()


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
async def test_a_wrong_parameter_is_refused(send, query, name, right):
    """A wrong parameter is a 422 with its name and the valid values."""
    response = await send(f"/api/v1/usage?{query}")

    assert (response.status, response.problem["code"]) == (422, "validation_error")
    [problem] = response.json["detail"]
    assert problem["loc"] == ["query", name]
    assert right in problem["msg"]


@pytest.mark.parametrize("query", ["until=9999-12-31", "until=0001-01-01", "since=9000-01-01", "since=2000-01-01"])
@ensureDeferred
async def test_any_day_is_accepted(send, query):
    """The first and the last day of the calendar, and future days, are accepted."""
    assert (await send(f"/api/v1/usage?{query}")).status == 200


@ensureDeferred
async def test_unknown_parameters_are_ignored(send):
    """Unknown parameters are named in a header."""
    assert (await send("/api/v1/usage?group=day")).headers["x-ignored-params"] == "group"


@ensureDeferred
async def test_other_methods_are_refused(send):
    """Any method but GET and HEAD is a 405."""
    response = await send("/api/v1/usage", method="DELETE")

    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
