"""Readers of settings: a variable's text in, its value out. Each raises ConfigError that says what would be right."""

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
Word = TypeVar("Word", bound=str)


def text(given: Variables, name: str) -> str | None:
    """Any text, without blanks around it."""
    return given.get(name, "").strip() or None


def matching(given: Variables, name: str, pattern: str, right: str, *, secret: bool = False) -> str | None:
    """A text of a pattern; one that may hold a `secret` is not repeated."""
    found = text(given, name)
    if found and not re.fullmatch(pattern, found):
        wrong = "used" if secret else repr(found)
        raise ConfigError(f"{name} cannot be {wrong}: {right}")
    return found


def choice(given: Variables, name: str, words: Sequence[Word], default: Word) -> Word:
    """One of some words."""
    found = given.get(name) or default
    for word in words:
        if found == word:
            return word
    raise ConfigError(f"{name} cannot be {found!r}: give one of {', '.join(words)}")


def switch(given: Variables, name: str, default: bool) -> bool:
    """`on` or `off`."""
    found = given.get(name) or ("on" if default else "off")
    if found not in ("on", "off"):
        raise ConfigError(f"{name} cannot be {found!r}: give on or off")
    return found == "on"


def number(given: Variables, name: str, default: Number, least: Number, most: Number) -> Number:
    """A number of the default's type, within bounds."""
    found = given.get(name, "")
    if not found:
        return default
    try:
        value = type(default)(found)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise ConfigError(f"{name} cannot be {found!r}: give a number from {least} to {most}, such as {default}")
    return value


def file(given: Variables, name: str) -> Path | None:
    """A file that can be read."""
    found = given.get(name, "")
    if found and not Path(found).is_file():
        raise ConfigError(f"{name} cannot be {found!r}: there is no such file; give the path of one that is there")
    return Path(found) if found else None


def executable(given: Variables, name: str) -> str | None:
    """A program that can be started."""
    found = given.get(name, "")
    if found and not shutil.which(found):
        right = "give a program that can be started, such as /usr/bin/chromium"
        raise ConfigError(f"{name} cannot be {found!r}: {right}")
    return found or None


def ports(given: Variables, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    """Several ports."""
    words = _words(given, name)
    if not all(re.fullmatch(r"[0-9]{1,5}", word) and 0 < int(word) <= LAST_PORT for word in words):
        raise ConfigError(f"{name} cannot be {given[name]!r}: give ports from 1 to {LAST_PORT}, such as 80,443")
    return tuple(map(int, words)) or default


def networks(given: Variables, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Several networks."""
    try:
        return tuple(map(ipaddress.ip_network, _words(given, name)))
    except ValueError as error:
        right = "give networks, such as 10.1.0.0/16,fd00:1::/64"
        raise ConfigError(f"{name} cannot be {given[name]!r}: {right}") from error


def some(given: Variables, name: str, words: Sequence[Word], needed: Word, right: str) -> tuple[Word, ...]:
    """Some of the words, in their order; all where nothing is said."""
    found = set(_words(given, name) or words)
    if not {needed} <= found <= set(words):
        raise ConfigError(f"{name} cannot be {given[name]!r}: {right}")
    return tuple(word for word in words if word in found)


def _words(given: Variables, name: str) -> list[str]:
    return given.get(name, "").replace(",", " ").split()
