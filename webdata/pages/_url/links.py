"""Links, pictures and footnotes of a part of a page, prepared for Markdown."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from html import unescape
from itertools import islice
from urllib.parse import quote, quote_from_bytes, unquote

from ada_url import URL
from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.names import NOTES_IN_TEXT
from webdata.pages._url.weights import BLOCKS, HEADINGS

NO_LINKS = ("javascript:", "data:", "vbscript:", "about:", "blob:")
PERMANENT = re.compile(r"[\s#¶§🔗⚓\u200b]*")
"""The text of a heading's link to itself."""
BACK = re.compile(r"[\s^↑↩⤴︎\ufe0e\ufe0f←]*")
"""The text of a footnote's link to its reference."""
MARK = re.compile(r"\[? ?(\w{1,8})(?: (\d{1,3}))? ?\]?")
"""The text of a reference to a footnote: `1`, `[1]`, `a`, `[note 1]`."""
NUMBER = re.compile(r"[\s.:)(\[\]]+")
"""Signs around the number of a note."""
MARK_TEXT = 40
"""Characters of the longest such text, with its spaces: more of them would be matched in quadratic time."""
INLINE = frozenset(["a", "b", "cite", "span", "strong", "sup"])
"""Elements with the number of a note, to which the reference leads."""
NOTES = frozenset(["aside", "dd", "div", "li", "p", "section"])
NUMBERED = re.compile(r"\s*+[\[(]?(\d{1,4})(?:[\])]?[.:]?\s|[.\])](?!\d))")
"""The number with which a note begins."""
END = re.compile(r"[^\s(\[{<,/\d-]")
"""The end of a word or sentence."""
MOST_INNER = 200
LEVELS = 5
"""Elements between a note and its link back."""
RAISED = frozenset(["b", "cite", "span", "sup"])
"""Elements around a link back to a reference, and its brackets."""
NOTE_MARKS = frozenset(["ltx_note_mark", "ltx_tag_note"])
"""Classes of the marks of LaTeXML's notes."""
MOST_ADDRESSES = 8_000_000
"""Characters of the addresses of one page, of which each relative one becomes longer than the page's own."""
TINY = frozenset(["0", "1", "2"])
SIGNS = 12
"""Characters of the longest emoji."""
TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
PICTURE = re.compile(r"[^?#]+\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:[?#].*)?", re.IGNORECASE)
"""The address of a picture, or its file's name."""


class PageAddresses:
    """The absolute addresses of a page's links and pictures, as long as there is room for them."""

    def __init__(self, base: str, charset: str) -> None:
        self._base = base
        self._charset = charset
        self._left = MOST_ADDRESSES

    def of(self, href: str | None) -> str | None:
        """An address by `address`; None, too, where there is no room for more."""
        found = address(href, self._base, self._charset) if self._left > 0 else None
        self._left -= len(found or "")
        return found


def linked(root: HtmlElement, base: str, charset: str = "utf-8") -> None:
    """Make the addresses of links and pictures absolute; remove those without a usable address."""
    larger: dict[HtmlElement, str] = {}
    addresses = PageAddresses(base, charset)
    for link in [*root.iter("a")]:
        href = addresses.of(link.get("href"))
        picture = None if link.text_content().strip() else link.find(".//img")
        if href is None:
            _unlink(link)
        elif picture is not None and (href == addresses.of(picture.get("src")) or _is_larger(href, picture)):
            larger[picture] = href
            _unlink(link)
        else:
            link.attrib.clear()
            link.set("href", href)
    for picture in [*root.iter("img")]:
        picture.set("src", larger.get(picture) or picture.get("src", ""))
        _prepare_picture(picture, addresses)
    for link in root.iter("a"):
        if not link.text_content().strip() and link.find(".//img") is None:
            _unlink(link)


