"""The service's settings."""

import sys
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webdata.config.config import ENGINE_SLOTS, Config
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region


def test_an_empty_environment_gives_the_defaults():
    """Without any variable the service has settings that work."""
    assert Config.from_environ({"WEBDATA_CHROMIUM": sys.executable}) == Config(chromium=sys.executable)


def test_every_variable_is_read():
    """Each variable sets its field."""
    environ = {
        "WEBDATA_HOST": "0.0.0.0",
        "WEBDATA_PORT": "9000",
        "WEBDATA_DATABASE": "sqlite:////tmp/keys.sqlite3",
        "WEBDATA_REDIS": "redis://:secret@127.0.0.1:6379/2",
        "WEBDATA_CACHE_BYTES": "1000000",
        "WEBDATA_CACHE_STALE": "60",
        "WEBDATA_DEADLINE": "12.5",
        "WEBDATA_MAX_CALLS": "7",
        "WEBDATA_MAX_CONNECTIONS": "700",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_SANDBOX_URL": "http://127.0.0.1:8081",
        "WEBDATA_SANDBOX_REPLAY": "pages",
        "WEBDATA_SAMPLES": "",
        "WEBDATA_CHROMIUM": sys.executable,
        "WEBDATA_TRANSPORTS": "browser, http",
        "WEBDATA_MAX_STEPS": "6",
        "WEBDATA_BACKOFF": "0.5",
        "WEBDATA_CAPTCHA_HOOK": "ours.captchas:solve",
        "WEBDATA_EGRESS_PORTS": "80, 8000",
        "WEBDATA_EGRESS_ALLOW": "10.1.0.0/16,fd00:1::/64",
        "WEBDATA_OPENALEX_KEY": "key",
        "WEBDATA_GATEWAY_ROUTES": "billing=http://10.0.0.5:8000, files=https://files.internal/v2/",
        "WEBDATA_GATEWAY_SECRET": "0123456789abcdef",
        "WEBDATA_GATEWAY_SECRET_REQUIRED": "on",
        "WEBDATA_CORS_ORIGINS": "https://app.example, http://localhost:3000",
        "WEBDATA_METRICS": "off",
        "WEBDATA_CONTACT": "data@example.org",
    }
    assert Config.from_environ(environ) == Config(
        host="0.0.0.0",
        port=9000,
        database="sqlite:////tmp/keys.sqlite3",
        redis="redis://:secret@127.0.0.1:6379/2",
        cache_bytes=1_000_000,
        cache_stale=60,
        deadline=12.5,
        max_calls=7,
        max_connections=700,
        sandbox="always",
        sandbox_url="http://127.0.0.1:8081",
        sandbox_replay=Path("pages"),
        samples=None,
        chromium=sys.executable,
        transports=("http", "browser"),
        max_steps=6,
        backoff=0.5,
        captcha_hook="ours.captchas:solve",
        egress_ports=(80, 8000),
        egress_allow=(ip_network("10.1.0.0/16"), ip_network("fd00:1::/64")),
        openalex_key="key",
        gateway_routes=("billing=http://10.0.0.5:8000", "files=https://files.internal/v2/"),
        gateway_secret="0123456789abcdef",
        gateway_secret_required=True,
        cors_origins=("https://app.example", "http://localhost:3000"),
        metrics=False,
        contact="data@example.org",
    )


def test_a_blank_variable_means_the_default():
    """A variable without a value, as in a compose file, has no effect."""
    blank = dict.fromkeys(("WEBDATA_HOST", "WEBDATA_PORT", "WEBDATA_DATABASE", "WEBDATA_SANDBOX"), "")
    assert Config.from_environ({"WEBDATA_CHROMIUM": sys.executable, **blank}) == Config(chromium=sys.executable)


def test_a_blank_key_is_none():
    """A key or an address of spaces is never sent: OpenAlex refuses a blank key."""
    config = Config.from_environ({"WEBDATA_OPENALEX_KEY": " \n", "WEBDATA_CONTACT": " "})
    assert (config.openalex_key, config.contact) == (None, None)


