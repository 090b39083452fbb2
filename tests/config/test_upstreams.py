"""The operator's upstreams are read from the environment, and no message has a value of theirs."""

import pytest

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region

NAME = "WEBDATA_UPSTREAMS"
SECRET = "sk-secret"  # of these tests alone
TABLES = f'[home]\nkind = "searxng"\nurl = "http://127.0.0.1:8888/searx/"\n[brave]\nkey = "{SECRET}"\nprice = 2\n'


def upstreams(text):
    return Config.from_environ({NAME: text}).upstreams


def test_they_are_read_from_toml_json_or_a_file(tmp_path):
    """A table is an upstream; its name is its kind, unless it says another; the order is the operator's."""
    file = tmp_path / "upstreams.toml"
    file.write_text(TABLES)
    as_json = f'{{"home": {{"kind": "searxng", "url": "http://127.0.0.1:8888/searx"}}, "brave": {{"key": "{SECRET}"}}}}'
    for text in (TABLES, str(file), as_json):
        home, brave = upstreams(text)
        assert (home.name, home.kind, home.url) == ("home", "searxng", "http://127.0.0.1:8888/searx")
        assert (brave.name, brave.kind, brave.key.get_secret_value()) == ("brave", "brave", SECRET)
    assert home.address == ("127.0.0.1", 8888)


def test_budgets_prices_and_regions_have_bounds():
    """Numbers are whole and positive; regions are those of the API, in any case."""
    [one] = upstreams('{"brave": {"key": "k", "requests_a_day": 5, "price": 3, "regions": ["de"]}}')
    assert (one.requests_a_day, one.price, one.regions) == (5, 3, (Region.DE,))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("/no/such/file", "cannot be read: No such file"),
        (f'{{"brave": {{"key": "{SECRET}"', "at line 1: give the path of a TOML file"),
        (f'brave = {{key = "{SECRET}"', "give the path of a TOML file"),
        (f'[brave]\nkey = "{SECRET}"\nlimit = 5', "limit of brave: it means nothing: the settings are kind, url, key"),
        (f'[brave]\nkey = "{SECRET}\\nInjected: header"', "key of brave: give the key as its service shows it"),
        (f'[brave]\nurl = "http://me:{SECRET}@host"', "url of brave: give an http:// or https:// URL without user"),
        (f'[brave]\nkey = "{SECRET}"\nprice = 0', "price of brave: Input should be greater than or equal to 1"),
        (
            f'[brave]\nkey = "{SECRET}"\nrequests_a_day = "9"',
            "requests_a_day of brave: Input should be a valid integer",
        ),
        (f'[brave]\nkey = "{SECRET}"\nregions = ["XX"]', "regions.0 of brave"),
        (f'{{"brave": {{"key": "{SECRET}"}}, "brave": {{}}}}', "give the path of a TOML file"),
        (f'["Bad name"]\nkey = "{SECRET}"', "name of Bad name"),
        (f'brave = "{SECRET}"', "at brave: give the path of a TOML file"),
    ],
)
def test_a_wrong_one_is_named_without_its_value(text, right):
    """The message says where it is wrong and what would be right, and has no key."""
    with pytest.raises(ConfigError) as error:
        upstreams(text)
    assert right in str(error.value)
    assert str(error.value).startswith(NAME)
    assert SECRET not in str(error.value)


def test_a_key_is_in_no_representation():
    """Neither the configuration nor an upstream shows its key or its address."""
    config = Config.from_environ({NAME: TABLES})
    assert SECRET not in f"{config!r} {config.upstreams!r} {config.upstreams}"
    assert "8888" not in repr(config.upstreams)


def test_the_engines_of_a_resource_have_an_order():
    """`WEBDATA_ENGINES` names resources with their engines."""
    config = Config.from_environ({"WEBDATA_ENGINES": "web_search=brave+google_web, news_search=google_news"})
    assert config.engine_orders == {"web_search": ("brave", "google_web"), "news_search": ("google_news",)}
    with pytest.raises(ConfigError, match="give resources with engines in their order"):
        Config.from_environ({"WEBDATA_ENGINES": "brave"})
