"""Removal of the parts of a page that are not its content, each by evidence.

Evidence is: an element that is never rendered, a control, a part that nothing opens, a twin for screen readers, a
landmark of the whole page, the container of a known vendor, and a group of short links outside of the stretch between
the first and the last content. The name of a class or an id is a weak sign: it counts around the content, or on a page
that says it is an article, never against much of the prose, and never where an id is made of a heading. Texts decide
nothing.
Nothing within prose, lists, tables of data, terms, listings and quotations is removed piecemeal.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator

from lxml.html import HtmlElement

from webdata.pages._url.dropping import Removals, drop
from webdata.pages._url.opening import HEADINGS, TITLES
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.repetition import Form, copies, form, labels
from webdata.pages._url.weights import BLOCKS, Weights

UNSEEN = frozenset([
    "amp-ad", "amp-analytics", "amp-auto-ads", "amp-consent", "amp-embed", "amp-pixel", "amp-sidebar",
    "amp-state", "amp-sticky-ad", "applet", "area", "audio", "base", "basefont", "bgsound", "canvas",
    "command", "datalist", "embed", "frame", "iframe", "keygen", "link", "map", "meta", "noframes",
    "noscript", "object", "param", "script", "style", "svg", "template", "title", "video",
])  # fmt: skip
"""Elements that are never rendered as text of the page."""
CONTROLS = frozenset(["button", "input", "optgroup", "option", "progress", "select", "textarea"])
CONTROL_ROLES = frozenset(["button", "combobox", "listbox", "menu", "menubar", "slider", "spinbutton", "tooltip"])
LANDMARKS = frozenset(["nav", "search"])
LANDMARK_ROLES = frozenset(["navigation", "search", "banner", "contentinfo"])
"""https://www.w3.org/TR/wai-aria-1.2/#landmark_roles"""
FIELDS = frozenset(["text", "email", "tel", "password", "url", "search", "textarea"])
MODALS = frozenset([
    "modal", "reveal-modal", "mfp-hide", "fancybox-hidden", "offcanvas", "remodal", "cli-modal", "uk-modal",
])  # fmt: skip
"""Classes of the dialogs of CSS frameworks."""
DIALOGS = frozenset(["dialog", "alertdialog"])
INNER = frozenset(["article", "main"])
WHOLES = frozenset(["blockquote", "code", "dl", "figure", "li", "ol", "p", "pre", "table", "ul"])
"""Elements of which no part is removed alone."""
VENDORS = frozenset([
    "CybotCookiebotDialog", "onetrust-banner-sdk", "onetrust-consent-sdk", "onetrust-pc-sdk", "didomi-host",
    "didomi-notice", "usercentrics-root", "truste-consent-track", "qc-cmp2-container", "qc-cmp-cleanslate",
    "cookie-law-info-bar", "cookie-notice", "cookieNotice", "cc-window", "cc-banner", "iubenda-cs-banner",
    "osano-cm-window", "termly-code-snippet-support", "moove_gdpr_cookie_info_bar", "cmplz-cookiebanner",
    "cky-consent-container", "BorlabsCookieBox", "klaro", "tarteaucitronRoot", "sp_message_container",
    "shopify-pc__banner", "gdpr-cookie-consent-bar", "cookiescript_injected", "hs-eu-cookie-confirmation",
    "addtoany_share_save_container", "addthis_toolbox", "addthis_inline_share_toolbox", "sharedaddy",
    "sd-sharing-enabled", "a2a_kit", "st-btn", "sharethis-inline-share-buttons", "ssba",
    "heateor_sss_sharing_container", "essb_links", "shariff", "printfriendly", "jp-relatedposts", "OUTBRAIN",
    "trc_related_container", "taboola", "adsbygoogle", "ad-slot-header__wrapper", "google-auto-placed",
    "mw-editsection", "mw-jump-link", "navbox", "catlinks", "headerlink", "cli-modal", "cookie-consent", "upsells",
    "cross-sells", "skip-link", "skip-to-content-link",
])  # fmt: skip
"""Classes and ids of containers of known programs, as these write them: consent platforms (OneTrust, Cookiebot, Didomi,
Usercentrics, Quantcast, Complianz, CookieYes, Osano, iubenda), buttons to share (AddToAny, AddThis, Jetpack),
advertisements (AdSense, Outbrain, Taboola), edit links (MediaWiki), WooCommerce's other products.
"""
COMMENTS = frozenset([
    "comments", "comments-area", "comment-list", "commentlist", "disqus_thread", "respond", "comment-respond",
    "fb-comments", "reviews", "product-reviews", "tab-reviews", "spr-container", "yotpo-main-widget", "jdgm-widget",
    "loox-rating", "bv-reviews", "reviews-list", "customer-reviews", "okeReviews", "stamped-main-widget",
    "review_ctn",
])  # fmt: skip
"""Classes and ids of comments and reviews, as programs write them."""
FOR_READERS = frozenset([
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "screenreader-only",
    "a11y-hidden", "assistive-text", "u-visually-hidden", "sr-only-focusable", "visually-hidden-focusable",
])  # fmt: skip
"""Classes by which CSS frameworks hide what screen readers read."""
NAMED = 1000
"""Characters of class names that are read; none of 280 real pages has more than 700."""
MOST_WORDS_OF_NAME = 2
"""Words of an id that names a part, as `comments-list` does; one of more is made of a heading."""
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
PAID = re.compile(r'"cssSelector"\s*:\s*("[^"]{1,300}"|\[[^\]]{1,1000}\])')
"""The selectors of a page's `hasPart`, in its structured data."""
PAID_CLASS = re.compile(r"\.([\w-]+)(?=[\s,\"])")