def _is_larger(href: str, picture: HtmlElement) -> bool:
    """Whether an address is that of the same picture in large: `view.jpg` of `view-300x200.jpg`.

    Pages about a picture have its name too, such as `/wiki/File:View.jpg`.
    """
    name = _file_name(href)
    if not PICTURE.fullmatch(name) or ":" in name:
        return False
    small = _file_name(picture.get("src", ""))
    return small != name and small.startswith(name.rpartition(".")[0])


def _file_name(address: str) -> str:
    return address.partition("?")[0].partition("#")[0].rpartition("/")[2]


def address(href: str | None, base: str, charset: str = "utf-8") -> str | None:
    """An absolute address by the URL Standard, escaped for `(…)`; None for one that is empty or not of a document.

    The query is in the charset of its page. https://url.spec.whatwg.org/
    """
    text = (href or "").strip(AROUND).translate(LINE_ENDS)
    if text in ("", "#"):
        return None
    try:
        url = URL(_encoded(text, charset), base)
        absolute = url.href
        start = f"{absolute}/".index("/", len(url.protocol) + 2) if url.host else 0
    except ValueError:
        return None
    if absolute.startswith(NO_LINKS):
        return None
    return absolute[:start] + absolute[start:].translate(ESCAPES)  # brackets of a host are part of it


AROUND = "".join(map(chr, range(33)))
"""Characters that are no part of an address at its ends."""
LINE_ENDS = dict.fromkeys(map(ord, "\t\n\r"))
ESCAPES = str.maketrans({char: f"%{ord(char):02X}" for char in '() <>[]\\"`'})
QUERY = re.compile(r"\?[^#]*+")
BEYOND = re.compile(r"[^\x00-\x7f]+")


def _encoded(address: str, charset: str) -> str:
    """An address whose query is in ASCII.

    https://url.spec.whatwg.org/#query-state
    """
    if charset.startswith("utf-") or address.isascii() or not _is_of_web(address):
        return address
    return QUERY.sub(lambda query: BEYOND.sub(lambda found: _percent(found[0], charset), query[0]), address, count=1)


def _is_of_web(address: str) -> bool:
    """Whether an address is relative, or of the schemes with a query in the charset of the page."""
    scheme = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*+:", address)
    return scheme is None or scheme[0].lower() in ("http:", "https:")


def _percent(text: str, charset: str) -> str:
    try:
        return (
            quote_from_bytes(text.encode(charset, "xmlcharrefreplace"), safe="&#;")
            .replace("&#", "%26%23")
            .replace(";", "%3B")
        )
    except (LookupError, UnicodeError):
        return quote(text)


def _prepare_picture(picture: HtmlElement, addresses: PageAddresses) -> None:
    source = addresses.of(picture.get("src"))
    text = " ".join(_plain(picture.get("alt", "")).split())
    text = "" if PICTURE.fullmatch(text) and " " not in text else text
    tiny = picture.get("width") in TINY or picture.get("height") in TINY
    tail = picture.tail
    picture.clear(keep_tail=False)
    picture.tail = tail
    if source is None or tiny or _is_of_signs(text):
        picture.tag, picture.text = "span", "" if tiny else text
    else:
        picture.set("src", source)
        picture.set("alt", text.replace("[", "(").replace("]", ")"))


def _plain(text: str) -> str:
    """The text of a picture, which some pages write as HTML."""
    if "&" in text:
        text = unescape(text)
    if "</" in text:
        text = TAG.sub(" ", text)
    return text.replace("\xad", "")


def _is_of_signs(text: str) -> bool:
    """Whether a picture stands for the signs that are its text, such as an emoji."""
    return 0 < len(text) <= SIGNS and not any(char.isascii() or char.isalnum() for char in text)


def headed(root: HtmlElement) -> None:
    """Move the links around headings and other blocks into the headings, in place: no link has blocks in Markdown."""
    for link in [*root.iter("a")]:
        if (heading := next(link.iterdescendants(*HEADINGS), None)) is not None:
            _link_heading(link, heading)
        elif link.find(".//img") is not None and link.find(".//table") is None:
            _flatten(link)


