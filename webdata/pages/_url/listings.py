"""Listings of a page, each as one `pre` with one `code` in it: every line, blank line and indentation as displayed.

Highlighters write lines as text, as blocks, as spans with a class, or as the rows of a table, and the numbers of lines
beside them. A number is recognised by its place, its class and its digits, so that no name removes code.
"""

import re
from collections.abc import Container, Iterator
from itertools import islice, takewhile

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import HEADINGS, around_several

LANGUAGE = re.compile(
    r"(?:language|lang|(?:mw-)?highlight-(?:lang|source|text)|brush|src|hljs"
    r"|highlight(?!-(?:default|none|wrap|box|block|code|container|table|line)))[-:]([a-z][\w+#.-]*+).*",
    re.IGNORECASE,
)
"""A class that names the language of a listing, perhaps with the lines to be marked: `language-js{1,3}`."""
BRUSH = re.compile(r"\bbrush:\s*+([a-z][\w+#-]*+)", re.IGNORECASE)
HIGHLIGHTERS = frozenset(
    ["hl", "hljs", "highlight", "sourcecode", "prettyprint", "syntaxhighlighter", "chroma", "rouge"]
)
"""Classes beside which the bare name of a language stands."""
LANGUAGES = frozenset([
    "apache", "bash", "c", "c#", "c++", "clojure", "cmake", "console", "cpp", "cs", "csharp", "css", "dart", "diff",
    "dockerfile", "elixir", "elm", "erlang", "fish", "fortran", "fsharp", "go", "golang", "graphql", "groovy",
    "haskell", "hcl", "html", "http", "ini", "java", "javascript", "js", "json", "jsx", "julia", "kotlin", "latex",
    "lean", "less", "lisp", "lua", "makefile", "markdown", "matlab", "nginx", "nix", "objc", "objectivec", "ocaml",
    "perl", "php", "plaintext", "powershell", "properties", "protobuf", "ps1", "py", "python", "python3", "r", "rb",
    "rs", "ruby", "rust", "sass", "scala", "scheme", "scss", "sh", "shell", "sql", "svelte", "swift", "tex", "text",
    "toml", "ts", "tsx", "typescript", "vb", "vbnet", "vim", "vue", "xml", "yaml", "yml", "zig",
])  # fmt: skip
NO_LANGUAGE = frozenset(
    ["auto", "code", "default", "no-highlight", "nohighlight", "none", "null", "undefined", "unknown"]
)
NUMBERED = re.compile(
    r"(?<![a-z])(?:line-?no|line-?nos|line-?nums?|line-?numbers?|gutters?|linenodiv|lnt?|l?nums|blob-num|crayon-nums?"
    r"|hljs-ln-numbers|line-?numbers?-(?:rows|wrapper)|codelinenumber\w*|margin-view-overlays|ltx_tag_listingline)"
    r"(?![a-z])",
    re.IGNORECASE,
)
"""Classes of the numbers of lines."""
UNSELECTED = re.compile(r"user-select\s*:\s*none", re.IGNORECASE)
"""The style of numbers that are not copied with the code."""
DIGITS = re.compile(r"\d{1,7}")
NUMBER = re.compile(r"[\s\d.:|\xa0]*")
"""The text of an element with nothing but numbers of lines."""
CODE = re.compile(
    r"(?<![a-z])(?:code|rouge-code|blob-code|lntd|hljs-ln-code|crayon-(?:code|pre))(?![a-z])", re.IGNORECASE
)
"""Classes of the cells with the code of a listing that is a table."""
LINE = re.compile(
    r"(?:^|\s)(?:(?:\w+-)*(?:code|token|view|crayon|codemirror)-line|line|react-code-line|cm-line)(?:\s|$)",
    re.IGNORECASE,
)
"""Classes of the elements of single lines, which style sheets make blocks."""
EDITORS = frozenset([
    "ace_text-layer", "cm-content", "CodeMirror-code", "enlighter", "ltx_lstlisting", "react-code-lines", "view-lines",
])  # fmt: skip
"""Classes of the elements in which programs (Ace, CodeMirror, EnlighterJS, LaTeXML, GitHub, Monaco) show lines."""
HELPERS = frozenset(["CodeMirror-measure", "hover-info", "ltx_listing_data", "twoslash-popup-container"])
"""Classes of what these programs put among the lines and show elsewhere, or not at all."""
SOURCES = ("listing", "plaintext", "xmp")
"""Obsolete elements that browsers show as `pre`: https://html.spec.whatwg.org/#the-pre-element"""
COPY = re.compile(r"copy|clipboard", re.IGNORECASE)
COPY_LABEL = re.compile(r"\W*(?:(?:cop|kop|kóp|скоп|复制|複製|コピー).{0,20})?", re.IGNORECASE)
"""The label of a button that copies a listing."""
BLOCKS = frozenset(["div", "p", "li", "ol", "ul", "table", "tbody", "tr", "pre", "section", "blockquote"])
"""Elements of a listing that stand on lines of their own."""
SILENT = frozenset(["button", "input", "noscript", "script", "select", "style", "svg", "template", "textarea"])
BLOCK_STYLE = re.compile(r"(?<![\w-])display\s*:\s*(?:block|flex|grid|table(?:-row)?)\b", re.IGNORECASE)
FRAMES = ("div", "figcaption", "p", "small", "span")
"""Elements that may be the label of a listing."""
MOST_FRAMES = 4
MOST_BEGINNING = 24
"""Elements of a listing before its code."""
MOST_LINES = 20_000
"""Line ends by style of one page that are written."""
TOP = re.compile(r"(?:^|[;\s])top\s*:\s*(\d{1,9})(?:\.\d*)?px", re.IGNORECASE)
"""The style of a line that an editor puts in its place."""
UNWRAPPED = re.compile(r"white-space(?:-collapse)?\s*:\s*(?:pre(?:-wrap|-line)?|break-spaces|preserve)", re.IGNORECASE)
"""The style of a text with the line ends of its source."""
UNWRAPPED_NAMES = frozenset(["whitespace-pre", "whitespace-pre-line", "whitespace-pre-wrap", "whitespace-break-spaces"])
"""Classes of Tailwind for it."""
AS_CODE = re.compile(
    r"white-space\s*:\s*pre\s*(?:;|!|$)|font-family[^;]*(?:mono|courier|consolas|menlo)", re.IGNORECASE
)
CODES = frozenset(["code", "pre"])
CELL = frozenset(["td", "th"])
NAMED = 1000
"""Characters of class names that are searched."""
BLANK = "\ufdd1"
"""The placeholder of an empty line of a listing until the page is converted, so that no rule removes it."""
EMPTY = re.compile(r"^(?:[ \t]*|(>[> ]*))$", re.MULTILINE)
"""A line that looks like an empty one, also of a quotation."""


