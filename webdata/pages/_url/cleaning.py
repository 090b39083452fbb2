"""Removal of chrome, the parts of a page beside its content: navigation, banners, forms, comments, scripts.

The rules are about tags, ARIA roles and class names and ids that the web has used for decades, never about one site. A
part with much of a page's prose is content, whatever its name.
"""

import re
from collections import Counter
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
"""Elements without text of the page, or with nothing but the options of a form."""

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
    cookies? consent gdpr cmp newsletter\\w* subscri\\w* signup sign-up login signin register paywall(?=-)
    \\w*share sharing shares sharedaddy socials? addthis follow
    related\\w* recommend\\w* recirc\\w* teasers? popular trending most-?read read-?more more-from
    respond
    popup modal overlay lightbox tooltip dropdown drop-down flyout offcanvas
    skip-?link skip-?to screen-reader-text visually-?hidden sr-only no-?print
    author-?(?:box|bio|card|profile) about-?(?:the-?)?author
    printfriendly navbox catlinks editsection jump-link feedback tags taglist
    copyright disclaimer impressum search searchform search-?box
"""
CHROME_NAMES = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS.split())})(?![a-z])")
COMMENTS = re.compile(
    r"(?<![a-z])(?:comments?(?!-(?:open|closed|status))|comment-?list|disqus\w*|reply|replies|kommentare?|commentaires?"
    r"|comentarios?)(?![a-z])"
)
"""Names of comments, which may be longer than the page itself."""
QUESTIONS = re.compile(
    r"(?<![a-z])(?:question|answers?)(?![a-z])|schema\.org/(?:qapage|question|discussionforumposting)"
)
"""Names and types on pages of which comments are the content."""
ARTICLE = 600
"""Characters of prose that a page must have beside its comments for these to be removed."""
PARTS = frozenset(["caption", "dd", "dt", "figcaption", "li", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"])
"""Elements that are no list of links by themselves: without one of them the others would be wrong."""
WHOLES = frozenset(["details", "dl", "figure"])
"""Elements of which no part is chrome by its name or links, like data tables."""
NOTES = frozenset(["alert", "complementary", "note", "status"])
"""Roles of remarks, if they are in an article and have no links."""
INLINE_NAMES = re.compile(
    r"editsection|sr-only|screen-reader|visually-?hidden|no-?print|skip-?link|(?<![a-z])vh(?=\s|$)"
)
"""Names of chrome within a sentence, where most names are about the style."""
LABELS = re.compile(
    r"[\W_]*(?:"
    r"(?:anzeige|werbung|advertisement|advertising|sponsored|publicidad|publicité|pubblicità|reklama|広告|реклама)[\W_]*"
    r"|(?:.*[\s|])?(?:©|\(c\)|copyright).*|.*(?:all rights reserved|alle rechte vorbehalten|tous droits réservés).*"
    r"|(?:be sociable, )?share(?: this.*| on .*|)[\W_]*|(?:beitrag |artikel )?teilen(?: auf.*|)[\W_]*"
    r"|(?:no|\d+) (?:comments?|kommentare?|comentarios?|commentaires?)[\W_]*"
    r"|(?:comments?|kommentare?(?: insgesamt)?|comentarios?|commentaires?)\W{1,3}\d+[\W_]*"
    r"|(?:back|return) to (?:top|home|the (?:top|home ?page)).*|zurück zu[rm]? .*|nach oben|seitenanfang|volver arriba"
    r"|retour (?:en haut|à l.accueil).*|torna su|наверх|skip to .{0,20}"
    r")",
    re.IGNORECASE,
)
"""Texts of small blocks that belong to the site, not to the page."""
LINK_HEADINGS = re.compile(
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
"""Headings of lists of links to other pages."""
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
LABEL = 120
"""Characters of the longest such heading or block."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
NAMED = 1000
"""Characters of class names that are searched; none of 280 real pages has more than 700."""
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
PAID = re.compile(r'"cssSelector"\s*:\s*("[^"]{1,300}"|\[[^\]]{1,1000}\])')
"""The selectors of a page's `hasPart`, in its structured data."""
PAID_CLASS = re.compile(r"\.([\w-]+)(?=[\s,\"])")

MUCH = 0.3
"""The share of a page's prose below which a part is chrome by its name or links."""
HALF = 0.5
"""The share from which all small elements of one name together are content."""
MOST = 0.6
"""The share below which it is chrome by its tag or role, or comments by its name."""


def show_paid(root: HtmlElement, text: str) -> None:
    """Make elements content, in place, that the publisher declares as such: the part that only subscribers see.

    https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
    """
    names = {name for selectors in PAID.findall(text) for name in PAID_CLASS.findall(selectors)}
    for element in root.iter("*") if names else ():
        if not names.isdisjoint(element.get("class", "").split()):
            for attribute in ("class", "aria-hidden", "hidden", "style"):
                element.attrib.pop(attribute, None)


def remove_chrome(root: HtmlElement, described: Container[HtmlElement] = ()) -> None:
    """Remove from a page, in place, what is not its content; elements in `described` are content by any name."""
    remove_invisible(root)
    weights = Weights(root)
    _drop(root, [e for e in weights.elements if (_hidden(e) or _is_chrome(e, weights)) and weights.share(e) < MOST])
    weights = Weights(root)
    _drop(root, [e for e in _removable_comments(weights) if e not in described])
    weights = Weights(root)
    data = {table for table in root.iter("table") if not is_layout(table)}
    content_names = _content_names(weights)
    chrome = [
        e for e in weights.elements if weights.share(e) < _bound(e, weights, content_names) and e not in described
    ]
    chrome = [e for e in chrome if not any(a.tag in WHOLES or a in data for a in (e, *e.iterancestors()))]
    _drop(root, with_headings(chrome))
    _drop(root, [e for e in root.iter(*BLOCKS) if _is_label(e)])


