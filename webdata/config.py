"""The service's settings: one frozen object, read from the environment once."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from webdata.errors import ConfigError

SandboxUse = Literal["test", "always"]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Config:
    """What an operator can set. `docs/settings.md` lists the variables."""

    host: str = "127.0.0.1"
    port: int = 8080
    database: str = "sqlite:///.webdata/webdata.sqlite3"
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
    openalex_key: str | None = field(default=None, repr=False)
    """The key for OpenAlex; without one its budget is a tenth."""
    contact: str | None = None
    """A mail address that is told to those who ask for one."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Config":
        """Read `WEBDATA_…` variables; raises ConfigError that names the variable and what would be right."""
        default = cls()
        replay = environ.get("WEBDATA_SANDBOX_REPLAY")
        kept = environ.get("WEBDATA_KEPT_PAGES", str(default.kept_pages))
        return cls(
            host=environ.get("WEBDATA_HOST", default.host),
            port=_number(environ, "WEBDATA_PORT", default.port, 0, 65535),
            database=environ.get("WEBDATA_DATABASE", default.database),
            deadline=_number(environ, "WEBDATA_DEADLINE", default.deadline, 1.0, 600.0),
            max_calls=_number(environ, "WEBDATA_MAX_CALLS", default.max_calls, 1, 10_000),
            sandbox=_sandbox_use(environ),
            sandbox_url=_proxy(environ, "WEBDATA_SANDBOX_URL"),
            sandbox_replay=Path(replay) if replay else None,
            kept_pages=Path(kept) if kept else None,
            chromium=environ.get("WEBDATA_CHROMIUM") or find_chromium(),
            openalex_key=environ.get("WEBDATA_OPENALEX_KEY", "").strip() or None,
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


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome: one on the PATH, else Playwright's own; None without any."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    own = sorted(Path.home().glob(".cache/ms-playwright/chromium-*/chrome-*/chrome"))
    return next((path for path in [*map(shutil.which, names), *map(str, own)] if path), None)


def _proxy(environ: Mapping[str, str], name: str) -> str | None:
    text = environ.get(name, "")
    if text and not re.fullmatch(r"http://[^/\s:]+:\d+/?", text):
        raise ConfigError(f"{name} cannot be {text!r}: give the address of a sandbox, such as http://127.0.0.1:8081")
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


def _sandbox_use(environ: Mapping[str, str]) -> SandboxUse:
    text = environ.get("WEBDATA_SANDBOX") or Config.sandbox
    for use in get_args(SandboxUse):
        if text == use:
            return use  # type: ignore[no-any-return]  # get_args loses the literal's type
    raise ConfigError(f"WEBDATA_SANDBOX cannot be {text!r}: give one of {', '.join(get_args(SandboxUse))}")
