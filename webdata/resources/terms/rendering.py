"""What only a browser does with a page: waiting, its HTML with what scripts have made, screenshots."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from webdata.domain.query import Capped, explained, lower
from webdata.domain.shapes import Position, described
from webdata.resources.terms.selectors import LONGEST_SELECTOR, xpath_of

LONGEST_WAIT = 30_000
"""Milliseconds."""
BY_BROWSER = ("rendered_html", "screenshot")
"""Formats that are made by the browser."""


class Screenshot(TypedDict):
    """A picture of the page, as the browser shows it."""

    content_type: Literal["image/png", "image/jpeg", "image/webp"]
    width: Position
    """Pixels."""
    height: Position
    """Pixels, 16,000 at most."""
    cut: bool
    """Whether the page goes on below it."""
    data: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]


def browser_need(given: Mapping[str, Any]) -> str | None:
    """What of the fields of a query only a browser does; None where that is nothing."""
    if given.get("render") == "always":
        return "render always"
    if given.get("wait_for") is not None:
        return "wait_for"
    return next((f"formats {name}" for name in BY_BROWSER if name in given.get("formats", ())), None)


def _of_browser(value: Any, info: ValidationInfo) -> Any:
    if value is not None and info.data.get("render") == "never":
        raise explained("is done by a browser: leave it out, or render never")
    return value


def not_never(value: Any, info: ValidationInfo) -> Any:
    """For validators of `render`: never, only where nothing needs a browser."""
    if value == "never" and (need := browser_need(info.data)):
        raise explained(f"cannot be 'never' with {need}, which a browser makes: leave one of them out")
    return value


def _wait(value: object) -> object:
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if text.isascii() and text.isdigit():
        if len(text) > len(str(LONGEST_WAIT)) or int(text) > LONGEST_WAIT:
            raise explained(f"is longer than {LONGEST_WAIT} milliseconds: give at most that, or a CSS selector")
        return int(text)
    if not isinstance(value, str) or not 0 < len(text) <= LONGEST_SELECTOR:
        raise explained(f"is a number of milliseconds up to {LONGEST_WAIT}, or a CSS selector such as #results .price")
    try:
        xpath_of(text)
    except ValueError as error:
        raise explained(f"is no CSS selector ({error}): give one such as #results .price") from None
    return text


def _of_screenshot(value: Any, info: ValidationInfo) -> Any:
    if value and "screenshot" not in info.data.get("formats", ("screenshot",)):
        raise explained("is of a screenshot: ask for it with formats, or leave this out")
    if value is not None and info.field_name == "screenshot_quality" and info.data.get("screenshot_type") in PLAIN:
        raise explained("is of jpeg and webp: give a screenshot_type, too")
    return value


PLAIN = (None, "png")
"""Types of screenshots without losses, of which the first stands for the second."""

GivenWait = Annotated[
    int | str | None,
    BeforeValidator(lambda value: None if value is None else _wait(value)),
    AfterValidator(_of_browser),
    described(
        f"what a browser waits for before the page is read: a number of milliseconds up to {LONGEST_WAIT}, "
        "or the CSS selector of an element",
        "#results",
    ),
]
GivenPictureType = Annotated[
    Literal["png", "jpeg", "webp"] | None,
    BeforeValidator(lower),
    AfterValidator(_of_screenshot),
    described("one of png, jpeg, webp for the screenshot, png without it", "jpeg"),
]
GivenWholePage = Annotated[
    bool,
    AfterValidator(_of_screenshot),
    described("true for a screenshot of the whole page, false for what fits on the screen", True),
]
GivenQuality = Annotated[
    int | None,
    Capped(),
    described(
        "a whole number from 1 to 100: how good a screenshot as jpeg or webp is, 80 without it", 60, ge=1, le=100
    ),
    AfterValidator(_of_screenshot),
]
