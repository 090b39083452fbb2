"""A feed of RSS or Atom as a page: its title, and a list of its entries.

https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287,
https://validator.w3.org/feed/docs/rss1.html
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from html import escape, unescape
from html.entities import html5
from itertools import islice
from typing import TypeAlias
from urllib.parse import urljoin

from lxml import etree
from lxml.html import fragment_fromstring

from webdata.pages._elements import document
from webdata.pages._url.bounds import is_too_large, may_grow, without_hidden_parts, without_tags

LONGEST = 4_000_000
"""Characters of a feed that is parsed; a longer one is XML."""
ENTRIES = 2_000
"""Entries of a feed that are read."""
ROOTS = ("rss", "feed", "RDF")
ROOT = re.compile(r"<(?:[\w.-]+:)?(?:rss|feed|RDF)(?=[\s>])")
PROLOGUE = 20_000
"""Characters before the root of a feed at most."""
ELEMENT = re.compile(r"<[A-Za-z]")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
SPACES = {"content": "content", "dc": "dc", "itunes": "itunes", "media": "http://search.yahoo.com/mrss/"}
"""Prefixes that feeds use without a declaration, and the namespaces that they are given."""
ABOUT = ("description", "subtitle", "tagline", "info", "summary")
"""Elements with what a feed is about."""
MOST_TAGS = 50_000
"""Tags in the texts of a feed's entries, which are a page; of further texts the words are read."""
MOST_TAGS_OF_ONE = 10_000
TEXTS = ("encoded", "content", "body", "description", "summary", "media:description", "media:description of a group")
"""Elements with the text of an entry, the fullest first."""
ATOM = "http://www.w3.org/2005/Atom"
PLAYED = ("audio", "video")
DATES = ("pubDate", "published", "issued", "created", "updated", "modified", "date")
MARKUP = ("html", "xhtml", "text/html")
"""The types of texts that are HTML, in Atom and before it."""
PAIR = re.compile(r"<([a-z]\w{0,9})\b[^<>]*>[^<>]*</\1>", re.IGNORECASE)
"""An element in a title, which RSS has as text: one tag alone is what the title is about."""
FILE = re.compile("[?#]")
"""What ends the path of an address."""
NAME = re.compile(r"[A-Za-z][\w-]*+", re.ASCII)
"""The name of an element of HTML."""
ANCHOR = re.compile(r"</?a(?:\s[^<>]*)?>", re.IGNORECASE)
TAG = re.compile(r"<[A-Za-z]")
BLANK = re.compile(r"\n\s*\n")
RELATIVE = re.compile(r"""\s(?:href|src)\s*+=\s*+["']?+(?!\s*+(?:[a-z][\w+.-]*+:|//|\#|["'>]))""", re.IGNORECASE)
"""A link that is relative to the page that it is from."""
LITERAL = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(?![^\W\d]|[:!?/])"
    r"|&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)([A-Za-z]\w*;)?",
    re.DOTALL,
)
"""What is no markup in XML, or a sign that XML has not alone."""


Children: TypeAlias = Mapping[str, Sequence[etree._Element]]  # noqa: SLF001  # the only name of the type
"""Elements of a feed or an entry by their names."""


def feed_page(text: str) -> str | None:
    """The HTML of a feed's entries; None for XML that is no feed."""
    start = _start(text)
    if len(text) > LONGEST or start is None:
        return None
    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        root = etree.fromstring(LITERAL.sub(_known, _declared(text[start:])).encode("utf-8", "replace"), parser)
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
    beginning = COMMENT.sub(_blank, text[:PROLOGUE])
    root = ROOT.search(beginning)
    before = beginning[: root.start()].rpartition("<?xml")[2] if root else ""
    return root.start() if root and not ELEMENT.search(before) else None


def _blank(comment: re.Match[str]) -> str:
    return " " * len(comment[0])


def _declared(text: str) -> str:
    """A feed whose root declares the prefixes that are known."""
    spaces = "".join(
        f' xmlns:{prefix}="{space}"'
        for prefix, space in SPACES.items()
        if f"<{prefix}:" in text and f"xmlns:{prefix}=" not in text
    )
    return ROOT.sub(rf"\g<0>{spaces}", text, count=1)


