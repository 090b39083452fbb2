"""Invented things."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug

RESERVED = ("example.com", "example.org", "example.net", ".example")


def test_the_same_key_gives_the_same_numbers():
    """Numbers are decided by the key: equal for equal keys, different for others."""
    rows = [[SeededRandom(*key).number(0, 10**6) for _ in range(3)] for key in [("a", 1), ("a", 1), ("a", 2), ("a1",)]]
    assert rows[0] == rows[1]
    assert len({row[0] for row in rows}) == 3


def test_the_numbers_are_these_for_ever():
    """The very numbers are part of the promise that a query always gets the same page."""
    random = SeededRandom("coffee", "us", "en", "result", 1)
    assert [random.number(1, 100) for _ in range(6)] == [26, 52, 50, 72, 72, 79]


@given(st.text(), st.integers(-100, 100), st.integers(0, 200))
def test_numbers_keep_between_their_bounds(key, low, span):
    """A number is never outside of what was asked for, whatever the key."""
    random = SeededRandom(key)
    assert all(low <= random.number(low, low + span) <= low + span for _ in range(20))


def test_numbers_are_spread():
    """Every side of the random comes up about as often."""
    seen = Counter(SeededRandom("spread", i).number(1, 6) for i in range(6000))
    assert all(800 < count < 1200 for count in seen.values())


def test_some_things_are_different_ones():
    """Of a row of things none is taken twice, and never more than there are."""
    assert sorted(SeededRandom("a").sample("abc", 5)) == ["a", "b", "c"]
    assert len(set(SeededRandom("b").sample(range(50), 20))) == 20


def test_prices_dates_and_stars_look_real():
    """Prices have cents, dates a year, stars one decimal."""
    random = SeededRandom("x")
    assert random.price().startswith("$")
    assert random.price()[-3] == "."
    assert random.date()[-6:-4] == ", "
    assert 3 < float(random.rating()) <= 5


def test_every_invented_host_is_reserved():
    """Links lead to domains that are reserved for examples."""
    assert all(host.endswith(RESERVED) for _, host in PUBLISHERS)


def test_slugs_are_safe_in_an_address():
    """Words become a part of a path, cut and encoded."""
    assert slug("Coffee  shops & /é") == "coffee-shops-%26-%2F%C3%A9"
    assert len(slug("a" * 500)) == 60
