"""`webdata keys`."""

import re
import sqlite3

import pytest


def test_a_secret_is_printed_once_and_not_listed(run, rows):
    """The secret of a new key is printed alone on standard output; the list does not contain it."""
    secret = run("keys", "create", "--live", "--name", " crawler ").strip()
    listed = run("keys", "list")
    assert re.fullmatch(r"wd_live_\w{49}", secret)
    assert rows(listed)[0][1:4] == [f"{secret[:12]}…", "default", "live"]
    assert rows(listed)[0][-3:] == ["never", "all", "crawler"]
    assert secret not in listed


def test_the_details_of_a_new_key_are_on_standard_error(attempt):
    """The id, kind, account and expiry of a new key are printed on standard error."""
    result = attempt("keys", "create", "--expires", "30d")
    assert re.fullmatch(
        r"key_\w{26}: a test key of the account default, until 20[0-9: -]+ UTC. It is not shown again.\n", result.stderr
    )


def test_a_key_belongs_to_its_account(run, rows):
    """A key belongs to the named account and is listed with its scopes and expiry."""
    account = run("accounts", "create", "coffee shops").strip()
    for name in ("coffee shops", account):
        run("keys", "create", "--account", name, "--scope", "web_search", "--scope", "news_search", "--expires", "24h")
    run("keys", "create", "--test")
    mine = run("keys", "list", "--account", "coffee shops")
    assert len(rows(mine)) == 2
    assert all("coffee shops  test, expires 20" in line for line in mine.splitlines()[1:])
    assert all("  news_search,web_search" in line for line in mine.splitlines()[1:])
    assert len(rows(run("keys", "list"))) == 3


def test_a_key_has_engines(run, attempt):
    """`--engine` is the name of an engine; another name is refused with those that there are."""
    assert run("keys", "create", "--engine", "bing_web", "--engine", "google_web").startswith("wd_test_")
    wrong = attempt("keys", "create", "--engine", "altavista").stderr
    assert "'altavista' is not an engine: the engines are amazon_products, bing_web" in wrong


def test_a_key_archives_its_answers(run, attempt, use):
    """`--archive-days` is from 0 to 365, and stays when the key is rotated."""
    secret = run("keys", "create", "--archive-days", "30").strip()
    run("keys", "rotate", secret)

    async def days(stores):
        return [key.archive_days for key in await stores.keys.all()]

    assert use(days) == [30, 30]
    assert "0<=x<=365" in attempt("keys", "create", "--archive-days", "366").stderr


def test_a_rotated_key_has_a_successor(run, attempt):
    """A rotated key expires after the overlap, and its successor has the same scopes."""
    secret = run("keys", "create", "--live", "--name", "crawler", "--scope", "web_search").strip()
    result = attempt("keys", "rotate", secret[:12], "--overlap", "90m")
    new = result.stdout.strip()
    old_row, new_row = run("keys", "list").splitlines()[1:]
    assert re.search(r"^key_\w{26} opens until 20[0-9: -]+ UTC\.$", result.stderr, re.MULTILINE)
    assert "live, expires 20" in old_row
    assert new[:12] in new_row
    assert new_row.endswith("web_search  crawler")
    assert "followed by" in attempt("keys", "rotate", secret[:12]).stderr


def test_a_key_may_be_named_by_its_secret(run, attempt):
    """A key may be named by its whole secret; an unknown secret is not printed in the error."""
    secret = run("keys", "create").strip()
    assert "is revoked" in run("keys", "revoke", secret)
    message = attempt("keys", "revoke", f"{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}").stderr
    assert f"there is no key '{secret[:12]}…'" in message
    assert secret[:-1] not in message


def test_a_key_is_revoked_once(run, attempt, rows):
    """A revoked key is listed as such, and cannot be revoked again."""
    secret = run("keys", "create").strip()
    message = run("keys", "revoke", f"{secret[:12]}…")
    key_id = rows(run("keys", "list"))[0][0]
    assert message == f"{key_id} is revoked: it opens nothing from now on.\n"
    assert "test, revoked 20" in run("keys", "list")
    assert f"the key {key_id} is revoked already" in attempt("keys", "revoke", key_id).stderr


def test_control_characters_are_not_printed(run, tmp_path):
    """A control character in a name of an old database is not printed."""
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
def test_invalid_commands_are_refused_with_a_hint(mistake, arguments, message):
    """An invalid command is refused with a message that names what would be valid."""
    assert message in mistake(*arguments)
