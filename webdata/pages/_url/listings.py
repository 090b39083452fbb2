"""Listings of a page, each as one `pre` with one `code` in it: every line, blank line and indentation as displayed.

Highlighters write lines as text, as blocks, as spans with a class, or as the rows of a table, and the numbers of lines
beside them. A number is recognised by its place, its class and its digits, so that no name removes code.
"""

import re
from collections.abc import Container, Iterator
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import around_several

LANGUAGE = re.compile(
    r"(?:language|lang|(?:mw-)?highlight-(?:lang|source|text)|brush|src|hljs"
    r"|highlight(?!-(?:default|none|wrapper|box|block|code|container|table|line)))[-:]([a-z][\w+#.-]*+).*",
    re.IGNORECASE,
)
"""A class that names the language of a listing, perhaps with the lines to be marked: `language-js{1,3}`."""
BRUSH = re.compile(r"\bbrush:\s*+([a-z][\w+#-]*+)", re.IGNORECASE)
HIGHLIGHTERS = frozenset(["hljs", "highlight", "sourcecode", "prettyprint", "syntaxhighlighter", "chroma", "rouge"])
"""Classes beside which the bare name of a language stands."""
LANGUAGES = frozenset([
    "apache", "bash", "c", "c#", "c++", "clojure", "cmake", "console", "cpp", "cs", "csharp", "css", "dart", "diff",
    "dockerfile", "elixir", "elm", "erlang", "fish", "fortran", "fsharp", "go", "golang", "graphql", "groovy",
    "haskell", "hcl", "html", "http", "ini", "java", "javascript", "js", "json", "jsx", "julia", "kotlin", "latex",
    "less", "lisp",
    "lua", "makefile", "markdown", "matlab", "nginx", "nix", "objc", "objectivec", "ocaml", "perl", "php", "plaintext",
    "powershell", "properties", "protobuf", "ps1", "py", "python", "python3", "r", "rb", "ruby", "rust", "rs", "sass",
    "scala", "scheme", "scss", "sh", "shell", "sql", "svelte", "swift", "tex", "text", "toml", "ts", "tsx",
    "typescript", "vb", "vbnet", "vim", "vue", "xml", "yaml", "yml", "zig",
])  # fmt: skip
NO_LANGUAGE = frozenset(
    ["auto", "code", "default", "no-highlight", "nohighlight", "none", "null", "undefined", "unknown"]
)
NUMBERED = re.compile(
    r"(?<![a-z])(?:line-?no|line-?nos|line-?nums?|line-?numbers?|gutter|linenodiv|lnt?|l?nums|blob-num|crayon-nums?"
    r"|hljs-ln-numbers|line-?numbers?-(?:rows|wrapper)|codelinenumber\w*)(?![a-z])",
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
EDITORS = frozenset(["ace_text-layer", "cm-content", "CodeMirror-code", "view-lines"])
"""Classes of the elements in which editors (Ace, CodeMirror, Monaco) show the lines of a text."""
SOURCES = ("listing", "plaintext", "xmp")
"""Obsolete elements that browsers show as `pre`: https://html.spec.whatwg.org/#the-pre-element"""
COPY = re.compile(r"copy|clipboard", re.IGNORECASE)
COPY_LABEL = re.compile(r"\W*(?:(?:cop|kop|kóp|скоп|复制|複製|コピー).{0,20})?", re.IGNORECASE)
"""The label of a button that copies a listing."""
BLOCKS = frozenset(["div", "p", "li", "ol", "ul", "table", "tbody", "tr", "pre", "section", "blockquote"])
"""Elements of a listing that stand on lines of their own."""
SILENT = frozenset(["button", "input", "noscript", "script", "select", "style", "svg", "template", "textarea"])
BLOCK_STYLE = re.compile(r"display\s*:\s*(?:block|flex|grid|table(?:-row)?)\b", re.IGNORECASE)
FRAMES = ("div", "figcaption", "p", "small", "span")
"""Elements that may be the label of a listing."""
MOST_FRAMES = 4
CODES = frozenset(["p", "pre"])
CELL = frozenset(["td", "th"])
NAMED = 1000
"""Characters of class names that are searched."""
BLANK = "\ufdd1"
"""The placeholder of an empty line of a listing until the page is converted, so that no rule removes it."""


def listed(root: HtmlElement) -> None:
    """Write, in place, each listing of a page as one `pre` with its lines as text."""
    for element in [*root.iter("div", *SOURCES)]:
        if _is_listing(element):
            element.tag = "pre"
    shared = around_several(root, "pre")
    for table in [*root.iter("table")]:
        if table.getparent() is not None and _is_numbered(table):
            _unite(table, shared)
    for code in [*root.iter("code")]:
        if _has_lines(code):
            _enclose(code)
    outer = [pre for pre in root.iter("pre") if not any(around.tag == "pre" for around in pre.iterancestors())]
    for around in dict.fromkeys(pre.getparent() for pre in outer):
        if around is not None:
            drop([other for other in around if other.tag != "table" and (_is_numbers(other) or _counts_lines(other))])
    shared = around_several(root, "pre")
    for pre in outer:
        drop(_numbers_beside_lines(pre))
        _write(pre, shared)
    drop([label for pre in outer if (label := _label(pre)) is not None])
    _unlink(outer)


def _unlink(listings: list[HtmlElement]) -> None:
    """Make the links around listings blocks: no link has blocks in Markdown."""
    for link in {link for listing in listings for link in listing.iterancestors("a")}:
        link.tag = "div"
        link.attrib.clear()


def _is_listing(element: HtmlElement) -> bool:
    """Whether an element is a listing that is no `pre`."""
    return element.tag in SOURCES or not EDITORS.isdisjoint(element.get("class", "").split()) or _is_lines(element)


def _is_lines(element: HtmlElement) -> bool:
    """Whether an element has nothing but lines, of which one has a number."""
    if not len(element) or not all(LINE.search(line.get("class", "")[:NAMED]) for line in element):
        return False
    return any(_is_numbers(inner) for line in islice(element, 3) for inner in islice(line.iter("*"), 5))


def _counts_lines(element: HtmlElement) -> bool:
    """Whether an element has as many consecutive numbers as the listing after it has lines, and nothing else."""
    listing = element.getnext()
    if listing is None or listing.tag != "pre" or not _has_only_numbers(element):
        return False
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
        len(row) > 1 and all(map(_has_only_numbers, row[:-1])) and _is_code_cell(row[-1]) for row in rows
    )


