"""Formulas of a page as text: `$…$` in a line, `$$…$$` on lines of their own.

The TeX that MathJax, KaTeX, MediaWiki and WordPress put beside their output, that is in the address of a picture, or
that a script will find in the text, is used unchanged; MathML without it is converted to TeX.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from urllib.parse import unquote

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import around_several

DRAWN = re.compile(r"(?<![\w-])(?:katex|katex-display|MathJax\w*|mjx-\w+|mwe-math-element|math-container)(?![\w-])")
"""Classes of the elements that libraries put around a formula."""
PICTURES = re.compile(r"(?<![a-z])(?:latex|tex|math|mwe-math-[\w-]+)(?![a-z])")
SOURCES = ("data-math", "data-tex", "data-entry")
"""Attributes with the TeX of what is drawn in an element: of Gemini, Zhihu, Temml."""
SOURCE = re.compile("katex|math|tex(?!t)")
"""Classes of what is drawn in them."""
SERVICES = re.compile(
    r"(?:codecogs\.com/[\w.]+\?|[?&](?:latex|tex|chl)=|/(?:mime|math)tex\.cgi\?|upmath\.me/(?:svg|png)/)(.+)", re.DOTALL
)
"""The addresses of pictures that are made of the TeX in them."""
ASKED = re.compile(r"[?&](?:latex|tex)=|[?&]cht=tx(?:&|$)")
"""TeX as one of several parameters."""
OPTIONS = re.compile(r"\\(?:dpi\s*\{\d+\}|(?:bg|fn)_\w+|inline\b)\s*")
"""What CodeCogs reads as options of the picture."""
COMMAND = re.compile(r"(?<!:)\\[A-Za-z]{2,}\s*[\\({^_]")
"""A command of TeX with what it is applied to; the path of a file has none."""
LONGEST_ADDRESS = 8_000
LIBRARIES = ("MathJax", "mathjax", "KaTeX", "katex")
MOST_FORMULAS = 10_000
"""Formulas of one page that are found in its texts."""
LONGEST_SCRIPT = 20_000
"""Characters of a script that may set a library of formulas up."""
DELIMITED = re.compile(
    r"\$\$(?P<d>[^$]+)\$\$|\\\[(?P<b>(?:[^\\]|\\[^\[\]])++)\\\]|\\\((?P<i>(?:[^\\]|\\[^()])++)\\\)"
    r"|(?P<e>\\begin\{(?P<n>(?:equation|align|alignat|gather|multline|eqnarray)\*?)\}"
    r"(?:[^\\]|\\(?!(?:begin|end)\{(?P=n)))++\\end\{(?P=n)\})"
)
"""Formulas in a text, as both libraries find them: for display, within a line, environments."""
DOLLARS = re.compile(r"(?<![\\$])\$(?![\s$])(?P<s>[^$]+)(?<![\s\\])\$(?![\d$])")
BY_DOLLARS = re.compile(r"inlineMath\b[^;]{0,200}?['\"]\$['\"]|left['\"]?\s*:\s*['\"]\$['\"]")
"""The settings by which single dollars are delimiters, too."""
LITERAL = ("code", "kbd", "math", "noscript", "option", "pre", "samp", "script", "style", "svg", "textarea", "tt")
"""Elements whose text these libraries pass over."""
TOKENS = frozenset(["mjx-mi", "mjx-mn", "mjx-mo", "mjx-ms", "mjx-mtext"])
FRAMES = frozenset([
    "mjx-box", "mjx-dbox", "mjx-dtable", "mjx-frac", "mjx-itable", "mjx-munder", "mjx-row", "mjx-sqrt", "mjx-table",
])  # fmt: skip
"""Elements that only arrange the parts of a formula that MathJax drew."""
SIGNS = frozenset(["mjx-surd", "mjx-line"])
"""Parts of a drawing that its kind tells already."""
LETTERS = re.compile("[\u210e\U0001d400-\U0001d7ff]+")
"""Letters and digits in the typefaces of mathematics."""
INVISIBLE = re.compile("[\u2061-\u2064]+")
GLYPH = re.compile(r"mjx-c([0-9A-F]{2,6})(?:\s.*)?")
"""The class of a character that a style sheet draws."""
FORMS = {
    "mfrac": (r"\frac{{{}}}{{{}}}", 2),
    "mroot": (r"\sqrt[{1}]{{{0}}}", 2),
    "msub": ("{}_{{{}}}", 2),
    "munder": ("{}_{{{}}}", 2),
    "msup": ("{}^{{{}}}", 2),
    "mover": ("{}^{{{}}}", 2),
    "msubsup": ("{}_{{{}}}^{{{}}}", 3),
    "munderover": ("{}_{{{}}}^{{{}}}", 3),
}
"""Elements of MathML: the TeX of the same meaning, and the number of their parts."""
AROUND = {"msqrt": r"\sqrt{{{}}}", "mtable": r"\begin{{matrix}} {} \end{{matrix}}"}
JOINTS = {"mtable": r" \\ ", "mtr": " & ", "mlabeledtr": " & "}
ACCENTS = {
    "˙": "dot", "→": "vec", "¯": "bar", "‾": "bar", "^": "hat", "~": "tilde", "˜": "tilde", "ˆ": "hat",
    "⏞": "overbrace", "⏟": "underbrace", "_": "underline", "\u0332": "underline",
}  # fmt: skip
STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}")
"""TeX in the braces that MediaWiki puts around it."""
BACKSLASH = "\ufdd0"
"""The placeholder of a backslash of TeX until the page is converted, so that it is not escaped."""
SILENT = frozenset(["annotation", "annotation-xml", "mphantom", "mspace"])


def written(root: HtmlElement) -> None:
    """Replace every formula of a page by text."""
    shared = around_several(root, "math")
    scripts = [*root.iter("script")]
    settings = [*_settings(scripts)]
    _write_scripts(root, [script for script in scripts if script.get("type", "").split(";")[0] == "math/tex"])
    for drawn in [one for one in root.iter("span", "math") if _may_have_source(one)]:
        _write_source(drawn)
    for math, drawn in [(math, _drawn(math, shared)) for math in root.iter("math")]:
        if math.getparent() is not None:
            _replace(drawn, _tex(math), math.get("display") == "block" or _is_display(drawn))
    for drawn in [*root.iter("mjx-container")]:
        _write_drawing(drawn)
    for picture in [*root.iter("img")]:
        if tex := _pictured(picture):
            _replace(picture, tex, "display" in picture.get("class", "") or _is_alone(picture))
    if settings:
        _write_delimited(root, settings)


def _write_scripts(root: HtmlElement, scripts: Sequence[HtmlElement]) -> None:
    if scripts:
        drop(root.xpath('//*[starts-with(@class, "MathJax")]'))
    for script in scripts:
        if script.getparent() is not None:
            _replace(script, script.text or "", "mode=display" in script.get("type", ""))


def _write_drawing(drawn: HtmlElement) -> None:
    tex = next((inner.get("data-latex") for inner in drawn.iter("*") if inner.get("data-latex")), "")
    if not tex and (math := drawn.find("mjx-math")) is not None:
        tex = _drawing(math)
    if tex:
        _replace(drawn, tex, _is_display(drawn))


def _may_have_source(drawn: HtmlElement) -> bool:
    names = drawn.get("class")
    return drawn.tag == "math" if names is None else SOURCE.search(names) is not None or drawn.tag == "math"


def _write_source(drawn: HtmlElement) -> None:
    """Replace what is drawn of TeX, or will be, by the TeX that an attribute of it, or around it, has."""
    for around in (drawn, *islice(drawn.iterancestors(), 2)):
        names = around.get("class", "")
        if SOURCE.search(names) and (tex := next(filter(None, map(around.get, SOURCES)), "")):
            _replace(around, tex, around.tag in ("div", "p") or "display" in names or "block" in names)
            break


def _drawing(element: HtmlElement) -> str:
    """The TeX of a formula that MathJax drew with nothing else beside it."""
    tag = str(element.tag)
    if tag in TOKENS:
        return _plain("".join(map(_glyph, element.iter("mjx-c"))))
    if tag in ("mjx-msub", "mjx-msup", "mjx-msubsup") and len(element) > 1:
        scripts = [text for text in map(_drawing, element[-1]) if text]
        signs = "_^" if tag == "mjx-msub" else "^_"  # that above comes first
        return _drawing(element[0]) + "".join(
            f"{sign}{{{text}}}" for sign, text in sorted(zip(signs, scripts, strict=False), reverse=True)
        )
    parts = [(str(part.tag), _drawing(part)) for part in _parts(element)]
    named = dict(parts)
    if tag == "mjx-mfrac":
        return rf"\frac{{{named.get('mjx-num', '')}}}{{{named.get('mjx-den', '')}}}"
    if "mjx-base" in named:
        around = (("_", "mjx-under"), ("^", "mjx-over"))
        return named["mjx-base"] + "".join(f"{sign}{{{named[one]}}}" for sign, one in around if named.get(one))
    if tag in ("mjx-msqrt", "mjx-mroot"):
        root = named.pop("mjx-root", "")
        inner = " ".join(text for name, text in parts if name != "mjx-root" and text)
        return rf"\sqrt[{root}]{{{inner}}}" if root else rf"\sqrt{{{inner}}}"
    joined = JOINTS.get(tag.removeprefix("mjx-"), " ").join(text for _, text in parts if text)
    return AROUND.get(tag.removeprefix("mjx-"), "{}").format(joined)


def _parts(element: HtmlElement) -> Iterator[HtmlElement]:
    """The parts of a formula in an element, without what only arranges them."""
    for child in element:
        if child.tag in FRAMES and not (child.tag == "mjx-munder" and element.tag != "mjx-box"):
            yield from _parts(child)
        elif child.tag not in SIGNS:
            yield child


def _plain(text: str) -> str:
    """Text with plain letters, as TeX has them."""
    return LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), INVISIBLE.sub("", text)).strip()


def _glyph(char: HtmlElement) -> str:
    if char.text:
        return char.text
    found = GLYPH.fullmatch(char.get("class", ""))
    return chr(code) if found and 31 < (code := int(found[1], 16)) < 0x110000 else ""


def _pictured(picture: HtmlElement) -> str:
    """The TeX of a picture: its text, or what its address asks for."""
    text, source = picture.get("alt", ""), picture.get("src", "")
    if text and (PICTURES.search(picture.get("class", "")) or ("\\" in text and COMMAND.search(text))):
        return text
    is_service = len(source) <= LONGEST_ADDRESS and any(name in source for name in ("tex", "chl="))
    found = SERVICES.search(source) if is_service else None
    if found is None or not (ASKED.search(source) or found[0][0] not in "?&"):
        return ""
    tex = found[1].partition("&")[0].replace("+", " ") if found[0][0] in "?&" else found[1].replace("&space;", " ")
    return OPTIONS.sub("", unquote(tex)).strip()


def _is_alone(picture: HtmlElement) -> bool:
    """Whether a picture is all of a block."""
    around = picture.getparent()
    if around is None or around.tag not in ("center", "div", "figure", "p") or len(around) != 1:
        return False
    return not ((around.text or "") + (picture.tail or "")).strip()


def _write_delimited(root: HtmlElement, settings: Sequence[str]) -> None:
    """Replace the formulas that a library of this page will find in its texts."""
    patterns = [DELIMITED, DOLLARS] if any(map(BY_DOLLARS.search, settings)) else [DELIMITED]
    literal = {inner for outer in root.iter(*LITERAL) for inner in outer.iter("*")}
    room = MOST_FORMULAS
    for pattern in patterns:
        for element in [*root.iter("*")]:
            tail, text = element.tail, element.text
            if tail and ("$" in tail or "\\" in tail) and element.getparent() not in literal:
                element.tail, pieces = _formulas(element, tail, pattern, room)
                room -= len(pieces)
                for piece in reversed(pieces):
                    element.addnext(piece)
            if text and ("$" in text or "\\" in text) and element not in literal:
                element.text, pieces = _formulas(element, text, pattern, room)
                room -= len(pieces)
                element[:0] = pieces


def _settings(scripts: Sequence[HtmlElement]) -> Iterator[str]:
    """The texts of the scripts that load or set up a library of formulas."""
    for script in scripts:
        source = script.get("src", "")[:LONGEST_ADDRESS]
        text = script.text if script.text and len(script.text) <= LONGEST_SCRIPT else ""
        if any(name in source or name in text for name in LIBRARIES):
            yield text


def _formulas(place: HtmlElement, text: str, pattern: re.Pattern[str], room: int) -> tuple[str, list[HtmlElement]]:
    """The text before the first formula in a text, and each formula as an element, with the text behind it."""
    texts, pieces, end = [], [], 0
    for found in islice(pattern.finditer(text), room):
        texts.append(text[end : found.start()])
        name = found.lastgroup or ""
        pieces.append(place.makeelement("span"))
        _replace(pieces[-1], found["e"] if name == "n" else found[name], name in "dben")
        end = found.end()
    for piece, tail in zip(pieces, [*texts[1:], text[end:]], strict=True) if pieces else ():
        piece.tail = tail
    return texts[0] if texts else text, pieces


def _drawn(math: HtmlElement, shared: Container[HtmlElement]) -> HtmlElement:
    """The outermost element that a library put around a formula."""
    found = math
    for depth, around in enumerate(math.iterancestors()):
        if depth > 6 or around in shared:
            break
        if str(around.tag).startswith("mjx-") or DRAWN.search(around.get("class", "")):
            found = around
    return found


def _is_display(drawn: HtmlElement) -> bool:
    return drawn.get("display") == "true" or "display" in drawn.get("class", "").lower()


def _replace(element: HtmlElement, tex: str, display: bool) -> None:
    tex = " ".join(tex.split())
    styled = STYLED.fullmatch(tex)
    tex = styled[1] if styled else tex
    tail = element.tail or ""
    tail = f" {tail}" if tail[:1].isalnum() else tail
    element.clear(keep_tail=False)
    element.tag = "p" if display else "span"
    tex = tex.replace("\\", BACKSLASH)
    element.text = (f"$${tex}$$" if display else f"${tex}$") if tex else ""
    element.tail = tail


def _tex(math: HtmlElement) -> str:
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding", "").lower() and note.text:
            return note.text
    return math.get("alttext") or _linear(math)


def _linear(element: HtmlElement) -> str:
    """The TeX of an element of MathML."""
    tag = str(element.tag)
    parts = [_linear(child) for child in element if child.tag not in SILENT]
    if tag in ("mover", "munder") and len(parts) == 2 and parts[1] in ACCENTS:
        return rf"\{ACCENTS[parts[1]]}{{{parts[0]}}}"
    if tag == "mfrac" and element.get("linethickness", "1").strip("px.0") == "" and len(parts) == 2:
        return rf"\binom{{{parts[0]}}}{{{parts[1]}}}"
    form, count = FORMS.get(tag, ("", -1))
    if len(parts) == count:
        return form.format(*parts)
    if tag == "mfenced":
        return f"{element.get('open', '(')} {', '.join(parts)} {element.get('close', ')')}"
    if tag == "mlabeledtr":
        parts = [*parts[1:], *parts[:1]]
    joined = JOINTS.get(tag, " ").join(filter(None, [_plain(element.text or ""), *parts]))
    return AROUND.get(tag, "{}").format(joined)
