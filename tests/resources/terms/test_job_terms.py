"""The terms of a job search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.resources.terms.job_terms import wanted

AUSTIN = "Austin, Texas, United States"


@pytest.mark.parametrize(
    "q",
    [
        "nurse in Austin, TX", "nurse Austin", "nurse Austin TX", "nurse austin tx", "nurse, Austin, TX",
        "nurse - Austin", "nurse austin texas", "nurse in austin", "nurse jobs in Austin", "nurse jobs Austin",
        "nurse in Austin, TX, USA", "nurse  in   Austin ,TX",
    ],
)  # fmt: skip
def test_terms_are_a_position_and_a_place(q):
    """Commas, hyphens, "in" and "jobs" between them have no effect."""
    assert (wanted(q).keywords, wanted(q).place) == ("nurse", AUSTIN)


@pytest.mark.parametrize(
    ("q", "keywords", "place"),
    [
        ("nurse", "nurse", None),
        ("software engineer New York", "software engineer", "New York, New York, United States"),
        ("chef New Mexico", "chef", "New Mexico, United States"),
        ("data engineer Toronto, CA", "data engineer", "Toronto, Ontario, Canada"),
        ("data engineer Toronto ON Canada", "data engineer", "Toronto, Ontario, Canada"),
        ("infirmière à Montréal", "infirmière", "Montréal, Quebec, Canada"),
        ("ingeniero en Monterrey", "ingeniero", "Monterrey, Nuevo León, Mexico"),
        ("engineer in Mexico", "engineer", "Mexico"),
        ("engineer in Costa Rica", "engineer", "Costa Rica"),
        ("data analyst Washington, D.C.", "data analyst", "Washington, District of Columbia, United States"),
        ("engineer in the Bay Area", "engineer", "San Francisco Bay Area, California, United States"),
        ("translator in Paris, Texas", "translator", "Paris, Texas, United States"),
        ("nurse, Smallville, KS", "nurse", "Smallville, Kansas, United States"),
        ("nurse in Smallville", "nurse", "Smallville, United States"),
        ("engineer in New England", "engineer", "New England, United States"),
        ("nurse in Vancouver, WA", "nurse", "Vancouver, Washington, United States"),
        ("nurse North America", "nurse", "North America"),
        ("Austin, TX", "", AUSTIN),
        ("jobs in Austin", "", AUSTIN),
    ],
)
def test_places_have_the_names_of_the_site(q, keywords, place):
    """The name of a town has its state and country, that of a state its country."""
    assert (wanted(q).keywords, wanted(q).place) == (keywords, place)


@pytest.mark.parametrize(
    "q",
    [
        "editor in chief", "engineer in training", "nurse OR", "physician assistant PA", "developer mobile", "jobs",
        "jobs in finance", "chef in the office", "nurse in", "specialist in customer service", "coffee", "en chef",
    ],
)  # fmt: skip
def test_terms_without_a_place_are_the_position(q):
    """Words after "in" that are part of a title are no place."""
    assert (wanted(q).keywords, wanted(q).place) == (q, None)


def test_the_name_of_an_unknown_town_is_not_split():
    """Without an "in" the place is the state alone."""
    assert wanted("nurse Round Hill, TX").keywords == "nurse Round Hill"
    assert wanted("nurse Round Hill, TX").place == "Texas, United States"
    assert wanted("nurse in Round Hill, TX").place == "Round Hill, Texas, United States"


def test_a_town_with_the_name_of_a_common_word_needs_its_state():
    """An "in" before it suffices too."""
    assert wanted("developer mobile").place is None
    assert (
        wanted("developer Mobile, AL").place == wanted("developer in Mobile").place == "Mobile, Alabama, United States"
    )


def test_the_last_in_before_a_place_counts():
    """An "in" before other words belongs to the position."""
    assert (wanted("editor in chief in Boston").keywords, wanted("engineer in training Denver").keywords) == (
        "editor in chief",
        "engineer in training",
    )


@pytest.mark.parametrize(
    ("q", "keywords", "place", "workplace"),
    [
        ("nurse remote", "nurse", None, "remote"),
        ("nurse in Remote", "nurse", None, "remote"),
        ("nurse in Remote, US", "nurse", "United States", "remote"),
        ("nurse (remote) in Texas", "nurse", "Texas, United States", "remote"),
        ("nurse hybrid", "nurse", None, "hybrid"),
        ("nurse on-site, Austin", "nurse", AUSTIN, "onsite"),
        ("remote jobs", "", None, "remote"),
        ("remote sensing scientist", "remote sensing scientist", None, None),
    ],
)
def test_a_workplace_may_replace_the_place(q, keywords, place, workplace):
    """The words remote, hybrid and on-site are neither a place nor part of the position."""
    assert (wanted(q).keywords, wanted(q).place, wanted(q).workplace) == (keywords, place, workplace)


def test_near_includes_the_surroundings():
    """Terms with "near" or "near me" are nearby, terms with "in" are not."""
    assert (wanted("nurse near Austin").place, wanted("nurse near Austin").nearby) == (AUSTIN, True)
    assert (wanted("nurse near me").keywords, wanted("nurse near me").nearby) == ("nurse", True)
    assert not wanted("nurse in Austin").nearby


@pytest.mark.parametrize(
    ("q", "country"),
    [
        ("nurse in Germany", "Germany"),
        ("nurse Germany", "Germany"),
        ("nurse in London, UK", "UK"),
        ("nurse, Berlin, Germany", "Germany"),
        ("engineer in Paris, France", "France"),
        ("nurse South America", "South America"),
        ("nurse in the United Kingdom", "United Kingdom"),
        ("Japan", "Japan"),
        ("nurse in Austin, TX, Germany", "Germany"),
    ],
)
def test_another_country_is_recognised(q, country):
    """The terms have no place then, even if North America has a town of the same name."""
    assert (wanted(q).elsewhere, wanted(q).place) == (country, None)


@pytest.mark.parametrize(
    "q", ["chef in Turkey, TX", "teacher Lebanon, TN", "cook in Georgia", "nurse New Jersey", "German teacher"]
)
def test_namesakes_of_countries_are_no_countries(q):
    """A town before its state, or a state of the same name, is a place in North America."""
    assert wanted(q).elsewhere is None


@given(st.text(max_size=60))
def test_any_terms_are_parsed(q):
    """No text raises an error, and every text has a result."""
    found = wanted(q)
    assert found.keywords or found.place or found.elsewhere or found.workplace or found.nearby or not q.split()


WORDS = st.sampled_from(
    ["in", "near", "en", "Austin", "TX", ",", "Germany", "remote", "New", "York", "(", "jobs", "me", "the", "à", "USA"]
)


@given(st.lists(WORDS, max_size=9))
def test_significant_words_may_be_in_any_order(words):
    """No order raises an error."""
    wanted(" ".join(words))