def _flatten(link: HtmlElement) -> None:
    """Make the blocks of a link with a picture parts of one line, in place: the converter has only text of blocks."""
    for block in link.iterdescendants(*BLOCKS):
        block.tag = "span"
        block.text, block.tail = f" {block.text or ''}", f" {block.tail or ''}"


def _link_heading(link: HtmlElement, heading: HtmlElement) -> None:
    """Move a link around a heading and other blocks into the heading, which would be lost in it."""
    href = link.get("href", "")
    link.tag = "div"
    link.attrib.clear()
    if not href or heading.find(".//a") is not None or not heading.text_content().strip():
        return
    inner = heading.makeelement("a", {"href": href})
    inner.text, heading.text = heading.text, None
    inner.extend([*heading])
    heading.append(inner)


def footnotes(root: HtmlElement) -> None:
    """Write references as `[^1]`, and the notes that they link to as `[^1]: …`.

    A link within the page to something that is not in this part of it is only text.
    """
    targets: dict[str, HtmlElement] = {}
    for element in root.iter("*"):
        if name := element.get("id") or element.get("name"):
            targets.setdefault(name, element)
    _part_notes(root, targets)
    links = [*root.iter("a")]
    linked_in = Counter(raised for link in links for raised in link.iterancestors("sup"))
    leads = {link: targets.get(unquote((link.get("href") or "").partition("#")[2])) for link in links}
    linked_to = {*leads.values()}
    _part_lines([target for target in targets.values() if target in linked_to])
    answers = {target: link for link, target in leads.items() if target is not None}
    notes: dict[HtmlElement, str] = {}
    backs = []
    references: set[HtmlElement] = set()
    for link, target in leads.items():
        text = link.text_content()
        mark = MARK.fullmatch(" ".join(text.split())) if len(text) <= MARK_TEXT else None
        if target is not None and (BACK.fullmatch(text) or (mark and target in references)):
            backs.append(_with_brackets(link))
        elif (
            target is not None and mark and (_is_reference(link) or _is_of_note(link, mark[1], _note(target), answers))
        ):
            label = notes.setdefault(_note(target), mark[1] + (mark[2] or ""))
            raised = next((around for around in islice(link.iterancestors(), 3) if around.tag == "sup"), link)
            references.update((link, *islice(link.iterancestors("sup", "span"), 3)))
            _write(raised if linked_in[raised] == 1 else link, f"[^{label}]")
        elif target is None and (link.get("href") or "").startswith("#"):
            if text.strip() and BACK.fullmatch(text):
                backs.append(link)
            _unlink(link)
    _drop_signs(backs)
    drop(backs)
    for note, label in notes.items():
        _define(note, label)


def _part_notes(root: HtmlElement, targets: Container[str]) -> None:
    """Put the notes that stand in the text behind it, in place, and references to them where they stood."""
    labels: set[str] = set()
    for note in [note for note in root.iter("span") if "note" in note.get("class", "")]:
        names = note.get("class", "").split()
        if "ltx_note" in names:
            _part_note(root, note, names)
        elif not NOTES_IN_TEXT.isdisjoint(names):
            _part_side_note(root, note, labels, targets)


def _part_note(root: HtmlElement, note: HtmlElement, names: Sequence[str]) -> None:
    """Put a note that LaTeXML writes behind the text; a style sheet shows it beside that."""
    inner = [one for one in note.iter("span") if "ltx_note_content" in one.get("class", "").split()]
    marks = [one for one in note.iter("sup", "span") if not NOTE_MARKS.isdisjoint(one.get("class", "").split())]
    mark = MARK.fullmatch(marks[0].text_content().strip()[:MARK_TEXT]) if marks else None
    if len(inner) != 1 or mark is None:
        return
    drop(marks)
    if "ltx_role_footnotemark" not in names:  # else its text is that of another
        inner[0].tag, inner[0].tail = "p", None
        inner[0].text = f"[^{mark[1]}]: {(inner[0].text or '').lstrip()}"
        root.append(inner[0])
    _write(note, f"[^{mark[1]}]")


