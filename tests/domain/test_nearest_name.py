"""Tests of the names that somebody may have meant."""

from time import process_time

from webdata.domain.nearest_name import nearest_name


def test_the_most_similar_name_is_found():
    """There is one, however little it is like the other."""
    assert nearest_name("formts", ["url", "formats"]) == "formats"
    assert nearest_name("", ["url"]) == nearest_name("Ω", {"url": 1}) == "url"


def test_a_long_name_costs_no_more_than_its_beginning():
    """A body may have a name of megabytes."""
    begun = process_time()
    assert nearest_name("formats" * 1_000_000, ["formats", "x" * 1_000]) == "formats"
    assert process_time() - begun < 0.5
