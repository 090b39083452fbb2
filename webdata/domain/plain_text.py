"""Plain text of values that come from outside, which may hold markup and be of any length."""

import re

MARKUP = re.compile(r"<[^<>]{0,2000}>")


def plain_text(value: str, longest: int) -> str:
    """Text without markup and in one run of blanks, cut."""
    text = value[: 20 * longest]
    if "<" in text:
        text = MARKUP.sub(" ", text)
    text = " ".join(text.split())
    return text if len(text) <= longest and len(value) <= 20 * longest else text[:longest] + "…"