def test_a_key_is_not_printed():
    """The representation of a configuration does not have it."""
    assert "secret" not in repr(Config(openalex_key="secret"))


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        (
            "WEBDATA_CORS_ORIGINS",
            "app.example",
            r"\* for all, off for none, or origins such as https://app.example.com",
        ),
        (
            "WEBDATA_CORS_ORIGINS",
            "https://app.example/",
            r"\* for all, off for none, or origins such as https://app.example.com",
        ),
        ("WEBDATA_PORT", "http", "a number from 0 to 65535, such as 8443"),
        ("WEBDATA_PORT", "70000", "a number from 0 to 65535, such as 8443"),
        ("WEBDATA_DEADLINE", "soon", "a number from 1.0 to 600.0, such as 25.0"),
        ("WEBDATA_DEADLINE", "nan", "a number from 1.0 to 600.0, such as 25.0"),
        ("WEBDATA_MAX_CALLS", "0", "a number from 1 to 10000, such as 1024"),
        ("WEBDATA_MAX_CONNECTIONS", "1", "a number from 16 to 1000000, such as 10000"),
        ("WEBDATA_PUBLIC_URL", "http://data.example", "https:// in it, or WEBDATA_TLS=off"),
        ("WEBDATA_MAX_STEPS", "0", "a number from 1 to 20, such as 4"),
        ("WEBDATA_BACKOFF", "-1", "a number from 0.0 to 60.0, such as 0.2"),
        ("WEBDATA_CHROMIUM", "/nowhere/chromium", "a program that can be started, such as /usr/bin/chromium"),
        ("WEBDATA_CHROMIUM", __file__, "a program that can be started, such as /usr/bin/chromium"),
        ("WEBDATA_CAPTCHA_HOOK", "solve", "a function, such as package.module:function"),
        ("WEBDATA_TRANSPORTS", "http,carrier", "http, and those of the others that may be used: http,impersonate,brow"),
        ("WEBDATA_TRANSPORTS", "browser", "http, and those of the others that may be used: http,impersonate,brow"),
        ("WEBDATA_EGRESS_PORTS", "http", "ports from 1 to 65535, such as 80,443"),
        ("WEBDATA_EGRESS_PORTS", "80,0", "ports from 1 to 65535, such as 80,443"),
        ("WEBDATA_EGRESS_ALLOW", "intranet", "networks, such as 10.1.0.0/16,fd00:1::/64"),
        ("WEBDATA_EGRESS_ALLOW", "10.0.0.1/8", "networks, such as 10.1.0.0/16,fd00:1::/64"),
        ("WEBDATA_METRICS", "maybe", "on or off"),
        ("WEBDATA_REGION_MODE", "ask", "one of parameters, refuse"),
        ("WEBDATA_SANDBOX", "sometimes", "one of test, always"),
        ("WEBDATA_SANDBOX_URL", "foo", "the address of a sandbox, such as http://127.0.0.1:8081"),
        ("WEBDATA_SANDBOX_URL", "http://127.0.0.1:65536", "the address of a sandbox, such as http://127.0.0.1:8081"),
        ("WEBDATA_PUBLIC_URL", "https://a.example:99999", "where callers find the service"),
        ("WEBDATA_WORKER_METRICS", "127.0.0.1:99999", "an address and a port, such as 127.0.0.1:9464, or off"),
        ("WEBDATA_CORS_ORIGINS", "https://a.example:99999", r"\* for all, off for none, or origins such as"),
    ],
)
def test_a_wrong_value_names_the_variable_and_what_would_be_right(name, value, right):
    """The message has the variable, its value and what to give."""
    with pytest.raises(ConfigError, match=f"{name} cannot be '{value}': give {right}"):
        Config.from_environ({name: value})


@pytest.mark.parametrize("field", Config.model_fields.values(), ids=lambda field: field.alias)
def test_every_message_says_what_would_be_right(field):
    """Each field that refuses a text describes right ones."""
    message = ""
    try:
        Config.from_environ({field.alias: "/no such value"})
    except ConfigError as error:
        message = str(error)
    assert "give None" not in message


def test_the_ports_follow_tls():
    """Without TLS the API has the port of plain HTTP, unless another is given; `off` is no port of plain HTTP."""
    plain = Config.from_environ({"WEBDATA_TLS": "off", "WEBDATA_HTTP_PORT": " off "})
    assert (plain.port, plain.http_port) == (8080, None)
    assert Config.from_environ({"WEBDATA_TLS": "off", "WEBDATA_PORT": "9000"}).port == 9000


def test_a_certificate_and_its_key_go_together():
    """One of the two without the other is refused."""
    with pytest.raises(ConfigError, match="go together"):
        Config.from_environ({"WEBDATA_TLS_CERT": __file__})


def test_proxies_are_read_from_variables_and_a_file(tmp_path):
    """A pool has the proxies of the region's variable, then those of the file; EU is the union."""
    (tmp_path / "proxies").write_text("DE https://me:secret@two:2\nANY http://any:3\n")
    config = Config.from_environ(
        {"WEBDATA_PROXIES_DE": "http://one:1", "WEBDATA_PROXIES_FILE": str(tmp_path / "proxies")}
    )
    urls = {region: [proxy.url for proxy in pool] for region, pool in config.proxies.items()}
    german = ["http://one:1", "https://me:secret@two:2"]
    assert urls == {"DE": german, "EU": german, "ANY": ["http://any:3"]}
    assert "secret" not in repr(config)


@pytest.mark.parametrize("region", [*Region, "ANY"])
def test_every_region_may_have_proxies(region):
    """There is a variable for each region of the API, and for calls without one."""
    assert Config.from_environ({f"WEBDATA_PROXIES_{region}": "http://one:1"}).proxies[region][0].label == f"{region}-1"


