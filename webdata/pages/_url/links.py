"""Links, pictures and footnotes of a part of a page, prepared for Markdown."""

import re
from urllib.parse import unquote, urljoin

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import several

LAZY = ("data-src", "data-original", "data-lazy-src", "data-srcset", "srcset")
"""Attributes with the address of a picture that is loaded when it scrolls into view."""
NO_LINKS = ("javascript:", "data:", "vbscript:", "about:", "blob:")
PERMANENT = re.compile(r"[\s#¶§🔗⚓]*")
"""The text of a heading's link to itself."""
BACK = re.compile(r"[\s^↑↩⤴︎\ufe0e\ufe0f←]*")
"""The text of a footnote's link to its reference."""
MARK = re.compile(r"\s*\[?\s*(\w{1,8})\s*\]?\s*")
"""The text of a reference to a footnote: `1`, `[1]`, `a`."""
TINY = frozenset(["0", "1", "2"])
PICTURE = re.compile(r"[^?#]+\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:[?#].*)?", re.IGNORECASE)
"""The address of a picture, or its file's name."""


def linked(root: HtmlElement, base: str) -> None:
    """Make the addresses of links and pictures absolute; remove those without a usable address."""
    for link in [*root.iter("a")]:
        href = address(link.get("href"), base)
        if href is None or not (link.text_content().strip() or link.find(".//img") is not None):
            _unlink(link)
        elif (
            not link.text_content().strip()
            and (picture := link.find(".//img")) is not None
            and _is_larger(href, picture)
        ):
            picture.set("src", href)
            _unlink(link)
        else:
            link.attrib.clear()
            link.set("href", href)
    for picture in [*root.iter("img")]:
        _prepare_picture(picture, base)


def _is_larger(href: str, picture: HtmlElement) -> bool:
    """Whether an address is that of the same picture in large: `view.jpg` of `view-300x200.jpg`.

    Pages about a picture have its name too, such as `/wiki/File:View.jpg`.
    """
    name = _file_name(href)
    if not PICTURE.fullmatch(name) or ":" in name:
        return False
    small = (_file_name(source) for source in map(picture.get, ("src", *LAZY)) if source)
    return any(one != name and one.startswith(name.rpartition(".")[0]) for one in small)


def _file_name(address: str) -> str:
    return address.partition("?")[0].partition("#")[0].rpartition("/")[2]


def address(href: str | None, base: str) -> str | None:
    """An absolute address, escaped for `(…)`; None for an address that is empty or not of a document."""
    href = (href or "").strip()
    if href in ("", "#") or href.lower().startswith(NO_LINKS):
        return None
    try:
        absolute = urljoin(base, href)
    except ValueError:
        absolute = href
    return absolute.translate(ESCAPES)


ESCAPES = str.maketrans({char: f"%{ord(char):02X}" for char in '() <>[]\\"`'} | dict.fromkeys("\r\n\t", ""))


def _prepare_picture(picture: HtmlElement, base: str) -> None:
    source = address(picture.get("src"), base)
    if source is None:
        lazy = (picture.get(name, "").split(",")[0].split(" ")[0] for name in LAZY)
        source = address(next(filter(None, lazy), None), base)
    text = " ".join(picture.get("alt", "").split())
    text = "" if PICTURE.fullmatch(text) and " " not in text else text
    tiny = picture.get("width") in TINY or picture.get("height") in TINY
    tail = picture.tail
    picture.clear(keep_tail=False)
    picture.tail = tail
    if source is None or tiny:
        picture.tag, picture.text = "span", "" if tiny else text
    else:
        picture.set("src", source)
        picture.set("alt", text.replace("[", "(").replace("]", ")"))


def footnotes(root: HtmlElement) -> None:
    """Write references as `[^1]`, and the notes that they link to as `[^1]: …`.

    A link within the page to something that is not in this part of it is only text.
    """
    targets = {name: element for element in root.iter("*") if (name := element.get("id") or element.get("name"))}
    notes: dict[HtmlElement, str] = {}
    backs = []
    for link in [*root.iter("a")]:
        href = link.get("href") or ""
        target = targets.get(unquote(href.partition("#")[2]))
        text = link.text_content()
        mark = MARK.fullmatch(text)
        if target is not None and BACK.fullmatch(text):
            backs.append(link)
        elif target is not None and mark and _is_reference(link):
            label = notes.setdefault(_note(target), mark[1])
            _write(link, f"[^{label}]")
        elif target is None and href.startswith("#"):
            _unlink(link)
    drop(backs)
    for note, label in notes.items():
        _define(note, label)


def permanent(root: HtmlElement) -> None:
    """Remove the links of headings to themselves, but not their text."""
    marks = []
    for link in root.xpath(".//*[self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6]//a"):
        if not (link.get("href") or "").startswith("#"):
            continue
        if PERMANENT.fullmatch(link.text_content()):
            marks.append(link)
        else:
            _unlink(link)
    drop(marks)


def _unlink(link: HtmlElement) -> None:
    link.tag = "span"
    link.attrib.clear()


def _is_reference(link: HtmlElement) -> bool:
    if link.get("role") == "doc-noteref" or link.find("sup") is not None:
        return True
    return any(around.tag == "sup" for around in (*link.iterancestors(),)[:3]) or "footnote" in link.get("class", "")


def _note(target: HtmlElement) -> HtmlElement:
    """The element of the whole note: the target is often an empty element at its beginning."""
    whole = target
    while whole.tag in ("a", "sup", "span", "b", "cite") and (around := whole.getparent()) is not None:
        whole = around
    return whole


def _write(link: HtmlElement, text: str) -> None:
    place = next((around for around in (*link.iterancestors(),)[:3] if around.tag == "sup"), link)
    if place is not link and several(place, "a"):
        place = link
    tail = place.tail
    place.clear(keep_tail=False)
    place.tag, place.text, place.tail = "span", text, tail


def _define(note: HtmlElement, label: str) -> None:
    if note.tag == "li":
        around = note.getparent()
        note.tag = "div"
        if around is not None and around.tag in ("ol", "ul"):
            around.tag = "div"
    if note.tag in ("div", "p", "dd", "aside", "section"):
        first = note[0] if len(note) and note[0].tag == "p" and not (note.text or "").strip() else note
        first.text = f"[^{label}]: {(first.text or '').lstrip()}"
