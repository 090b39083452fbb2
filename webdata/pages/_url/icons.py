"""Icons that a font draws in the place of a text: a reader sees a picture, and no words.

https://developers.google.com/fonts/docs/material_icons#using_the_icons_in_html,
https://www.unicode.org/faq/private_use.html
"""

import re

from lxml.html import HtmlElement

from webdata.pages._url.twins import is_small, line

DRAWN = ("a", "b", "button", "em", "i", "mat-icon", "small", "span", "strong", "sup")
"""Elements that hold icons."""
LIGATURES = frozenset([
    *(f"material-icons{form}" for form in ("", "-outlined", "-round", "-sharp", "-two-tone")),
    *(f"material-symbols-{form}" for form in ("outlined", "rounded", "sharp")),
    "mat-icon", "mat-ligature-font",
])  # fmt: skip
"""The classes of fonts that draw words as icons."""
LIGATURE = re.compile(r"[a-z\d_]+")
"""Such a word: `expand_more`."""
PRIVATE = re.compile("[\ue000-\uf8ff]{1,3}")
"""Characters that only a font of the page has."""


def erase_icons(root: HtmlElement) -> None:
    """Remove, in place, the texts of icons; those of cells stay, where an icon may be all that is said."""
    for element in root.iter(*DRAWN):
        if element.text and not len(element) and _is_icon(element, element.text.strip()) and not _is_kept(element):
            element.text = None


def _is_icon(element: HtmlElement, text: str) -> bool:
    if PRIVATE.fullmatch(text):
        return True
    names = element.get("class")
    return names is not None and not LIGATURES.isdisjoint(names.split()) and LIGATURE.fullmatch(text) is not None


def _is_kept(icon: HtmlElement) -> bool:
    """Whether an icon is a character of code, or all of a cell."""
    around = next(icon.iterancestors("code", "pre", "td", "th"), None)
    if around is None or around.tag in ("code", "pre"):
        return around is not None
    return is_small(around) and line(around) == line(icon)