def _part_side_note(root: HtmlElement, note: HtmlElement, labels: set[str], targets: Container[str]) -> None:
    """Put a note in a sentence behind the text, with its own number, or the next one of the page.

    One whose number leads to a note behind the text is a copy of that.
    """
    before, around = note.getprevious(), note.getparent()
    if around is None or not note.text_content().strip() or (before is None and not (around.text or "").strip()):
        return
    if before is not None and any(link.get("href", "").removeprefix("#") in targets for link in before.iter("a")):
        drop([note])
        return
    number = note[0] if len(note) and not (note.text or "").strip() else None
    within = _mark(number)
    mark = "" if before is None or (before.tail or "").strip() else _mark(before)
    if mark and before is not None:
        drop([before])
    elif before is None and (found := MARK.fullmatch((around.text or "").strip()[-MARK_TEXT:])):
        mark, around.text = found[1], None
    if within and number is not None:
        drop([number])
    label = mark or within or str(len(labels) + 1)
    label = f"{label}-{len(labels)}" if label in labels else label
    labels.add(label)
    reference = note.makeelement("span")
    reference.text, reference.tail, note.tail = f"[^{label}]", note.tail, None
    around.replace(note, reference)
    note.tag, note.text = "p", f"[^{label}]: {(note.text or '').lstrip()}"
    root.append(note)


def _mark(element: HtmlElement | None) -> str:
    """The number of a note that is all of an element of a line."""
    if element is None or element.tag not in ("label", *INLINE):
        return ""
    found = MARK.fullmatch(element.text_content()[:MARK_TEXT].strip().rstrip("."))
    return found[1] if found else ""


def permanent(root: HtmlElement) -> None:
    """Remove the links of headings to themselves, but not their text, and the signs that link to the part around."""
    marks = []
    targets = {name for element in root.iter("*") if (name := element.get("id"))}
    headed = {link for heading in root.iter(*HEADINGS) for link in heading.iter("a")}
    for link in [*root.iter("a")]:
        href = link.get("href") or ""
        if not href.startswith("#"):
            continue
        is_sign = PERMANENT.fullmatch(link.text_content()) is not None
        if link in headed:
            marks += [link] if is_sign else []
            link.tag = "span"  # a reference may lead to it
            link.attrib.pop("href")
        elif is_sign and link.text and (name := unquote(href[1:])) in targets and _is_within(link, name):
            marks.append(link)
    drop(marks)


def _is_within(link: HtmlElement, name: str) -> bool:
    return any(around.get("id") == name for around in link.iterancestors())


def _unlink(link: HtmlElement) -> None:
    link.tag = "span"
    link.attrib.clear()


def _with_brackets(link: HtmlElement) -> HtmlElement:
    """A link, or what is around it and its brackets."""
    whole, around = link, link.getparent()
    while around is not None and around.tag in RAISED and MARK.fullmatch(around.text_content()[:MARK_TEXT].strip()):
        whole, around = around, around.getparent()
    return whole


def _is_reference(link: HtmlElement) -> bool:
    if link.get("role") == "doc-noteref" or link.find("sup") is not None:
        return True
    return any(around.tag == "sup" for around in (*link.iterancestors(),)[:3]) or "footnote" in link.get("class", "")


def _is_of_note(link: HtmlElement, mark: str, note: HtmlElement, answers: Mapping[HtmlElement, HtmlElement]) -> bool:
    """Whether a link leads to a text with a link back to it, or stands right behind a word and leads to its number."""
    if note.tag not in NOTES or any(around is note for around in link.iterancestors()):
        return False
    if any(inner.tag in HEADINGS for inner in islice(note.iter("*"), MOST_INNER)):
        return False
    back = next((answers[one] for one in (link, *islice(link.iterancestors("span"), 2)) if one in answers), None)
    if back is not None and any(around is note for around in islice(back.iterancestors(), LEVELS)):
        return True
    number = NUMBERED.match(_beginning(note))
    is_apart = (link.text_content()).lstrip()[:1] == "[" or END.fullmatch(_before(link)) is not None
    return number is not None and number[1] == mark and is_apart