def _known(found: re.Match[str]) -> str:
    """The same in XML: names of HTML's characters, and lone signs of texts and addresses, are in many feeds."""
    if found[0] == "<":
        return "&lt;"
    if not found[0].startswith("&"):
        return found[0]
    return escape(html5[found[1]]) if found[1] in html5 else f"&amp;{found[1] or ''}"


def _page(channel: etree._Element, entries: list[etree._Element]) -> Iterator[str]:
    feed = _children(channel)
    about = _closed(next((found for name in ABOUT if (found := _html(feed, name))), ""))
    yield f"<body><h1>{_linked(feed) or 'Feed'}</h1><div>{about}</div><p>{escape(_authors(feed))}</p><ul>"
    room = MOST_TAGS
    for element in entries:
        entry = _children(element)
        title = _linked(entry)
        notes = ", ".join(filter(None, (_plain(entry, *DATES), _authors(entry), _source(entry, element.prefix))))
        base = "" if _is_atom(element) else _link_of(entry)
        body = next((found for name in TEXTS if (found := _html(entry, name, base))), "")
        room -= body.count("<")
        body = _closed(body) if room > 0 else _words(body)
        media = "".join(
            f"<p>{_link(url, FILE.split(url, maxsplit=1)[0].rpartition('/')[2] or url)}</p>" for url in _media(entry)
        )
        yield f"<li><p>{title}{': ' if title and notes else ''}{escape(notes)}</p><div>{body}</div>{media}</li>"
    yield "</ul></body>"


def _closed(html: str) -> str:
    """HTML of which nothing is left open: the text of an entry is often cut off, and would go on in the next one."""
    if "<" not in html:
        return html
    if html.count("<") > MOST_TAGS_OF_ONE or is_too_large(html) or may_grow(html):
        return _words(html)
    body = document(f"<body>{html}".encode("utf-8", "replace"), scripting=True).body
    return (body.inner_html or "").replace("<plaintext", "<pre") if body is not None else ""


def _words(html: str) -> str:
    return escape(unescape(without_tags(without_hidden_parts(html))))


def _children(element: etree._Element) -> Children:
    """The children of a feed or an entry by their names, those of no extension first."""
    found: defaultdict[str, list[etree._Element]] = defaultdict(list)
    for child in sorted(element, key=lambda child: child.prefix != element.prefix):
        found[_name(child)].append(child)
    for inner in [inner for group in found["media:group"] for inner in group]:
        found[f"{_name(inner)} of a group"].append(inner)
    return found


def _name(element: etree._Element) -> str:
    """The name of an element without its namespace; a broken feed may have names that none has."""
    if not isinstance(element.tag, str):
        return ""
    space, _, name = element.tag.rpartition("}")
    return f"media:{name}" if space == f"{{{SPACES['media']}" else name


def _is_atom(element: etree._Element) -> bool:
    return str(element.tag).startswith(f"{{{ATOM}}}")


def _plain(entry: Children, *names: str) -> str:
    """The text of the first child of the first name that has any."""
    return next(filter(None, (_text(child) for name in names for child in entry.get(name, ()))), "")