def listed(root: HtmlElement) -> None:
    """Write, in place, each listing of a page as one `pre` with its lines as text."""
    _find_listings(root)
    _read_styles(root)
    shared = around_several(root, "pre")
    for table in [*root.iter("table")]:
        if table.getparent() is not None and _is_numbered(table):
            _unite(table, shared)
    for code in [*root.iter("code")]:
        if _has_lines(code):
            _enclose(code)
    drop([pre for pre in root.iter("pre") if _is_helper(pre.getparent())])
    outer = [pre for pre in root.iter("pre") if not any(around.tag == "pre" for around in pre.iterancestors())]
    for around in dict.fromkeys(pre.getparent() for pre in outer):
        if around is not None:
            drop([other for other in around if other.tag != "table" and (_is_numbers(other) or _counts_lines(other))])
    drop([gutter for pre in outer if (gutter := _gutter(pre)) is not None])
    shared = around_several(root, "pre")
    for pre in outer:
        drop([code for code in pre.iterchildren("code") if _counts_lines(code)])
        drop(_numbers_beside_lines(pre))
        _write(pre, shared)
    drop([pre for pre in outer if _is_again(pre)])
    drop([label for pre in outer for label in _labels(pre)])
    _unlink(outer)


def _find_listings(root: HtmlElement) -> None:
    """Make listings that are no `pre` ones, in place, and `code` that only frames one no code."""
    for code in root.iter("code"):
        if code.find(".//pre") is not None and not any(around.tag in CODES for around in code.iterancestors()):
            code.tag = "div"
    for element in [*root.iter("div", *SOURCES)]:
        if _is_listing(element):
            element.tag = "pre"
            _sort_lines(element)


def _unlink(listings: list[HtmlElement]) -> None:
    """Make the links around listings blocks: no link has blocks in Markdown."""
    for link in {link for listing in listings for link in listing.iterancestors("a")}:
        link.tag = "div"
        link.attrib.clear()


