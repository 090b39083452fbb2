"""Invented names, sentences, prices and dates: the same key always gives the same ones.

Neither a clock nor `random` is read (its choices may change with Python's version). All hosts are in domains that
are reserved for examples (RFC 2606).
"""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar
from urllib.parse import quote

T = TypeVar("T")

PUBLISHERS = (
    ("Example Guide", "www.example.com"),
    ("Northwind Journal", "journal.northwind.example"),
    ("The Open Notebook", "notes.example.org"),
    ("Harbour & Sons", "www.harbour.example"),
    ("Example Forum", "forum.example.net"),
    ("Blue Lantern", "blue-lantern.example"),
    ("City Almanac", "almanac.example.org"),
    ("Fieldbook", "www.fieldbook.example"),
    ("Example Learning", "learn.example.com"),
    ("Quiet Mornings", "blog.quiet-mornings.example"),
    ("Public Archive", "archive.example.net"),
    ("Tinker's Shed", "shed.tinkers.example"),
)
"""Invented publishers and their hosts."""

TITLES = (
    "{topic}: a short guide",
    "What to know about {topic}",
    "{topic} for beginners",
    "The history of {topic}",
    "{topic}: questions & answers",
    "Ten notes on {topic}",
    "{topic} compared",
    "How we think about {topic}",
    "{topic} in everyday life",
    "A year with {topic}",
)
SENTENCES = (
    "An invented page about {topic}, written for trials.",
    "Everything here is made up, down to the last comma.",
    "We compared twelve ways and kept the three that held.",
    "Readers asked, and we went to look for ourselves.",
    "A plain introduction with examples, figures and a table.",
    "Find opening hours, prices and the way there.",
    "Updated by people who like to be corrected.",
    "The second half is about what went wrong at first.",
    "No expert agrees on all of it, and that is the point.",
    "Start here if {topic} is new to you.",
)
QUESTIONS = (
    "What is {topic}?",
    "How does {topic} work?",
    "Is {topic} worth it?",
    "Where can I find {topic}?",
    "Who invented {topic}?",
    "How much does {topic} cost?",
)
REFINEMENTS = ("near me", "online", "for kids", "prices", "meaning", "history", "at home", "open now", "jobs")
STREETS = ("Mill Lane", "Station Road", "Orchard Street", "Bridge Row", "Market Square", "Lantern Alley")
PLACES = ("House of", "Corner", "Royal", "Little", "Old Town", "Riverside")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


FACTOR, INCREMENT, LIMIT = 6364136223846793005, 1442695040888963407, 2**64 - 1


class SeededRandom:
    """A random generator seeded with its key: Knuth's MMIX linear congruential generator."""

    def __init__(self, *key: object):
        text = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
        self._state = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")

    def number(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        self._state = (self._state * FACTOR + INCREMENT) & LIMIT
        return low + (self._state >> 33) % (high - low + 1)  # the lower bits have short periods

    def choice(self, items: Sequence[T]) -> T:
        self._state = (self._state * FACTOR + INCREMENT) & LIMIT
        return items[(self._state >> 33) % len(items)]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Up to `count` different items in random order."""
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(items)))]

    def token(self, length: int) -> str:
        """Letters, digits, hyphens and underscores, such as those of ids; 40 at most."""
        digest = blake2b(self.number(0, 2**31 - 1).to_bytes(4, "big"), digest_size=30).digest()
        return urlsafe_b64encode(digest)[:length].decode()

    def chance(self, one_in: int) -> bool:
        """True once in `one_in` calls on average."""
        return self.number(1, one_in) == 1

    def title(self, topic: str) -> str:
        return self.choice(TITLES).format(topic=topic)

    def sentences(self, topic: str, count: int) -> str:
        return " ".join(text.format(topic=topic) for text in self.sample(SENTENCES, count))

    def price(self) -> str:
        """A price in dollars: `$1,299.05`."""
        return f"${self.number(2, 1400):,}.{self.number(0, 99):02}"

    def rating(self) -> str:
        """Stars out of five: `4.6`."""
        return f"{self.number(31, 50) / 10}"

    def date(self) -> str:
        """A date such as `Mar 7, 2024`."""
        return f"{self.choice(MONTHS)} {self.number(1, 28)}, {self.number(2019, 2026)}"


def slug(text: str) -> str:
    """A segment of a URL path: `coffee shops` gives `coffee-shops`."""
    return quote("-".join(text.lower().split())[:60], safe="-")