MUCH = 0.3
"""The share of a page's prose from which a part is content in any landmark."""
HALF = 0.5
"""The share of a page's text below which a landmark with prose is none of its content."""
MOST = 0.6
"""The share of a page's prose from which the part that it marks as its main one is all of it."""
NEARLY_ALL = 0.8
LITTLE = 250
"""Characters that must be left of a page without its landmarks."""
SOME = 0.15
"""The share of a page's prose from which a form or a part beside the content may be content."""
DENSE = 0.4
"""The share of text in links from which a part beside the content is one of links."""
VERY_DENSE = 0.7
FEW = 3
"""Links of the smallest such part."""
SIDEBARS = frozenset(["sidebar"])
CHROME_NAMES = frozenset([
    "related", "recommended", "recommendations", "recirc", "upsell", "upsells", "crosssell", "similar", "recently",
    "trending", "popular", "newsletter", "newsletters", "subscribe", "subscription", "signup", "login", "cookie",
    "cookies", "consent", "gdpr", "popup", "modal", "modals", "offcanvas", "drawer", "minicart", "toast", "flyout",
    "masthead", "topbar", "nav", "navbar", "navigation", "menu", "megamenu", "breadcrumb", "breadcrumbs", "sidebar",
    "pagination", "pager", "footer", "prefooter", "disclaimer", "feedback", "author", "bio", "share", "sharing",
    "social", "socials", "promo", "advert", "advertisement", "sponsored", "outbrain", "taboola", "split",
])  # fmt: skip
"""Words in classes of parts that are chrome where they stand around the content."""
COMMENT_NAMES = frozenset(["comment", "comments", "review", "reviews", "ratings"])
ARTICLE_NAMES = CHROME_NAMES | COMMENT_NAMES | frozenset([
    "ad", "ads", "adv", "adverts", "anzeige", "werbung", "teads", "teaser", "teasers", "follow", "addthis",
    "sharedaddy", "respond", "replies", "kommentar", "kommentare", "commentaires", "comentarios",
    "disqus", "overlay", "lightbox",
    "tooltip", "dropdown", "toolbar", "paywall", "widget", "widgets", "tags", "taglist", "copyright", "impressum",
    "search", "searchform", "searchbox", "noprint", "relatedposts", "addtoany", "commentlist",
])  # fmt: skip
"""The same of parts that are chrome anywhere on the page of an article, whose prose stands in parts of its own."""
ONE_TEXT = 0.6
"""The share of a page's prose in the paragraphs of one element from which the page is one text."""
ARTICLE_PARTS = WHOLES - {"ul", "ol", "p"}
UNNAMED = frozenset(["main", "li", "dd", "dt", "td", "th", "tr", "tbody", "caption", "figcaption", "summary"])
WORD = re.compile(r"[-_:]+")
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
ARTICLE = 600
"""Characters of prose of a page that are its content, so that links around them are not."""
SHORT_LINK = 28
"""Characters of the mean text of links in a navigation; titles of other pages are longer."""


