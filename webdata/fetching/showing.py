"""What a browser is asked to do with a page beside loading it, and what it has made of it."""

from dataclasses import dataclass, field
from typing import Literal

PictureType = Literal["png", "jpeg", "webp"]


@dataclass(frozen=True)
class Showing:
    """What is asked of the browser."""

    wait_for: int | str | None = None
    """Milliseconds, or the CSS selector of an element that the page has to have."""
    html_as_sent: bool = False
    """Whether the page is wanted as its server sent it, beside what the browser shows."""
    picture: PictureType | None = None
    """The type of a screenshot; None without one."""
    whole_page: bool = False
    """Whether the screenshot goes beyond what the device's screen shows."""
    quality: int | None = None
    """Of a screenshot with losses, from 1 to 100."""


@dataclass(frozen=True)
class Picture:
    """A screenshot."""

    data: bytes = field(repr=False)
    width: int
    height: int
    """In pixels."""
    cut: bool
    """Whether the page is longer."""


@dataclass(frozen=True)
class ShownPage:
    """What the browser has made of a page."""

    missed: bool = False
    """Whether what was waited for never came."""
    is_page: bool = True
    """Whether the browser shows it: it does so with HTML alone."""
    html_as_sent: bytes | None = None
    picture: Picture | None = None
