"""Documents that Google Docs publishes: emphasis that only a style sheet gives, lists in lists, links by way of it."""

import re
from urllib.parse import parse_qs, urlsplit

from lxml.html import HtmlElement

SITE = "//docs.google.com/"
RULE = re.compile(r"(?<![\w-])\.(c\d{1,4})\{([^{}]{0,2000})\}")
EMPHASIS = re.compile(r"font-weight:(?:bold|[6-9]00)|font-style:italic|text-decoration:line-through")
LEVEL = re.compile(r"lst-kix_\w{1,80}-(\d)")
"""The class of a list, with the number of the lists around it."""
REDIRECTION = "https://www.google.com/url?q="
LISTS = frozenset(["ol", "ul"])


def read_published(root: HtmlElement, base: str) -> None:
    """Write, in place, the emphasis, the lists and the links of a published document as other pages have them."""
    if SITE not in base:
        return
    sheets = [sheet.text or "" for sheet in root.iter("style")]
    styles = {name: EMPHASIS.findall(rule) for sheet in sheets for name, rule in RULE.findall(sheet)}
    for span in root.iter("span"):
        if given := [style for name in span.get("class", "").split() for style in styles.get(name, ())]:
            span.set("style", ";".join([*given, span.get("style", "")]))
    for inner in [*root.iter(*LISTS)]:
        _put_into_item(inner)
    for link in root.iter("a"):
        if link.get("href", "").startswith(REDIRECTION):
            link.set("href", parse_qs(urlsplit(link.get("href", "")).query).get("q", [""])[0])


def _put_into_item(inner: HtmlElement) -> None:
    """Put a list that follows the one that it belongs into, into the last item of that."""
    level, outer = _level(inner), inner.getprevious()
    if not level or outer is None or outer.tag not in LISTS or (outer.tail or "").strip() or _level(outer) >= level:
        return
    item = next(outer.iterchildren("li", reversed=True), None)
    while item is not None:
        last = item[-1] if len(item) else None
        if last is None or last.tag not in LISTS or _level(last) >= level:
            inner.tail, outer.tail = None, inner.tail
            item.append(inner)
            return
        item = next(last.iterchildren("li", reversed=True), None)


def _level(element: HtmlElement) -> int:
    found = LEVEL.search(element.get("class", ""))
    return int(found[1]) if found else 0