def _text(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _authors(entry: Children) -> str:
    authors, creators = entry.get("author", ()), entry.get("creator", ())
    named = [_text(name) for author in (*authors, *creators) for name in author if _name(name) == "name"]
    own = [_text(author) for author in authors if author.prefix == authors[0].prefix]
    named = named or [_text(creator) for creator in creators] or own
    return ", ".join(dict.fromkeys(filter(None, named)))


def _source(entry: Children, prefix: str | None) -> str:
    """The name of what an entry was taken from, unless its title says it."""
    sources = (source for source in entry.get("source", ()) if source.prefix == prefix)
    name = next(filter(None, (_plain(_children(one), "title") if len(one) else _text(one) for one in sources)), "")
    return "" if name.casefold() in _plain(entry, "title").casefold() else name


def _linked(entry: Children) -> str:
    """The title of a feed or an entry, as a link where it has one."""
    address = _link_of(entry)
    titles = (_html(entry, name) for name in ("title", "media:title", "media:title of a group"))
    title = " ".join(_closed(next(filter(None, titles), "")).split()) or escape(address)
    return f'<a href="{escape(address)}">{ANCHOR.sub("", title)}</a>' if address and title else title


def _link_of(entry: Children) -> str:
    """The address of the page that a feed or an entry is of."""
    pages = [link for link in entry.get("link", ()) if link.get("rel", "alternate") == "alternate"]
    pages.sort(key=lambda link: "html" not in link.get("type", "html"))
    links = [*pages, *(one for name in ("guid", "id") for one in entry.get(name, ()) if _is_address(one))]
    return next((found for link in links if (found := _address(link, link.get("href") or link.text))), "")


def _link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def _media(entry: Children) -> Iterator[str]:
    """The addresses of the files that belong to an entry, as the sound of an episode."""
    links = (link for link in entry.get("link", ()) if link.get("rel") == "enclosure")
    outside = (content for content in entry.get("content", ()) if content.get("src"))
    played = filter(_is_played, entry.get("media:content", ()))
    of_group = islice(filter(_is_played, entry.get("media:content of a group", ())), 1)  # the others are the same
    files = (*entry.get("enclosure", ()), *links, *outside, *played, *of_group)
    given = ((one, one.get("url") or one.get("href") or one.get("src")) for one in files)
    yield from dict.fromkeys(filter(None, (_address(one, address) for one, address in given)))


def _is_played(content: etree._Element) -> bool:
    """Whether a file of Media RSS is sound or a film; a picture is beside the entry."""
    return str(content.get("medium") or content.get("type")).startswith(PLAYED)


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


def _html(entry: Children, name: str, base: str = "") -> str:
    """The content of the first child of a name that has any, as HTML, with links relative to a base."""
    return next(filter(None, (_as_html(child, base) for child in entry.get(name, ()))), "")


def _as_html(child: etree._Element, base: str) -> str:
    """The content of an element: RSS has it as text, Atom says which it is."""
    name, kind = _name(child), child.get("type", "")
    if _is_file(child, kind):
        return ""
    is_inline = kind == "xhtml" or (len(child) > 0 and kind != "html")
    text = _inner(child) if is_inline else "".join(child.itertext())
    if not text.strip():
        return ""
    if is_inline or kind in MARKUP or not _is_text(child, name, text):
        return _based(text if TAG.search(text) else BLANK.sub("<p>", text), child.base or base)
    lines = BLANK.sub("<p>", escape(text if _is_atom(child) else unescape(text)))
    return lines.replace("\n", "<br>") if name == "media:description" else lines


def _is_file(child: etree._Element, kind: str) -> bool:
    """Whether a content is a file in base64 (RFC 4287, 4.1.3.3, and Atom 0.3 before it)."""
    is_xml = len(child) > 0 or kind.endswith(("/xml", "+xml"))
    return child.get("mode") == "base64" or ("/" in kind and not kind.startswith("text/") and not is_xml)


def _is_text(child: etree._Element, name: str, text: str) -> bool:
    return _is_atom(child) or (name.endswith(("title", "media:description")) and not PAIR.search(text))


def _inner(child: etree._Element) -> str:
    """The elements in one as HTML, whose names have no prefix; written at once, with the namespaces of all."""
    part = deepcopy(child)
    part.tail = None
    for element in part.iter("*"):
        name = str(element.tag).rpartition("}")[2].rpartition(":")[2]  # a prefix may not be declared
        element.tag = name if NAME.fullmatch(name) else "span"
    part.tag = "div"
    return etree.tostring(part, encoding="unicode", method="html")


def _based(text: str, base: str | None) -> str:
    """HTML whose links are relative to this base."""
    if not base or not RELATIVE.search(text):
        return text
    try:
        part = fragment_fromstring(text, create_parent="div")
        part.make_links_absolute(base, handle_failures="ignore")
        return etree.tostring(part, encoding="unicode", method="html")
    except (etree.LxmlError, ValueError):
        return text
