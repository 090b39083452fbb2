"""What every store of a kind does, run over each of them."""

import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest

from webdata.stores.interfaces import Key
from webdata.stores.memory import MemoryKeys, MemoryLinks
from webdata.stores.sql import SqlKeys, SqlLinks

NOON = datetime(2026, 7, 1, 12, 0, 0, 123456, tzinfo=UTC)
KEY = Key(id="key_b", name="Ünïted coffee", test=True, created=NOON, digest="b" * 64)
OTHER = Key(id="key_a", name="", test=False, created=NOON + timedelta(seconds=1), digest="a" * 64)


@pytest.fixture(params=["memory", "sqlite"])
def keys(request, tmp_path):
    if request.param == "memory":
        yield MemoryKeys()
        return
    store = SqlKeys(f"sqlite:///{tmp_path}/webdata.sqlite3")
    yield store
    store.close()


def test_find(keys):
    """A key comes back by its digest as it was added."""
    keys.add(KEY)
    keys.add(OTHER)

    assert keys.find("b" * 64) == KEY
    assert keys.find("a" * 64) == OTHER


def test_not_there(keys):
    """A digest that nobody added finds nothing."""
    keys.add(KEY)

    assert keys.find("c" * 64) is None
    assert keys.find("") is None
    assert keys.find("B" * 64) is None


def test_all(keys):
    """All keys come oldest first."""
    assert keys.all() == []
    keys.add(OTHER)
    keys.add(KEY)

    assert keys.all() == [KEY, OTHER]


def test_remove(keys):
    """A removed key is not found any more, and only that one."""
    keys.add(KEY)
    keys.add(OTHER)

    assert keys.remove("key_b") is True
    assert keys.remove("key_b") is False
    assert keys.find("b" * 64) is None
    assert keys.all() == [OTHER]


@pytest.mark.parametrize("twin", [{"id": "key_c"}, {"digest": "c" * 64}])
def test_add_twice(keys, twin):
    """A key whose id or digest is taken is refused, and the first one stays."""
    keys.add(KEY)
    with pytest.raises(ValueError, match="is there already"):
        keys.add(dataclasses.replace(KEY, name="twin", **twin))

    assert keys.all() == [KEY]


def test_zones(keys):
    """A time from another zone is the same moment when it comes back."""
    keys.add(dataclasses.replace(KEY, created=NOON.astimezone(timezone(timedelta(hours=9)))))

    assert keys.all()[0].created == NOON


def test_secrets_stay_out_of_logs():
    """What is printed of a key does not hold its digest."""
    assert "bbb" not in repr(KEY)


@pytest.fixture(params=["memory", "sqlite"])
def links(request, tmp_path):
    store = MemoryLinks() if request.param == "memory" else SqlLinks(f"sqlite:///{tmp_path}/links.sqlite3")
    yield store
    store.close()


def test_links_are_found_by_their_ids(links):
    """Of the ids that are asked for, those that are known have their addresses."""
    links.add({"one": "https://clay.example/1", "two": "https://clay.example/2?a=🏺"})
    links.add({"three": "https://clay.example/3"})

    assert links.find(["two", "three", "four"]) == {
        "two": "https://clay.example/2?a=🏺",
        "three": "https://clay.example/3",
    }
    assert links.find([]) == {}
    assert links.find(["ONE", ""]) == {}


def test_a_link_is_kept_as_it_was_first(links):
    """An id that is there already stays as it is, and those beside it are kept."""
    links.add({"one": "https://clay.example/1"})
    links.add({"one": "https://clay.example/other", "two": "https://clay.example/2"})

    assert links.find(["one", "two"]) == {"one": "https://clay.example/1", "two": "https://clay.example/2"}


def test_many_links_at_once(links):
    """A feed's worth of long ids is kept and found in one go."""
    many = {f"{number:04}{'x' * 1000}": f"https://clay.example/{number}" for number in range(1000)}
    links.add(many)

    assert links.find(many.keys()) == many