def show_paid(root: HtmlElement, text: str) -> None:
    """Make elements content, in place, that the publisher declares as such: the part that only subscribers see.

    https://developers.google.com/search/docs/appearance/structured-data/paywalled-content
    """
    names = {name for selectors in PAID.findall(text) for name in PAID_CLASS.findall(selectors)}
    for element in root.iter("*") if names else ():
        if not names.isdisjoint(element.get("class", "").split()):
            for attribute in ("class", "aria-hidden", "hidden", "style"):
                element.attrib.pop(attribute, None)


def remove_unrendered(root: HtmlElement) -> None:
    """Remove from a page, in place, the elements that are never shown as text of it."""
    head = root.find("head")
    drop([*([] if head is None else [head]), *root.iter(*UNSEEN)])


def remove_chrome(body: HtmlElement, kind: PageKind, removals: Removals) -> None:
    """Remove from a page, in place, what is chrome by evidence."""
    weights = Weights(body)
    parts = weights.elements[1:]
    removals.drop(
        body,
        ("vendor", (e for e in parts if not VENDORS.isdisjoint(_tokens(e)))),
        ("form to fill in", _forms(parts, weights, kind)),
        ("control", (e for e in parts if _is_control(e))),
        ("twin for screen readers", (e for e in parts if _is_twin(e))),
        ("dialog", _dialogs(parts, weights)),
        ("hidden", (e for e in parts if _is_hidden(e) and not _is_opened(e, weights))),
    )
    weights = Weights(body)
    parts = weights.elements[1:]
    removals.drop(
        body,
        ("landmark", _landmarks(parts, weights)),
        ("links beside the content", (e for e in parts if _is_sidebar(e, weights))),
    )
    removals.drop(body, ("outside of main", _outside_of_main(body)))
    weights = Weights(body)
    outside = _outside(weights)
    removals.drop(
        body,
        ("named chrome around the content", _named_around(weights, CHROME_NAMES)),
        ("links around the content", with_headings(_links_around(weights, outside))),
        ("cards of other pages", with_headings(_cards(weights, outside, kind))),
    )


def remove_beside(body: HtmlElement, kind: PageKind, removals: Removals) -> None:
    """Remove, in place, what stands beside a page's subject or says it again: comments, asides, copies.

    In a thread the comments are its subject; beside it are the labels of posts.
    """
    weights = Weights(body)
    parts = weights.elements[1:]
    if kind is PageKind.THREAD:
        removals.drop(body, ("label of posts", labels(weights)), ("copy", copies(weights, of_records=True)))
        return
    removals.drop(
        body,
        ("form", (e for e in parts if _is_form_beside(e, kind, weights))),
        ("comments", _comments(parts, weights)),
        ("aside", (e for e in parts if _is_aside(e) and not _is_inner(e) and weights.share(e) < MUCH)),
        ("comments around the content", _named_around(weights, CHROME_NAMES | COMMENT_NAMES)),
    )
    weights = Weights(body)
    removals.drop(body, ("before the headline", _before_headline(weights)))
    if kind is not PageKind.DOCUMENTATION:
        removals.drop(body, ("copy", with_headings(copies(weights, of_records=False))))


def remove_around_text(body: HtmlElement, kind: PageKind, removals: Removals) -> None:
    """Remove, in place, what stands around and between the prose of an article: parts by name, groups of links.

    Of a page that does not say what it is, only what is outside of the element with most of its prose.
    """
    weights = Weights(body)
    if kind not in (PageKind.ARTICLE, PageKind.OTHER) or weights.total < ARTICLE:
        return
    text = None if kind is PageKind.ARTICLE else _text(weights)
    if kind is PageKind.ARTICLE or text is not None:
        _remove_around(body, weights, frozenset() if text is None else frozenset(text.iter("*")), removals)