def _is_listing(element: HtmlElement) -> bool:
    """Whether an element is a listing that is no `pre`."""
    names = element.get("class", "").split()
    if element.tag in SOURCES or not EDITORS.isdisjoint(names):
        return True
    if element.get("data-lang") and "code-block" in names and not len(element):
        return "\n" in (element.text or "")
    return _is_lines(element)


def _is_lines(element: HtmlElement) -> bool:
    """Whether an element has nothing but lines, of which one has a number."""
    if not len(element) or not all(LINE.search(line.get("class", "")[:NAMED]) for line in element):
        return False
    return any(_is_numbers(inner) for line in islice(element, 3) for inner in islice(line.iter("*"), 5))


def _sort_lines(listing: HtmlElement) -> None:
    """Put the lines of a listing in the order of the places that their styles give them."""
    places = [TOP.search(line.get("style", "")[:NAMED]) for line in listing]
    if len(places) > 1 and all(places):
        order = {line: int(place[1]) for line, place in zip(listing, places, strict=True) if place}
        listing[:] = sorted(listing, key=lambda line: order[line])


def _read_styles(root: HtmlElement) -> None:
    """Write, in place, the line ends of text that its style shows: as a listing if it is code, else as `br`."""
    within = {inner for pre in root.iter("pre") for inner in pre.iter("*")}
    room = MOST_LINES
    for element in [*root.iter("code", "div", "p", "span", "td", "blockquote", "li")]:
        if element in within or not _is_unwrapped(element):
            continue
        within.update(element.iter("*"))
        lines = element.text_content().strip().count("\n")
        room -= lines
        if not lines or room < 0:
            continue
        if element.tag == "code":
            _enclose(element)
        elif _is_of_code(element):
            element.tag = "pre"
        else:
            _break_lines(element)


def _is_unwrapped(element: HtmlElement) -> bool:
    if (style := element.get("style")) and UNWRAPPED.search(style[:NAMED]):
        return True
    names = element.get("class")
    return names is not None and not UNWRAPPED_NAMES.isdisjoint(names[:NAMED].split())


def _is_of_code(element: HtmlElement) -> bool:
    if element.tag != "div" or next(element.iterdescendants("img", "p", "table", *HEADINGS), None) is not None:
        return False
    style, names = element.get("style", "")[:NAMED], element.get("class", "")[:NAMED]
    return AS_CODE.search(style) is not None or "font-mono" in names.split()


def _break_lines(element: HtmlElement) -> None:
    """Write the line ends in the texts of an element as `br`, in place, but not those between its blocks."""
    listings = {inner for pre in element.iter("code", "pre", "textarea", *SILENT) for inner in pre.iter("*")}
    for inner in [*element.iter("*")]:
        if inner not in listings and (ends := _ends(inner, inner.text)):
            inner.text, inner[:0] = ends[0].tail, ends[1:]
        if inner is not element and (ends := _ends(inner, inner.tail)):
            inner.tail = None
            for end in reversed(ends[1:]):
                inner.addnext(end)
            inner.tail = ends[0].tail


def _ends(inner: HtmlElement, text: str | None) -> list[HtmlElement]:
    """An element `br` with each line of a text of several behind it; none for spaces between elements."""
    if not text or "\n" not in text or not text.strip():
        return []
    lines = text.strip("\n").split("\n")
    ends = [inner.makeelement("br") for _ in lines]
    for end, line in zip(ends, lines, strict=True):
        end.tail = line
    return ends


def _gutter(pre: HtmlElement) -> HtmlElement | None:
    """The element before a listing with the numbers of its lines; it may be before the frames around the listing."""
    inner = pre
    for _ in range(MOST_FRAMES):
        before, around = inner.getprevious(), inner.getparent()
        if before is not None and _has_only_numbers(before) and DIGITS.search(before.text_content()):
            names = (one.get("class", "")[:NAMED] for one in islice(before.iter("*"), MOST_FRAMES))
            return before if any(map(NUMBERED.search, names)) or _are_numbers(before, pre) else None
        if before is not None or around is None or around.tag == "body" or (around.text or "").strip():
            return None
        inner = around
    return None


def _is_again(pre: HtmlElement) -> bool:
    """Whether a written listing stands right behind one with the same text: that for a dark theme, or to be copied."""
    inner: HtmlElement = pre
    for _ in range(MOST_FRAMES):
        before, around = inner.getprevious(), inner.getparent()
        if before is not None:
            earlier = before if before.tag == "pre" else next(before.iter("pre"), None)
            text = pre.text_content()
            return earlier is not None and not (before.tail or "").strip() and before.text_content() == text != ""
        if around is None or around.tag in ("body", "dd", "li", "td") or (around.text or "").strip():
            return False
        inner = around
    return False


