"""What the commands take."""

from datetime import timedelta

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.administration.options import Duration, Name


def taken(option, text):
    """What an option makes of a text, and why it is refused."""
    try:
        return option.convert(text, None, None), ""
    except click.BadParameter as error:
        return None, str(error)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("30d", timedelta(days=30)),
        ("24h", timedelta(days=1)),
        ("90m", timedelta(minutes=90)),
        ("0s", timedelta(0)),
        (timedelta(1), timedelta(1)),
    ],
)
def test_durations(text, duration):
    """A number and a unit are a time."""
    assert Duration().convert(text, None, None) == duration


@given(st.text() | st.from_regex(r"\A-?[0-9 ]*[a-z]?\n?\Z"))
def test_any_duration(text):
    """Any text is a time of no less than nothing, or refused with what would be right."""
    duration, refusal = taken(Duration(), text)
    assert "give a number and a unit, such as 30d" in refusal if refusal else timedelta(0) <= duration


@given(st.text())
def test_any_name(text):
    """Any text is a name that can be printed, or refused with what would be right."""
    name, refusal = taken(Name(), text)
    assert "a name " in refusal if refusal else name.isprintable() and (name, "") == taken(Name(), name)
