"""The names that programs and people give to the parts of a page: classes and ids, as tokens and as words.

A token is evidence where a known program writes it. A word is a weak sign, which needs the place beside it.
"""

import re
from collections.abc import Container, Sequence
from functools import lru_cache

from lxml.html import HtmlElement

from webdata.pages._url.weights import HEADINGS

MODALS = frozenset([
    "modal", "reveal-modal", "mfp-hide", "fancybox-hidden", "offcanvas", "remodal", "cli-modal", "uk-modal",
])  # fmt: skip
"""Classes of the dialogs of CSS frameworks."""
NOTES_IN_TEXT = frozenset(["footnoteContent", "marginnote", "modern-footnotes-footnote__note", "sidenote"])
"""Classes of notes that stand in a sentence and are shown beside it, or once its number is clicked: those of Tufte's
style sheet, and of programs for WordPress."""
OPENED_BY_CLICK = NOTES_IN_TEXT | {"callout-content"}
"""Classes of hidden parts that one click on a number or on a title before them opens; the latter are of Obsidian."""
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
    "mw-editsection", "mw-jump-link", "navbox", "catlinks", "printfooter", "siteSub", "mw-pt-languages",
    "headerlink", "cli-modal", "cookie-consent", "upsells",
    "cross-sells", "skip-link", "skip-to-content-link", "sociable",
    "js-browserWarning", "p-sectionLinks", "offCanvasMenu", "message-signature", "bbCodeBlock-expandLink", "navheader",
    "navfooter", "u-bottomFixer", "ipsPwaInstall",
    "iPwaInstall__learnPopover", "ipsSkipToContent", "cTopicPostArea", "copy-path", "hideme",
])  # fmt: skip
"""Classes and ids of containers of known programs, as these write them: consent platforms (OneTrust, Cookiebot, Didomi,
Usercentrics, Quantcast, Complianz, CookieYes, Osano, iubenda), buttons to share (AddToAny, AddThis, Jetpack),
advertisements (AdSense, Outbrain, Taboola), edit links, languages and lines for print (MediaWiki), WooCommerce's other
products, notices, menus and signatures of forums (XenForo, Invision), the lines of links of DocBook, the buttons of
rustdoc that copy and open.
"""
SIGNATURES = frozenset([
    "signature", "signaturecontainer", "postsignature", "ipsEntry__signature", "ipsComment__signature",
])  # fmt: skip
"""Classes of what a member of a forum has below each post, as programs write them."""
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
    "v-visible-sr",
])  # fmt: skip
"""Classes by which CSS frameworks hide what screen readers read."""
HIDDEN_NAMES = frozenset(["d-none", "ipsHide", "w-condition-invisible"])
"""Classes by which CSS frameworks show nothing (Bootstrap, Invision, Webflow)."""
NAMED = 1000
"""Characters of class names that are read; none of 280 real pages has more than 700."""
MOST_WORDS_OF_NAME = 2
"""Words of an id that names a part, as `comments-list` does; one of more is made of a heading."""
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
COMMENT_NAMES = frozenset([
    "comment", "comments", "commentlist", "disqus", "replies", "review", "reviews", "ratings", "kommentar",
    "kommentare", "commentaires", "comentarios",
])  # fmt: skip
ARTICLE_NAMES = CHROME_NAMES | COMMENT_NAMES | frozenset([
    "ad", "ads", "adv", "adverts", "anzeige", "werbung", "teads", "teaser", "teasers", "follow", "addthis",
    "sharedaddy", "respond", "overlay", "lightbox", "tooltip", "dropdown", "toolbar", "widget", "widgets", "tags",
    "taglist", "copyright", "impressum", "search", "searchform", "searchbox", "noprint", "relatedposts", "addtoany",
])  # fmt: skip
"""The same of parts that are chrome anywhere on the page of an article, whose prose stands in parts of its own."""
WORD = re.compile(r"[-_:]+")
HASH = re.compile(r"(?:^|[-_:])(?=[a-z\d]{4})[a-z]*+\d++[a-z]")
"""A part of a name that is no word, so that the others are parts of a hash, too: `e1caa7af-ad`."""
MODULE = re.compile(r"_{2,3}(?=\S{0,7}\d)[A-Za-z\d+/-]{5,8}(?=\s|$)")
"""The hash that CSS modules write behind a name: `Newsletter__container___2dvsF`."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def tokens(element: HtmlElement) -> list[str]:
    """An element's classes, and its id as the last."""
    return [*element.get("class", "")[:NAMED].split(), element.get("id", "")]


def words_of(element: HtmlElement) -> Sequence[str]:
    """The words of an element's classes."""
    return _words(element.get("class", "")[:NAMED])


@lru_cache(2_000)
def _words(names: str) -> tuple[str, ...]:
    """The words of classes, which the records of a page share."""
    tokens = HUMP.sub("-", MODULE.sub("", names)).lower().split()
    words = (word for token in tokens if not HASH.search(token) for word in WORD.split(token) if word.isalpha())
    if "footnote" in names:  # the footer of footnotes is none of the page
        return tuple(word for word in words if word != "footer")
    return tuple(words)


def all_words(element: HtmlElement, targets: Container[str]) -> list[str]:
    """The words of an element's classes, and of its id where no link leads to it."""
    return [*_words(element.get("class", "")[:NAMED]), *([] if element.get("id") in targets else id_words(element))]


def id_words(element: HtmlElement) -> Sequence[str]:
    """The words of an element's id; none of one that is made of a heading, as programs make them: those are text."""
    if not element.get("id"):
        return ()
    words = _words(element.get("id", "")[:NAMED])
    headings = (_words(child.text_content()[:NAMED]) for child in element[:2] if child.tag in HEADINGS)
    return () if len(words) > MOST_WORDS_OF_NAME or any(set(words) <= set(heading) for heading in headings) else words