def _counts_lines(element: HtmlElement) -> bool:
    """Whether an element has as many consecutive numbers as the listing after it has lines, and nothing else."""
    listing = element.getnext()
    if listing is None or listing.tag not in CODES or not _has_only_numbers(element):
        return False
    return _are_numbers(element, listing)


def _are_numbers(element: HtmlElement, listing: HtmlElement) -> bool:
    """Whether an element has as many consecutive numbers as a listing has lines."""
    numbers = [int(number) for text in element.itertext() for number in DIGITS.findall(text)]
    lines = listing.text_content().strip("\n").count("\n") + 1
    return 1 < lines == len(numbers) and numbers == [*range(numbers[0], numbers[0] + lines)]


def _numbers_beside_lines(pre: HtmlElement) -> list[HtmlElement]:
    """The numbers before the blocks of single lines, where no class tells what they are."""
    numbers = [span for span in pre.iter("span") if (span.text or "").isdigit() and _is_before_block(span)]
    counted = len(numbers) > 1 and all(span.text == str(number) for number, span in enumerate(numbers, 1))
    return numbers if counted else []


def _is_before_block(element: HtmlElement) -> bool:
    after = next((other for other in element.itersiblings() if other.tag != "style"), None)
    return after is not None and after.tag == "div" and not (element.tail or "").strip()


def _is_numbered(table: HtmlElement) -> bool:
    """Whether a table has the numbers of lines in its first columns and code in its last."""
    if table.find(".//tr") is None or table.find(".//table") is not None:
        return False
    rows = [cells for row in table.iter("tr") if not _is_title(cells := _cells(row))]
    return bool(rows) and all(
        len(row) > 1 and all(map(_has_only_numbers, row[:-1])) and (_is_numbers(row[0]) or _is_code_cell(row[-1]))
        for row in rows
    )


def _is_title(cells: list[HtmlElement]) -> bool:
    """Whether the cells of a row are the name of a file above the code."""
    return len(cells) == 1 and cells[0].tag == "th" and cells[0].get("colspan") is not None


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in CELL]


def _has_only_numbers(element: HtmlElement) -> bool:
    return all(NUMBER.fullmatch(text) for text in element.itertext())


def _is_code_cell(cell: HtmlElement) -> bool:
    if CODE.search(cell.get("class", "")):
        return True
    if (pre := cell.find(".//pre")) is not None:
        return cell.text_content().strip() == pre.text_content().strip()  # not a comment with code
    inner = [*cell]
    return len(inner) == 1 and inner[0].tag == "code" and not (cell.text or inner[0].tail or "").strip()


def _unite(table: HtmlElement, shared: Container[HtmlElement]) -> None:
    """Replace a table of code by one `pre`, without its numbers."""
    titles = [cells[0] for row in table.iter("tr") if _is_title(cells := _cells(row))]
    for title in titles:
        title.tag = "p"
        table.addprevious(title)
    drop([cell for row in table.iter("tr") for cell in _cells(row)[:-1]])
    drop([*table.iter("caption", "colgroup")])
    for element in [*table.iter("table", "tbody", "thead", "tfoot", "tr", "td", "th")]:
        if element is not table:
            element.tail = None
        if element.tag not in CELL or next(element.iterchildren(*BLOCKS), None) is not None:
            element.text = None
        element.tag = "div" if element.tag == "tr" else "span"
    for pre in [*table.iter("pre")]:
        if language := _language(pre, shared):
            table.set("data-lang", language)
        pre.tag = "div"
    table.tag = "div" if any(around.tag == "pre" for around in table.iterancestors()) else "pre"


def _has_lines(code: HtmlElement) -> bool:
    """Whether code outside of a `pre` is displayed on several lines."""
    if any(around.tag in ("pre", "code") for around in code.iterancestors()):
        return False
    if "block" in code.get("class", "")[:NAMED].split():
        if code.text and "\n" not in code.text_content().strip():
            code.text = code.text.lstrip()
        return True
    return sum(1 for inner in code.iter("*") if inner.tag == "br" or _is_block(inner)) > 1