def around_questions(root: HtmlElement) -> set[HtmlElement]:
    """The common ancestors of all questions and answers of a page; empty where it has none."""
    body = next(root.iterchildren("body"), root)
    posts = [
        element for element in body.iterdescendants("*") if _is_question(element) or COMMENTS.search(_names(element))
    ]
    if not any(_is_question(element) for element in posts):
        return set()
    return reduce(and_, ({*element.iterancestors()} for element in posts))


def remove_invisible(root: HtmlElement) -> None:
    """Remove from a page, in place, the elements without text of it."""
    for void in root.iter("source", "track"):
        void.tag = "span"  # libxml2 puts the elements after them into them
    _drop(root, [*root.iter(*UNSEEN)])


def _drop(root: HtmlElement, elements: list[HtmlElement]) -> None:
    drop(element for element in elements if element is not root and element.tag not in ("body", "html"))


def _hidden(element: HtmlElement) -> bool:
    """Whether an element is not shown.

    Paragraphs that are only hidden from screen readers are shown: those for subscribers are, on some pages.
    """
    if element.get("aria-hidden") == "true" and element.tag != "p":
        return True
    if element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    return style is not None and HIDDEN.search(style) is not None


def _is_chrome(element: HtmlElement, weights: Weights) -> bool:
    if element.tag in CHROME or element.get("role") in CHROME_ROLES:
        return not _is_remark(element, weights)
    return element.tag in ("form", "header") and not (_in_article(element) or element.find(".//h1") is not None)


def _is_remark(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a remark within the text: a warning, an aside, the author of a quotation."""
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


def _removable_comments(weights: Weights) -> list[HtmlElement]:
    """The comments on a page, if enough prose remains without them and they are not its content."""
    found: dict[HtmlElement, None] = {}
    for element in weights.elements:
        if _is_question(element):
            return []
        if weights.share(element) < MOST and _is_named_by_role(element, weights) and COMMENTS.search(_names(element)):
            found[element] = None
    outer = [element for element in found if not any(around in found for around in element.iterancestors())]
    left = weights.total - sum(weights.prose[element] for element in outer)
    return outer if left >= ARTICLE else []


def _is_question(element: HtmlElement) -> bool:
    return QUESTIONS.search(f"{_names(element)} {element.get('itemtype', '')[:NAMED].lower()}") is not None


def _content_names(weights: Weights) -> frozenset[str]:
    """The names of chrome that on this page are names of content: small elements of one have half of its prose.

    Where each paragraph has the class `paywall`, no paragraph alone has much.
    """
    prose: Counter[str] = Counter()
    around: dict[HtmlElement | None, frozenset[str]] = {None: frozenset()}
    for element in weights.elements:
        outer = around.get(element.getparent(), frozenset())
        is_small = 0 < weights.share(element) < MUCH and _is_named_by_role(element, weights)
        named = frozenset(CHROME_NAMES.findall(_names(element))) - outer if is_small else frozenset()
        around[element] = outer | named
        prose.update(dict.fromkeys(named, weights.prose[element]))
    return frozenset(name for name, amount in prose.items() if amount >= HALF * weights.total)


def _bound(element: HtmlElement, weights: Weights, content_names: Container[str]) -> float:
    """The share of prose below which an element is chrome by its names or links; 0 for content."""
    names = _names(element)
    if names != " " and _is_named_by_role(element, weights):
        if element.tag == "span":
            return MUCH if INLINE_NAMES.search(names) else 0
        if any(name not in content_names for name in CHROME_NAMES.findall(names)):
            return MUCH
    return MUCH if element.tag not in PARTS and weights.is_links(element) and not _is_titled(element) else 0


def _is_titled(element: HtmlElement) -> bool:
    """Whether a list has a heading of its own that is not one of LINK_HEADINGS."""
    before = element.getprevious()
    if before is None or before.tag not in HEADINGS or element.tag not in ("ol", "ul"):
        return False
    return not _is_heading_of_links(before)


def _is_heading_of_links(heading: HtmlElement) -> bool:
    return LINK_HEADINGS.fullmatch(" ".join(heading.text_content().split())[:LABEL]) is not None


def with_headings(elements: Iterable[HtmlElement]) -> list[HtmlElement]:
    """Elements to be removed, with their headings, and with headings that nothing would follow then."""
    removed: dict[HtmlElement, None] = {}
    following: dict[HtmlElement | None, HtmlElement | None] = {}
    for element in reversed([*elements]):
        removed[element] = None
        before, after = element.getprevious(), element.getnext()
        after = following[element] = following.get(after, after)
        if before is None or before.tag not in HEADINGS - {"h1"}:
            continue
        if after is None or after.tag in HEADINGS or _is_heading_of_links(before):
            removed[before] = None
    return [*reversed(removed)]


def _names(element: HtmlElement) -> str:
    return HUMP.sub("-", f"{element.get('class', '')[:NAMED]} {element.get('id', '')[:NAMED]}").lower()


def _is_named_by_role(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element's names are about its role; those of headings and of parts of listings are not."""
    if element.tag in CONTENT or element in weights.headed:
        return False
    return not any(around.tag in ("pre", "code") for around in element.iterancestors())