def _is_title(cells: list[HtmlElement]) -> bool:
    """Whether the cells of a row are the name of a file above the code."""
    return len(cells) == 1 and cells[0].tag == "th" and cells[0].get("colspan") is not None


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in CELL]


def _has_only_numbers(element: HtmlElement) -> bool:
    return all(NUMBER.fullmatch(text) for text in element.itertext())


def _is_code_cell(cell: HtmlElement) -> bool:
    if CODE.search(cell.get("class", "")) or cell.find(".//pre") is not None:
        return True
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
    return sum(1 for inner in code.iter("*") if inner.tag == "br" or _is_block(inner)) > 1


def _enclose(code: HtmlElement) -> None:
    pre = code.makeelement("pre")
    pre.tail, code.tail = code.tail, None
    code.addprevious(pre)
    pre.append(code)


def _write(pre: HtmlElement, shared: Container[HtmlElement]) -> None:
    language = _language(pre, shared)
    lines = _Lines()
    _read(pre, lines)
    tail = pre.tail
    pre.clear(keep_tail=False)
    pre.tail = tail
    code = pre.makeelement("code", {"class": f"language-{language}"} if language else {})
    text = lines.text().replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").rstrip()
    first = text.lstrip("\n")
    code.text = re.sub(r"(?m)^[ \t]*$", BLANK, first) if first else ""
    pre.append(code)


def _label(pre: HtmlElement) -> HtmlElement | None:
    """The element before a written listing with nothing but the name of its language, which the listing has, too."""
    language = pre[0].get("class", "").removeprefix("language-")
    inner = pre
    for _ in range(MOST_FRAMES):
        before, around = inner.getprevious(), inner.getparent()
        if before is not None or around is None or (around.text or "").strip():
            break
        inner = around
    if not language or before is None or before.tag in CODES or (before.tail or "").strip():
        return None
    names = (one for one in islice(before.iter(*FRAMES), MOST_FRAMES) if not len(one))
    return next((one for one in names if (one.text or "").strip().casefold() == language.casefold()), None)


def _is_numbers(element: HtmlElement) -> bool:
    is_named = NUMBERED.search(element.get("class", "")[:NAMED]) or UNSELECTED.search(element.get("style", "")[:NAMED])
    return is_named is not None and _has_only_numbers(element)


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
        text = element.get("alt") if element.tag == "img" else element.text
        lines.add(text if (text or "").strip() or next(element.iterchildren(*BLOCKS), None) is None else None)
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))


def _lines_apart(around: HtmlElement) -> list[HtmlElement]:
    """The elements of single lines without line ends between them."""
    found = [child for child in around if child.tag not in BLOCKS and LINE.search(child.get("class", ""))]
    if len(found) < 2 or any("\n" in (child.tail or "") for child in found):
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
    if not isinstance(element.tag, str) or element.tag in SILENT:
        return True
    names = element.get("class", "")[:NAMED]
    return _is_numbers(element) or (COPY.search(names) is not None and _is_copy_label(element))


def _is_copy_label(element: HtmlElement) -> bool:
    """Whether the text of an element, if it has one, is that of a button that copies."""
    texts = [*islice(element.itertext(), 5)]
    return len(texts) < 5 and COPY_LABEL.fullmatch("".join(texts)[:100]) is not None


def _language(listing: HtmlElement, shared: Container[HtmlElement]) -> str:
    """The language of a listing, from its own attributes, those of its code or of the elements around it."""
    for element in _framing(listing, shared):
        for name in ("data-lang", "data-language", "data-enlighter-language", "language"):
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
    tokens = names.split()
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
