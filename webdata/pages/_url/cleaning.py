"""Removal of the parts of a page that are not its content, each by evidence.

Evidence is: an element that is never rendered, a control, a part that nothing opens, a twin for screen readers, a
landmark of the whole page, the container of a known vendor, and a group of short links outside of the stretch between
the first and the last content. The name of a class or an id is a weak sign: it counts around the content, or on a page
that says it is an article, never against much of the prose, and never where an id is made of a heading. Texts decide
nothing.
Nothing within prose, lists, tables of data, terms, listings and quotations is removed piecemeal.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, takewhile

from lxml.html import HtmlElement

from webdata.pages._url.cards import NOWHERE, cards_of_others, with_records
from webdata.pages._url.dropping import Removals, drop
from webdata.pages._url.names import (
    CHROME_NAMES,
    FOR_READERS,
    HIDDEN_NAMES,
    MODALS,
    NAMED,
    OPENED_BY_CLICK,
    SIDEBARS,
    VENDORS,
    id_words,
    tokens,
    words_of,
)
from webdata.pages._url.page_kinds import PageKind
from webdata.pages._url.pointers import links_again, other_languages, repeated_links, skip_links
from webdata.pages._url.prices import free_prices, repeated_prices
from webdata.pages._url.repetition import form, heads_of_posts, is_quotation
from webdata.pages._url.twins import twins
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROSE, Weights

UNSEEN = frozenset([
    "amp-ad", "amp-analytics", "amp-auto-ads", "amp-consent", "amp-embed", "amp-pixel", "amp-sidebar",
    "amp-state", "amp-sticky-ad", "amp-user-notification", "applet", "area", "audio", "base", "basefont",
    "bgsound", "canvas", "command", "datalist", "embed", "frame", "iframe", "keygen", "link", "map", "meta", "noframes",
    "noscript", "object", "param", "script", "style", "svg", "template", "title", "video",
])  # fmt: skip
"""Elements that are never rendered as text of the page."""
CONTROLS = frozenset(["button", "input", "optgroup", "option", "progress", "select", "textarea"])
CONTROL_ROLES = frozenset(["button", "combobox", "listbox", "menu", "menubar", "slider", "spinbutton", "tooltip"])
LANDMARKS = frozenset(["nav", "search"])
LANDMARK_ROLES = frozenset(["navigation", "search", "banner", "contentinfo"])
"""https://www.w3.org/TR/wai-aria-1.2/#landmark_roles"""
FIELDS = frozenset(["text", "email", "tel", "password", "url", "search", "textarea"])
DIALOGS = frozenset(["dialog", "alertdialog"])
INNER = frozenset(["article", "main"])
PAGE = frozenset(["body", "html", "main"])
TERMS = frozenset(["dt", "th"])
SENTENCES = frozenset(["dd", "li", "p", "td"])
TEXTS = frozenset(["p", "pre", "ol", "ul"])
WHOLES = frozenset(["blockquote", "code", "dl", "figure", "li", "ol", "p", "pre", "table", "ul"])
"""Elements of which no part is removed alone."""
HIDDEN = re.compile(r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
"""Properties of these names alone: `--menu-display` and `backface-visibility` hide nothing."""
OFF_SCREEN = re.compile(
    r"(?:left|top)\s*:\s*-(?:9{3,}|10{4,})(?!\d)|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01]|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
"""The styles of text that only screen readers read; slides of carousels are off by their own width."""
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
MANY = 20
"""Links of the footer of a site, of which half of the text is in links."""
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
    weights = removals.weights(body)
    parts = weights.elements[1:]
    named = {element: tokens(element) for element in parts}
    for_readers = {element for element, names in named.items() if _is_twin(element, names)}
    removals.drop(
        body,
        ("vendor", (e for e, names in named.items() if not VENDORS.isdisjoint(names))),
        ("form to fill in", _forms(parts, weights, kind)),
        ("control", (e for e in parts if _is_control(e, weights))),
        ("twin for screen readers", for_readers),
        ("twin for screen readers", (e for e in twins(weights) if e.getprevious() not in for_readers)),
        ("dialog", (e for e in _dialogs(parts, weights) if not (kind is PageKind.PRODUCT and _is_of_facts(e)))),
        ("hidden", _unopened(parts, weights)),
        ("hidden", (e for e, names in named.items() if _is_hidden_label(e, names[:-1], weights))),
        ("skip link", skip_links(weights)),
        ("link that another repeats", repeated_links(weights)),
    )
    weights = removals.weights(body)
    parts, landmarks = weights.elements[1:], _landmarks(weights.elements[1:], weights)
    heads = heads_of_posts(weights) if kind is PageKind.THREAD else frozenset()
    content = _around_mains(weights) | heads
    beside = [element for element in parts if element not in content and _is_beside(element, kind, weights)]
    removals.drop(
        body,
        ("link that another repeats", links_again(weights)),
        ("other languages", other_languages(weights)),
        ("price that another repeats", repeated_prices(weights)),
        ("landmark", landmarks),
        ("links beside the content", beside),
        ("beside main", _beside_main(weights)),
        ("title of what is left out", _with_titles([*landmarks, *beside], weights)),
    )
    removals.drop(body, ("outside of main", _outside_of_main(removals.weights(body))))
    weights = removals.weights(body)
    outside = _outside(weights)
    links = [element for element in _links_around(weights, outside, kind) if element not in heads]
    names = CHROME_NAMES - {"author"} if kind is PageKind.THREAD else CHROME_NAMES
    if kind not in (PageKind.LISTING, PageKind.OTHER):
        links = with_records(links, weights)
    removals.drop(
        body,
        ("named chrome around the content", (e for e in named_around(weights, names) if e not in heads)),
        ("links around the content", with_headings(emptied(links, weights))),
        ("cards of other pages", with_headings(cards_of_others(weights, outside, kind))),
    )


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


def emptied(elements: Iterable[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """Elements to be removed, with the parts around them that have nothing else in them, in their order."""
    removed = {*elements}
    outer = [element for element in removed if removed.isdisjoint(element.iterancestors())]
    left: defaultdict[HtmlElement, float] = defaultdict(float)
    for element in outer:
        for around in element.iterancestors():
            left[around] += weights.text[element]
    found = {part for part, text in left.items() if part.tag not in PAGE and weights.text.get(part) == text}
    found -= _around_pictures(weights, removed) | weights.headed
    return [element for element in weights.elements if element in removed or element in found]


def _around_pictures(weights: Weights, removed: Container[HtmlElement]) -> set[HtmlElement]:
    """The elements around pictures that are in no element to be removed."""
    found: set[HtmlElement] = set()
    for element in weights.elements:
        if element.tag == "img":
            around = [element, *element.iterancestors()]
            if not any(one in removed for one in around):
                found.update(around)
    return found


def is_headline(element: HtmlElement, weights: Weights) -> bool:
    return element.tag == "h1" and element in weights.headed


def is_aside(element: HtmlElement) -> bool:
    """Whether an element is beside the content, by its role or, without one, its name: footnotes have another role."""
    return (element.get("role") or element.tag) in ("aside", "complementary")


def _forms(parts: list[HtmlElement], weights: Weights, kind: PageKind) -> Iterator[HtmlElement]:
    """Forms with several fields for words, and labels of boxes; on a product's page these may be its variants."""
    is_product = kind is PageKind.PRODUCT
    identified = {name: element for element in parts if (name := element.get("id"))}
    kept: set[HtmlElement | None] = {*_ticked_off(parts, identified)} if kind is PageKind.ARTICLE else set()
    for element in parts:
        if element.getparent() in kept:
            kept.add(element)
        if element.tag == "form":
            fields = sum(1 for field in element.iter("input", "textarea") if field.get("type", "text") in FIELDS)
            choices = sum(weights.text[field] for field in element.iter("label", "select"))
            is_prose = weights.prose[element] - choices > SOME * weights.total
            if kind is PageKind.DOCUMENTATION and _is_explained(element, weights):
                is_prose = True
                kept.add(element)
            if fields > 1 and element not in weights.headed and not is_prose:
                yield element
        elif element.tag == "label" and not (is_product or element in kept) and _is_asked(element, identified, weights):
            yield element


def _is_explained(form: HtmlElement, weights: Weights) -> bool:
    """Whether a form holds parameters of a call, each with what it does; a single one is nothing to be sent."""
    fields = [*form.iter("input", "select", "textarea")]
    shown = [field for field in fields if field.get("type") not in ("hidden", "submit", "button")]
    explained = sum(weights.text[paragraph] > 0 for paragraph in form.iter("p"))
    return explained >= len(shown) > (1 if len(fields) > len(shown) or form.find(".//button") is not None else 0)


def _is_asked(label: HtmlElement, identified: Mapping[str, HtmlElement], weights: Weights) -> bool:
    """Whether a label without prose is that of a field; where its page only shows the value it is a term."""
    if weights.prose[label]:
        return False
    if next(label.iterdescendants("input"), None) is not None:
        return True
    if (name := label.get("for")) is None:
        return False
    field, around = identified.get(name), label.getparent()
    if field is None:
        return around is None or around.tag not in TERMS
    return field.tag in CONTROLS or field.tag in BLOCKS or not weights.text[field]


def _ticked_off(parts: list[HtmlElement], identified: Mapping[str, HtmlElement]) -> Iterator[HtmlElement]:
    """Labels of several boxes outside of forms, as of ingredients: what is sent is in a form, and one opens a menu."""
    found: defaultdict[str | None, list[HtmlElement]] = defaultdict(list)
    for label in parts:
        if label.tag != "label" or next(label.iterancestors("form"), None) is not None:
            continue
        field = next(label.iterdescendants("input"), identified.get(label.get("for", "")))
        if field is not None and field.get("type") == "checkbox":
            found[label.get("class")].append(label)
    return (label for alike in found.values() if len(alike) >= FEW for label in alike)


def _is_control(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a control; a part said to be a button is none with prose."""
    if element.tag in CONTROLS:
        return True
    if element.get("role") != "button":
        return element.get("role") in CONTROL_ROLES
    return not weights.prose[element] and not _is_card_link(element)


def _is_card_link(element: HtmlElement) -> bool:
    """Whether an element is a link around a picture or a heading; scripts give such links the role of a button."""
    if element.tag != "a" or element.get("href", "#").startswith(NOWHERE):
        return False
    return next(element.iterdescendants("img", *HEADINGS), None) is not None


def _is_twin(element: HtmlElement, names: Sequence[str]) -> bool:
    """Whether an element is text for screen readers, but neither a heading nor around one."""
    if element.tag in HEADINGS:
        return False
    if FOR_READERS.isdisjoint(names) and not _is_off_screen(element):
        return False
    return next(element.iterdescendants(*HEADINGS), None) is None


def _is_off_screen(element: HtmlElement) -> bool:
    style = element.get("style")
    return style is not None and OFF_SCREEN.search(style[:NAMED]) is not None


def is_hidden(element: HtmlElement) -> bool:
    """Whether an element is not shown before scripts run."""
    if element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    if style is None or HIDDEN.search(style) is None:
        return False
    return OPENED_BY_CLICK.isdisjoint(element.get("class", "").split())


def _is_hidden_label(element: HtmlElement, names: Sequence[str], weights: Weights) -> bool:
    """Whether an element of a few words has a class by which CSS frameworks hide it on screens of all sizes."""
    if HIDDEN_NAMES.isdisjoint(names) or weights.text[element] >= PROSE or element in weights.headed:
        return False
    return not any(name.startswith("d-") or ":" in name for name in names if name not in HIDDEN_NAMES)


def _unopened(parts: list[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """The hidden elements that are no content; where most of one place and form are, all are, as short answers.

    A hidden row with as many cells as a shown one of its table is the rest of that, and so is a part of some text, such
    as the prices of a year beside those of a month.
    """
    unshown = {e: len(e) for e in parts if is_hidden(e)}
    sizes = {*unshown.values()} - {0, 1}
    beside = (e for e in parts if len(e) in sizes and e not in unshown and (e.tag == "tr" or e.get("class")))
    shown = {(form(e), len(e)) for e in beside}
    hidden = [e for e in unshown if not ((form(e), len(e)) in shown and _is_alike(e, weights))]
    is_opened = {element: _is_opened(element, weights) for element in hidden}
    forms: defaultdict[tuple[object, ...], list[HtmlElement]] = defaultdict(list)
    for element in hidden:
        forms[_place(element)].append(element)
    for alike in forms.values():
        opened = max(sum(is_opened[element] for element in alike), _answers(alike, weights))
        are_many = len(alike) >= FEW and opened > HALF * len(alike)
        yield from (e for e in alike if not is_opened[e] and not (are_many and e.get("class")))


def _is_alike(element: HtmlElement, weights: Weights) -> bool:
    """Whether a hidden element of the form of a shown one is content as that is."""
    if element.tag == "tr":
        return True
    is_text = weights.text[element] >= PROSE and _is_free_text(element, weights)
    return is_text and not _is_dialog(element)


def _is_free_text(element: HtmlElement, weights: Weights) -> bool:
    """Whether most of an element's text is outside links, and nothing in it is to be filled in."""
    if weights.linked[element] > HALF * weights.text[element]:
        return False
    return next(element.iterdescendants("input", "label", "select"), None) is None


def _answers(alike: list[HtmlElement], weights: Weights) -> int:
    """How many different texts outside links stand in hidden elements right behind a shown text, such as a question."""
    texts = set()
    for element in alike:
        before = element.getprevious()
        is_titled = before is not None and not is_hidden(before) and weights.text[before] > 0
        is_short = weights.text[element] < ARTICLE
        if is_titled and is_short and element.tag in BLOCKS and _is_free_text(element, weights):
            texts.add(element.text_content().strip())
    return len(texts - {""})


def _place(element: HtmlElement) -> tuple[object, ...]:
    around = element.getparent()
    outer = None if around is None else around.getparent()
    return outer, *((one.tag, one.get("class")) for one in (around, element) if one is not None)


def _is_opened(element: HtmlElement, weights: Weights) -> bool:
    """Whether a hidden element is content that a click opens: it has prose, or stands in the page's own part."""
    if _is_dialog(element) or element.tag in LANDMARKS:
        return False
    if element.get("role") in ("tabpanel", "region"):
        return True
    return weights.prose[element] > 0 or _continues(element, weights)


def _continues(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is the rest of a paragraph, which a click shows."""
    around = element.getparent()
    if around is None or around.tag not in SENTENCES or element.tag in BLOCKS or weights.links[element]:
        return False
    return weights.text[element] >= PROSE and weights.text[around] >= weights.text[element] + PROSE


def _dialogs(parts: list[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    """The dialogs with little of a page's prose; all where the first headline and enough prose are outside of them."""
    dialogs = [element for element in parts if _is_dialog(element)]
    outer = {element for element in dialogs if not any(_is_dialog(around) for around in element.iterancestors())}
    first = next((element for element in parts if is_headline(element, weights)), None)
    is_headed = first is not None and outer.isdisjoint(first.iterancestors())
    is_beside = is_headed and weights.total - sum(weights.prose[element] for element in outer) >= ARTICLE
    return (element for element in dialogs if is_beside or weights.share(element) < MUCH)


def _is_of_facts(element: HtmlElement) -> bool:
    """Whether an element holds a table and nothing to fill in, as the sizes of a product."""
    fields = next(element.iterdescendants("input", "textarea"), None)
    return fields is None and next(element.iterdescendants("table"), None) is not None


def _is_dialog(element: HtmlElement) -> bool:
    """Whether an element is shown over the page once it is opened, by its name, role, class or attribute.

    https://html.spec.whatwg.org/multipage/popover.html
    """
    if element.tag == "dialog" or element.get("role") in DIALOGS or element.get("aria-modal") == "true":
        return True
    if element.get("aria-hidden") == "true" and is_aside(element):
        return True  # a drawer, as of a shopping cart
    if element.get("popover") is not None:
        return True
    return not MODALS.isdisjoint(element.get("class", "")[:NAMED].split())


def _landmarks(parts: list[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """The landmarks of the whole page, but none with the page's heading; all stay where little would be left."""
    landmarks = (e for e in parts if _is_landmark(e, weights) or _is_footer_in_main(e, weights))
    found = [element for element in landmarks if element not in weights.headed]
    outer: dict[HtmlElement, None] = {}
    for element in found:
        if not any(around in outer for around in element.iterancestors()):
            outer[element] = None
    left = weights.whole - sum(weights.text[element] for element in outer)
    if left >= LITTLE:
        return [e for e in found if _is_footer(e) or weights.share(e) < MUCH or weights.text[e] < HALF * weights.whole]
    return [element for element in found if weights.is_links(element)]


def _with_titles(removed: list[HtmlElement], weights: Weights) -> list[HtmlElement]:
    """Parts to be removed with the headings that nothing would follow then.

    Not with the page's first heading, one in a header, and one with a link: that is the title of a record.
    """
    first = next((element for element in weights.elements if element.tag in HEADINGS), None)
    headed = with_headings(emptied(removed, weights))
    return [e for e in headed if e.tag not in HEADINGS or not (e is first or weights.links[e] or _is_in_header(e))]


def _is_in_header(element: HtmlElement) -> bool:
    return next(element.iterancestors("header"), None) is not None


def _is_footer(element: HtmlElement) -> bool:
    return element.tag == "footer" or element.get("role") == "contentinfo"


def _is_landmark(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a landmark of the whole page; prose without a link is no navigation."""
    if element.tag in LANDMARKS or element.get("role") in LANDMARK_ROLES:
        return element.tag != "nav" or weights.links[element] > 0 or not weights.prose[element]
    return element.tag in ("header", "footer") and not is_inner(element)


def _is_footer_in_main(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is the site's footer in a `main` around the whole page: no part of one has as many links."""
    if not _is_footer(element) or weights.links[element] < MANY:
        return False
    return not _is_inner_article(element) and weights.linked[element] > DENSE * weights.text[element]


def _outside_of_main(weights: Weights) -> list[HtmlElement]:
    """What is outside of the only element that the page itself marks as its main part, where that has its heading."""
    mains = _mains(weights)
    if len(mains) != 1:
        return []
    main = mains[0]
    if weights.text[main] < MOST * weights.whole or weights.share(main) < NEARLY_ALL or weights.total < ARTICLE:
        return []
    around = {main, *main.iterancestors()}
    if weights.headed and main not in weights.headed:
        before = takewhile(lambda element: element is not main, weights.elements)
        leads = (e for e in dropwhile(lambda element: element.tag != "h1", before) if weights.own_prose[e])
        around |= {*weights.headed, *(outer for lead in leads for outer in (lead, *lead.iterancestors()))}
    outside = (outer for outer in around - {main} if outer in weights.prose and outer.tag != "h1")
    return [element for outer in outside for element in outer if element not in around]


def _beside_main(weights: Weights) -> Iterator[HtmlElement]:
    """The asides outside of the only element that the page marks as its main part, where that has its heading."""
    mains = _mains(weights)
    if len(mains) == 1 and mains[0] in weights.headed:
        inside = frozenset((*mains[0].iter("*"), *mains[0].iterancestors()))
        yield from (e for e in weights.elements if is_aside(e) and e not in inside and weights.share(e) < HALF)


def _mains(weights: Weights) -> list[HtmlElement]:
    return [element for element in weights.elements if element.tag == "main" or element.get("role") == "main"]


def _around_mains(weights: Weights) -> set[HtmlElement]:
    """The elements around the main part of a page, such as `content-sidebar-wrap`."""
    found: set[HtmlElement] = set()
    for main in _mains(weights):
        around = main.getparent()
        while around is not None and around not in found:
            found.add(around)
            around = around.getparent()
    return found


def _is_beside(element: HtmlElement, kind: PageKind, weights: Weights) -> bool:
    """Whether an element is a part beside the content, but not a product's price with what one gets for it."""
    if not _is_sidebar(element, weights):
        return False
    return kind is not PageKind.PRODUCT or next(free_prices(element, weights), None) is None


def _is_sidebar(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element beside the content is links to other pages: by its tag, its role or a word of its name."""
    named = is_aside(element)
    if not named and (element.tag in WHOLES or SIDEBARS.isdisjoint((*words_of(element), *id_words(element)))):
        return False
    if element in weights.headed or weights.text[element] > HALF * weights.whole or is_quotation(element):
        return False
    if is_of_text(element, weights):
        return False
    if not weights.prose[element] and not (is_inner(element) if named else _is_inner_article(element)):
        return True
    if weights.links[element] < FEW:
        return False
    needed = DENSE if weights.share(element) < SOME else VERY_DENSE
    return weights.linked[element] > needed * weights.text[element]


def is_of_text(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element stands right behind a paragraph and is no links itself, as a note in documentation."""
    before = element.getprevious()
    is_behind = before is not None and before.tag in TEXTS and weights.own_prose[before] > 0
    return is_behind and weights.linked[element] <= HALF * weights.text[element]


def _is_inner_article(element: HtmlElement) -> bool:
    return any(around.tag == "article" or around.get("role") == "article" for around in element.iterancestors())


def is_inner(element: HtmlElement) -> bool:
    return any(around.tag in INNER or around.get("role") in INNER for around in element.iterancestors())


def _links_around(weights: Weights, outside: Container[HtmlElement], kind: PageKind) -> Iterator[HtmlElement]:
    """Groups of short links before the first and after the last content of a page that has prose, or is a thread.

    But no list below a heading of the text itself, such as `See also`; articles have links to others there.
    """
    text = None if kind is PageKind.ARTICLE else text_of(weights)
    if kind is PageKind.OTHER and text is not None and (text.tag == "article" or _is_inner_article(text)):
        text = None
    for element in weights.elements[1:] if weights.total >= ARTICLE or kind is PageKind.THREAD else ():
        is_of_text = text is not None and element.getparent() is text and _is_below_heading(element)
        if element not in outside or is_of_text or not is_menu(element, weights):
            continue
        if weights.text[element] < SOME * weights.whole:
            yield element


def text_of(weights: Weights) -> HtmlElement | None:
    """The element with most of a page's prose in paragraphs of its own; None where there is none."""
    prose: dict[HtmlElement, float] = {}
    for element in weights.elements[1:]:
        around = element.getparent() if element.tag == "p" else element
        if around is not None:
            prose[around] = prose.get(around, 0.0) + weights.own_prose[element]
    best = max(prose, key=lambda element: prose[element], default=None)
    return best if best is not None and prose[best] >= MOST * weights.total else None


def _is_below_heading(element: HtmlElement) -> bool:
    """Whether a heading stands right before an element, perhaps with its links in an element of its own."""
    before = element.getprevious()
    return before is not None and any(one.tag in HEADINGS for one in (before, *before[:1]))


def named_around(weights: Weights, names: frozenset[str]) -> list[HtmlElement]:
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
    return not names.isdisjoint((*words_of(element), *(id_words(element) if element.tag in ("div", "aside") else ())))


def _outside(weights: Weights) -> Container[HtmlElement]:
    """The elements before the first and after the last content of a page."""
    content = [number for number, element in enumerate(weights.elements) if _is_content(element, weights)]
    if not content:
        return frozenset()
    return {*weights.elements[1 : content[0]], *weights.elements[content[-1] + 1 :]}


def _is_content(element: HtmlElement, weights: Weights) -> bool:
    if element.tag == "h1":
        return is_headline(element, weights)
    return element.tag in BLOCKS and weights.own_prose[element] > 0


def is_menu(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a group of links to other pages, without pictures, headings and text of its own."""
    if not weights.is_links(element) or weights.prose[element]:
        return False
    if weights.linked[element] / weights.links[element] > SHORT_LINK:
        return False
    return next(element.iterdescendants("img", "table", "pre", *HEADINGS), None) is None
