"""The service's settings: one frozen object, read from the environment once."""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, FilePath, PlainValidator, ValidationError, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from webdata.config.canaries import CanaryFile, read_canaries
from webdata.config.chromium import find_chromium
from webdata.config.gateway_routes import GatewayRoute, read_routes
from webdata.config.proxies import LAST_PORT, read_pools
from webdata.config.upstreams import read_upstreams
from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.domain.errors import ConfigError
from webdata.domain.loopback import is_loopback
from webdata.domain.nearest_name import nearest_name
from webdata.domain.proxies import POOLS, Pools
from webdata.domain.upstreams import Upstream

PREFIX = "WEBDATA_"
CLIENT_VARIABLES = tuple(PREFIX + name for name in ("KEY", "URL", "CA"))
"""Variables of the commands that call a service, and of all examples; the service does not read them."""
PROXY_VARIABLES = tuple(f"{PREFIX}PROXIES_{pool}" for pool in (*POOLS, "FILE"))
PLAIN_PORT = 8080
"""The port of plain HTTP, unless another is set."""
EMPTY_MEANS_NONE = f"{PREFIX}SAMPLES"
"""The variable whose default an empty value turns off; any other empty one means the default."""


def _number(default: float | None, least: float, most: float) -> Any:
    """A field that is a number within bounds."""
    return Field(default, ge=least, le=most, description=f"a number from {least} to {most}, such as {default}")


def _words(text: object) -> object:
    """The words of a text, which blanks or commas separate."""
    return text.replace(",", " ").split() if isinstance(text, str) else text


def _with_http(chosen: Iterable[Transport]) -> tuple[Transport, ...]:
    if "http" not in chosen:
        raise ValueError("http is missing")
    return tuple(each for each in TRANSPORTS if each in chosen)


def _program(name: str | None) -> str | None:
    if name and not shutil.which(name):
        raise ValueError("it cannot be started")
    return name


def _with_port(address: str) -> str:
    """An address or a URL; raises ValueError for a port beyond LAST_PORT."""
    _ = urlsplit(address if "//" in address else f"//{address}").port
    return address


Words = BeforeValidator(_words)
RightPort = AfterValidator(_with_port)
OffIsNone = BeforeValidator(lambda text: None if text == "off" else text)
OffIsNothing = BeforeValidator(lambda words: () if words == ["off"] else words)
Network = IPv4Network | IPv6Network
Port = Annotated[int, Field(ge=0, le=LAST_PORT)]
Origin = Annotated[str, Field(pattern=r"^(?:\*|https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)$"), RightPort]
EngineSlots = Annotated[str, Field(pattern=r"^[a-z0-9_]+=(?:[1-9]\d{0,2}|1000)$")]
EngineOrder = Annotated[str, Field(pattern=r"^[a-z_]+=[a-z0-9_]+(?:\+[a-z0-9_]+)*$")]
Address = Annotated[str, Field(pattern=r"^(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$"), RightPort]
Switch = Annotated[bool, Field(description="on or off")]
File = Annotated[FilePath | None, Field(description="the path of a file that is there")]

DIALECTS = {
    "searxng": ("searxng",),
    "openwebui": ("openwebui",),
    "serper": ("serper",),
    "reader": ("reader",),
    "firecrawl": ("firecrawl", "v2"),
}
"""The switches of the dialects, and the first segments of their paths."""
ENGINE_SLOTS = 10
"""The chunks of an engine that run at once, unless WEBDATA_ENGINE_SLOTS says otherwise."""

PublicUrl = Annotated[
    str,
    Field(pattern=r"^https?://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?/?$"),
    RightPort,
    AfterValidator(lambda url: url.rstrip("/")),
]


