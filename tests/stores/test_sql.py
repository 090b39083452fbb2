"""What is particular to an SQL database."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, inspect, text

from webdata.errors import ConfigError
from webdata.stores.interfaces import Key
from webdata.stores.sql import SqlKeys, SqlLinks, open_database

KEY = Key(id="key_a", name="a", test=True, created=datetime(2026, 7, 1, tzinfo=UTC), digest="a" * 64)


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/not/there/yet/webdata.sqlite3"


def test_folders(url, tmp_path):
    """The folders above the file are made, and the journal lets others read while one writes."""
    engine = open_database(url)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    engine.dispose()

    assert (tmp_path / "not/there/yet/webdata.sqlite3").is_file()


def test_memory():
    """A database in memory needs no folder."""
    store = SqlKeys("sqlite://")
    store.add(KEY)

    assert store.find("a" * 64) == KEY
    store.close()


def test_two_processes(url):
    """What one process adds or removes, another one sees with its next look-up."""
    here, there = SqlKeys(url), SqlKeys(url)
    assert here.find("a" * 64) is None
    there.add(KEY)
    assert here.find("a" * 64) == KEY
    there.remove("key_a")
    assert here.find("a" * 64) is None
    here.close()
    there.close()


def test_opened_at_once(url):
    """Several processes may make the same new database at the same time."""

    def open_and_close(_: int) -> None:
        SqlKeys(url).close()

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(open_and_close, range(32)))) == 32


@pytest.mark.parametrize("url", ["webdata.sqlite3", "nosuchbase://localhost/webdata", ""])
def test_bad_urls(url):
    """A URL that cannot be used is an error that shows a right one."""
    with pytest.raises(ConfigError, match="give a URL like sqlite:///"):
        open_database(url)


def test_not_a_database(tmp_path):
    """A file that is something else is left alone."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database " * 100)
    with pytest.raises(ConfigError, match="file is not a database"):
        open_database(f"sqlite:///{file}")

    assert file.read_text().startswith("not a database")


@pytest.mark.skipif(os.name != "posix", reason="a path below a file is a different error elsewhere")
def test_no_folder(tmp_path):
    """A folder that cannot be made is an error that shows a right URL."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="give a URL like sqlite:///"):
        open_database(f"sqlite:///{tmp_path}/file/webdata.sqlite3")


def test_links_have_a_database_of_their_own(tmp_path):
    """The file of links holds links alone, and they are there when it is opened again."""
    url = f"sqlite:///{tmp_path}/links.sqlite3"
    first = SqlLinks(url)
    first.add({"one": "https://clay.example/1"})
    first.close()
    second = SqlLinks(url)

    assert second.find(["one"]) == {"one": "https://clay.example/1"}
    second.close()
    engine = create_engine(url)
    assert inspect(engine).get_table_names() == ["links"]
    engine.dispose()


def test_links_that_cannot_be_kept_are_not_missed(tmp_path, caplog):
    """A store of links that fails says so in the log, finds nothing and stops nobody."""
    store = SqlLinks(f"sqlite:///{tmp_path}/links.sqlite3")
    engine = create_engine(f"sqlite:///{tmp_path}/links.sqlite3")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE links"))
    engine.dispose()
    store.add({"one": "https://clay.example/1"})

    assert store.find(["one"]) == {}
    told = [record.getMessage() for record in caplog.records]
    assert told == ["The store of news links could not be written", "The store of news links could not be read"]
    store.close()
