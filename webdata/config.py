"""The service's settings: one frozen object, read from the environment once."""

import ipaddress
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal, TypeVar, get_args

from webdata.errors import ConfigError
from webdata.ladder import TRANSPORTS, Transport
from webdata.pools import ANY, Pools, filed, listed, pools
from webdata.query import Region

LAST_PORT = 65535
POOLS = (*Region, ANY)
OF_EXAMPLES = ("KEY", "URL")
"""Variables of the shell's that the examples of the docs use; the service does not read them."""
SandboxUse = Literal["test", "always"]
RegionMode = Literal["parameters", "refuse"]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Config:
    """What an operator can set. `docs/settings.md` lists the variables."""

    host: str = "127.0.0.1"
    port: int = 8080
    database: str = "sqlite:///.webdata/webdata.sqlite3"
    redis: str | None = field(default=None, repr=False)
    """A Redis that processes share cache and limits in; without one each has its own. Its URL may hold a password."""
    cache_bytes: int = 64 * 1024 * 1024
    """Room for answers in the memory of a process, where there is no Redis."""
    cache_stale: int = 3600
    """Seconds that answers are kept beyond their time, for callers who would rather have them than an error."""
    deadline: float = 30.0
    """Seconds until a call is answered, with a page or without."""
    max_calls: int = 64
    """Calls in flight; beyond it the answer is 503."""
    sandbox: SandboxUse = "test"
    """`test`: test keys talk to the sandbox; `always`: live keys too."""
    sandbox_url: str | None = None
    """A sandbox that runs elsewhere; without it the service starts its own."""
    sandbox_replay: Path | None = None
    """A folder of saved pages that the service's own sandbox answers from."""
    kept_pages: Path | None = Path(".webdata/kept")
    """Where pages of a shape that no parser knows are kept for study; None keeps none."""
    chromium: str | None = None
    """The browser's executable; None turns the browser transport off."""
    browser_url: str | None = field(default=None, repr=False)
    """A browser that runs elsewhere, instead of one of this machine; its address may hold a token."""
    browser_pages: int = 4
    """Pages that may be open in a browser at once; further ones wait in line."""
    transports: tuple[Transport, ...] = TRANSPORTS
    """How pages may be fetched; one that needs what is not there is left out."""
    max_steps: int = 4
    """Attempts to win one page, by any transport and proxy."""
    backoff: float = 0.2
    """Seconds, at most, before the first repetition; before the next ones twice as many each, up to ten times."""
    captcha_hook: str | None = None
    """What answers captchas, as `package.module:function`; None leaves them."""
    egress_ports: tuple[int, ...] = (80, 443, 8080, 8443)
    """Ports of the URLs that callers may have fetched."""
    egress_allow: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks that callers may reach though they are not public."""
    proxies: Pools = field(default_factory=dict, repr=False)
    """Ways out by region."""
    region_mode: RegionMode = "parameters"
    """What becomes of calls for a region without proxies: `parameters` asks the site for it, `refuse` is a 422."""
    url_max_bytes: int = 20 * 1024 * 1024
    """The longest page that callers may have fetched, decompressed."""
    openalex_key: str | None = field(default=None, repr=False)
    """The key for OpenAlex; without one its budget is a tenth."""
    reddit_client_id: str | None = None
    """The application at Reddit; without one only its public answers are asked for."""
    reddit_client_secret: str | None = field(default=None, repr=False)
    """Its secret; an installed application has none."""
    metrics: bool = True
    """Whether `GET /metrics` is answered."""
    contact: str | None = None
    """A mail address that is told to those who ask for one."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Config":
        """Read `WEBDATA_…` variables; raises ConfigError that names the variable and what would be right."""
        _check_names(environ)
        default = cls()
        replay = environ.get("WEBDATA_SANDBOX_REPLAY")
        kept = environ.get("WEBDATA_KEPT_PAGES", str(default.kept_pages))
        return cls(
            host=environ.get("WEBDATA_HOST", default.host),
            port=_number(environ, "WEBDATA_PORT", default.port, 0, LAST_PORT),
            database=environ.get("WEBDATA_DATABASE", default.database),
            redis=_redis(environ, "WEBDATA_REDIS"),
            cache_bytes=_number(environ, "WEBDATA_CACHE_BYTES", default.cache_bytes, 0, 1 << 40),
            cache_stale=_number(environ, "WEBDATA_CACHE_STALE", default.cache_stale, 0, 30 * 86_400),
            deadline=_number(environ, "WEBDATA_DEADLINE", default.deadline, 1.0, 600.0),
            max_calls=_number(environ, "WEBDATA_MAX_CALLS", default.max_calls, 1, 10_000),
            sandbox=_sandbox_use(environ),
            sandbox_url=_proxy(environ, "WEBDATA_SANDBOX_URL"),
            sandbox_replay=Path(replay) if replay else None,
            kept_pages=Path(kept) if kept else None,
            chromium=_executable(environ, "WEBDATA_CHROMIUM") or find_chromium(),
            browser_url=_browser(environ, "WEBDATA_BROWSER_URL"),
            browser_pages=_number(environ, "WEBDATA_BROWSER_PAGES", default.browser_pages, 1, 64),
            transports=_transports(environ, "WEBDATA_TRANSPORTS"),
            max_steps=_number(environ, "WEBDATA_MAX_STEPS", default.max_steps, 1, 20),
            backoff=_number(environ, "WEBDATA_BACKOFF", default.backoff, 0.0, 60.0),
            captcha_hook=_function(environ, "WEBDATA_CAPTCHA_HOOK"),
            egress_ports=_ports(environ, "WEBDATA_EGRESS_PORTS"),
            egress_allow=_networks(environ, "WEBDATA_EGRESS_ALLOW"),
            proxies=_pools(environ),
            region_mode=_region_mode(environ),
            url_max_bytes=_number(environ, "WEBDATA_URL_MAX_BYTES", default.url_max_bytes, 1024, 1 << 30),
            openalex_key=environ.get("WEBDATA_OPENALEX_KEY", "").strip() or None,
            reddit_client_id=environ.get("WEBDATA_REDDIT_CLIENT_ID", "").strip() or None,
            reddit_client_secret=environ.get("WEBDATA_REDDIT_CLIENT_SECRET", "").strip() or None,
            metrics=_switch(environ, "WEBDATA_METRICS", default.metrics),
            contact=environ.get("WEBDATA_CONTACT", "").strip() or None,
        )

    @property
    def links_database(self) -> str:
        """Where the publishers' addresses behind news links are kept: a file beside that of an SQLite database."""
        folder, slash, file = self.database.rpartition("/")
        is_file = self.database.startswith("sqlite") and file not in ("", ":memory:")
        return f"{folder}{slash}links.sqlite3" if is_file else self.database

    def with_options(self, **options: object) -> "Config":
        """The same settings, with the options that are not None put in their place."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]  # names and types are those of the fields


def _check_names(environ: Mapping[str, str]) -> None:
    """Refuse variables that mean nothing: most are slips of the pen, and would be missed without a word.

    Each field of Config has a variable of its name, but for the pools, which have one a region and one for their file.
    """
    pools_of = [f"WEBDATA_PROXIES_{region}" for region in POOLS]
    others = [f"WEBDATA_{one.name.upper()}" for one in fields(Config) if one.name != "proxies"]
    known = [*others, *pools_of, "WEBDATA_PROXIES_FILE", *(f"WEBDATA_{name}" for name in OF_EXAMPLES)]
    for name in environ:
        if not name.startswith("WEBDATA_") or name in known:
            continue
        if "PROX" in name:
            raise ConfigError(f"{name} means nothing: the pools are WEBDATA_PROXIES_FILE, {', '.join(pools_of)}")
        nearest = get_close_matches(name, others, 1, 0)[0]
        raise ConfigError(f"{name} means nothing: the nearest setting is {nearest}; docs/settings.md lists all")


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome: one on the PATH, else Playwright's own; None without any."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    own = sorted(Path.home().glob(".cache/ms-playwright/chromium-*/chrome-*/chrome"))
    return next((path for path in [*map(shutil.which, names), *map(str, own)] if path), None)


def _executable(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "")
    if text and not shutil.which(text):
        right = "give a program that can be started, such as /usr/bin/chromium"
        raise ConfigError(f"{name} cannot be {text!r}: {right}")
    return text or None


def _proxy(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "")
    if text and not re.fullmatch(r"http://[^/\s:]+:\d+/?", text):
        raise ConfigError(f"{name} cannot be {text!r}: give the address of a sandbox, such as http://127.0.0.1:8081")
    return text or None


def _redis(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "")
    if text and not re.fullmatch(r"(?:rediss?://[^/\s]+(?:/\d*)?|unix:///\S+)", text):
        right = "give redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path of a socket"
        raise ConfigError(f"{name} cannot be used: {right}")
    return text or None


def _browser(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "")
    if text and not re.fullmatch(r"(?:wss?|https?)://[^/\s]+(?:/\S*)?", text):
        right = "give ws://host:port/ of a Playwright server, or http://host:port of a browser's debugging port"
        raise ConfigError(f"{name} cannot be used: {right}")
    return text or None


def _number(environ: Mapping[str, str], name: str, default: Number, least: Number, most: Number) -> Number:
    text = environ.get(name, "")
    if not text:
        return default
    try:
        value = type(default)(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise ConfigError(f"{name} cannot be {text!r}: give a number from {least} to {most}, such as {default}")
    return value


def _transports(environ: Mapping[str, str], name: str) -> tuple[Transport, ...]:
    words = environ.get(name, "").replace(",", " ").split()
    if not {"http"} <= set(words or TRANSPORTS) <= set(TRANSPORTS):
        right = f"give http, and those of the others that may be used: {','.join(TRANSPORTS)}"
        raise ConfigError(f"{name} cannot be {environ[name]!r}: {right}")
    return tuple(transport for transport in TRANSPORTS if transport in (words or TRANSPORTS))


def _function(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "").strip()
    if text and not re.fullmatch(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*", text):
        raise ConfigError(f"{name} cannot be {text!r}: give a function, such as package.module:function")
    return text or None


def _switch(environ: Mapping[str, str], name: str, default: bool) -> bool:
    text = environ.get(name) or ("on" if default else "off")
    if text not in ("on", "off"):
        raise ConfigError(f"{name} cannot be {text!r}: give on or off")
    return text == "on"


def _ports(environ: Mapping[str, str], name: str) -> tuple[int, ...]:
    words = environ.get(name, "").replace(",", " ").split()
    if not all(re.fullmatch(r"[0-9]{1,5}", word) and 0 < int(word) <= LAST_PORT for word in words):
        raise ConfigError(f"{name} cannot be {environ[name]!r}: give ports from 1 to {LAST_PORT}, such as 80,443")
    return tuple(map(int, words)) or Config.egress_ports


def _networks(environ: Mapping[str, str], name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(map(ipaddress.ip_network, environ.get(name, "").replace(",", " ").split()))
    except ValueError as error:
        right = "give networks, such as 10.1.0.0/16,fd00:1::/64"
        raise ConfigError(f"{name} cannot be {environ[name]!r}: {right}") from error


def _pools(environ: Mapping[str, str]) -> Pools:
    named = {f"WEBDATA_PROXIES_{region}": str(region) for region in POOLS}
    file = environ.get("WEBDATA_PROXIES_FILE", "")
    urls = [(region, url) for name, region in named.items() for url in listed(name, environ.get(name, ""))]
    return pools([*urls, *(filed("WEBDATA_PROXIES_FILE", Path(file), POOLS) if file else ())])


def _region_mode(environ: Mapping[str, str]) -> RegionMode:
    text = environ.get("WEBDATA_REGION_MODE") or Config.region_mode
    for mode in get_args(RegionMode):
        if text == mode:
            return mode  # type: ignore[no-any-return]  # get_args loses the literal's type
    raise ConfigError(f"WEBDATA_REGION_MODE cannot be {text!r}: give one of {', '.join(get_args(RegionMode))}")


def _sandbox_use(environ: Mapping[str, str]) -> SandboxUse:
    text = environ.get("WEBDATA_SANDBOX") or Config.sandbox
    for use in get_args(SandboxUse):
        if text == use:
            return use  # type: ignore[no-any-return]  # get_args loses the literal's type
    raise ConfigError(f"WEBDATA_SANDBOX cannot be {text!r}: give one of {', '.join(get_args(SandboxUse))}")
