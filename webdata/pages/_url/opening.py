"""What a page shows at once or after one click, put in its place: shadow roots, `noscript`, tabs, buttons of titles."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile

from lxml.html import HtmlElement

from webdata.pages._url import mathematics
from webdata.pages._url.blocks import mark_roles
from webdata.pages._url.cleaning import is_hidden
from webdata.pages._url.columns import join_columns
from webdata.pages._url.dropping import drop
from webdata.pages._url.embedded import link_embedded
from webdata.pages._url.icons import erase_icons
from webdata.pages._url.listings import listed
from webdata.pages._url.obscured import show_addresses
from webdata.pages._url.pictures import choose_pictures
from webdata.pages._url.prices import join_prices
from webdata.pages._url.published import read_published
from webdata.pages._url.repetition import form
from webdata.pages._url.shadow import unfold_shadows
from webdata.pages._url.twins import set_apart
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROSE, size

TITLES = HEADINGS | {"dt", "summary", "legend", "caption", "th"}
"""Elements whose whole text is a title, also where a button carries it."""
MOST_TABS = 30
LONGEST_BLANK = 500
"""Spaces around a text at the beginning of a panel, which may be that of thousands of tabs."""
LEVELS = 3
"""Elements around a button."""
REQUEST = re.compile(r"\s*+(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s*+/\S*+\s*+", re.IGNORECASE)
"""A request that an interface answers, which opens its description: `GET /pets`."""
MOST_TEXTS = 10
SENTENCES = frozenset(["p", "li", "dd", "td", "blockquote"])

Tab = tuple[HtmlElement, HtmlElement | None]
"""A tab, and its panel."""


def opened(root: HtmlElement, base: str) -> None:
    """Put in place, before anything is removed, what the markup holds apart from where a reader sees it.

    `base` is the address that the page's links are relative to.
    """
    unfold_shadows(root)
    _place_streamed(root)
    show_addresses(root)
    read_published(root, base)
    erase_icons(root)
    _show_fields(root)
    listed(root)
    mathematics.written(root)
    link_embedded(root, base)
    choose_pictures(root)
    mark_roles(root)
    join_columns(root)
    _unwrap_forms(root)
    _use_noscript(root)
    _label_tabs(root)
    _label_linked(root)
    _label_choices(root)
    _label_marked(root)
    _open_answers(root)
    _unwrap_buttons(root)
    _name_custom_elements(root)
    elements = [*root.iter("*")]
    join_prices(elements)
    set_apart(elements)


def _show_fields(root: HtmlElement) -> None:
    """Make fields that are filled in with several lines listings, as of an example or of a citation to be copied."""
    for field in [*root.iter("textarea")]:
        text = (field.text or "").strip()
        if "\n" in text and not text.startswith("<") and not is_hidden(field):
            field.tag = "pre"


def _unwrap_forms(root: HtmlElement) -> None:
    """Make forms in which nothing is filled in or pressed, which only send what is around a text, blocks."""
    for element in [*root.iter("form")]:
        controls = element.iterdescendants("button", "input", "select", "textarea")
        if all(control.get("type") == "hidden" for control in controls):
            element.tag = "div"


def _place_streamed(root: HtmlElement) -> None:
    """Put the parts that React sent after the page, hidden as `S:0`, in place of their templates, `B:0` or `P:0`.

    https://react.dev/reference/react-dom/server/renderToPipeableStream
    """
    parts = [part for part in root.iter("div") if part.get("hidden") is not None and part.get("id", "")[:2] == "S:"]
    templates = {template.get("id"): template for template in root.iter("template")} if parts else {}
    for part in parts:
        number = part.get("id", "")[2:]
        place = templates.get(f"B:{number}", templates.get(f"P:{number}"))
        del part.attrib["hidden"]
        if place is not None and all(around is not part for around in place.iterancestors()):
            drop([part])
            place.addnext(part)
            part.tail, place.tail = place.tail, None


def _use_noscript(root: HtmlElement) -> None:
    """Show the text of `noscript` where there is as much as on a page; a note that scripts are needed is shorter."""
    for element in [*root.iter("noscript")]:
        if _holds_prose(element) and not any(around.tag == "head" for around in element.iterancestors()):
            element.tag = "div"


def _holds_prose(element: HtmlElement) -> bool:
    return sum(size(text) >= PROSE for text in element.itertext()) >= 3


def _label_tabs(root: HtmlElement) -> None:
    """Put the label of each tab above its panel, where a reader sees it once the tab is open."""
    identified: dict[str, HtmlElement] = {}
    labelled: dict[str, HtmlElement] = {}
    panels: defaultdict[HtmlElement | None, list[HtmlElement]] = defaultdict(list)
    for element in root.iter("*"):
        if element.get("id"):
            identified.setdefault(element.get("id", ""), element)
        if element.get("role") == "tabpanel":
            panels[element.getparent()].append(element)
            labelled.setdefault(element.get("aria-labelledby", ""), element)
    for tablist in [element for element in root.iter("*") if element.get("role") == "tablist"]:
        tabs = [element for element in tablist.iter("*") if element.get("role") == "tab"]
        pairs = [(tab, identified.get(tab.get("aria-controls") or tab.get("href", "")[1:] or "-")) for tab in tabs]
        if all(panel is None for _, panel in pairs):
            pairs = [(tab, labelled.get(tab.get("id") or "-")) for tab in tabs]
        if all(panel is None for _, panel in pairs):
            beside = panels.get(tablist.getparent(), [])
            pairs = [*zip(tabs, beside, strict=True)] if len(beside) == len(tabs) else []
        for tab, panel in _shown_alone(pairs):
            if panel is not None and all(around is not panel for around in tab.iterancestors()):
                _label(tab, panel)
        if pairs and all(panel is not None and panel is not tablist for _, panel in pairs):
            drop(tab for tab, _ in pairs)


def _shown_alone(pairs: list[Tab]) -> list[Tab]:
    """The tabs with a panel of their own; of filters, which change what one panel shows, those that are selected."""
    shared = Counter(panel for _, panel in pairs)
    return [(tab, panel) for tab, panel in pairs if shared[panel] == 1 or tab.get("aria-selected") == "true"]


def _label_linked(root: HtmlElement) -> None:
    """Put links above the parts that they lead to, which are siblings of one form, some of them hidden."""
    linked = [link for link in root.iter("a") if (link.get("href") or "").startswith("#")]
    around = (element for link in linked for element in islice(link.iterancestors(), 2))
    tablists = dict.fromkeys(element for element in around if element.tag in ("div", "nav", "ul"))
    identified = {name: element for element in root.iter("*") if (name := element.get("id"))} if tablists else {}
    for tablist in tablists:
        links = [_only_link(child) for child in islice(tablist, MOST_TABS + 1)]
        if not 1 < len(links) <= MOST_TABS or None in links:
            continue
        panels = [identified.get(link.get("href", "")[1:]) for link in links if link is not None]
        shown = [(form(panel), is_hidden(panel)) for panel in panels if panel is not None]
        if len(shown) == len(links) and len({one for one, _ in shown}) == 1 and any(hidden for _, hidden in shown):
            for link, panel in zip(links, panels, strict=True):
                if link is not None and panel is not None:
                    _label(link, panel)
            drop([*tablist])


def _only_link(element: HtmlElement) -> HtmlElement | None:
    """The link to a place in the page that an element is, or that is alone in it."""
    link = element if element.tag == "a" else element[0] if len(element) == 1 else None
    is_one = link is not None and link.tag == "a" and link.get("href", "").startswith("#")
    return link if is_one else None


def _label_choices(root: HtmlElement) -> None:
    """Put the label of a radio button or a check box above the part that it shows by a style sheet alone."""
    boxes = [
        box for box in root.iter("input") if box.get("type", "").lower() in ("radio", "checkbox") and box.get("id")
    ]
    identified = {
        box.get("id"): box for box in boxes if not any(around.tag == "form" for around in box.iterancestors())
    }
    groups: defaultdict[HtmlElement | None, list[HtmlElement]] = defaultdict(list)
    for label in root.iter("label") if identified else ():
        if label.get("for") in identified:
            groups[label.getparent()].append(label)
    for labels in groups.values():
        pairs = _shown_by(labels)
        for label, panel in pairs:
            _label(label, panel)
        drop(label for label, _ in pairs)


def _shown_by(labels: list[HtmlElement]) -> list[tuple[HtmlElement, HtmlElement]]:
    """The labels of a group, each with its part: the one right after it, or the one with its number in what follows."""
    beside = [_block_after(label) for label in labels]
    if all(panel is not None for panel in beside):
        return [(label, panel) for label, panel in zip(labels, beside, strict=True) if panel is not None]
    around = labels[0].getparent()
    after = [*filter(_is_panel, islice(labels[-1].itersiblings(), MOST_TABS))]
    if not after and around is not None:
        after = [*filter(_is_panel, islice(around.itersiblings(), 1))]
    alike = [panel for panel in after if (panel.tag, panel.get("class")) == (after[0].tag, after[0].get("class"))]
    panels = [*filter(_is_panel, after[0])] if len(alike) == 1 else alike
    return [*zip(labels, panels, strict=True)] if 1 < len(labels) == len(panels) else []


def _label_marked(root: HtmlElement) -> None:
    """Put the labels of tabs without roles above their panels, of which there are as many behind them.

    All labels have the same classes, and all panels, but for one that marks those of one number, which are shown.
    """
    for around in [*root.iter("div", "nav", "ul")]:
        if not 1 < len(around) <= MOST_TABS or not (marks := _marks(around)):
            continue
        for behind in _behind(around):
            if not (pairs := _pairs(marks, _marks(behind))):
                continue
            tabs, panels = ([child for child in outer if size(child.text_content())] for outer in (around, behind))
            if _are_marked(tabs, panels, pairs) and all(map(_is_tab, tabs)) and all(map(_is_panel, panels)):
                for tab, panel in zip(tabs, panels, strict=True):
                    _label(tab, panel)
                drop(tabs)
                break


def _behind(around: HtmlElement) -> Iterator[list[HtmlElement]]:
    """What may be the panels of tabs: what is in the element behind them, or as many elements behind them.

    Perhaps behind an element around the tabs alone.
    """
    parent = around.getparent()
    outer = parent if parent is not None and _is_alone(around) else around
    beside = outer.getnext()
    if beside is None or around.get("class") == beside.get("class"):
        return  # of one class they are rows
    if 1 < len(beside) <= MOST_TABS:
        yield [*beside]
    yield [*islice(outer.itersiblings(), len(around))]


def _pairs(marks: set[str], others: set[str]) -> list[tuple[str, str]]:
    """The classes that may mark what is shown of tabs and of panels: of the same name, or else the only ones."""
    both = [(mark, mark) for mark in sorted(marks & others)]
    return both or ([(min(marks), min(others))] if len(marks) == len(others) == 1 else [])


def _are_marked(tabs: list[HtmlElement], panels: list[HtmlElement], pairs: list[tuple[str, str]]) -> bool:
    """Whether the tab and the panel of one number are marked."""
    return any((shown := _shown(tabs, mark)) is not None and shown == _shown(panels, other) for mark, other in pairs)


def _marks(elements: Iterable[HtmlElement]) -> set[str]:
    """The classes that one of several elements has alone."""
    names = Counter(name for one in elements for name in set(one.get("class", "").split()))
    return {name for name, count in names.items() if count == 1}


def _shown(elements: list[HtmlElement], mark: str) -> list[bool] | None:
    """Which of several elements has a class that marks it; None where others of their classes differ."""
    names = [{*element.get("class", "").split()} for element in elements]
    forms = {(element.tag, *sorted(own - {mark})) for element, own in zip(elements, names, strict=True)}
    return [mark in own for own in names] if len(elements) > 1 and len(forms) == 1 else None


def _is_tab(element: HtmlElement) -> bool:
    """Whether an element is a few words that lead to no other page."""
    links = (link.get("href", "#") for link in element.iter("a"))
    return size(element.text_content()) < PROSE and all(link.startswith(("#", "javascript:")) for link in links)


def _block_after(label: HtmlElement) -> HtmlElement | None:
    following = label.getnext()
    is_joined = following is not None and not (label.tail or "").strip() and _is_panel(following)
    return following if is_joined else None


def _is_panel(element: HtmlElement) -> bool:
    if element.tag not in BLOCKS or next(element.iterdescendants("label", "input"), None) is not None:
        return False
    return not _is_menu(element)


def _is_menu(element: HtmlElement) -> bool:
    """Whether half of the text of an element is links."""
    return sum(size(link.text_content()) for link in element.iter("a")) > size(element.text_content()) / 2


def _open_answers(root: HtmlElement) -> None:
    """Show the hidden part that follows a button with its title, unless it is a menu."""
    answers: dict[HtmlElement, None] = {}
    for button in filter(_is_title, _buttons(root)):
        title = next((around for around in islice(button.iterancestors(), 3) if around.tag in TITLES), button)
        answer = title.getnext()
        if answer is None or answer.tag not in BLOCKS:
            continue
        if button.get("aria-controls", answer.get("id")) == answer.get("id"):
            answers[answer] = None
    for answer in answers:  # once, however many buttons a title has
        if not _is_menu(answer):
            _show(answer)
            answer.set("role", answer.get("role", "region"))


def _show(part: HtmlElement) -> None:
    for name in ("hidden", "aria-hidden", "style"):
        part.attrib.pop(name, None)


def _label(tab: HtmlElement, panel: HtmlElement) -> None:
    _show(panel)
    if panel.get("role") is None:
        panel.set("role", "tabpanel")
    text = " ".join(tab.text_content().split())
    if not text or _begins_with(panel, text):
        return
    label = panel.makeelement("p")
    strong = panel.makeelement("strong")
    strong.text = text
    label.append(strong)
    label.tail, panel.text = panel.text, None
    panel.insert(0, label)


def _begins_with(panel: HtmlElement, text: str) -> bool:
    """Whether the first whole texts of a panel are its label; a word of code is none."""
    beginning = ""
    for one in islice(panel.itertext(), 20):
        beginning += one[: len(text) + LONGEST_BLANK]
        if len(words := " ".join(beginning.split())) >= len(text):
            return words == text
    return False


def _unwrap_buttons(root: HtmlElement) -> None:
    """Keep the text of buttons that are a title or a word of a sentence."""
    sentences: dict[HtmlElement | None, bool] = {}
    for button in [*_buttons(root)]:
        around = next((one for one in islice(button.iterancestors(), LEVELS) if one.tag != "span"), None)
        if around not in sentences:
            sentences[around] = _is_sentence(around)
        is_request = len(button) > 1 and _is_request(button)
        if is_request:
            _set_words_apart(button)
        if is_request or _is_title(button) or _has_paragraph(button) or sentences[around] or _is_value(button):
            button.attrib.pop("role", None)
            button.tag = "span" if next(button.iterdescendants(*BLOCKS), None) is None else "div"


def _is_request(button: HtmlElement) -> bool:
    return REQUEST.fullmatch("".join(islice(button.itertext(), MOST_TEXTS))) is not None


def _set_words_apart(button: HtmlElement) -> None:
    """Write a space between the method and the path of a request, which a style sheet sets apart."""
    for inner in islice(button.iterchildren("span"), 1):
        inner.tail = f" {inner.tail or ''}"


def _buttons(root: HtmlElement) -> Iterator[HtmlElement]:
    for element in root.iter("*"):
        if element.tag == "button" or element.get("role") == "button":
            yield element


def _is_title(button: HtmlElement) -> bool:
    """Whether a button is the title of something: in a heading, around one, or of a part that it opens."""
    if any(around.tag in TITLES for around in islice(button.iterancestors(), 3)):
        return True
    if next(button.iter(*HEADINGS), None) is not None:
        return True
    if button.tag != "button" and button.get("aria-expanded") and _is_before_answer(button):
        return True
    opens = button.get("aria-controls") or button.get("aria-expanded") or button.get("data-target")
    return bool(opens) and size(button.text_content()) >= 12 and " " in button.text_content().strip()


def _is_before_answer(button: HtmlElement) -> bool:
    """Whether a part that is said to be a button stands before a block of text that it opens."""
    answer = button.getnext()
    if answer is None or answer.tag not in BLOCKS or not (is_hidden(answer) or answer.get("role") == "region"):
        return False
    return not _is_menu(answer) and next(answer.iterdescendants("input", "select"), None) is None


def _is_value(button: HtmlElement) -> bool:
    """Whether a button is all of a cell of a table and has a number: a click tells more of the value."""
    alone = takewhile(_is_alone, (button, *islice(button.iterancestors(), 2)))
    cell = next((around for one in alone if (around := one.getparent()) is not None and around.tag == "td"), None)
    if cell is None or not any(map(str.isdigit, text := button.text_content())):
        return False
    return text.strip() == cell.text_content().strip()


def _is_alone(element: HtmlElement) -> bool:
    """Whether an element has no siblings; to count them would take the square of their number."""
    return element.getprevious() is None and element.getnext() is None


def _has_paragraph(button: HtmlElement) -> bool:
    """Whether a button has a paragraph with other text before it, as an answer of a program with what it means."""
    paragraph = next(button.iterdescendants("p"), None) if button.tag == "button" else None
    return paragraph is not None and size(button.text_content()) > size(paragraph.text_content()) > 0


def _is_sentence(around: HtmlElement | None) -> bool:
    """Whether the text beside the buttons in an element is words."""
    if around is None or around.tag not in SENTENCES:
        return False
    return any(char.isalpha() for text in (around.text, *(child.tail for child in around)) for char in text or "")


def _name_custom_elements(root: HtmlElement) -> None:
    """Make custom elements blocks where they hold blocks, or stand alone among blocks."""
    for element in reversed([*root.iter("*")]):
        if "-" in (tag := str(element.tag)) and not tag.startswith("amp-"):
            element.tag = "div" if _is_block(element) else "span"


def _is_block(element: HtmlElement) -> bool:
    if next(element.iterdescendants(*BLOCKS), None) is not None:
        return True
    around = element.getparent()
    if around is None or around.tag == "p" or (around.text or "").strip() or (element.tail or "").strip():
        return False
    before = element.getprevious()
    return before is None or not (before.tail or "").strip()