def _before(link: HtmlElement) -> str:
    """The character before a link, also where it is the first of a `span`."""
    before, around = link.getprevious(), link.getparent()
    while before is None and around is not None and not around.text and around.tag == "span":
        before, around = around.getprevious(), around.getparent()
    text = before.tail if before is not None else around.text if around is not None else ""
    return (text or "")[-1:]


def _part_lines(targets: Sequence[HtmlElement]) -> None:
    """Part, in place, the notes of one paragraph, each of which begins behind a line end with what is linked to."""
    for target in reversed(targets):
        line = target
        while line.tag in INLINE and (around := line.getparent()) is not None and around.tag in INLINE:
            line = around
        block, before = line.getparent(), line.getprevious()
        if block is None or block.tag != "p" or before is None or before.tag != "br" or (before.tail or "").strip():
            continue
        if line.tag in INLINE and MARK.fullmatch(" ".join(target.text_content()[:MARK_TEXT].split())):
            after = block.makeelement("p")
            after.extend([line, *line.itersiblings()])
            after.tail, block.tail = block.tail, None
            block.addnext(after)


def _note(target: HtmlElement) -> HtmlElement:
    """The element of the whole note: the target is often an empty element at its beginning."""
    whole = target
    while whole.tag in INLINE and (around := whole.getparent()) is not None:
        whole = around
    following = whole.getnext() if whole.tag in HEADINGS else None
    is_number = following is not None and MARK.fullmatch(NUMBER.sub("", _beginning(whole))) is not None
    return following if following is not None and is_number and following.tag in NOTES else whole


def _beginning(element: HtmlElement) -> str:
    """The first texts of an element, which may be a long one and be asked for often."""
    return "".join(islice(element.itertext(), 5))[:MARK_TEXT]


def _drop_signs(backs: Sequence[HtmlElement]) -> None:
    """Remove, in place, the sign before the first of several links back of a note: `^ a b`."""
    for back in backs:
        before, around = back.getprevious(), back.getparent()
        if before is None and around is not None and BACK.fullmatch(around.text or ""):
            around.text = None


def _write(place: HtmlElement, text: str) -> None:
    tail = place.tail
    place.clear(keep_tail=False)
    place.tag, place.text, place.tail = "span", text, tail


def _define(note: HtmlElement, label: str) -> None:
    if note.tag == "li":
        around = note.getparent()
        note.tag = "div"
        if around is not None and around.tag in ("ol", "ul"):
            around.tag = "div"
    if note.tag in NOTES:
        heading = note.getprevious()  # of Texinfo
        if heading is not None and heading.tag in HEADINGS and NUMBER.sub("", _beginning(heading)) == label:
            drop([heading])
        _drop_number(note, label)
        first = _first_block(note)
        first.text = f"[^{label}]: {(first.text or '').lstrip()}"


def _drop_number(note: HtmlElement, label: str) -> None:
    """Remove the number with which a note begins."""
    first = note
    while len(first) and not (first.text or "").strip():
        first = first[0]
        if first.tag in INLINE and NUMBER.sub("", first.text_content()[:MARK_TEXT]) == label:
            first.tail = (first.tail or "").lstrip(" .:)\t\n")
            drop([first])
            return
    number = NUMBERED.match(first.text or "")
    if number is not None and number[1] == label:
        first.text = (first.text or "")[number.end() :]


def _first_block(note: HtmlElement) -> HtmlElement:
    """The innermost block with which the text of a note begins."""
    first = note
    while not (first.text or "").strip():
        inner = next((one for one in first if any(map(str.strip, one.itertext())) or (one.tail or "").strip()), None)
        if inner is None or inner.tag not in ("div", "p"):
            break
        first = inner
    return first