def _enclose(code: HtmlElement) -> None:
    pre = code.makeelement("pre")
    pre.tail, code.tail = code.tail, None
    code.addprevious(pre)
    pre.append(code)


def _write(pre: HtmlElement, shared: Container[HtmlElement]) -> None:
    language = _language(pre, shared)
    labels = _labels_within(pre, language)
    language = language or (_own_text(labels[0]).lower() if labels else "")
    drop(labels)
    lines = _Lines()
    _read(pre, lines)
    tail = pre.tail
    pre.clear(keep_tail=False)
    pre.tail = tail
    code = pre.makeelement("code", {"class": f"language-{language}"} if language else {})
    text = lines.text().replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").rstrip()
    first = text.lstrip("\n")
    code.text = EMPTY.sub(rf"\1{BLANK}", first) if first else ""
    pre.append(code)


def _labels_within(pre: HtmlElement, language: str) -> list[HtmlElement]:
    """The element before the only code of a listing, or with a button at its beginning, with the name of its language.

    ChatGPT shows the name alone above an editor's lines.
    """
    codes = [*islice(pre.iter("code", "pre"), 1, 3)]
    if len(codes) != 1:
        return []
    code = codes[0]
    beginning: Iterator[HtmlElement] = takewhile(lambda one: one is not code, islice(pre.iter("*"), 1, MOST_BEGINNING))
    if code.getparent() is pre:
        header = next(iter(code), None)
        if header is None or (code.text or "").strip() or header.find(".//button") is None:
            return []
        beginning = islice(header.iter("*"), MOST_BEGINNING)
    names = {language.casefold()} if language else LANGUAGES
    return [one for one in beginning if _own_text(one).casefold() in names]


def _own_text(element: HtmlElement) -> str:
    """The text of an element with nothing but icons beside it."""
    children = [*islice(element, 3)]
    if len(children) > 2 or not all(child.tag in SILENT or not child.text for child in children):
        return ""
    return "".join([element.text or "", *(child.tail or "" for child in children)]).strip()


def _labels(pre: HtmlElement) -> Iterator[HtmlElement]:
    """The elements before a written listing with nothing but the name of its language or the label of a button."""
    language = pre[0].get("class", "").removeprefix("language-")
    inner = pre
    for _ in range(MOST_FRAMES):
        before, around = inner.getprevious(), inner.getparent()
        if before is not None or around is None or (around.text or "").strip():
            break
        inner = around
    if before is None or before.tag in ("p", "pre") or (before.tail or "").strip():
        return
    first = [one for one in islice(before.iter("button", *FRAMES), MOST_FRAMES + 1) if not len(one)]
    named = (one for one in first if language and (one.text or "").strip().casefold() == language.casefold())
    yield from islice(named, 1)
    if any(one.tag == "button" for one in first):
        yield from (one for one in first if (one.text or "").strip() and COPY_LABEL.fullmatch((one.text or "")[:100]))


def _is_numbers(element: HtmlElement) -> bool:
    names = element.get("class", "")[:NAMED]
    is_named = NUMBERED.search(names) or UNSELECTED.search(element.get("style", "")[:NAMED])
    is_number = names == "number" and element.tag in ("td", "code")
    return (is_named is not None or is_number) and _has_only_numbers(element)