def _text(weights: Weights) -> HtmlElement | None:
    """The element with most of a page's prose in paragraphs of its own; None where there is none."""
    prose: dict[HtmlElement, float] = {}
    for element in weights.elements[1:]:
        around = element.getparent() if element.tag == "p" else element
        if around is not None:
            prose[around] = prose.get(around, 0.0) + weights.own_prose[element]
    best = max(prose, key=lambda element: prose[element], default=None)
    return best if best is not None and prose[best] >= ONE_TEXT * weights.total else None


def _remove_around(body: HtmlElement, weights: Weights, inside: Container[HtmlElement], removals: Removals) -> None:
    targets = _targets(body)
    known = CHROME_NAMES if inside else ARTICLE_NAMES  # comments stay on a page that may be about them
    names = {e: known.intersection(_all_words(e, targets)) for e in _nameable(weights) if e not in inside}
    prose: Counter[str] = Counter()
    for element, words in names.items():
        prose.update(dict.fromkeys(words, weights.prose[element]))
    content = {name for name, amount in prose.items() if amount >= HALF * weights.total}
    shown = _shown(weights.elements)
    hidden = (e for e in weights.elements[1:] if e not in inside and _is_hidden(e) and weights.share(e) < HALF)
    removals.drop(
        body,
        ("hidden", (e for e in hidden if not _is_controlled(e, targets, shown))),
        ("aside", (e for e in names if _is_aside(e) and weights.links[e])),
        ("named chrome of an article", with_headings(e for e, words in names.items() if words - content)),
        ("links in an article", with_headings(_few_links(names, weights, SOME if inside else MUCH))),
    )


def _few_links(elements: Iterable[HtmlElement], weights: Weights, most: float) -> Iterator[HtmlElement]:
    """Lists of links with at most this share of a page's text; a page whose lists have more is one of links."""
    for element in elements:
        if weights.is_links(element) and weights.text[element] < most * weights.whole:
            yield element


def _targets(body: HtmlElement) -> frozenset[str]:
    """The ids that links and controls of a page lead to."""
    links = (link.get("href", "")[1:] for link in body.iter("a") if link.get("href", "").startswith("#"))
    controlled = (name for e in body.iter("*") for name in (e.get("aria-controls") or "").split())
    return frozenset((*links, *controlled))


def _is_controlled(element: HtmlElement, targets: Container[str], shown: Container[Form]) -> bool:
    """Whether something opens a hidden element: a link or a control by its id, the title before it, a tab."""
    if element.get("role") in ("tabpanel", "region") or (element.get("id") and element.get("id") in targets):
        return True
    if form(element) in shown:
        return True
    before = element.getprevious()
    return before is not None and (before.tag in TITLES or next(before.iter(*TITLES), None) is not None)


def _shown(elements: Iterable[HtmlElement]) -> frozenset[Form]:
    """The forms of the elements that are shown; a hidden sibling of one of them is another panel of the same tabs."""
    return frozenset(form(element) for element in elements if element.get("class") and not _is_hidden(element))


def _nameable(weights: Weights) -> Iterator[HtmlElement]:
    """The blocks of an article with little of its prose that are in no table, list or listing."""
    within: set[HtmlElement] = set()
    for element in weights.elements[1:]:
        if element.getparent() in within or element.tag in ARTICLE_PARTS:
            within.add(element)
        elif element.tag in BLOCKS - HEADINGS - UNNAMED and element not in weights.headed:
            yield from [element] if weights.share(element) < MUCH else []


def _all_words(element: HtmlElement, targets: Container[str]) -> list[str]:
    """The words of an element's classes, and of its id where no link leads to it."""
    return [*_words(element.get("class", "")[:NAMED]), *([] if element.get("id") in targets else _id_words(element))]


def _id_words(element: HtmlElement) -> list[str]:
    """The words of an element's id; none of one that is made of a heading, as programs make them: those are text."""
    words = _words(element.get("id", "")[:NAMED])
    headings = (_words(child.text_content()[:NAMED]) for child in element[:2] if child.tag in HEADINGS)
    return [] if len(words) > MOST_WORDS_OF_NAME or any(set(words) <= set(heading) for heading in headings) else words


