"""What search terms for jobs mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.resources._job_terms import wanted

AUSTIN = "Austin, Texas, United States"


@pytest.mark.parametrize(
    "q",
    [
        "nurse in Austin, TX", "nurse Austin", "nurse Austin TX", "nurse austin tx", "nurse, Austin, TX",
        "nurse - Austin", "nurse austin texas", "nurse in austin", "nurse jobs in Austin", "nurse jobs Austin",
        "nurse in Austin, TX, USA", "nurse  in   Austin ,TX",
    ],
)  # fmt: skip
def test_a_position_and_a_place(q):
    """However a place is joined to a position, both are understood."""
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
def test_places_are_named_as_the_site_names_them(q, keywords, place):
    """Towns get their state and country, states their country."""
    assert (wanted(q).keywords, wanted(q).place) == (keywords, place)


@pytest.mark.parametrize(
    "q",
    [
        "editor in chief", "engineer in training", "nurse OR", "physician assistant PA", "developer mobile", "jobs",
        "jobs in finance", "chef in the office", "nurse in", "specialist in customer service", "coffee", "en chef",
    ],
)  # fmt: skip
def test_what_is_no_place_stays_with_the_position(q):
    """Words that name a trade, a title or nothing are searched for as they are."""
    assert (wanted(q).keywords, wanted(q).place) == (q, None)


def test_a_name_is_not_cut_in_two():
    """Of a town that is not known only the state is taken."""
    assert wanted("nurse Round Hill, TX").keywords == "nurse Round Hill"
    assert wanted("nurse Round Hill, TX").place == "Texas, United States"
    assert wanted("nurse in Round Hill, TX").place == "Round Hill, Texas, United States"


def test_a_word_that_is_a_town_too():
    """A town whose name means something else needs its state, or an "in" before it."""
    assert wanted("developer mobile").place is None
    assert (
        wanted("developer Mobile, AL").place == wanted("developer in Mobile").place == "Mobile, Alabama, United States"
    )


def test_a_second_in():
    """The last "in" that leads to a place counts."""
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
def test_a_way_of_working_in_the_place_of_a_place(q, keywords, place, workplace):
    """Where a place would stand, remote and hybrid say how to work."""
    assert (wanted(q).keywords, wanted(q).place, wanted(q).workplace) == (keywords, place, workplace)


def test_near():
    """What is near a place, or near whoever asks, is told apart from what is in it."""
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
def test_another_country(q, country):
    """A country outside of North America is recognised, wherever its town may have a namesake."""
    assert (wanted(q).elsewhere, wanted(q).place) == (country, None)


@pytest.mark.parametrize(
    "q", ["chef in Turkey, TX", "teacher Lebanon, TN", "cook in Georgia", "nurse New Jersey", "German teacher"]
)
def test_namesakes_of_countries(q):
    """A state behind it, or the continent's own place of the name, makes it no other country."""
    assert wanted(q).elsewhere is None


@given(st.text(max_size=60))
def test_any_terms_mean_something(q):
    """Whatever is asked, nothing stumbles, and no terms are lost without a meaning."""
    found = wanted(q)
    assert found.keywords or found.place or found.elsewhere or found.workplace or found.nearby or not q.split()


WORDS = st.sampled_from(
    ["in", "near", "en", "Austin", "TX", ",", "Germany", "remote", "New", "York", "(", "jobs", "me", "the", "à", "USA"]
)


@given(st.lists(WORDS, max_size=9))
def test_any_order_of_telling_words_means_something(words):
    """The words that carry meaning may come in any order."""
    wanted(" ".join(words))
