"""What a page says of itself to programs: its metadata, and the structured data in it."""

from collections.abc import Iterator
from typing import Any

from lxml.html import HtmlElement

from webdata.pages._url import json_ld, microdata, rdfa
from webdata.pages._url.blocks import spaced
from webdata.pages._url.bounds import is_too_deep, is_too_large
from webdata.pages._url.links import address
from webdata.pages._url.lists import links, pictures
from webdata.pages._url.markdown import base_of
from webdata.pages._url.selection import Selection, TooComplexError
from webdata.pages._url.summary import summary
from webdata.pages._url.trees import tree

LONGEST_CONTENT = 10_000
"""Characters of the content of an element `meta`."""
MOST_METAS = 500
NAMED = {
    "description": ("description", "og:description", "twitter:description"),
    "author": ("author", "article:author"),
    "published": ("article:published_time", "date", "datepublished", "dc.date"),
    "modified": ("article:modified_time", "last-modified", "og:updated_time"),
    "site": ("og:site_name", "application-name"),
    "type": ("og:type",),
    "image": ("og:image", "twitter:image"),
    "keywords": ("keywords",),
    "robots": ("robots",),
}
"""The names of elements `meta` with a value, the best first."""


def lists_and_facts(text: str, url: str, charset: str, selection: Selection) -> dict[str, Any]:
    """The links and pictures of the selected parts of a page, and what the whole of it says of itself.

    Raises TooComplexError for a page that is too large or too deep to be parsed.
    """
    if is_too_large(text) or (root := tree(text)) is None or is_too_deep(root):
        raise TooComplexError
    base = base_of(root, url)
    facts = {"metadata": metadata(root, base), "structured": structured(root, base)}
    selection.apply(root)
    body = next(root.iterchildren("body"))
    return {**facts, "links": links(body, base, charset), "images": pictures(body, base, charset)}


def metadata(root: HtmlElement, base: str) -> dict[str, str | None]:
    """The title, language and canonical address of a page, and what its elements `meta` say; null is unknown."""
    metas = dict(reversed([*_metas(root)]))
    named = {key: next((metas[name] for name in names if metas.get(name)), None) for key, names in NAMED.items()}
    titles = (spaced(title) for title in root.iterfind("head/title"))
    image = address(named["image"], base)
    return {
        "title": next(filter(None, titles), None) or metas.get("og:title"),
        "language": root.get("lang") or metas.get("content-language") or metas.get("og:locale"),
        "canonical": _linked(root, "canonical", base),
        **named,
        "image": image,
        "icon": _linked(root, "icon", base),
    }


def structured(root: HtmlElement, base: str) -> dict[str, Any]:
    """JSON-LD, microdata, RDFa, OpenGraph, Twitter cards and the other elements `meta`, and a summary of them all.

    `unread` counts broken JSON-LD.
    """
    found, unread = json_ld.items(root)
    metas = [*_metas(root)]
    said = {
        "json_ld": found,
        "unread": unread,
        "microdata": microdata.items(root, base),
        "rdfa": rdfa.items(root, base),
        "opengraph": _grouped(one for one in metas if _is_graph(one[0])),
        "twitter": _grouped(one for one in metas if one[0].startswith("twitter:")),
        "meta": _grouped(one for one in metas if not _is_graph(one[0]) and not one[0].startswith("twitter:")),
    }
    return {"summary": summary(said, base), **said}


def _is_graph(name: str) -> bool:
    return name.startswith(("og:", "article:", "book:", "fb:", "music:", "product:", "profile:", "video:"))


def _metas(root: HtmlElement) -> Iterator[tuple[str, str]]:
    """The names, in lower case, and the contents of the elements `meta`."""
    for meta, _ in zip(root.iter("meta"), range(MOST_METAS), strict=False):
        name = meta.get("property") or meta.get("name") or meta.get("http-equiv") or ""
        if name.strip() and (content := meta.get("content")):
            yield name.strip().lower()[:100], content.strip()[:LONGEST_CONTENT]


def _grouped(metas: Iterator[tuple[str, str]]) -> dict[str, str | list[str]]:
    """The contents by name; a list where a name has several."""
    grouped: dict[str, list[str]] = {}
    for name, content in metas:
        grouped.setdefault(name, []).append(content)
    return {name: contents[0] if len(contents) == 1 else contents for name, contents in grouped.items()}


def _linked(root: HtmlElement, relation: str, base: str) -> str | None:
    links = (one for one in root.iter("link") if relation in one.get("rel", "").lower().split())
    return next((url for one in links if (url := address(one.get("href"), base))), None)
