"""What a page holds beside its content: navigation, banners, forms, comments, what scripts need; it is taken out.

The rules look at tags, ARIA roles and the words of class names and ids that the web has used for decades, never at
one site. A part that holds much of a page's prose is its content, whatever its name says.
"""

import re
from collections.abc import Container, Iterable
from functools import reduce
from operator import and_

from lxml.html import HtmlElement

from webdata.pages._url.blocks import is_layout
from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import BLOCKS, Weights

UNSEEN = frozenset([
    "amp-ad", "amp-analytics", "amp-auto-ads", "amp-consent", "amp-embed", "amp-pixel", "amp-sidebar",
    "amp-state", "amp-sticky-ad", "applet", "area", "audio", "base", "basefont", "bgsound", "canvas",
    "command", "datalist", "embed", "frame", "iframe", "input", "keygen", "link", "map", "meta", "noframes",
    "noscript", "object", "optgroup", "option", "param", "script", "select", "style", "svg", "template",
    "textarea", "video",
])  # fmt: skip
"""Elements that show no text of the page, or only what a form offers."""

CHROME = frozenset(["aside", "button", "dialog", "footer", "menu", "nav", "search"])
CHROME_ROLES = frozenset([
    "alert", "alertdialog", "banner", "button", "complementary", "contentinfo", "dialog", "form", "menu",
    "menubar", "navigation", "search", "status", "tablist", "toolbar", "tooltip",
])  # fmt: skip
CONTENT = frozenset([
    "a", "b", "body", "caption", "code", "em", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "html", "i",
    "main", "math", "pre", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr",
])  # fmt: skip
"""Elements that no class name makes chrome: a highlighted `nav` in a listing is code."""

