"""A feed of RSS or Atom as a page: its title, and a list of its entries.

https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287,
https://validator.w3.org/feed/docs/rss1.html
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from html.entities import html5
from urllib.parse import urljoin, urlsplit

from lxml import etree
from lxml.html import fragment_fromstring

LONGEST = 4_000_000
"""Characters of a feed that is parsed; a longer one is XML."""
ENTRIES = 2_000
"""Entries of a feed that are read."""
ROOTS = ("rss", "feed", "RDF")
ROOT = re.compile(r"<(?:[\w.-]+:)?(?:rss|feed|RDF)(?=[\s>])")
PROLOGUE = 20_000
"""Characters before the root of a feed at most."""
ELEMENT = re.compile(r"<[A-Za-z]")
TEXTS = ("encoded", "content", "description", "summary", "media:description")
"""Elements with the text of an entry, the fullest first."""
ATOM = "http://www.w3.org/2005/Atom"
MEDIA = "http://search.yahoo.com/mrss/"
DATES = ("pubDate", "published", "issued", "updated", "modified", "date")
MARKUP = ("html", "xhtml", "text/html")
"""The types of texts that are HTML, in Atom and before it."""
PAIR = re.compile(r"<([a-z]\w{0,9})\b[^<>]*>[^<>]*</\1>", re.IGNORECASE)
"""An element in a title, which RSS has as text: one tag alone is what the title is about."""
LITERAL = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&(?!(?:amp|lt|gt|quot|apos|#\d+|#[xX][\da-fA-F]+);)([A-Za-z]\w*;)?",
    re.DOTALL,
)
"""What is no markup in XML, or an ampersand that XML has not."""


def feed_page(text: str) -> str | None:
    """The HTML of a feed's entries; None for XML that is no feed."""
    start = _start(text)
    if len(text) > LONGEST or start is None:
        return None
    parser = etree.XMLParser(encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(LITERAL.sub(_known, text[start:]).encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is None or _name(root) not in ROOTS:
        return None
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = [
        child for around in dict.fromkeys((channel, root)) for child in around if _name(child) in ("item", "entry")
    ]
    return "".join(_page(channel, entries[:ENTRIES]))


def _start(text: str) -> int | None:
    """Where the root of a feed begins: after what a server has written before the document, too."""
    root = ROOT.search(text, 0, PROLOGUE)
    before = text[: root.start()].rpartition("<?xml")[2] if root else ""
    return root.start() if root and not ELEMENT.search(before) else None


def _known(found: re.Match[str]) -> str:
    """The same in XML: names of HTML's characters, and ampersands of texts and addresses, are in many feeds."""
    if not found[0].startswith("&"):
        return found[0]
    return escape(html5[found[1]]) if found[1] in html5 else f"&amp;{found[1] or ''}"


def _page(channel: etree._Element, entries: list[etree._Element]) -> Iterator[str]:
    about = _plain(channel, "description", "subtitle", "summary")
    yield f"<body><h1>{_linked(channel) or 'Feed'}</h1><p>{escape(about)}</p><ul>"
    for entry in entries:
        title = _linked(entry)
        notes = ", ".join(filter(None, (_plain(entry, *DATES), _authors(entry))))
        body = next((found for name in TEXTS if (found := _html(entry, name))), "")
        media = "".join(f"<p>{_link(url, urlsplit(url).path.rpartition('/')[2] or url)}</p>" for url in _media(entry))
        yield f"<li><p>{title}{': ' if title and notes else ''}{escape(notes)}</p><div>{body}</div>{media}</li>"
    yield "</ul></body>"


def _name(element: etree._Element) -> str:
    """The name of an element without its namespace; a broken feed may have names that none has."""
    if not isinstance(element.tag, str):
        return ""
    space, _, name = element.tag.rpartition("}")
    return f"media:{name}" if space == f"{{{MEDIA}" else name


def _children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children of the first name that has any text, else of the next; those of no extension first."""
    within = [inner for child in element if _name(child) == "media:group" for inner in child]
    for name in names:
        found = [child for child in (*element, *within) if _name(child) == name]
        yield from sorted(found, key=lambda child: child.prefix != element.prefix)


def _plain(element: etree._Element, *names: str) -> str:
    return next(_plains(element, *names), "")


def _plains(element: etree._Element, *names: str) -> Iterator[str]:
    yield from filter(None, (" ".join("".join(child.itertext()).split()) for child in _children(element, *names)))


def _authors(entry: etree._Element) -> str:
    named = [name for author in _children(entry, "author", "creator") for name in _plains(author, "name")]
    return ", ".join(dict.fromkeys(named or _plains(entry, "creator"))) or _plain(entry, "author")


def _linked(element: etree._Element) -> str:
    """The title of a feed or an entry, as a link where it has one."""
    links = [*_children(element, "link")]
    pages = [link for link in links if link.get("rel", "alternate") == "alternate"]
    links = [*pages, *(guid for guid in _children(element, "guid") if _is_address(guid))]
    address = next((found for link in links if (found := _address(link, link.get("href") or link.text))), "")
    title = " ".join(_html(element, "title").split()) or escape(address)
    return f'<a href="{escape(address)}">{title}</a>' if address and title else title


def _link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def _media(entry: etree._Element) -> Iterator[str]:
    """The addresses of the files that belong to an entry, as the sound of an episode."""
    links = (link for link in _children(entry, "link") if link.get("rel") == "enclosure")
    for one in (*_children(entry, "enclosure"), *links):
        if address := _address(one, one.get("url") or one.get("href")):
            yield address


def _address(element: etree._Element, text: str | None) -> str:
    """An address that an element names, relative to its `xml:base`."""
    address, base = (text or "").strip(), element.base
    try:
        return urljoin(base, address) if base and address else address
    except ValueError:
        return address


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
        if "/" in kind and not kind.startswith("text/") and not len(child):
            continue  # a file in base64 (RFC 4287, 4.1.3.3)
        if kind == "xhtml" or (len(child) and kind != "html"):
            text = "".join(etree.tostring(inner, encoding="unicode", method="html") for inner in child)
        else:
            text = "".join(child.itertext())
        if text.strip():
            is_atom = str(child.tag).startswith(f"{{{ATOM}}}")
            is_text = is_atom or (name == "title" and not PAIR.search(text))
            if kind in MARKUP or not is_text:
                return _based(text, child.base)
            return escape(text if is_atom else unescape(text))
    return ""


def _based(text: str, base: str | None) -> str:
    """HTML whose links are relative to this base."""
    if not base:
        return text
    try:
        part = fragment_fromstring(text, create_parent="div")
        part.make_links_absolute(base, handle_failures="ignore")
        return etree.tostring(part, encoding="unicode", method="html")
    except (etree.LxmlError, ValueError):
        return text
