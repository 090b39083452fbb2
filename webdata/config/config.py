"""The service's settings: one frozen object, read from the environment once."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal, get_args

from webdata.config import variables
from webdata.config.proxies import ANY, Pools, filed, listed, pools
from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region

POOLS = (*Region, ANY)
OF_EXAMPLES = ("KEY", "URL")
"""Variables of the shell's that the examples of the docs use; the service does not read them."""
PLAIN_PORT = 8080
"""Of the API, where TLS is off."""
REDIS = r"(?:rediss?://[^/\s]+(?:/\d*)?|unix:///\S+)"
RIGHT_REDIS = "give redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path of a socket"
SANDBOX = r"http://[^/\s:]+:\d+/?"
RIGHT_SANDBOX = "give the address of a sandbox, such as http://127.0.0.1:8081"
BROWSER = r"(?:wss?|https?)://[^/\s]+(?:/\S*)?"
RIGHT_BROWSER = "give ws://host:port/ of a Playwright server, or http://host:port of a browser's debugging port"
FUNCTION = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*"
RIGHT_FUNCTION = "give a function, such as package.module:function"
RIGHT_TRANSPORTS = f"give http, and those of the others that may be used: {','.join(TRANSPORTS)}"
PUBLIC_URL = r"https?://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?/?"
RIGHT_PUBLIC_URL = "give where callers find the service, such as https://data.example.com"
SandboxUse = Literal["test", "always"]
RegionMode = Literal["parameters", "refuse"]