class Config(BaseSettings):
    """The settings of an operator. `docs/settings.md` lists the variables.

    A field's variable is its name in capitals after `WEBDATA_`. Its description is what the message about a wrong
    value says to give; the message does not repeat the value of a field that is not in the representation.
    """

    model_config = SettingsConfigDict(
        alias_generator=lambda name: PREFIX + name.upper(),
        validate_by_name=True,
        case_sensitive=True,
        enable_decoding=False,  # lists are words, not JSON
        env_nested_delimiter="_",  # of WEBDATA_PROXIES_DE
        env_nested_max_split=1,
        frozen=True,
        hide_input_in_errors=True,
    )

    host: str = "127.0.0.1"
    tls: Switch = True
    """Whether the API uses HTTPS; off behind a proxy that ends TLS."""
    port: Port = Field(
        default_factory=lambda before: 8443 if before["tls"] else PLAIN_PORT,
        description=f"a number from 0 to {LAST_PORT}, such as 8443",
    )
    """The API's port; 8080 by default without TLS."""
    http_port: Annotated[Port | None, OffIsNone] = Field(
        PLAIN_PORT, description=f"a number from 0 to {LAST_PORT}, such as 8080, or off"
    )
    """The port of plain HTTP beside HTTPS; None for no such port."""
    http_keys: Literal["redirect", "refuse"] | None = Field(None, description="one of redirect, refuse")
    """Requests on that port: `redirect` answers 308, `refuse` does too but to those with a key, which get 403. None:
    they are answered where only this machine reaches the port, elsewhere redirected."""
    tls_cert: File = None
    """A certificate chain in PEM, with `tls_key`. Without them the service makes a certificate."""
    tls_key: File = None
    tls_folder: Path = Path(".webdata/tls")
    """The folder of the certificate that the service makes, and its key."""
    hsts: int = _number(31_536_000, 0, 10 * 31_536_000)
    """Seconds of `Strict-Transport-Security` (RFC 6797); 0 omits the header; see `sent_hsts`."""
    public_url: PublicUrl | None = Field(
        None, description="where callers find the service, such as https://data.example.com"
    )
    """The service's URL for callers, if it differs from the listening address."""
    workers: int = _number(1, 1, 64)
    """Processes that share the ports."""
    database: str = "sqlite:///.webdata/webdata.sqlite3"
    redis: Annotated[str, RightPort] | None = Field(
        None,
        pattern=r"^(?:rediss?://[^/\s]+(?:/\d*)?|unix:///\S+)$",
        repr=False,
        description="redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path of a socket",
    )
    """The Redis of the processes' common cache and rate limits; without one each process has its own. Its URL may hold
    a password."""
    cache_bytes: int = _number(64 * 1024 * 1024, 0, 1 << 40)
    """The size of the cache in the memory of a process, without Redis."""
    cache_stale: int = _number(3600, 0, 30 * 86_400)
    """Seconds that expired cache entries are stored, for requests with `stale-if-error`."""
    deadline: float = _number(25.0, 1.0, 600.0)
    """Seconds until the response of a call, with or without a record."""
    max_calls: int = _number(1024, 1, 10_000)
    """The most calls in flight; further ones get the status 503."""
    max_connections: int = _number(10_000, 16, 1_000_000)
    """The most open connections of a process; beyond it the longest idle ones are closed."""
    sandbox: Literal["test", "always"] = Field("test", description="one of test, always")
    """`test`: test keys use the sandbox; `always`: live keys too."""
    sandbox_url: Annotated[str, RightPort] | None = Field(
        None, pattern=r"^http://[^/\s:]+:\d+/?$", description="the address of a sandbox, such as http://127.0.0.1:8081"
    )
    """A sandbox that runs elsewhere; without it the service starts its own."""
    sandbox_replay: Path | None = None
    """A folder of saved pages, or an archive, that the service's own sandbox answers from."""
    samples: Annotated[Path | None, BeforeValidator(lambda text: text or None)] = Path(".webdata/samples")
    """Where pages of unknown layout are stored for study; None stores none."""
    canaries: Literal["off", "live", "sandbox"] = Field("off", description="one of off, live, sandbox")
    """Whether each engine's canaries run: as live keys' calls do, or in the sandbox."""
    canary_file: File = None
    """A TOML file with how often, and with more of them."""
    record: Path | None = None
    """The folder of the archive that every exchange with a site is written into; None writes none."""
    chromium: Annotated[str | None, AfterValidator(_program)] = Field(
        default_factory=find_chromium, description="a program that can be started, such as /usr/bin/chromium"
    )
    """The browser's executable; None disables the browser transport."""
    browser_url: Annotated[str, RightPort] | None = Field(
        None,
        pattern=r"^(?:wss?|https?)://[^/\s]+(?:/\S*)?$",
        repr=False,
        description="ws://host:port/ of a Playwright server, or http://host:port of a browser's debugging port",
    )
    """The URL of a remote browser, used instead of a local one; it may hold a token."""
    browser_pages: int = _number(4, 1, 64)
    """The most pages that are open in a browser at once; further ones are queued."""
    transports: Annotated[tuple[Transport, ...], Words, AfterValidator(_with_http)] = Field(
        TRANSPORTS, description=f"http, and those of the others that may be used: {','.join(TRANSPORTS)}"
    )
    """The transports that may be used; one whose requirements are not installed is skipped."""
    max_steps: int = _number(4, 1, 20)
    """The most attempts to fetch a page, by any transport and proxy."""
    backoff: float = _number(0.2, 0.0, 60.0)
    """The most seconds before the second attempt; doubled before each further one, up to ten times."""
    captcha_hook: str | None = Field(
        None,
        pattern=r"^[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*$",
        description="a function, such as package.module:function",
    )
    """The function that solves captchas, as `package.module:function`; None for none."""
    egress_ports: Annotated[tuple[Annotated[int, Field(ge=1, le=LAST_PORT)], ...], Words] = Field(
        (80, 443, 8080, 8443), description=f"ports from 1 to {LAST_PORT}, such as 80,443"
    )
    """The allowed ports of the URLs that callers request."""
    egress_allow: Annotated[tuple[Network, ...], Words] = Field(
        (), description="networks, such as 10.1.0.0/16,fd00:1::/64"
    )
    """Networks that callers may reach though they are not public."""
    batch_days: int = _number(30, 1, 3650)
    """Days that batches are stored after their end, with their results."""
    batch_store: str | None = Field(
        None,
        pattern=r"^(?:s3://[a-z0-9][a-z0-9.-]+(?:/\S*)?|[^:]+)$",
        description="a folder, or s3:// with a bucket and a prefix, such as s3://results/webdata",
    )
    """Where the records of batches are stored once their chunks are done; None for the database."""
    webhooks_http: Switch = False
    """Whether webhooks may have `http://` URLs: what is sent to them can be read on its way."""
    proxies: Annotated[Pools, PlainValidator(read_pools)] = Field({}, repr=False)
    """Proxies by region, from `WEBDATA_PROXIES_<REGION>` and `WEBDATA_PROXIES_FILE`."""
    region_mode: Literal["parameters", "refuse"] = Field("parameters", description="one of parameters, refuse")
    """The handling of calls for a region without proxies: `parameters` sends the region as parameters of the site's
    URL, `refuse` answers 422."""
    url_max_bytes: int = _number(20 * 1024 * 1024, 1024, 1 << 30)
    """The most bytes of a page that callers request by URL, decompressed."""
    upstreams: Annotated[tuple[Upstream, ...], PlainValidator(read_upstreams)] = Field((), repr=False)
    """The APIs that are asked beside the engines' own sites; from JSON, TOML or a TOML file."""
    engines: Annotated[tuple[EngineOrder, ...], Words] = Field(
        (), description="resources with engines in their order, such as web_search=google_web+bing_web"
    )
    """The engines of a resource that are asked, and their order; those of their ranks for resources not named."""
    openalex_key: str | None = Field(None, repr=False)
    """The key for OpenAlex; without one its quota is a tenth."""
    reddit_client_id: str | None = None
    """The application's id at Reddit; without one only public endpoints are used."""
    reddit_client_secret: str | None = Field(None, repr=False)
    """Its secret; an installed application has none."""
    gateway_routes: Annotated[tuple[str, ...], Words] = Field(
        (),
        repr=False,
        description="prefixes with URLs, such as billing=http://10.0.0.5:8000,files=https://files.internal/v2",
    )
    """Prefixes of paths and the URLs that they are passed on to."""
    gateway_file: File = None
    """A TOML file of more, with more settings of each."""
    gateway_secret: str | None = Field(
        None, min_length=16, repr=False, pattern=r"^[\x21-\x7e]+$", description="at least 16 letters, digits and signs"
    )
    """What the header `x-gateway-proxy-secret` of requests through the gateway has to be, where they have one."""
    gateway_secret_required: Switch = Field(False, repr=False)
    """Whether all of them need it."""
    searxng: Switch = True
    """Whether `/searxng` answers clients of SearXNG."""
    openwebui: Switch = True
    """Whether `/openwebui` is Open WebUI's external search and loader."""
    serper: Switch = True
    """Whether `/serper` answers clients of Serper."""
    reader: Switch = True
    """Whether `/reader` answers clients of Jina Reader."""
    firecrawl: Switch = True
    """Whether `/firecrawl`, and `/v1` and `/v2` as Firecrawl has them, answer clients of Firecrawl."""
    cors_origins: Annotated[tuple[Origin, ...], OffIsNothing, Words] = Field(
        ("*",), description="* for all, off for none, or origins such as https://app.example.com"
    )
    """The origins whose pages may call the API from a browser."""
    mcp: Switch = True
    """Whether `POST /mcp` is answered."""
    metrics: Switch = True
    """Whether `GET /metrics` is available."""
    calls_days: int = _number(30, 1, 3650)
    """Days for which calls stay in the log of calls, with their queries."""
    worker: Switch = True
    """Whether the service runs batches itself, by a process of its own; off leaves them to `webdata worker`."""
    engine_slots: Annotated[tuple[EngineSlots, ...], Words] = Field(
        (), description="engines with numbers from 1 to 1000, such as google_web=10,bing_web=5"
    )
    """The chunks of batches that run at once on all machines together, by engine; ENGINE_SLOTS for those not named."""
    worker_metrics: Annotated[Address | None, OffIsNone] = Field(
        None, description="an address and a port, such as 127.0.0.1:9464, or off"
    )
    """Where a process that runs batches answers `GET /metrics`; None for nowhere."""
    contact: str | None = None
    """A mail address that is sent to upstreams that require one."""

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[PydanticBaseSettingsSource, ...]:
        """A configuration has what it is given; only `from_environ` reads an environment."""
        return (sources["init_settings"],)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read `WEBDATA_…` variables; raises a ConfigError that names the variable and a right value."""
        check_names(environ, [str(field.alias) for name, field in cls.model_fields.items() if name != "proxies"])
        stripped = {name: value.strip() for name, value in environ.items()}
        variables = EnvSettingsSource(cls)
        variables.env_vars = {name: value for name, value in stripped.items() if value or name == EMPTY_MEANS_NONE}
        try:
            return cls(**variables())
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
        field = next(field for field in cls.model_fields.values() if field.alias == name)
        wrong = repr(environ[name]) if field.repr else "used"
        raise ConfigError(f"{name} cannot be {wrong}: give {field.description}")

    @classmethod
    def of_scrapy(cls) -> Self:
        """That of this process; Scrapy imports its settings before a command begins: a mistake ends the program here,
        by a line as that of a command, not by a traceback.
        """
        try:
            return cls.from_environ(os.environ)
        except ConfigError as error:
            sys.stderr.write(f"Error: {error}\n")
            sys.exit(2)

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ConfigError("WEBDATA_TLS_CERT and WEBDATA_TLS_KEY go together: give both, or none to have one made")
        if self.gateway_secret_required and not self.gateway_secret:
            raise ConfigError(
                "WEBDATA_GATEWAY_SECRET_REQUIRED needs a secret: give one as WEBDATA_GATEWAY_SECRET, or off"
            )
        if self.tls and self.public_url and not self.public_url.startswith("https:"):
            right = "give https:// in it, or WEBDATA_TLS=off for a service that answers by plain HTTP"
            raise ConfigError(f"WEBDATA_PUBLIC_URL cannot be {self.public_url!r}: {right}")
        _ = self.gateway, self.given_canaries
        return self

    @cached_property
    def given_canaries(self) -> CanaryFile:
        """The content of the file of canaries; raises ConfigError."""
        return read_canaries(self.canary_file)

    @cached_property
    def gateway(self) -> tuple[GatewayRoute, ...]:
        """The routes of the gateway; raises ConfigError."""
        routes = read_routes(self.gateway_routes, self.gateway_file)
        for name in self.dialects:
            if wrong := {route.prefix for route in routes}.intersection(DIALECTS[name]):
                right = f"give another prefix, or {PREFIX}{name.upper()}=off"
                raise ConfigError(f"/{wrong.pop()} of the gateway is where clients of {name} are answered: {right}")
        return routes

    @property
    def dialects(self) -> tuple[str, ...]:
        """The switches that are on, of DIALECTS."""
        return tuple(name for name in DIALECTS if getattr(self, name))

    def slots_of(self, engines: Collection[str]) -> dict[str, int]:
        """The chunks of each engine's batches that run at once, on all machines together.

        Raises ConfigError where they are set for none of these engines.
        """
        given = dict(one.split("=") for one in self.engine_slots)
        if wrong := [name for name in given if name not in engines]:
            right = f"there is no engine {wrong[0]}: the nearest is {nearest_name(wrong[0], engines)}"
            raise ConfigError(f"WEBDATA_ENGINE_SLOTS cannot be used: {right}")
        return {engine: int(given.get(engine, ENGINE_SLOTS)) for engine in engines}

    @property
    def engine_orders(self) -> dict[str, tuple[str, ...]]:
        """The engines that a resource's calls are answered by, in their order, by the resource's name."""
        pairs = (one.partition("=") for one in self.engines)
        return {resource: tuple(names.split("+")) for resource, _, names in pairs}

    @property
    def answers_plain(self) -> bool:
        """Whether plain HTTP is answered beside HTTPS: only this machine reaches it, and it is not told otherwise."""
        is_local = is_loopback(self.host) and not self.public_url
        return self.tls and self.http_port is not None and self.http_keys is None and is_local

    @property
    def sent_hsts(self) -> int:
        """Seconds of `Strict-Transport-Security`; unless set, none where plain HTTP is answered on the same host."""
        return 0 if self.answers_plain and "hsts" not in self.model_fields_set else self.hsts

    @property
    def url(self) -> str:
        """Where callers find the service, as far as the settings tell, without a slash at the end."""
        return self.urls[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """The same, and where else it answers: by HTTPS beside plain HTTP."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  # compared alone
        address = f"[{host}]" if ":" in host else host
        of_api = f"{'https' if self.tls else 'http'}://{address}:{self.port}"
        if self.public_url:
            return (self.public_url,)
        return (f"http://{address}:{self.http_port}", of_api) if self.answers_plain else (of_api,)

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
    def intake_folder(self) -> Path:
        """Where submitted queries are until they are validated: beside the database, or the certificate's folder."""
        return (self.database_file or self.tls_folder).with_name("intake")

    @property
    def growing_folders(self) -> dict[str, Path]:
        """The folders that grow, by what is in them."""
        store = Path(self.batch_store) if self.batch_store and not self.batch_store.startswith("s3:") else None
        database = self.database_file and self.database_file.parent
        folders = {"database": database, "samples": self.samples, "batches": store, "archive": self.record}
        return {content: folder for content, folder in folders.items() if folder}

    @property
    def batch_folders(self) -> list[Path]:
        """The folders that batches fill."""
        growing = self.growing_folders
        return [growing[content] for content in ("database", "batches") if content in growing] or [
            self.tls_folder.parent
        ]

    @property
    def first_keys_file(self) -> Path:
        """Where the first keys are written when standard output is no terminal: beside an SQLite database, otherwise
        beside the folder of the certificate.
        """
        return (self.database_file or self.tls_folder).with_name("first-keys.txt")

    def with_options(self, **options: object) -> Self:
        """The same settings, replaced by the options that are not None."""
        return self.model_copy(update={name: value for name, value in options.items() if value is not None})

    def without_tls(self) -> Self:
        """The same settings as with WEBDATA_TLS=off."""
        return self.with_options(tls=False, port=None if "port" in self.model_fields_set else PLAIN_PORT)


def check_names(names: Iterable[str], of_fields: Collection[str]) -> None:
    """Raise ConfigError for a variable with PREFIX that means nothing, such as a misspelt one; it names the nearest."""
    for name in names:
        if not name.startswith(PREFIX) or name in {*of_fields, *PROXY_VARIABLES, *CLIENT_VARIABLES}:
            continue
        if "PROX" in name:
            raise ConfigError(f"{name} means nothing: the pools are {', '.join(PROXY_VARIABLES)}")
        nearest = nearest_name(name.upper(), [*of_fields, *CLIENT_VARIABLES])
        raise ConfigError(f"{name} means nothing: the nearest setting is {nearest}; `webdata docs settings` lists all")
