"""Postings of upstream APIs as records of the search for jobs."""

import pytest

from webdata.pages.upstreams.postings import posting


@pytest.mark.parametrize(
    ("position", "is_remote"), [("Nurse (Remote)", True), ("Remote Start Technician", False), ("Remote, OR", False)]
)
def test_a_word_of_a_product_or_a_town_says_nothing_of_the_workplace(position, is_remote):
    """Postings of APIs are read as those of the sites are."""
    assert posting(position, "", "", "https://jobs.example/1", [], None)["is_remote"] is is_remote
