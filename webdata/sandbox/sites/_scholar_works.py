"""Invented scholarly works, the same ones for both indexes of the sandbox.

Scenarios of both sites (see `webdata.sandbox.scenarios`): `sandbox:nulls` is a page of works whose fields are null,
`sandbox:hollow` a page without works and with a total of millions, `sandbox:notfound` a 404.
"""

from functools import lru_cache

from webdata.sandbox.invention import SeededRandom
from webdata.sandbox.scenarios import SCENARIO
from webdata.sandbox.sites._searches import Data

WORKS = 347
"""The number of works for any terms."""
PREFIX = "10.5555"
"""The DOI prefix that is reserved for examples."""
CACHED_WORKS = 4096

TITLES = (
    "{topic}: a systematic review",
    "On the limits of {topic}",
    "Towards a theory of {topic}",
    "Measuring {topic} in the field",
    "{topic} revisited",
    "Does {topic} matter? Evidence from three harbours",
    "A survey of {topic}",
    "{topic} & its discontents",
)
VENUES = (
    "Journal of Invented Results",
    "Harbourton Letters",
    "Annals of Examples",
    "Proceedings of the Lantern Society",
    "Northwind Review",
)
GIVEN = ("Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Femi", "Greta", "Hiro", "Inés", "Jonas")
FAMILY = ("Example", "Sample", "Lantern", "Northwind", "Quill", "Harbour", "Møller-Test", "Placeholder")


@lru_cache(maxsize=CACHED_WORKS)
def work(topic: str, number: int) -> Data:
    """The work of a rank in the results for a topic, from 1; `authors` are pairs of given and family names."""
    random = SeededRandom("work", topic, number)
    people = random.sample(FAMILY, random.number(1, 4))
    key = random.number(10**8, 10**9 - 1) * 1000 + number
    title = random.choice(TITLES).format(topic=topic.capitalize())
    authors = [(random.choice(GIVEN), family) for family in people]
    venue, year = random.choice(VENUES), random.number(1990, 2026)
    volume, first_page = random.number(1, 60), random.number(1, 900)
    return {
        "key": key,
        "doi": f"{PREFIX}/{year}.{key}",
        "title": title,
        "authors": authors,
        "venue": venue,
        "year": year,
        "volume": volume,
        "first_page": first_page,
        "last_page": first_page + 11,
        "cited": random.number(0, 4000) // random.number(1, 40),
        "is_open": not random.chance(3),
        "abstract": random.sentences(topic, 3),
    }


def works(terms: str, start: int, size: int) -> list[Data]:
    """The works for the terms, `size` at most, from the offset `start` on."""
    topic = " ".join(SCENARIO.sub("", terms).split()) or "examples"
    return [work(topic, number) for number in range(start + 1, min(start + size, WORKS) + 1)]
