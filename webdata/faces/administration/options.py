"""The types of the commands' options."""

import re
from datetime import timedelta
from typing import Any

import click

from webdata.accounts.access.api_keys import check_name

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Duration(click.ParamType[timedelta]):
    """A duration such as `30d`, `24h`, `90m` or `45s`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([0-9]{1,5})([smhd])", value)
        if not match:
            self.fail(f"{value!r} is not a time: give a number and a unit, such as 30d, 24h, 90m or 45s", param, ctx)
        return timedelta(**{UNITS[match[2]]: int(match[1])})


Pairs = tuple[tuple[str, str], ...]


class Pair(click.ParamType[tuple[str, str]]):
    """A name and a value with a separator between them: `q=coffee`, `Content-Type: text/html`."""

    def __init__(self, separator: str):
        self.separator = separator
        self.name = f"name{separator}value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, found, text = value.partition(self.separator)
        if not found or not name.strip():
            self.fail(f"{value!r} is not of the form NAME{self.separator}VALUE", param, ctx)
        return name.strip(), text.strip()


class Name(click.ParamType[str]):
    """The name of a key or an account."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return check_name(value)
        except ValueError as error:
            return self.fail(str(error), param, ctx)
