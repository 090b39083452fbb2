"""What a page says of itself to programs: its metadata, and the structured data in it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lxml.html import HtmlElement

from webdata.pages._url import bylines, json_ld, microdata, rdfa
from webdata.pages._url.blocks import spaced
from webdata.pages._url.bounds import is_too_deep, is_too_large
from webdata.pages._url.links import address
from webdata.pages._url.lists import links, pictures
from webdata.pages._url.markdown import base_of
from webdata.pages._url.schema_values import ValueContext, is_filled, is_name, names, shown, url
from webdata.pages._url.selection import Selection, TooComplexError
from webdata.pages._url.summary import summary
from webdata.pages._url.summary_fields import AUTHOR, DESCRIPTION, IMAGE, MODIFIED, PUBLISHED
from webdata.pages._url.trees import tree

LONGEST_CONTENT = 10_000
"""Characters of the content of an element `meta`."""
MOST_METAS = 500
MOST_HEADLINES = 20
MOST_NAMES = 4
"""Properties of one element `meta`."""
TITLES = ("og:title", "twitter:title", "dc.title", "dcterms.title", "title")
LANGUAGES = ("content-language", "dc.language", "dcterms.language", "og:locale", "language")
NAMED = {
    "description": ("description", *DESCRIPTION.metas),
    "author": AUTHOR.metas,
    "published": PUBLISHED.metas,
    "modified": MODIFIED.metas,
    "site": ("og:site_name", "application-name", "article:publisher"),
    "type": ("og:type",),
    "image": IMAGE.metas,
    "keywords": ("keywords",),
    "robots": ("robots",),
}
"""The names of elements `meta` with a value, the best first."""
OF_SUMMARY = {
    "title": ("title", "name"),
    "description": ("description",),
    "author": ("author",),
    "published": ("published",),
    "modified": ("modified",),
    "site": ("publisher",),
    "image": ("image",),
}
"""The fields of the summary that say the same."""


NamedTexts = Sequence[tuple[str, str]]
"""Names of elements `meta`, and their contents."""


def lists_and_facts(text: str, url: str, charset: str, selection: Selection) -> dict[str, Any]:
    """The links and pictures of the selected parts of a page, and what the whole of it says of itself.

    Raises TooComplexError for a page that is too large or too deep to be parsed.
    """
    if is_too_large(text) or (root := tree(text)) is None or is_too_deep(root):
        raise TooComplexError
    base = base_of(root, url)
    metas = [*_metas(root)]
    said = structured(root, base, metas)
    facts = {"metadata": metadata(root, base, metas, said["summary"] or {}), "structured": said}
    selection.apply(root)
    body = next(root.iterchildren("body"))
    return {**facts, "links": links(body, base, charset), "images": pictures(body, base, charset)}


def metadata(root: HtmlElement, base: str, named: NamedTexts, said: Mapping[str, Any]) -> dict[str, str | None]:
    """The title, language and canonical address of a page, and what its elements `meta` say.

    What they do not say is that of its summary, or its byline; null is unknown.
    """
    metas: defaultdict[str, list[str]] = defaultdict(list)
    for name, content in named:
        if is_filled(content):
            metas[name].append(shown(content).strip())
    known = {key: value or _of_summary(said, key) for key, value in _named(metas, base).items()}
    links = [*root.iter("link")]
    if not (known["author"] and known["published"]):
        known |= {key: known[key] or value for key, value in bylines.byline(root).items()}
    return {
        "title": _title(root) or _first(metas, TITLES) or _of_summary(said, "title") or _headline(root),
        "language": _language(root) or _first(metas, LANGUAGES),
        "canonical": _linked(links, "canonical", base),
        **known,
        "icon": _linked(links, "icon", base),
    }


def _named(metas: Mapping[str, Sequence[str]], base: str) -> dict[str, str | None]:
    """What the elements `meta` say: all authors, a site that is a name, an absolute image, the first of each other."""
    named = {key: _first(metas, of) for key, of in NAMED.items()}
    authors = (names([*metas[name]]) for name in NAMED["author"] if name in metas)
    named["site"] = next((one for name in NAMED["site"] for one in metas.get(name, ()) if is_name(one)), None)
    return {
        **named,
        "author": _line(next(filter(None, authors), None)),
        "image": url([named["image"]], ValueContext(base)),
    }


def _first(metas: Mapping[str, Sequence[str]], of: Sequence[str]) -> str | None:
    return next((metas[name][0] for name in of if name in metas), None)


def _language(root: HtmlElement) -> str | None:
    """The language that the elements around a page's text say, as HTML or XHTML have it."""
    around = (root, *root.iterchildren("body"))
    said = (one.get(name, "").strip() for one in around for name in ("lang", "xml:lang"))
    return next(filter(None, said), None)


def _title(root: HtmlElement) -> str | None:
    titles = (spaced(title) for title in root.iterfind("head/title"))
    return next(filter(None, titles), None)


def _headline(root: HtmlElement) -> str | None:
    """The only headline of a page."""
    found = [text for one in islice(root.iter("h1"), MOST_HEADLINES) if (text := spaced(one))]
    return found[0][:LONGEST_CONTENT] if len(found) == 1 else None


def _of_summary(said: Mapping[str, Any], key: str) -> str | None:
    """What the summary says of a field of the metadata."""
    return next((_line(said[name]["value"]) for name in OF_SUMMARY.get(key, ()) if name in said), None)


def _line(value: str | list[str] | None) -> str | None:
    return ", ".join(value) if isinstance(value, list) else value


def structured(root: HtmlElement, base: str, metas: NamedTexts) -> dict[str, Any]:
    """JSON-LD, microdata, RDFa, OpenGraph, Twitter cards and the other elements `meta`, and a summary of them all.

    `unread` counts broken JSON-LD.
    """
    found, unread = json_ld.items(root)
    said = {
        "json_ld": found,
        "unread": unread,
        "microdata": microdata.items(root, base),
        "rdfa": rdfa.items(root, base),
        "opengraph": _grouped(one for one in metas if _is_graph(one[0])),
        "twitter": _grouped(one for one in metas if one[0].startswith("twitter:")),
        "meta": _grouped(one for one in metas if not _is_graph(one[0]) and not one[0].startswith("twitter:")),
    }
    return {"summary": summary(said, ValueContext(base, _language(root) or "")), **said}


def _is_graph(name: str) -> bool:
    return name.startswith(("og:", "article:", "book:", "fb:", "music:", "product:", "profile:", "video:"))


def _metas(root: HtmlElement) -> Iterator[tuple[str, str]]:
    """The names, in lower case, and the contents of the elements `meta`."""
    for meta, _ in zip(root.iter("meta"), range(MOST_METAS), strict=False):
        several = meta.get("property", "").split()[:MOST_NAMES]
        name = (meta.get("name") or meta.get("http-equiv") or "").strip()
        for one in several or filter(None, [name]):
            if content := meta.get("content"):
                yield one.lower()[:100], content.strip()[:LONGEST_CONTENT]


def _grouped(metas: Iterator[tuple[str, str]]) -> dict[str, str | list[str]]:
    """The contents by name; a list where a name has several."""
    grouped: dict[str, list[str]] = {}
    for name, content in metas:
        grouped.setdefault(name, []).append(content)
    return {name: contents[0] if len(contents) == 1 else contents for name, contents in grouped.items()}


def _linked(links: Sequence[HtmlElement], relation: str, base: str) -> str | None:
    found = (one for one in links if relation in one.get("rel", "").lower().split())
    return next((url for one in found if (url := address(one.get("href"), base))), None)
