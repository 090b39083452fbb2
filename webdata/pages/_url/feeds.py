"""A feed of RSS or Atom as a page: its title, and a list of its entries.

https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287,
https://validator.w3.org/feed/docs/rss1.html
"""

from collections.abc import Iterator
from html import escape, unescape

from lxml import etree

LONGEST = 4_000_000
"""Characters of a feed that is parsed; a longer one is XML."""
ENTRIES = 2_000
"""Entries of a feed that are read."""
ROOTS = ("rss", "feed", "RDF")
TEXTS = ("encoded", "content", "description", "summary")
"""Elements with the text of an entry, the fullest first."""
ATOM = "http://www.w3.org/2005/Atom"
DATES = ("pubDate", "published", "updated", "date")


def feed_page(text: str) -> str | None:
    """The HTML of a feed's entries; None for XML that is no feed."""
    if len(text) > LONGEST or not any(root in text for root in ROOTS):
        return None
    parser = etree.XMLParser(encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(text.lstrip("\ufeff \r\n\t").encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is None or _name(root) not in ROOTS:
        return None
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = [
        child for around in dict.fromkeys((channel, root)) for child in around if _name(child) in ("item", "entry")
    ]
    return "".join(_page(channel, entries[:ENTRIES]))


def _page(channel: etree._Element, entries: list[etree._Element]) -> Iterator[str]:
    yield f"<body><h1>{_linked(channel) or 'Feed'}</h1><p>{escape(_plain(channel, 'description', 'subtitle'))}</p><ul>"
    for entry in entries:
        title = _linked(entry)
        notes = ", ".join(filter(None, (_plain(entry, *DATES), _author(entry))))
        body = next((found for name in TEXTS if (found := _html(entry, name))), "")
        yield f"<li><p>{title}{': ' if title and notes else ''}{escape(notes)}</p><div>{body}</div></li>"
    yield "</ul></body>"


def _name(element: etree._Element) -> str:
    """The name of an element without its namespace; a broken feed may have names that none has."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children of the first name that has any text, else of the next."""
    for name in names:
        for child in element:
            if _name(child) == name:
                yield child


def _plain(element: etree._Element, *names: str) -> str:
    texts = (" ".join("".join(child.itertext()).split()) for child in _children(element, *names))
    return next(filter(None, texts), "")


def _author(entry: etree._Element) -> str:
    named = (name for author in _children(entry, "author", "creator") for name in [_plain(author, "name")] if name)
    return next(named, "") or _plain(entry, "creator", "author")


def _linked(element: etree._Element) -> str:
    """The title of a feed or an entry, as a link where it has one."""
    links = [*_children(element, "link")]
    pages = [link for link in links if link.get("rel", "alternate") == "alternate"]
    links = [*pages, *(guid for guid in _children(element, "guid") if _is_address(guid))]
    address = next((found for link in links if (found := (link.get("href") or link.text or "").strip())), "")
    title = " ".join(_html(element, "title").split()) or escape(address)
    return f'<a href="{escape(address)}">{title}</a>' if address and title else title


def _is_address(guid: etree._Element) -> bool:
    """Whether an id is the address of its entry.

    https://www.rssboard.org/rss-specification#ltguidgtSubelementOfLtitemgt
    """
    is_url = (guid.text or "").strip().startswith(("http:", "https:"))
    return is_url and guid.get("isPermaLink") != "false"


def _html(element: etree._Element, name: str) -> str:
    """The content of a child as HTML: RSS has it as text, Atom says which it is."""
    for child in _children(element, name):
        kind = child.get("type", "")
        if kind == "xhtml" or (len(child) and kind != "html"):
            text = "".join(etree.tostring(inner, encoding="unicode", method="html") for inner in child)
        else:
            text = "".join(child.itertext())
        if text.strip():
            is_atom = str(child.tag).startswith(f"{{{ATOM}}}")
            if kind in ("html", "xhtml") or not (is_atom or name == "title"):
                return text
            return escape(text if is_atom else unescape(text))
    return ""
