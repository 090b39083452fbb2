"""`webdata usage`."""

import re

import pytest

from webdata.stores.accounts.model import DEFAULT_ACCOUNT


def test_usage_is_printed_as_a_table_or_csv(run, use):
    """Usage is printed as a table or as CSV, by day, endpoint or key."""

    async def call(stores):
        for number in range(3):
            await stores.ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key_a")
        await stores.ledger.commit("req_0", "ok")
        await stores.ledger.commit("req_1", "empty")
        await stores.ledger.release("req_2", "blocked")
        stores.ledger.note(DEFAULT_ACCOUNT, "req_3", "web_search", "key_a", "ok", cached=True)
        await stores.ledger.flush()

    assert re.fullmatch(r"default used nothing from 20\S+ to 20\S+\.\n", run("usage"))
    use(call)
    assert run("usage", "--by", "engine") == (
        "engine      calls  credits  cached  released\nweb_search      4        2       1         1\n"
    )
    assert run("usage", "default", "--by", "key", "--csv") == "key,calls,credits,cached,released\nkey_a,4,2,1,1\n"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d,4,2,1,1", run("usage", "--csv").splitlines()[1])
    assert run("usage", "--csv", "--until", "2020-01-01", "--since", "2019-01-01").count("\n") == 1
    assert run("usage", "--csv", "--until", "9999-12-31", "--since", "0001-01-01").count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["usage", "tea"], "there is no account 'tea'"),
        (["usage", "--by", "week"], "'week' is not one of 'day', 'engine', 'key'"),
        (["usage", "--since", "yesterday"], "'yesterday' does not match the format '%Y-%m-%d'"),
        (["usage", "--since", "2026-02-01", "--until", "2026-01-01"], "--until is before --since: give the first day"),
    ],
)
def test_invalid_commands_are_refused_with_a_hint(mistake, arguments, message):
    """An invalid command is refused with a message that names what would be valid."""
    assert message in mistake(*arguments)
