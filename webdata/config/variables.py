"""Parsers of environment variables. Each raises a ConfigError that names a right value."""

import ipaddress
import re
import shutil
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TypeVar

from webdata.domain.errors import ConfigError

LAST_PORT = 65535
Variables = Mapping[str, str]
Number = TypeVar("Number", int, float)
Choice = TypeVar("Choice", bound=str)


def text(environ: Variables, name: str) -> str | None:
    """Any text, without surrounding blanks; None for a blank one."""
    return environ.get(name, "").strip() or None


def matching(environ: Variables, name: str, pattern: str, right: str, *, secret: bool = False) -> str | None:
    """A text that matches a pattern; the message does not repeat one that may hold a `secret`."""
    value = text(environ, name)
    if value and not re.fullmatch(pattern, value):
        wrong = "used" if secret else repr(value)
        raise ConfigError(f"{name} cannot be {wrong}: {right}")
    return value


def choice(environ: Variables, name: str, choices: Sequence[Choice], default: Choice) -> Choice:
    """One of the choices."""
    value = environ.get(name) or default
    for each in choices:
        if value == each:
            return each
    raise ConfigError(f"{name} cannot be {value!r}: give one of {', '.join(choices)}")


def switch(environ: Variables, name: str, default: bool) -> bool:
    """`on` or `off`."""
    value = environ.get(name) or ("on" if default else "off")
    if value not in ("on", "off"):
        raise ConfigError(f"{name} cannot be {value!r}: give on or off")
    return value == "on"


def number(environ: Variables, name: str, default: Number, least: Number, most: Number) -> Number:
    """A number of the default's type, within bounds."""
    value_text = environ.get(name, "")
    if not value_text:
        return default
    try:
        value = type(default)(value_text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise ConfigError(f"{name} cannot be {value_text!r}: give a number from {least} to {most}, such as {default}")
    return value


def file(environ: Variables, name: str) -> Path | None:
    """The path of an existing file."""
    path = environ.get(name, "")
    if path and not Path(path).is_file():
        raise ConfigError(f"{name} cannot be {path!r}: there is no such file; give the path of one that is there")
    return Path(path) if path else None


def executable(environ: Variables, name: str) -> str | None:
    """A program that can be started."""
    program = environ.get(name, "")
    if program and not shutil.which(program):
        right = "give a program that can be started, such as /usr/bin/chromium"
        raise ConfigError(f"{name} cannot be {program!r}: {right}")
    return program or None


def ports(environ: Variables, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    """A list of ports."""
    parts = _split(environ, name)
    if not all(re.fullmatch(r"[0-9]{1,5}", part) and 0 < int(part) <= LAST_PORT for part in parts):
        raise ConfigError(f"{name} cannot be {environ[name]!r}: give ports from 1 to {LAST_PORT}, such as 80,443")
    return tuple(map(int, parts)) or default


def networks(environ: Variables, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """A list of networks."""
    try:
        return tuple(map(ipaddress.ip_network, _split(environ, name)))
    except ValueError as error:
        right = "give networks, such as 10.1.0.0/16,fd00:1::/64"
        raise ConfigError(f"{name} cannot be {environ[name]!r}: {right}") from error


def subset(environ: Variables, name: str, choices: Sequence[Choice], needed: Choice, right: str) -> tuple[Choice, ...]:
    """Some of the choices, `needed` among them, in the order of `choices`; all by default."""
    chosen = set(_split(environ, name) or choices)
    if not {needed} <= chosen <= set(choices):
        raise ConfigError(f"{name} cannot be {environ[name]!r}: {right}")
    return tuple(each for each in choices if each in chosen)


def _split(environ: Variables, name: str) -> list[str]:
    return environ.get(name, "").replace(",", " ").split()
