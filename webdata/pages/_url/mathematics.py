"""Formulas of a page as text: `$…$` in a line, `$$…$$` on lines of their own.

The TeX that MathJax, KaTeX, MediaWiki and WordPress put beside their output is used unchanged; MathML without it is
converted to TeX.
"""

import re
from collections.abc import Container

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import around_several

DRAWN = re.compile(r"(?<![\w-])(?:katex|katex-display|MathJax\w*|mjx-\w+|mwe-math-element|math-container)(?![\w-])")
"""Classes of the elements that libraries put around a formula."""
PICTURES = re.compile(r"(?<![a-z])(?:latex|tex|math|mwe-math-[\w-]+)(?![a-z])")
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
JOINTS = {"mtable": r" \\ ", "mtr": " & "}
ACCENTS = {"˙": "dot", "→": "vec", "¯": "bar", "‾": "bar", "^": "hat", "~": "tilde", "˜": "tilde", "ˆ": "hat"}
STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}")
"""TeX in the braces that MediaWiki puts around it."""
BACKSLASH = "\ufdd0"
"""The placeholder of a backslash of TeX until the page is converted, so that it is not escaped."""
SILENT = frozenset(["annotation", "annotation-xml", "mphantom", "mspace"])


def written(root: HtmlElement) -> None:
    """Replace every formula of a page by text."""
    shared = around_several(root, "math")
    scripts = [*root.iterfind('.//script[@type="math/tex"]'), *root.xpath('//script[starts-with(@type, "math/tex;")]')]
    if scripts:
        drop(root.xpath('//*[starts-with(@class, "MathJax")]'))
    for script in scripts:
        if script.getparent() is not None:
            _replace(script, script.text or "", "mode=display" in script.get("type", ""))
    for math, drawn in [(math, _drawn(math, shared)) for math in root.iter("math")]:
        if math.getparent() is not None:
            _replace(drawn, _tex(math), math.get("display") == "block" or _is_display(drawn))
    for drawn in [*root.iter("mjx-container")]:
        if tex := next((inner.get("data-latex") for inner in drawn.iter("*") if inner.get("data-latex")), None):
            _replace(drawn, tex, _is_display(drawn))
    for picture in [*root.iter("img")]:
        if picture.get("alt") and PICTURES.search(picture.get("class", "")):
            _replace(picture, picture.get("alt", ""), "display" in picture.get("class", ""))


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
    if tag == "mover" and len(parts) == 2 and parts[1] in ACCENTS:
        return rf"\{ACCENTS[parts[1]]}{{{parts[0]}}}"
    if tag == "mfrac" and element.get("linethickness", "1").strip("px.0") == "" and len(parts) == 2:
        return rf"\binom{{{parts[0]}}}{{{parts[1]}}}"
    form, count = FORMS.get(tag, ("", -1))
    if len(parts) == count:
        return form.format(*parts)
    if tag == "mfenced":
        return f"{element.get('open', '(')} {', '.join(parts)} {element.get('close', ')')}"
    joined = JOINTS.get(tag, " ").join(filter(None, [(element.text or "").strip(), *parts]))
    return AROUND.get(tag, "{}").format(joined)
