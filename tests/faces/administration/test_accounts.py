"""`webdata accounts` and `webdata plans`."""

from datetime import UTC, datetime

import pytest

from webdata.accounts.access.api_keys import digest
from webdata.accounts.access.invitations import VALID_FOR


def test_credits_are_given_taken_back_and_listed(run, rows):
    """Credits are given and taken back; the list of accounts shows them."""
    account = run("accounts", "create", "coffee", "--credits", "50").strip()
    assert run("accounts", "credit", "coffee", "1500", "--note", "paid") == "coffee has 1,550 credits.\n"
    assert run("accounts", "credit", account, "-20") == "coffee has 1,530 credits.\n"
    table = rows(run("accounts", "list"))
    assert [row[:3] for row in table] == [["acc_default", "1000", "default"], [account, "1530", "default"]]


QUOTAS = ["100000000", "10737418240", "10000", "100", "0", "1073741824"]
"""Those of a plan that names none: rows, bytes, batches, schedules; days and bytes of archived answers."""


def test_plans_are_made_changed_and_listed(run, rows):
    """A plan is made, changed and listed, and an account can have it."""
    run("plans", "set", "fast", "--requests", "600")
    assert run("plans", "set", "fast", "--requests", "900", "--seconds", "10", "--in-flight", "5") == (
        "fast: 900 requests in 10 seconds, 5 in flight, each key.\n"
    )
    run("accounts", "create", "coffee", "--plan", "fast")
    assert rows(run("plans", "list")) == [
        ["default", "60", "60", "32", "100", *QUOTAS],
        ["fast", "900", "10", "5", "100", *QUOTAS],
    ]
    assert rows(run("accounts", "list"))[1][2] == "fast"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["accounts", "create", " "], "the name of an account is not empty"),
        (["accounts", "create", "acc_1"], "does not begin with acc_, as ids do"),
        (["accounts", "create", "default"], "there is an account 'default' already: give another name"),
        (["accounts", "create", "tea", "--plan", "slow"], "there is no plan 'slow': the plans are default;"),
        (["accounts", "credit", "default", "-1001"], "the account has 1000 credits, so 1001 cannot be taken back"),
        (["accounts", "credit", "default", "many"], "'many' is not a valid integer range"),
        (["accounts", "credit", "tea", "5"], "there is no account 'tea'"),
        (["plans", "set", "fast", "--requests", "0"], "0 is not in the range 1<=x<=1000000"),
    ],
)
def test_invalid_commands_are_refused_with_a_hint(mistake, arguments, message):
    """An invalid command is refused with a message that names what would be valid."""
    assert message in mistake(*arguments)


def test_a_member_is_invited(run, attempt, mistake, use):
    """The link is printed alone on standard output, and makes a member of the role; an unknown account is refused."""
    path = run("accounts", "invite", "default", "--role", "admin").strip().removeprefix("http://127.0.0.1:8080")
    secret = path.removeprefix("/dashboard/invitations/")
    found = use(lambda stores: stores.members.invitation(digest(secret), datetime.now(UTC)))
    assert (found.account_id, found.role, found.expires - found.created) == ("acc_default", "admin", VALID_FOR)
    assert "sees the account default" in attempt("accounts", "invite", "default").stderr
    assert "there is no account 'none'" in mistake("accounts", "invite", "none")


def test_a_deleted_account(run, mistake, use):
    """A deleted account is listed as such, and gets neither keys nor members."""
    account = run("accounts", "create", "coffee").strip()
    use(lambda stores: stores.accounts.delete(account, datetime.now(UTC)))
    assert "coffee (deleted)" in run("accounts", "list")
    assert "was deleted" in mistake("accounts", "invite", "coffee")
    assert "was deleted" in mistake("keys", "create", "--account", "coffee")
