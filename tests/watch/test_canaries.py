"""The canaries of an operator, and those that are shipped."""

import pytest

from webdata.config.canaries import MOST_CANARIES, CanaryFile, read_canaries
from webdata.crawling.warm_crawlers import known_spiders, load_spiders
from webdata.domain.errors import ConfigError
from webdata.watch.canaries import canaries_of

SPIDERS = load_spiders()


def given(tmp_path, text):
    path = tmp_path / "canaries.toml"
    path.write_text(text, encoding="utf-8")
    return read_canaries(path)


def test_every_engine_of_a_site_has_shipped_canaries():
    """Each engine has some, but those of any site, and upstreams, whose requests may cost money."""
    found = canaries_of(known_spiders(), CanaryFile())
    assert {"google_web", "bing_web", "reddit", "linkedin_jobs"} <= found.keys()
    assert not found.keys() & {"url", "serper", "brave"}
    assert all(0 < len(canaries) <= MOST_CANARIES for canaries in found.values())
    assert {canary.name for canary in found["google_web"]} >= {'web_search {"q": "coffee grinder"}'}


def test_a_file_adds_canaries_or_replaces_the_shipped_ones(tmp_path):
    """Its canaries run beside the shipped ones, or alone; the seconds between rounds are its, too."""
    text = '[[canary]]\nengine = "bing_web"\nresource = "web_search"\nquery = {q = "tea"}\n'
    file = given(tmp_path, f"seconds = 60\nshipped = false\n{text}")
    assert file.seconds == 60
    assert [canary.name for canary in canaries_of(SPIDERS, file)["bing_web"]] == ['web_search {"q": "tea"}']
    assert len(canaries_of(SPIDERS, given(tmp_path, text))["bing_web"]) > 1
    assert read_canaries(None) == CanaryFile()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("second = 5", "at second"),
        ("seconds = 0", "at seconds"),
        ("[canary", "cannot be read"),
        ('[[canary]]\nengine = "x"', r"at canary.0.query"),
        (
            '[[canary]]\nengine = "x"\nquery = {q = "tea"}',
            "at canary 1: 'x' is no engine: give one of amazon_products,",
        ),
        ('[[canary]]\nengine = "bing_web"\nquery = {q = "tea"}', "resource = one of bing_search, web_search"),
        ('[[canary]]\nengine = "google_web"\nquery = {num = "x"}', "at canary 1:"),
        ('[[canary]]\nengine = "google_web"\nresource = "maps_search"\nquery = {q = "tea"}', "one of web_search"),
        ('[[canary]]\nengine = "google_web"\nquery = {q = "tea"}\n' * 21, "27 canaries: 20 at most"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path, text, message):
    """The error names the place and what would be right."""
    with pytest.raises(ConfigError, match=message):
        canaries_of(SPIDERS, given(tmp_path, text))
