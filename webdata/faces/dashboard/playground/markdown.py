"""Markdown as HTML to look at: rendered without the HTML in it, sanitised all the same, its headings below the page's.

`markdown-it-py` renders CommonMark with tables, `nh3` (ammonia) leaves no tag or attribute that is not on its list.
"""

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from webdata.faces.dashboard.playground.values import safe_link

MOST_RENDERED = 12_000
"""Characters of Markdown that are rendered: some 20 ms, of text that is made to be slow at most 0.1 s."""
MOST_BRACKETS = 1_500
"""Opening brackets among them, behind each of which the parser looks for the end of a link."""
DEEPEST = 20
"""Lists and quotes within each other."""
FIRST_HEADING = 3
TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "s"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "del"),
}
DIRECTED = {"h3", "h4", "h5", "h6", "p", "li", "blockquote", "table"}
"""Blocks that have the direction of their own text."""
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "*": {"dir"}}
SCHEMES = {"http", "https"}
REL = "noopener noreferrer nofollow"


def rendered(text: str) -> tuple[Markup, bool]:
    """The beginning of a Markdown text as HTML, and whether it is all. A picture is its text and a link to it."""
    beginning = _beginning(text)
    tokens = _parser().parse(beginning)
    for token in tokens:
        _adapt(token)
    html = _parser().renderer.render(tokens, _parser().options, {})
    clean = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel=REL, strip_comments=True)
    return Markup(clean), len(beginning) == len(text)  # noqa: S704  # sanitised in the line above


def _beginning(text: str) -> str:
    """The whole lines of what is rendered."""
    before = "[".join(text[:MOST_RENDERED].split("[", MOST_BRACKETS + 1)[: MOST_BRACKETS + 1])
    if len(before) == len(text):
        return text
    lines, _, last = before.rpartition("\n")
    return lines or last


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])


def _adapt(token: Token) -> None:
    """Lower a heading, give a block the direction of its text, and make links of pictures and text of other links."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(int(token.tag[1]) + FIRST_HEADING - 1, 6)}"
    if token.nesting == 1 and token.tag in DIRECTED:
        token.attrSet("dir", "auto")
    if token.children:
        token.children = [one for child in token.children for one in _inline(child)]


def _inline(token: Token) -> list[Token]:
    if token.type == "link_open" and not safe_link(token.attrGet("href")):
        token.attrs.pop("href", None)
    if token.type != "image":
        return [token]
    text = Token("text", "", 0, content=token.content or "picture")
    if not (source := safe_link(token.attrGet("src"))):
        return [text]
    return [Token("link_open", "a", 1, attrs={"href": source}), text, Token("link_close", "a", -1)]
