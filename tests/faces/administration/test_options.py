"""The types of the commands' options."""

from datetime import timedelta

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.faces.administration.options import Duration, Name


def converted(option, text):
    """The value of an option for a text, and the reason if it is refused."""
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
def test_a_duration_is_a_number_and_a_unit(text, duration):
    """A number and a unit are a duration."""
    assert Duration().convert(text, None, None) == duration


@given(st.text() | st.from_regex(r"\A-?[0-9 ]*[a-z]?\n?\Z"))
def test_any_text_is_a_duration_or_refused(text):
    """Any text is a duration that is not negative, or refused with an example of a valid one."""
    duration, refusal = converted(Duration(), text)
    assert "give a number and a unit, such as 30d" in refusal if refusal else timedelta(0) <= duration


@given(st.text())
def test_any_text_is_a_name_or_refused(text):
    """Any text is a printable name, or refused with the reason."""
    name, refusal = converted(Name(), text)
    assert "a name " in refusal if refusal else name.isprintable() and (name, "") == converted(Name(), name)
