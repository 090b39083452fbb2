"""The service's settings."""

from pathlib import Path

import pytest

from webdata.config import Config
from webdata.errors import ConfigError


def test_an_empty_environment_gives_the_defaults(monkeypatch):
    """Without any variable the service has settings that work."""
    assert Config.from_environ({"WEBDATA_CHROMIUM": "/opt/chromium"}) == Config(chromium="/opt/chromium")


def test_every_variable_is_read():
    """Each WEBDATA_… variable sets its field."""
    environ = {
        "WEBDATA_HOST": "0.0.0.0",
        "WEBDATA_PORT": "9000",
        "WEBDATA_DATABASE": "sqlite:////tmp/keys.sqlite3",
        "WEBDATA_DEADLINE": "12.5",
        "WEBDATA_MAX_CALLS": "7",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_SANDBOX_URL": "http://127.0.0.1:8081",
        "WEBDATA_SANDBOX_REPLAY": "pages",
        "WEBDATA_KEPT_PAGES": "",
        "WEBDATA_CHROMIUM": "/opt/chromium",
        "WEBDATA_OPENALEX_KEY": "key",
        "WEBDATA_CONTACT": "data@example.org",
    }
    assert Config.from_environ(environ) == Config(
        host="0.0.0.0",
        port=9000,
        database="sqlite:////tmp/keys.sqlite3",
        deadline=12.5,
        max_calls=7,
        sandbox="always",
        sandbox_url="http://127.0.0.1:8081",
        sandbox_replay=Path("pages"),
        kept_pages=None,
        chromium="/opt/chromium",
        openalex_key="key",
        contact="data@example.org",
    )


def test_a_blank_key_is_none():
    """A key or an address of nothing but spaces is never sent: OpenAlex refuses a blank key."""
    config = Config.from_environ({"WEBDATA_OPENALEX_KEY": " \n", "WEBDATA_CONTACT": " "})
    assert (config.openalex_key, config.contact) == (None, None)


def test_a_key_is_not_shown():
    """A configuration that is printed keeps its key to itself."""
    assert "secret" not in repr(Config(openalex_key="secret"))


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("WEBDATA_PORT", "http", "a number from 0 to 65535, such as 8080"),
        ("WEBDATA_PORT", "70000", "a number from 0 to 65535, such as 8080"),
        ("WEBDATA_DEADLINE", "soon", "a number from 1.0 to 600.0, such as 30.0"),
        ("WEBDATA_DEADLINE", "nan", "a number from 1.0 to 600.0, such as 30.0"),
        ("WEBDATA_MAX_CALLS", "0", "a number from 1 to 10000, such as 64"),
        ("WEBDATA_SANDBOX", "sometimes", "one of test, always"),
        ("WEBDATA_SANDBOX_URL", "foo", "the address of a sandbox, such as http://127.0.0.1:8081"),
    ],
)
def test_a_wrong_value_names_the_variable_and_what_would_be_right(name, value, right):
    """A setting that cannot be used says which it is, what it was and what to give."""
    with pytest.raises(ConfigError, match=f"{name} cannot be '{value}': give {right}"):
        Config.from_environ({name: value})


def test_options_take_the_place_of_settings():
    """Options that were given win; those that are None change nothing."""
    assert Config(port=1).with_options(port=2, host=None) == Config(port=2)


@pytest.mark.parametrize(
    ("database", "links"),
    [
        ("sqlite:///.webdata/webdata.sqlite3", "sqlite:///.webdata/links.sqlite3"),
        ("sqlite:////var/lib/webdata/keys.db", "sqlite:////var/lib/webdata/links.sqlite3"),
        ("sqlite:///keys.db", "sqlite:///links.sqlite3"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://db/webdata", "postgresql://db/webdata"),
    ],
)
def test_links_are_kept_beside_the_keys(database, links):
    """Beside an SQLite file is the file of links; any other database holds both."""
    assert Config(database=database).links_database == links
