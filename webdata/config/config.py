"""The service's settings: one frozen object, read from the environment once."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal, get_args

from webdata.config import variables
from webdata.config.proxies import ANY, Pools, parse_list, pools, read_file
from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region

POOLS = (*Region, ANY)
OF_EXAMPLES = ("KEY", "URL")
"""Variables of the examples in the docs; the service does not read them."""
PLAIN_PORT = 8080
"""The API's port without TLS."""
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
    """The settings of an operator. `docs/settings.md` lists the variables."""

    host: str = "127.0.0.1"
    port: int = 8443
    """The API's port; 8080 by default without TLS."""
    http_port: int | None = 8080
    """The port of plain HTTP, which redirects to HTTPS; None for no such port."""
    tls: bool = True
    """Whether the API uses HTTPS; off behind a proxy that ends TLS."""
    tls_cert: Path | None = None
    """A certificate chain in PEM, with `tls_key`. Without them the service makes a certificate."""
    tls_key: Path | None = None
    tls_folder: Path = Path(".webdata/tls")
    """The folder of the certificate that the service makes, and its key."""
    hsts: int = 31_536_000
    """Seconds of `Strict-Transport-Security` (RFC 6797); 0 omits the header."""
    public_url: str | None = None
    """The service's URL for callers, if it differs from the listening address."""
    workers: int = 1
    """Processes that share the ports."""
    database: str = "sqlite:///.webdata/webdata.sqlite3"
    redis: str | None = field(default=None, repr=False)
    """The Redis of the processes' common cache and rate limits; without one each process has its own. Its URL may hold
    a password."""
    cache_bytes: int = 64 * 1024 * 1024
    """The size of the cache in the memory of a process, without Redis."""
    cache_stale: int = 3600
    """Seconds that expired cache entries are stored, for requests with `stale-if-error`."""
    deadline: float = 25.0
    """Seconds until the response of a call, with or without a record."""
    max_calls: int = 1024
    """The most calls in flight; further ones get the status 503."""
    max_connections: int = 10_000
    """The most open connections of a process; beyond it the longest idle ones are closed."""
    sandbox: SandboxUse = "test"
    """`test`: test keys use the sandbox; `always`: live keys too."""
    sandbox_url: str | None = None
    """A sandbox that runs elsewhere; without it the service starts its own."""
    sandbox_replay: Path | None = None
    """A folder of saved pages that the service's own sandbox answers from."""
    samples: Path | None = Path(".webdata/samples")
    """Where pages of unknown layout are stored for study; None stores none."""
    chromium: str | None = None
    """The browser's executable; None disables the browser transport."""
    browser_url: str | None = field(default=None, repr=False)
    """The URL of a remote browser, used instead of a local one; it may hold a token."""
    browser_pages: int = 4
    """The most pages that are open in a browser at once; further ones are queued."""
    transports: tuple[Transport, ...] = TRANSPORTS
    """The transports that may be used; one whose requirements are not installed is skipped."""
    max_steps: int = 4
    """The most attempts to fetch a page, by any transport and proxy."""
    backoff: float = 0.2
    """The most seconds before the second attempt; doubled before each further one, up to ten times."""
    captcha_hook: str | None = None
    """The function that solves captchas, as `package.module:function`; None for none."""
    egress_ports: tuple[int, ...] = (80, 443, 8080, 8443)
    """The allowed ports of the URLs that callers request."""
    egress_allow: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks that callers may reach though they are not public."""
    proxies: Pools = field(default_factory=dict, repr=False)
    """Proxies by region."""
    region_mode: RegionMode = "parameters"
    """The handling of calls for a region without proxies: `parameters` sends the region as parameters of the site's
    URL, `refuse` answers 422."""
    url_max_bytes: int = 20 * 1024 * 1024
    """The most bytes of a page that callers request by URL, decompressed."""
    openalex_key: str | None = field(default=None, repr=False)
    """The key for OpenAlex; without one its quota is a tenth."""
    reddit_client_id: str | None = None
    """The application's id at Reddit; without one only public endpoints are used."""
    reddit_client_secret: str | None = field(default=None, repr=False)
    """Its secret; an installed application has none."""
    metrics: bool = True
    """Whether `GET /metrics` is available."""
    contact: str | None = None
    """A mail address that is sent to upstreams that require one."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Config":
        """Read `WEBDATA_…` variables; raises a ConfigError that names the variable and a right value."""
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
            transports=variables.subset(environ, "WEBDATA_TRANSPORTS", TRANSPORTS, "http", RIGHT_TRANSPORTS),
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
        """The database of resolved news links: a file beside an SQLite database, otherwise the same database."""
        folder, slash, file = self.database.rpartition("/")
        is_file = self.database.startswith("sqlite") and file not in ("", ":memory:")
        return f"{folder}{slash}links.sqlite3" if is_file else self.database

    @property
    def database_file(self) -> Path | None:
        """The file of an SQLite database; None for a server."""
        file = self.database.partition(":///")[2].partition("?")[0] if self.database.startswith("sqlite") else ""
        return Path(file) if file else None

    @property
    def growing_folders(self) -> dict[str, Path]:
        """The folders that grow, by what is in them."""
        folders = {"database": self.database_file and self.database_file.parent, "samples": self.samples}
        return {content: folder for content, folder in folders.items() if folder}

    @property
    def first_keys_file(self) -> Path:
        """Where the first keys are written when standard output is no terminal: beside an SQLite database, otherwise
        beside the folder of the certificate.
        """
        return (self.database_file or self.tls_folder).with_name("first-keys.txt")

    def with_options(self, **options: object) -> "Config":
        """The same settings, replaced by the options that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]  # names and types are those of the fields


def _check_names(environ: Mapping[str, str]) -> None:
    """Refuse unknown variables: most are misspelt, and would silently have no effect.

    Each field of Config has a variable of its name; the pools have one per region and one for a file.
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
    """The path of a Chromium or Chrome on the PATH, else of Playwright's; None without any."""
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
    urls = [(region, url) for name, region in named.items() for url in parse_list(name, environ.get(name, ""))]
    return pools([*urls, *(read_file("WEBDATA_PROXIES_FILE", Path(file), POOLS) if file else ())])