@pytest.mark.parametrize("name", ["WEBDATA_PROXIES_UK", "WEBDATA_PROXIES", "WEBDATA_PROXY_DE"])
def test_a_pool_for_an_unknown_region_is_refused(name):
    """The message lists the variables of all regions, without the value."""
    with pytest.raises(ConfigError, match=rf"{name} means nothing: .*WEBDATA_PROXIES_GB") as error:
        Config.from_environ({name: "http://me:secret@one:1"})
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("WEBDATA_TRANSPORT", "WEBDATA_TRANSPORTS"),
        ("WEBDATA_CROMIUM", "WEBDATA_CHROMIUM"),
        ("WEBDATA_Port", "WEBDATA_PORT"),
    ],
)
def test_an_unknown_variable_is_refused(name, nearest):
    """The message has the nearest name, without the value; an empty variable is refused too."""
    for value in ("secret", ""):
        with pytest.raises(ConfigError, match=f"{name} means nothing: the nearest setting is {nearest};") as error:
            Config.from_environ({name: value})
        assert "secret" not in str(error.value)


@given(st.text("ABCDEIORSTUX_", min_size=1, max_size=20))
def test_no_variable_of_the_prefix_is_ignored(name):
    """Any variable that begins with WEBDATA_ is a setting or an error."""
    assume(name not in ("KEY", "URL", "CA") and name.lower() not in Config.model_fields)
    with pytest.raises(ConfigError, match=rf"^WEBDATA_{name} (means nothing|cannot be)"):
        Config.from_environ({f"WEBDATA_{name}": "no such value"})


def test_variables_of_clients_and_of_others_are_ignored():
    """The variables of clients and of the docs' examples, and those without the prefix, are no errors."""
    Config.from_environ({"WEBDATA_KEY": "wd_test_1", "WEBDATA_CA": "a.pem", "OTHER_TRANSPORT": "x"})


def test_the_message_for_a_wrong_proxy_has_no_password():
    """It names the variable and the position in it."""
    with pytest.raises(ConfigError, match="WEBDATA_PROXIES_DE cannot be used, at URL 1: give it as http") as error:
        Config.from_environ({"WEBDATA_PROXIES_DE": "me:secret@one"})
    assert "secret" not in str(error.value)


def test_options_replace_settings():
    """Options that are None have no effect."""
    assert Config(port=1).with_options(port=2, host=None) == Config(port=2)


@pytest.mark.parametrize(
    ("database", "links"),
    [
        ("sqlite:///.webdata/webdata.sqlite3", "sqlite:///.webdata/links.sqlite3"),
        ("sqlite:////var/lib/webdata/keys.db", "sqlite:////var/lib/webdata/links.sqlite3"),
        ("sqlite:///keys.db", "sqlite:///links.sqlite3"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://db/webdata", "postgresql://db/webdata"),
    ],
)
def test_links_are_stored_beside_the_keys(database, links):
    """The links have a file beside that of an SQLite database; any other database holds both."""
    assert Config(database=database).links_database == links


@pytest.mark.parametrize("url", ["ws://host:1/token", "wss://host/", "http://127.0.0.1:9222", "https://host:1"])
def test_a_remote_browser_has_a_url(url):
    """It is that of a Playwright server or a debugging port, and is not printed: it may hold a token."""
    config = Config.from_environ({"WEBDATA_BROWSER_URL": url, "WEBDATA_BROWSER_PAGES": "2"})
    assert (config.browser_url, config.browser_pages) == (url, 2)
    assert url not in repr(config)


def test_the_message_for_a_wrong_browser_url_does_not_repeat_it():
    """It describes right URLs; the wrong one may be secret."""
    with pytest.raises(ConfigError, match=r"WEBDATA_BROWSER_URL cannot be used: give ws://") as caught:
        Config.from_environ({"WEBDATA_BROWSER_URL": "secret-host:9222"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["rediss://user:secret@redis.example.org:6380/1", "redis://[::1]:6379", "unix:///run/redis.sock"]
)
def test_redis_has_a_url(url):
    """It is a URL of TCP, TLS or a socket."""
    assert Config.from_environ({"WEBDATA_REDIS": url}).redis == url


@pytest.mark.parametrize(
    "url", ["127.0.0.1:6379", "http://:secret@127.0.0.1", "redis://", "redis://a b", "redis://host/name"]
)
def test_a_wrong_url_of_redis_is_refused(url):
    """The message describes right URLs and does not repeat the wrong one."""
    with pytest.raises(ConfigError, match="give redis://") as caught:
        Config.from_environ({"WEBDATA_REDIS": url})
    assert "secret" not in str(caught.value)


def test_the_password_of_redis_is_not_printed():
    """The representation of a configuration does not have it."""
    assert "secret" not in repr(Config(redis="redis://:secret@127.0.0.1:6379"))


def test_slots_are_set_for_engines_that_there_are():
    """An engine has as many slots as are set for it, or the usual ones; a misspelt name is refused."""
    config = Config.from_environ({"WEBDATA_ENGINE_SLOTS": "google_web=3"})
    assert config.slots_of(["google_web", "bing_web"]) == {"google_web": 3, "bing_web": ENGINE_SLOTS}
    with pytest.raises(ConfigError, match="there is no engine google_web: the nearest is google_news"):
        config.slots_of(["google_news", "bing_web"])
