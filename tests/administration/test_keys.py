"""`webdata keys`."""

import re
import sqlite3

import pytest


def test_a_key_is_shown_once_and_listed_without_its_secret(run, rows):
    """A new key alone is on standard output; the list shows what it is for, and nothing that opens."""
    secret = run("keys", "create", "--live", "--name", " crawler ").strip()
    listed = run("keys", "list")
    assert re.fullmatch(r"wd_live_\w{49}", secret)
    assert rows(listed)[0][1:4] == [f"{secret[:12]}…", "default", "live"]
    assert rows(listed)[0][-3:] == ["never", "all", "crawler"]
    assert secret not in listed


def test_what_a_new_key_is_stands_beside_it(attempt):
    """The id, kind, account and end of a new key are told on standard error."""
    result = attempt("keys", "create", "--expires", "30d")
    assert re.fullmatch(
        r"key_\w{26}: a test key of the account default, until 20[0-9: -]+ UTC. It is not shown again.\n", result.stderr
    )


def test_keys_of_accounts(run, rows):
    """A key belongs to the account that is named, has its scopes and its end, and is listed with it."""
    account = run("accounts", "create", "coffee shops").strip()
    for name in ("coffee shops", account):
        run("keys", "create", "--account", name, "--scope", "web_search", "--scope", "news_search", "--expires", "24h")
    run("keys", "create", "--test")
    mine = run("keys", "list", "--account", "coffee shops")
    assert len(rows(mine)) == 2
    assert all("coffee shops  test, expires 20" in line for line in mine.splitlines()[1:])
    assert all("  news_search,web_search" in line for line in mine.splitlines()[1:])
    assert len(rows(run("keys", "list"))) == 3


def test_rotate(run, attempt):
    """A rotated key is followed by one with the same rights, and says until when it opens."""
    secret = run("keys", "create", "--live", "--name", "crawler", "--scope", "web_search").strip()
    result = attempt("keys", "rotate", secret[:12], "--overlap", "90m")
    new = result.stdout.strip()
    old_row, new_row = run("keys", "list").splitlines()[1:]
    assert re.search(r"^key_\w{26} opens until 20[0-9: -]+ UTC\.$", result.stderr, re.MULTILINE)
    assert "live, expires 20" in old_row
    assert new[:12] in new_row
    assert new_row.endswith("web_search  crawler")
    assert "followed by" in attempt("keys", "rotate", secret[:12]).stderr


def test_the_whole_key(run, attempt):
    """A key that has leaked can be given as it is; one that is not here is not repeated."""
    secret = run("keys", "create").strip()
    assert "is revoked" in run("keys", "revoke", secret)
    told = attempt("keys", "revoke", f"{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}").stderr
    assert f"there is no key '{secret[:12]}…'" in told
    assert secret[:-1] not in told


def test_revoke(run, attempt, rows):
    """A revoked key is listed as such, and cannot be revoked again."""
    secret = run("keys", "create").strip()
    told = run("keys", "revoke", f"{secret[:12]}…")
    key_id = rows(run("keys", "list"))[0][0]
    assert told == f"{key_id} is revoked: it opens nothing from now on.\n"
    assert "test, revoked 20" in run("keys", "list")
    assert f"the key {key_id} is revoked already" in attempt("keys", "revoke", key_id).stderr


def test_names_from_before_do_nothing_to_a_terminal(run, tmp_path):
    """A control character that an old database holds is not sent to the terminal."""
    run("keys", "create", "--name", "crawler")
    with sqlite3.connect(tmp_path / "webdata.sqlite3") as connection:
        connection.execute("UPDATE keys SET name = char(27) || '[2J'")
    connection.close()
    assert run("keys", "list").endswith("  �[2J\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["keys", "create", "--live", "--test"], "a key is live or test, not both: give one of --live and --test"),
        (["keys", "create", "--name", "a\x1b[2Jb"], "a name is one line of letters, digits and signs"),
        (["keys", "create", "--name", "x" * 201], "a name has at most 200 characters, this one has 201"),
        (["keys", "create", "--scope", "web"], "'web' is not an endpoint: the endpoints are bing_search,"),
        (["keys", "create", "--expires", "soon"], "'soon' is not a time: give a number and a unit, such as 30d"),
        (["keys", "create", "--account", "tea"], "there is no account 'tea': the accounts are default;"),
        (["keys", "rotate", "key_1"], "there is no key 'key_1': give an id, or the beginning"),
        (["keys", "revoke", ""], "there is no key ''"),
    ],
)
def test_mistakes(mistake, arguments, message):
    """A user's mistake is told with what would be right."""
    assert message in mistake(*arguments)