class _Lines:
    """The text of a listing, written piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.is_after_block = False
        """Whether a block has just ended: its line end and one in the source are the same."""

    def add(self, text: str | None) -> None:
        if not text:
            return
        if self.is_after_block and text.lstrip(" \t\r").startswith("\n"):
            text = text.partition("\n")[2]
            text = text if text.strip() else "\n" * text.count("\n")
        self.is_after_block = self.is_after_block and not text
        if text:
            self.pieces.append(text)

    def start_block(self) -> int:
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
        self.is_after_block = False
        return len(self.pieces)

    def end_block(self, start: int, is_line: bool) -> None:
        """End a block that began at a piece; a line without text is an empty one."""
        if (is_line and len(self.pieces) == start) or (self.pieces[start:] and not self.pieces[-1].endswith("\n")):
            self.pieces.append("\n")
        self.is_after_block = True

    def text(self) -> str:
        return "".join(self.pieces)


def _read(pre: HtmlElement, lines: _Lines) -> None:
    """Write the text of a listing; a walk without recursion, since pages nest deep."""
    starts: dict[HtmlElement, int] = {}
    apart = {child for around in pre.iter("*") for child in _lines_apart(around)}
    stack: list[tuple[HtmlElement, bool]] = [(pre, False)]
    while stack:
        element, is_end = stack.pop()
        if is_end:
            if element in starts:
                lines.end_block(starts[element], next(element.iterchildren(*BLOCKS), None) is None)
            if element is not pre:
                lines.add(element.tail)
            continue
        if element is not pre and _is_beside(element):
            lines.add(element.tail)
            continue
        if element.tag == "br":
            lines.is_after_block = False
            lines.pieces.append("\n")
            lines.add(element.tail)
            continue
        if element is not pre and (_is_block(element) or element in apart):
            starts[element] = lines.start_block()
        lines.add(element.get("data-code-marker", "")[:1])  # the sign of a line of a difference
        text = element.get("alt") if element.tag == "img" else element.text
        lines.add(text if (text or "").strip() or next(element.iterchildren(*BLOCKS), None) is None else None)
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))


def _lines_apart(around: HtmlElement) -> list[HtmlElement]:
    """The elements of single lines without line ends between them."""
    lines = (child for child in around if child.tag not in BLOCKS)
    found = [one for one in lines if one.get("data-line") is not None or LINE.search(one.get("class", ""))]
    if any((child.tail or "").lstrip(" \t\r").startswith("\n") for child in found):
        return []
    return [] if any(child.tag == "br" for child in around) or any(map(_ends_its_line, found)) else found


def _ends_its_line(element: HtmlElement) -> bool:
    """Whether the text of an element ends with a line end."""
    while len(element):
        last = element[-1]
        if last.tag == "br" or last.tail:
            return last.tag == "br" or (last.tail or "").endswith("\n")
        element = last
    return (element.text or "").endswith("\n")


def _is_block(element: HtmlElement) -> bool:
    return element.tag in BLOCKS or BLOCK_STYLE.search(element.get("style", "")) is not None


def _is_beside(element: HtmlElement) -> bool:
    """Whether an element of a listing is no code: a number, a button."""
    if not isinstance(element.tag, str) or element.tag in SILENT or _is_helper(element):
        return True
    names = element.get("class", "")[:NAMED]
    return _is_numbers(element) or (COPY.search(names) is not None and _is_copy_label(element))


def _is_helper(element: HtmlElement | None) -> bool:
    return element is not None and not HELPERS.isdisjoint(element.get("class", "")[:NAMED].split())


def _is_copy_label(element: HtmlElement) -> bool:
    """Whether the text of an element, if it has one, is that of a button that copies."""
    texts = [*islice(element.itertext(), 5)]
    return len(texts) < 5 and COPY_LABEL.fullmatch("".join(texts)[:100]) is not None


def _language(listing: HtmlElement, shared: Container[HtmlElement]) -> str:
    """The language of a listing, from its own attributes, those of its code or of the elements around it."""
    for element in _framing(listing, shared):
        if brush := BRUSH.search(element.get("data-syntaxhighlighter-params", "")[:NAMED]):
            return _bare(brush[1])
        for name in ("data-lang", "data-language", "data-enlighter-language", "language", "syntax"):
            if found := _bare(element.get(name, "")):
                return found
        if found := _classed(element.get("class", "")[:NAMED]):
            return found
        if element.tag in ("pre", "code") and (named := element.get("lang", "").lower()) in LANGUAGES:
            return named
    return ""


def _classed(names: str) -> str:
    if brush := BRUSH.search(names):
        return _bare(brush[1])
    tokens = names.replace("ltx_lst_language_", "language-").split()
    for token in tokens:
        if (found := LANGUAGE.fullmatch(token)) and (bare := _bare(found[1])):
            return bare
    lower = [token.lower() for token in tokens]
    if len(lower) == 1 or not HIGHLIGHTERS.isdisjoint(lower):
        return next((token for token in lower if token in LANGUAGES), "")
    return ""


def _bare(name: str) -> str:
    found = re.match(r"[\w+#.-]+", name.strip().removeprefix("."))
    bare = found[0].rstrip(".-") if found else ""
    return "" if bare.lower() in NO_LANGUAGE else bare


def _framing(listing: HtmlElement, shared: Container[HtmlElement]) -> Iterator[HtmlElement]:
    yield listing
    yield from listing.iter("code", "pre")
    for around in islice(listing.iterancestors(), 4):
        if around.tag == "body" or (around in shared and around.tag not in ("tr", "td", "table")):
            return
        yield around
