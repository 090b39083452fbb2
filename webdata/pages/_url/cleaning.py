"""What a page holds beside its content: navigation, banners, forms, comments, what scripts need; it is taken out.

The rules look at tags, ARIA roles and the words of class names and ids that the web has used for decades, never at
one site. A part that holds much of a page's prose is its content, whatever its name says.
"""

import re
from collections.abc import Container

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, Weights

UNSEEN = frozenset(
    [
        "applet",
        "area",
        "audio",
        "base",
        "basefont",
        "bgsound",
        "canvas",
        "command",
        "datalist",
        "embed",
        "frame",
        "iframe",
        "input",
        "keygen",
        "link",
        "map",
        "meta",
        "noframes",
        "noscript",
        "object",
        "optgroup",
        "option",
        "param",
        "script",
        "select",
        "source",
        "style",
        "svg",
        "template",
        "textarea",
        "track",
        "video",
    ]
)
"""Elements that show no text of the page, or only what a form offers."""

CHROME = frozenset(["aside", "button", "dialog", "footer", "menu", "nav", "search"])
CHROME_ROLES = frozenset(
    [
        "alert",
        "alertdialog",
        "banner",
        "button",
        "complementary",
        "contentinfo",
        "dialog",
        "form",
        "menu",
        "menubar",
        "navigation",
        "search",
        "status",
        "tablist",
        "toolbar",
        "tooltip",
    ]
)
CONTENT = frozenset(
    [
        "a",
        "b",
        "body",
        "caption",
        "code",
        "em",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "html",
        "i",
        "main",
        "math",
        "pre",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    ]
)
"""Elements that no class name makes chrome: a highlighted `nav` in a listing is code."""

_WORDS = """
    ad ads adv advert\\w* adsense anzeige\\w* werbung sponsor\\w* promo\\w* outbrain taboola teads dfp
    \\w*nav navi \\w*navbar \\w*navigation \\w*menu breadcrumbs? crumbs? pagination pager paging
    \\w*sidebar side-bar widgets? \\w*footer bottom-bar masthead topbar toolbar
    cookies? consent gdpr cmp newsletter\\w* subscri\\w* signup sign-up login signin register paywall
    \\w*share sharing shares sharedaddy socials? addthis follow
    related\\w* recommend\\w* recirc\\w* teasers? popular trending most-?read read-?more more-from
    comments? comment-?list respond disqus\\w* reply replies kommentare?
    popup modal overlay lightbox tooltip dropdown drop-down flyout offcanvas
    skip-?link skip-?to screen-reader-text visually-?hidden sr-only no-?print
    printfriendly navbox catlinks editsection jump-link feedback rating tags taglist
    copyright disclaimer impressum search searchform search-?box
"""
CHROME_NAMES = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS.split())})(?![a-z])")
COMMENTS = re.compile(
    r"(?<![a-z])(?:comments?(?!-(?:open|closed|status))|commentlist|disqus\w*|kommentare?|commentaires?|comentarios?)"
    r"(?![a-z])"
)
"""Names of what readers say of a page, of which there may be more than of the page."""
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
LABEL = 120
"""Characters of the longest such block."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

MUCH = 0.3
"""The share of a page's prose that a part may hold and still be chrome by its name or links."""
MOST = 0.6
"""The share that it may hold and still be chrome by its tag or role, or as comments by its name."""


def cleaned(root: HtmlElement, described: Container[HtmlElement] = ()) -> None:
    """Take out of a page, in place, what is not its content; elements that are described are, by any name."""
    seen(root)
    weights = Weights(root)
    _drop(root, [e for e in weights.elements if (_hidden(e) or _is_chrome(e)) and weights.share(e) < MOST])
    weights = Weights(root)
    _drop(root, [e for e in weights.elements if weights.share(e) < _bound(e, weights) and e not in described])
    _drop(root, [e for e in root.iter(*BLOCKS) if _is_label(e)])


def seen(root: HtmlElement) -> None:
    """Take out of a page, in place, the elements that show no text of it."""
    _drop(root, [*root.iter(*UNSEEN)])


def _drop(root: HtmlElement, elements: list[HtmlElement]) -> None:
    for element in elements:
        if element is not root and element.getparent() is not None and element.tag not in ("body", "html"):
            element.drop_tree()


def _hidden(element: HtmlElement) -> bool:
    if element.get("aria-hidden") == "true" or element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    return style is not None and HIDDEN.search(style) is not None


def _is_chrome(element: HtmlElement) -> bool:
    if element.tag in CHROME or element.get("role") in CHROME_ROLES:
        return True
    return element.tag in ("form", "header") and not (_in_article(element) or element.find(".//h1") is not None)


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


def _bound(element: HtmlElement, weights: Weights) -> float:
    """The share of prose below which an element is chrome for its names or links; 0 for one that is none."""
    names = HUMP.sub("-", f"{element.get('class', '')} {element.get('id', '')}").lower()
    if names != " " and _speaks(element):
        if element.tag == "span":
            return MUCH if INLINE_NAMES.search(names) else 0
        if COMMENTS.search(names):
            return MOST
        if CHROME_NAMES.search(names):
            return MUCH
    return MUCH if weights.is_links(element) else 0


def _speaks(element: HtmlElement) -> bool:
    """Whether an element's names tell what it is: those of headings and of parts of listings tell other things."""
    if element.tag in CONTENT or element.find(".//h1") is not None:
        return False
    return not any(around.tag in ("pre", "code") for around in element.iterancestors())
