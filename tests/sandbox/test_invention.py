"""Invented names, numbers and texts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug

RESERVED = ("example.com", "example.org", "example.net", ".example")


def test_the_same_key_gives_the_same_numbers():
    """Equal keys give equal numbers, different keys different ones."""
    rows = [[SeededRandom(*key).number(0, 10**6) for _ in range(3)] for key in [("a", 1), ("a", 1), ("a", 2), ("a1",)]]
    assert rows[0] == rows[1]
    assert len({row[0] for row in rows}) == 3


def test_the_numbers_never_change():
    """A key gives the same numbers in every release, so that a query always gets the same page."""
    random = SeededRandom("coffee", "us", "en", "result", 1)
    assert [random.number(1, 100) for _ in range(6)] == [26, 52, 50, 72, 72, 79]


@given(st.text(), st.integers(-100, 100), st.integers(0, 200))
def test_numbers_are_within_their_bounds(key, low, span):
    """A number is between its bounds for any key."""
    random = SeededRandom(key)
    assert all(low <= random.number(low, low + span) <= low + span for _ in range(20))


def test_numbers_are_uniform():
    """All numbers of a range are about equally frequent."""
    counts = Counter(SeededRandom("spread", i).number(1, 6) for i in range(6000))
    assert all(800 < count < 1200 for count in counts.values())


def test_a_sample_has_no_duplicates():
    """A sample has each item at most once, and no more than there are."""
    assert sorted(SeededRandom("a").sample("abc", 5)) == ["a", "b", "c"]
    assert len(set(SeededRandom("b").sample(range(50), 20))) == 20


def test_prices_dates_and_ratings_look_real():
    """Prices have cents, dates a year, ratings one decimal."""
    random = SeededRandom("x")
    assert random.price().startswith("$")
    assert random.price()[-3] == "."
    assert random.date()[-6:-4] == ", "
    assert 3 < float(random.rating()) <= 5


def test_every_invented_host_is_reserved():
    """Invented hosts are in domains that are reserved for examples."""
    assert all(host.endswith(RESERVED) for _, host in PUBLISHERS)


def test_slugs_are_path_segments():
    """A text becomes a path segment, shortened and encoded."""
    assert slug("Coffee  shops & /é") == "coffee-shops-%26-%2F%C3%A9"
    assert len(slug("a" * 500)) == 60