def with_headings(elements: Iterable[HtmlElement]) -> list[HtmlElement]:
    """Elements to be removed, in their order, each with the heading before it that nothing would follow then."""
    removed: dict[HtmlElement, None] = {}
    following: dict[HtmlElement | None, HtmlElement | None] = {}
    for element in reversed([*elements]):
        removed[element] = None
        before, after = element.getprevious(), element.getnext()
        after = following[element] = following.get(after, after)
        if before is None or before.tag not in HEADINGS - {"h1"} or (element.tail or "").strip():
            continue
        if after is None or (after.tag in HEADINGS and str(after.tag) <= str(before.tag)):
            removed[before] = None
    return [*reversed(removed)]


def _comments(parts: list[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """The comments and reviews of a page that has enough prose without them."""
    found: dict[HtmlElement, None] = {}
    for element in parts:
        if _is_comments(element) and not any(around in found for around in element.iterancestors()):
            found[element] = None
    left = weights.total - sum(weights.prose[element] for element in found)
    return [*found] if left >= max(ARTICLE / 2, 0.2 * weights.total) else []


def _before_headline(weights: Weights) -> list[HtmlElement]:
    """What stands before a page's first headline; nothing where that is prose or more than some of the text."""
    first = next((number for number, element in enumerate(weights.elements) if _is_headline(element, weights)), 0)
    before = weights.elements[1:first]
    if any(weights.own_prose[element] for element in before):
        return []
    outer = [element for element in before if element not in weights.headed and element.getparent() in weights.headed]
    return outer if sum(weights.text[element] for element in outer) < SOME * weights.whole else []


def _is_headline(element: HtmlElement, weights: Weights) -> bool:
    return element.tag == "h1" and element in weights.headed


def _is_comments(element: HtmlElement) -> bool:
    kind = element.get("itemtype", "").rstrip("/").rpartition("/")[2]
    return kind in ("Comment", "UserComments", "Review") or not COMMENTS.isdisjoint(_tokens(element))


def _is_aside(element: HtmlElement) -> bool:
    return element.tag == "aside" or element.get("role") == "complementary"


def _cards(weights: Weights, outside: Container[HtmlElement], kind: PageKind) -> list[HtmlElement]:
    """Groups of three siblings or more of one form that link to other pages, each with a picture or a heading.

    On a product's page and in a thread they are never content, in an article around it; none is where they are half
    of the page's text.
    """
    if kind in (PageKind.LISTING, PageKind.OTHER):
        return []
    everywhere = kind in (PageKind.PRODUCT, PageKind.THREAD)
    found: dict[HtmlElement, None] = {}
    for element in weights.elements:
        if (everywhere or element in outside) and _is_group_of_cards(element, weights):
            found[element] = None
    outer = [element for element in found if not any(around in found for around in element.iterancestors())]
    return outer if sum(weights.text[element] for element in outer) < HALF * weights.whole else []


def _is_group_of_cards(element: HtmlElement, weights: Weights) -> bool:
    if len(element) < FEW or weights.links[element] < FEW or weights.share(element) > SOME:
        return False
    if element in weights.headed or element.tag in ("table", "tbody", "tr", "p", "dl"):
        return False
    if weights.linked[element] < DENSE * weights.text[element]:
        return False
    forms = Counter((child.tag, child.get("class")) for child in element if weights.links[child])
    most = max(forms.values(), default=0)
    if most < FEW or most < HALF * len(element):
        return False
    return sum(_is_card(child) for child in element if weights.links[child]) >= FEW


def _is_card(element: HtmlElement) -> bool:
    return next(element.iterdescendants("img", "h2", "h3", "h4", "h5", "h6"), None) is not None


def _forms(parts: list[HtmlElement], weights: Weights, kind: PageKind) -> Iterator[HtmlElement]:
    """Forms with several fields for words, and labels of boxes; on a product's page these may be its variants."""
    for element in parts:
        if element.tag == "form":
            fields = sum(1 for field in element.iter("input", "textarea") if field.get("type", "text") in FIELDS)
            if fields > 1 and element not in weights.headed and weights.share(element) < SOME:
                yield element
        elif kind is not PageKind.PRODUCT and _is_label(element) and not weights.prose[element]:
            yield element


def _is_form_beside(element: HtmlElement, kind: PageKind, weights: Weights) -> bool:
    """Whether an element is a form with little of the page's text; on a product's page it may have the variants."""
    if element.tag != "form" or kind is PageKind.PRODUCT or element in weights.headed:
        return False
    return weights.text[element] < MUCH * weights.whole and weights.share(element) < MUCH


def _is_label(element: HtmlElement) -> bool:
    """Whether an element is the label of a field."""
    if element.tag != "label":
        return False
    return element.get("for") is not None or next(element.iterdescendants("input"), None) is not None


def _is_control(element: HtmlElement) -> bool:
    return element.tag in CONTROLS or element.get("role") in CONTROL_ROLES


def _tokens(element: HtmlElement) -> list[str]:
    return [*element.get("class", "")[:NAMED].split(), element.get("id", "")]


def _is_twin(element: HtmlElement) -> bool:
    """Whether an element is text for screen readers, but neither a heading nor around one."""
    if element.tag in HEADINGS or FOR_READERS.isdisjoint(_tokens(element)):
        return False
    return next(element.iterdescendants(*HEADINGS), None) is None


def _is_hidden(element: HtmlElement) -> bool:
    """Whether an element is not shown before scripts run."""
    if element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    return style is not None and HIDDEN.search(style) is not None


def _is_opened(element: HtmlElement, weights: Weights) -> bool:
    """Whether a hidden element is content that a click opens: it has prose, or stands in the page's own part."""
    if _is_dialog(element) or element.tag in LANDMARKS:
        return False
    if element.get("role") in ("tabpanel", "region"):
        return True
    return weights.prose[element] > 0


def _dialogs(parts: list[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """The dialogs with little of a page's prose, and the others where the first headline and prose are outside of all."""
    dialogs = [element for element in parts if _is_dialog(element)]
    outer = {element for element in dialogs if not any(_is_dialog(around) for around in element.iterancestors())}
    first = next((element for element in parts if _is_headline(element, weights)), None)
    is_headed = first is not None and outer.isdisjoint(first.iterancestors())
    is_beside = is_headed and weights.total - sum(weights.prose[element] for element in outer) >= ARTICLE
    return (element for element in dialogs if is_beside or weights.share(element) < MUCH)


def _is_dialog(element: HtmlElement) -> bool:
    if element.tag == "dialog" or element.get("role") in DIALOGS or element.get("aria-modal") == "true":
        return True
    return not MODALS.isdisjoint(element.get("class", "")[:NAMED].split())


def _landmarks(parts: list[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """The landmarks of the whole page, but none with the page's heading; all stay where little would be left."""
    found = [element for element in parts if _is_landmark(element) and element not in weights.headed]
    outer: dict[HtmlElement, None] = {}
    for element in found:
        if not any(around in outer for around in element.iterancestors()):
            outer[element] = None
    left = weights.whole - sum(weights.text[element] for element in outer)
    if left >= LITTLE:
        return [e for e in found if _is_footer(e) or weights.share(e) < MUCH or weights.text[e] < HALF * weights.whole]
    return [element for element in found if weights.is_links(element)]


def _is_footer(element: HtmlElement) -> bool:
    return element.tag == "footer" or element.get("role") == "contentinfo"


def _is_landmark(element: HtmlElement) -> bool:
    if element.tag in LANDMARKS or element.get("role") in LANDMARK_ROLES:
        return True
    return element.tag in ("header", "footer") and not _is_inner(element)


def _outside_of_main(body: HtmlElement) -> list[HtmlElement]:
    """What is outside of the only element that the page itself marks as its main part, where that has its heading."""
    mains = [element for element in body.iter("*") if element.tag == "main" or element.get("role") == "main"]
    if len(mains) != 1:
        return []
    main, weights = mains[0], Weights(body)
    if weights.text[main] < MOST * weights.whole or weights.share(main) < NEARLY_ALL or weights.total < ARTICLE:
        return []
    around = {main, *main.iterancestors()}
    if weights.headed and main not in weights.headed:
        around |= weights.headed
    return [
        element for outer in around - {main} if outer in weights.prose for element in outer if element not in around
    ]


def _is_sidebar(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element beside the content is links to other pages: by its tag, its role or a token of its class."""
    named = _is_aside(element)
    if not named and (element.tag in WHOLES or SIDEBARS.isdisjoint(_words_of(element))):
        return False
    if element in weights.headed or weights.text[element] > HALF * weights.whole:
        return False
    if not weights.prose[element] and not (_is_inner(element) if named else _is_inner_article(element)):
        return True
    if weights.links[element] < FEW:
        return False
    needed = DENSE if weights.share(element) < SOME else VERY_DENSE
    return weights.linked[element] > needed * weights.text[element]


def _is_inner_article(element: HtmlElement) -> bool:
    return any(around.tag == "article" or around.get("role") == "article" for around in element.iterancestors())


def _words_of(element: HtmlElement) -> list[str]:
    """The words of an element's classes: a hash is none, as it has digits."""
    return _words(element.get("class", "")[:NAMED])


def _words(names: str) -> list[str]:
    tokens = HUMP.sub("-", names).lower().split()
    return [word for token in tokens for word in WORD.split(token) if word.isalpha()]


def _is_inner(element: HtmlElement) -> bool:
    return any(around.tag in INNER or around.get("role") in INNER for around in element.iterancestors())


def _links_around(weights: Weights, outside: Container[HtmlElement]) -> Iterator[HtmlElement]:
    """Groups of short links before the first and after the last content of a page that has prose."""
    for element in weights.elements[1:] if weights.total >= ARTICLE else ():
        if element in outside and is_menu(element, weights) and weights.text[element] < SOME * weights.whole:
            yield element


def _named_around(weights: Weights, names: frozenset[str]) -> list[HtmlElement]:
    """Parts whose class names them as chrome, before the first or after the last other content of the page.

    A name is a weak sign: within the content it is none, nor where the other parts have little prose or text.
    """
    named: dict[HtmlElement, HtmlElement] = {}
    ends: list[int] = []
    prose = 0.0
    for number, element in enumerate(weights.elements):
        around = named.get(element.getparent()) if number else None  # type: ignore[arg-type]
        if around is None and _is_named(element, names, weights):
            around = element
        if around is not None:
            named[element] = around
        elif _is_content(element, weights):
            ends.append(number)
            prose += weights.own_prose[element]
    if prose < ARTICLE:
        return []
    inside = {named[element] for element in weights.elements[ends[0] : ends[-1] + 1] if element in named}
    outer = [element for element, top in named.items() if element is top and top not in inside]
    return outer if sum(weights.text[element] for element in outer) < MOST * weights.whole else []


def _is_named(element: HtmlElement, names: frozenset[str], weights: Weights) -> bool:
    if element.tag in WHOLES or element.tag in HEADINGS or element.tag not in BLOCKS or element in weights.headed:
        return False
    if weights.share(element) >= HALF or element.tag in ("main", "body", "tr", "td", "th", "tbody"):
        return False
    return not names.isdisjoint((*_words_of(element), *(_id_words(element) if element.tag in ("div", "aside") else ())))


def _outside(weights: Weights) -> Container[HtmlElement]:
    """The elements before the first and after the last content of a page."""
    content = [number for number, element in enumerate(weights.elements) if _is_content(element, weights)]
    if not content:
        return frozenset()
    return {*weights.elements[1 : content[0]], *weights.elements[content[-1] + 1 :]}


def _is_content(element: HtmlElement, weights: Weights) -> bool:
    if element.tag == "h1":
        return _is_headline(element, weights)
    return element.tag in BLOCKS and weights.own_prose[element] > 0


def is_menu(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a group of links to other pages, without pictures, headings and text of its own."""
    if not weights.is_links(element) or weights.prose[element]:
        return False
    if weights.linked[element] / weights.links[element] > SHORT_LINK:
        return False
    return next(element.iterdescendants("img", "table", "pre", *HEADINGS), None) is None