_WORDS = """
    ad ads adv advert\\w* adsense anzeige\\w* werbung sponsor\\w* promo\\w* outbrain taboola teads dfp
    \\w*nav navi \\w*navbar \\w*navigation \\w*menu breadcrumbs? crumbs? pagination pager paging
    \\w*sidebar side-bar (?<!-)widgets? \\w*footer(?!-?note) bottom-bar masthead topbar toolbar
    cookies? consent gdpr cmp newsletter\\w* subscri\\w* signup sign-up login signin register paywall
    \\w*share sharing shares sharedaddy socials? addthis follow
    related\\w* recommend\\w* recirc\\w* teasers? popular trending most-?read read-?more more-from
    respond
    popup modal overlay lightbox tooltip dropdown drop-down flyout offcanvas
    skip-?link skip-?to screen-reader-text visually-?hidden sr-only no-?print
    printfriendly navbox catlinks editsection jump-link feedback tags taglist
    copyright disclaimer impressum search searchform search-?box
"""
CHROME_NAMES = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS.split())})(?![a-z])")
COMMENTS = re.compile(
    r"(?<![a-z])(?:comments?(?!-(?:open|closed|status))|comment-?list|disqus\w*|reply|replies|kommentare?|commentaires?"
    r"|comentarios?)(?![a-z])"
)
"""Names of what readers say of a page, of which there may be more than of the page."""
QUESTIONS = re.compile(
    r"(?<![a-z])(?:question|answers?)(?![a-z])|schema\.org/(?:qapage|question|discussionforumposting)"
)
"""Names and types on pages where what readers say is what the page is about."""
ARTICLE = 600
"""Characters of prose that a page must hold beside its comments for these to go."""
PARTS = frozenset(["caption", "dd", "dt", "figcaption", "li", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"])
"""Elements that are no list of links by themselves: without one the rest would read wrongly."""
WHOLES = frozenset(["details", "dl", "figure"])
"""Elements of which no part is chrome by its name or links, like tables of data."""
NOTES = frozenset(["alert", "complementary", "note", "status"])
"""Roles of what is a remark where it stands in an article and has no links."""
INLINE_NAMES = re.compile(r"editsection|sr-only|screen-reader|visually-?hidden|no-?print|skip-?link")
"""The same for parts of a sentence: most names of such parts tell how they look."""
LABELS = re.compile(
    r"[\W_]*(?:"
    r"(?:anzeige|werbung|advertisement|advertising|sponsored|publicidad|publicité|pubblicità|reklama|広告|реклама)[\W_]*"
    r"|(?:.*[\s|])?(?:©|\(c\)|copyright).*|.*(?:all rights reserved|alle rechte vorbehalten|tous droits réservés).*"
    r"|(?:be sociable, )?share(?: this.*| on .*|)[\W_]*|(?:beitrag |artikel )?teilen(?: auf.*|)[\W_]*"
    r"|(?:back|return) to (?:top|home|the (?:top|home ?page)).*|zurück zu[rm]? .*|nach oben|seitenanfang|volver arriba"
    r"|retour (?:en haut|à l.accueil).*|torna su|наверх|skip to .{0,20}"
    r")",
    re.IGNORECASE,
)
"""What a small block says that belongs to the site and not to its page."""
ELSEWHERE = re.compile(
    r"[\W_]*(?:"
    r"(?:related|similar|recent|latest|popular|trending|most|recommended|sponsored|you (?:may|might)|what to|top)\b.*"
    r"|(?:more|read)(?: (?:stories|news|articles|posts|from|in|on|like|next|also|more)\b.*)?"
    r"|categories|archives?|tags|topics|pages|blogroll|navigation|menu|site ?map|links|(?:share|follow|connect)\b.*"
    r"|kategorien|archiv|seiten|projekte|schlag(?:worte|wörter)|(?:verwandte|ähnliche|weitere|mehr|neueste|letzte)\b.*"
    r"|das könnte.*|(?:articles|sujets) (?:liés|similaires|récents).*|(?:lire|voir) aussi|à lire.*|catégories"
    r"|(?:artículos|entradas|noticias) (?:relacionad|reciente|similar).*|lo más .*|categorías|(?:leia|veja) .*"
    r")[\W_]*",
    re.IGNORECASE,
)
"""What the headings of lists of other pages say."""
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
LABEL = 120
"""Characters of the longest such block."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
NAMED = 1000
"""Characters of class names that are looked at; of 280 pages none has more than 700."""
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

MUCH = 0.3
"""The share of a page's prose that a part may hold and still be chrome by its name or links."""
MOST = 0.6
"""The share that it may hold and still be chrome by its tag or role, or as comments by its name."""


def cleaned(root: HtmlElement, described: Container[HtmlElement] = ()) -> None:
    """Take out of a page, in place, what is not its content; elements that are described are, by any name."""
    seen(root)
    weights = Weights(root)
    _drop(root, [e for e in weights.elements if (_hidden(e) or _is_chrome(e, weights)) and weights.share(e) < MOST])
    weights = Weights(root)
    _drop(root, [e for e in _comments(weights) if e not in described])
    weights = Weights(root)
    data = {table for table in root.iter("table") if not is_layout(table)}
    chrome = [e for e in weights.elements if weights.share(e) < _bound(e, weights) and e not in described]
    chrome = [e for e in chrome if not any(a.tag in WHOLES or a in data for a in (e, *e.iterancestors()))]
    _drop(root, with_headings(chrome))
    _drop(root, [e for e in root.iter(*BLOCKS) if _is_label(e)])


def discussed(root: HtmlElement) -> set[HtmlElement]:
    """What is around all questions and answers of a page: nothing where it has none."""
    body = next(root.iterchildren("body"), root)
    told = [
        element for element in body.iterdescendants("*") if _is_question(element) or COMMENTS.search(_names(element))
    ]
    if not any(_is_question(element) for element in told):
        return set()
    return reduce(and_, ({*element.iterancestors()} for element in told))


def seen(root: HtmlElement) -> None:
    """Take out of a page, in place, the elements that show no text of it."""
    for void in root.iter("source", "track"):
        void.tag = "span"  # for libxml2 they hold what stands behind them
    _drop(root, [*root.iter(*UNSEEN)])


def _drop(root: HtmlElement, elements: list[HtmlElement]) -> None:
    drop(element for element in elements if element is not root and element.tag not in ("body", "html"))


def _hidden(element: HtmlElement) -> bool:
    if element.get("aria-hidden") == "true" or element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    return style is not None and HIDDEN.search(style) is not None


def _is_chrome(element: HtmlElement, weights: Weights) -> bool:
    if element.tag in CHROME or element.get("role") in CHROME_ROLES:
        return not _is_remark(element, weights)
    return element.tag in ("form", "header") and not (_in_article(element) or element.find(".//h1") is not None)


def _is_remark(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element says something of the text that it stands in: a warning, an aside, who is quoted."""
    if element.tag == "footer":
        return any(around.tag in ("blockquote", "figure") for around in element.iterancestors())
    if element.tag != "aside" and element.get("role") not in NOTES:
        return False
    return not weights.links[element] and _in_article(element)


def _is_label(element: HtmlElement) -> bool:
    if sum(1 for _ in zip(element.iter("*"), range(12), strict=False)) > 10 or element.tag in ("pre", "body"):
        return False
    text = " ".join(element.text_content().split())
    return 0 < len(text) <= LABEL and LABELS.fullmatch(text) is not None


def _in_article(element: HtmlElement) -> bool:
    return any(
        around.tag in ("article", "main") or around.get("role") in ("article", "main")
        for around in element.iterancestors()
    )


def _comments(weights: Weights) -> list[HtmlElement]:
    """What readers say of a page, where enough is left without it and it is not what the page is about."""
    found: dict[HtmlElement, None] = {}
    for element in weights.elements:
        if _is_question(element):
            return []
        if weights.share(element) < MOST and _speaks(element) and COMMENTS.search(_names(element)):
            found[element] = None
    ordered = [element for element in weights.elements if element in found]
    outer = [element for element in ordered if not any(around in found for around in element.iterancestors())]
    left = weights.total - sum(weights.prose[element] for element in outer)
    return outer if left >= ARTICLE else []


def _is_question(element: HtmlElement) -> bool:
    return QUESTIONS.search(f"{_names(element)} {element.get('itemtype', '')[:NAMED].lower()}") is not None


def _bound(element: HtmlElement, weights: Weights) -> float:
    """The share of prose below which an element is chrome for its names or links; 0 for one that is none."""
    names = _names(element)
    if names != " " and _speaks(element):
        if element.tag == "span":
            return MUCH if INLINE_NAMES.search(names) else 0
        if CHROME_NAMES.search(names):
            return MUCH
    return MUCH if element.tag not in PARTS and weights.is_links(element) and not _is_titled(element) else 0


def _is_titled(element: HtmlElement) -> bool:
    """Whether a list has a heading of its own, one that does not say that the list leads elsewhere."""
    before = element.getprevious()
    if before is None or before.tag not in HEADINGS or element.tag not in ("ol", "ul"):
        return False
    return not _says_elsewhere(before)


def _says_elsewhere(heading: HtmlElement) -> bool:
    return ELSEWHERE.fullmatch(" ".join(heading.text_content().split())[:LABEL]) is not None


def with_headings(elements: Iterable[HtmlElement]) -> list[HtmlElement]:
    """Elements that are to go, and the headings that say what they are, or that nothing would follow then."""
    going: dict[HtmlElement, None] = {}
    behind: dict[HtmlElement | None, HtmlElement | None] = {}
    for element in reversed([*elements]):
        going[element] = None
        before, after = element.getprevious(), element.getnext()
        after = behind[element] = behind.get(after, after)
        if before is None or before.tag not in HEADINGS - {"h1"}:
            continue
        if after is None or after.tag in HEADINGS or _says_elsewhere(before):
            going[before] = None
    return [*reversed(going)]


def _names(element: HtmlElement) -> str:
    return HUMP.sub("-", f"{element.get('class', '')[:NAMED]} {element.get('id', '')[:NAMED]}").lower()


def _speaks(element: HtmlElement) -> bool:
    """Whether an element's names tell what it is: those of headings and of parts of listings tell other things."""
    if element.tag in CONTENT or element.find(".//h1") is not None:
        return False
    return not any(around.tag in ("pre", "code") for around in element.iterancestors())