@dataclass(frozen=True)
class Config:
    """What an operator can set. `docs/settings.md` lists the variables."""

    host: str = "127.0.0.1"
    port: int = 8443
    """Of the API, by HTTPS; 8080 where TLS is off."""
    http_port: int | None = 8080
    """Where plain HTTP is answered with the way to HTTPS; None for nowhere."""
    tls: bool = True
    """Whether the API is answered by HTTPS; off for a proxy in front that does it."""
    tls_cert: Path | None = None
    """A certificate and those above it, in PEM; with `tls_key`. Without them one is made."""
    tls_key: Path | None = None
    tls_folder: Path = Path(".webdata/tls")
    """Where a certificate that was made is kept, with its key."""
    hsts: int = 31_536_000
    """Seconds for which browsers shall ask by HTTPS only (RFC 6797); 0 says nothing of it."""
    public_url: str | None = None
    """Where callers find the service, if not where it listens."""
    workers: int = 1
    """Processes that share the ports."""
    database: str = "sqlite:///.webdata/webdata.sqlite3"
    redis: str | None = field(default=None, repr=False)
    """A Redis that processes share cache and limits in; without one each has its own. Its URL may hold a password."""
    cache_bytes: int = 64 * 1024 * 1024
    """Room for answers in the memory of a process, where there is no Redis."""
    cache_stale: int = 3600
    """Seconds that answers are kept beyond their time, for callers who would rather have them than an error."""
    deadline: float = 30.0
    """Seconds until a call is answered, with a page or without."""
    max_calls: int = 1024
    """Calls in flight; beyond it the answer is 503."""
    max_connections: int = 10_000
    """Connections that may be open in a process; beyond it those that wait longest for their clients are closed."""
    sandbox: SandboxUse = "test"
    """`test`: test keys talk to the sandbox; `always`: live keys too."""
    sandbox_url: str | None = None
    """A sandbox that runs elsewhere; without it the service starts its own."""
    sandbox_replay: Path | None = None
    """A folder of saved pages that the service's own sandbox answers from."""
    samples: Path | None = Path(".webdata/samples")
    """Where pages of unknown layout are stored for study; None stores none."""
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
        samples = environ.get("WEBDATA_SAMPLES", str(default.samples))
        tls = variables.switch(environ, "WEBDATA_TLS", default.tls)
        cert, key = _certificate(environ)
        return cls(
            host=variables.text(environ, "WEBDATA_HOST") or default.host,
            port=variables.number(environ, "WEBDATA_PORT", default.port if tls else PLAIN_PORT, 0, variables.LAST_PORT),
            http_port=_http_port(environ, tls),
            tls=tls,
            tls_cert=cert,
            tls_key=key,
            tls_folder=Path(environ.get("WEBDATA_TLS_FOLDER") or default.tls_folder),
            hsts=variables.number(environ, "WEBDATA_HSTS", default.hsts, 0, 10 * 31_536_000),
            public_url=_public_url(environ, tls),
            workers=variables.number(environ, "WEBDATA_WORKERS", default.workers, 1, 64),
            database=variables.text(environ, "WEBDATA_DATABASE") or default.database,
            redis=variables.matching(environ, "WEBDATA_REDIS", REDIS, RIGHT_REDIS, secret=True),
            cache_bytes=variables.number(environ, "WEBDATA_CACHE_BYTES", default.cache_bytes, 0, 1 << 40),
            cache_stale=variables.number(environ, "WEBDATA_CACHE_STALE", default.cache_stale, 0, 30 * 86_400),
            deadline=variables.number(environ, "WEBDATA_DEADLINE", default.deadline, 1.0, 600.0),
            max_calls=variables.number(environ, "WEBDATA_MAX_CALLS", default.max_calls, 1, 10_000),
            max_connections=variables.number(
                environ, "WEBDATA_MAX_CONNECTIONS", default.max_connections, 16, 1_000_000
            ),
            sandbox=variables.choice(environ, "WEBDATA_SANDBOX", get_args(SandboxUse), default.sandbox),
            sandbox_url=variables.matching(environ, "WEBDATA_SANDBOX_URL", SANDBOX, RIGHT_SANDBOX),
            sandbox_replay=Path(replay) if replay else None,
            samples=Path(samples) if samples else None,
            chromium=variables.executable(environ, "WEBDATA_CHROMIUM") or find_chromium(),
            browser_url=variables.matching(environ, "WEBDATA_BROWSER_URL", BROWSER, RIGHT_BROWSER, secret=True),
            browser_pages=variables.number(environ, "WEBDATA_BROWSER_PAGES", default.browser_pages, 1, 64),
            transports=variables.some(environ, "WEBDATA_TRANSPORTS", TRANSPORTS, "http", RIGHT_TRANSPORTS),
            max_steps=variables.number(environ, "WEBDATA_MAX_STEPS", default.max_steps, 1, 20),
            backoff=variables.number(environ, "WEBDATA_BACKOFF", default.backoff, 0.0, 60.0),
            captcha_hook=variables.matching(environ, "WEBDATA_CAPTCHA_HOOK", FUNCTION, RIGHT_FUNCTION),
            egress_ports=variables.ports(environ, "WEBDATA_EGRESS_PORTS", default.egress_ports),
            egress_allow=variables.networks(environ, "WEBDATA_EGRESS_ALLOW"),
            proxies=_pools(environ),
            region_mode=variables.choice(environ, "WEBDATA_REGION_MODE", get_args(RegionMode), default.region_mode),
            url_max_bytes=variables.number(environ, "WEBDATA_URL_MAX_BYTES", default.url_max_bytes, 1024, 1 << 30),
            openalex_key=variables.text(environ, "WEBDATA_OPENALEX_KEY"),
            reddit_client_id=variables.text(environ, "WEBDATA_REDDIT_CLIENT_ID"),
            reddit_client_secret=variables.text(environ, "WEBDATA_REDDIT_CLIENT_SECRET"),
            metrics=variables.switch(environ, "WEBDATA_METRICS", default.metrics),
            contact=variables.text(environ, "WEBDATA_CONTACT"),
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


def _certificate(environ: Mapping[str, str]) -> tuple[Path | None, Path | None]:
    cert, key = (variables.file(environ, name) for name in ("WEBDATA_TLS_CERT", "WEBDATA_TLS_KEY"))
    if bool(cert) != bool(key):
        raise ConfigError("WEBDATA_TLS_CERT and WEBDATA_TLS_KEY go together: give both, or none to have one made")
    return cert, key


def _http_port(environ: Mapping[str, str], tls: bool) -> int | None:
    name = "WEBDATA_HTTP_PORT"
    wanted = environ.get(name) != "off"
    port = variables.number(environ, name, PLAIN_PORT, 0, variables.LAST_PORT) if wanted else None
    return port if tls else None


def _public_url(environ: Mapping[str, str], tls: bool) -> str | None:
    url = variables.matching(environ, "WEBDATA_PUBLIC_URL", PUBLIC_URL, RIGHT_PUBLIC_URL)
    if url and tls and not url.startswith("https:"):
        right = "give https:// in it, or WEBDATA_TLS=off for a service that answers by plain HTTP"
        raise ConfigError(f"WEBDATA_PUBLIC_URL cannot be {url!r}: {right}")
    return url and url.rstrip("/")


def _pools(environ: Mapping[str, str]) -> Pools:
    named = {f"WEBDATA_PROXIES_{region}": str(region) for region in POOLS}
    file = environ.get("WEBDATA_PROXIES_FILE", "")
    urls = [(region, url) for name, region in named.items() for url in listed(name, environ.get(name, ""))]
    return pools([*urls, *(filed("WEBDATA_PROXIES_FILE", Path(file), POOLS) if file else ())])
