"""The parts below the title of a result or ad: the text, its date, the displayed address."""

from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.pages._elements import visible_text

ADDRESS = ".b_adurl cite", "cite", ".b_adurl"
TEXTS = (
    ".b_caption > p",
    ".b_caption p, .b_snippet p, p[class*=b_lineclamp], .b_mText p",
    ".b_paractl, .b_lineclamp1, .b_lineclamp2, .b_lineclamp3, .b_lineclamp4",
    "p",
    ".b_caption .b_snippet, .b_caption",
)
"""Selectors of the text, the surest first."""
LABELS = ".algoSlug_icon, .b_adSlug, .news_dt, a[href*=translator]"
"""Labels before the text: icons' names, "Ad", the date, a link to a translation."""
DATE = ".news_dt"
BETWEEN = " ·—–-\u00a0"


class Snippet(NamedTuple):
    """The text of a result, and the date before it."""

    text: str
    date: str | None


def snippet(box: LexborNode) -> Snippet:
    """The text below the title; "" where there is none."""
    site = address(box)
    for selector in TEXTS:
        for node in box.css(selector):
            if text := _unlabelled(node, site):
                return Snippet(text, visible_text(node.css_first(DATE)) or None)
    return Snippet("", None)


def address(box: LexborNode) -> str:
    """The displayed address; "" where there is none."""
    return next(filter(None, (visible_text(box.css_first(selector)) for selector in ADDRESS)), "")


def _unlabelled(node: LexborNode, site: str) -> str:
    """The text of an element without the labels and the address before it."""
    text = visible_text(node)
    for label in (site, *map(visible_text, node.css(LABELS))):
        if label and text.startswith(label):
            text = text.removeprefix(label).lstrip(BETWEEN)
    return text
