"""The routes of the gateway."""

import pytest

from webdata.config.config import Config
from webdata.config.gateway_routes import OWN_SEGMENTS, GatewayRoute
from webdata.domain.errors import ConfigError

BASE = "http://10.0.0.5:8000"


def test_routes_are_read_from_a_variable_and_a_file(tmp_path):
    """Both give routes; the file has more settings."""
    file = tmp_path / "routes.toml"
    file.write_text(
        f"""[reports]
        url = "{BASE}/v2/"
        strip = false
        timeout = 5
        credit = true
        headers = {{ Authorization = "Bearer x" }}"""
    )
    config = Config.from_environ({"WEBDATA_GATEWAY_ROUTES": f"billing={BASE}", "WEBDATA_GATEWAY_FILE": str(file)})
    headers = {"Authorization": "Bearer x"}
    assert config.gateway == (
        GatewayRoute(prefix="billing", url=BASE),
        GatewayRoute(prefix="reports", url=f"{BASE}/v2", strip=False, timeout=5, credit=True, headers=headers),
    )
    assert (config.gateway[1].origin, config.gateway[1].path) == (BASE, "/v2")
    assert "Bearer" not in repr(config)
    assert Config.from_environ({"WEBDATA_CORS_ORIGINS": "off"}).cors_origins == ()


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("billing", "such as billing=http://10.0.0.5:8000"),
        (f"a/b={BASE}", "a prefix is letters, digits"),
        (f"a={BASE},a={BASE}", "give each once"),
        ("a=ftp://10.0.0.5", "give an http:// or https:// URL"),
        ("a=http://user:word@10.0.0.5", "without user"),
        ("a=http://10.0.0.5/?q", "without user, query"),
        ("a=http://10.0.0.5/../b", "such as http://10.0.0.5:8000/v2"),
        *((f"{own}={BASE}", f"such as my-{own}") for own in OWN_SEGMENTS),
    ],
)
def test_a_wrong_route_stops_the_start(words, right):
    """The message says what would be right, and not what was given: it may be a secret."""
    with pytest.raises(ConfigError) as error:
        Config.from_environ({"WEBDATA_GATEWAY_ROUTES": words})
    assert right in str(error.value)
    assert "word" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("rubbish", "give TOML tables"),
        ("a = 1", "give TOML tables"),
        ("[a]", "url of a cannot be used"),
        (f'[a]\nurl = "{BASE}"\nstript = true', "stript of a cannot be used"),
        (f'[a]\nurl = "{BASE}"\ntimeout = 0', "timeout of a cannot be used"),
        (f'[a]\nurl = "{BASE}"\nheaders = {{ Host = "b" }}', "give other names"),
        (f'[a]\nurl = "{BASE}"\nheaders = {{ A = "b\\n" }}', "printable ASCII"),
    ],
)
def test_a_wrong_file_stops_the_start(tmp_path, text, right):
    """The message names the route and its setting."""
    file = tmp_path / "routes.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        Config.from_environ({"WEBDATA_GATEWAY_FILE": str(file)})
    assert right in str(error.value)


def test_a_demanded_secret_has_to_be_set():
    """A service cannot demand a secret that it has not."""
    with pytest.raises(ConfigError, match="WEBDATA_GATEWAY_SECRET"):
        Config.from_environ({"WEBDATA_GATEWAY_SECRET_REQUIRED": "on"})


@pytest.mark.parametrize(("prefix", "switch"), [("searxng", "SEARXNG"), ("v2", "FIRECRAWL")])
def test_the_prefix_of_a_dialect_is_free_where_that_is_off(prefix, switch):
    """A prefix under which clients of another service are answered can be taken only after that is switched off."""
    routes = {"WEBDATA_GATEWAY_ROUTES": f"{prefix}={BASE}"}
    with pytest.raises(ConfigError, match=f"/{prefix} of the gateway .* or WEBDATA_{switch}=off"):
        Config.from_environ(routes)
    assert Config.from_environ({**routes, f"WEBDATA_{switch}": "off"}).gateway[0].prefix == prefix
