"""Answer boxes: the featured snippet, the AI overview, the dictionary, and tools such as the calculator."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, takewhile

from selectolax.lexbor import LexborNode

from webdata.domain.records import AnswerBox, AnswerType, Reference
from webdata.pages._elements import ancestry, attribute, enclosing, lines, texts, visible_text
from webdata.pages._google.links import outside
from webdata.pages._google.organic import Title
from webdata.pages._google.tree import GooglePage, Ordered
from webdata.pages._text import clean, date

EXCLUDED = ("question", "questions", "aside", "popup", "text_ad")
FEATURED = "[data-attrid^='wa:/'], .hgKElc, .LGOjhe, .di3YZe, .RqBzHd"
FEATURED_TABLE = "table"
FEATURED_HEAD = "[role=heading]"
ADDRESS = "cite"
AI_MAIN = "[data-container-id=main-col]"
AI_SENTENCE = "[data-huuid]"
AI_SOURCE = "li, [data-src-id]"
AI_TITLE = ".mNme1d, .Nn35F, [role=heading]"
AI_SITE = ".R8BTeb, .R0r5R, .jEYmO"
FIRST_BLOCKS = 4
PLAIN_AI = "ai_overviews"
"""A part of the link in the box of an AI overview on the page without JavaScript."""
CONTROLS = "[role=button], [id]:not(:has(*))"
"""The button that expands the overview, and the messages that scripts display."""
SHORT_ANSWER = ".Z0LcW, .IZ6rdc, .vk_ans"
CONVERTED_FROM = "#HG5Seb"
OPENS = re.compile(r"\. (?:Opens|Wird|S’ouvre|S'ouvre|Se abre|Si apre|Abre)\b.*$")


def blank(kind: AnswerType, answer: str) -> AnswerBox:
    """An answer with only its type and text."""
    return {
        "type": kind, "answer": answer, "title": None, "link": None, "display_url": None, "date": None,
        "list": [], "table": [], "references": [],
    }  # fmt: skip


def answers(page: GooglePage, titles: list[Title]) -> Ordered[AnswerBox]:
    """The answers of the page, each with its order."""
    boxes = [*_ai_overviews(page), *_plain_overview(page), *_featured(page, titles), *_dictionary(page), *_tools(page)]
    return sorted(boxes, key=lambda pair: pair[0])


def _featured(page: GooglePage, titles: list[Title]) -> Iterator[tuple[int, AnswerBox]]:
    for title in titles:
        open_box = title.mark.within("open_box")
        box = open_box.node if open_box else page.box(title.anchor)
        body = box.css_first(FEATURED)
        if body is not None or (open_box and box.css_first(FEATURED_TABLE) is not None):
            yield title.mark.order, _snippet(body if body is not None else box, box, title)


def _snippet(body: LexborNode, box: LexborNode, title: Title) -> AnswerBox:
    items = texts(body.css("li"))
    rows = [[visible_text(cell) for cell in row.css("td, th")] for row in box.css("table tr")]
    head = visible_text(body.css_first(FEATURED_HEAD))
    text = " ".join([*([head] if head else []), *items]) if items else visible_text(body)
    answer = blank("list" if items else "table" if rows else "featured_snippet", text)
    answer["title"] = title.text
    answer["link"] = title.link
    answer["display_url"] = visible_text(title.anchor.css_first(ADDRESS)) or None
    answer["list"] = items
    answer["table"] = rows
    answer["date"] = next((day for node in box.css(".kX21rb, .ZYHQ7e") if (day := date(visible_text(node)))), None)
    return answer


def _ai_overviews(page: GooglePage) -> Iterator[tuple[int, AnswerBox]]:
    """The AI overview; one that a script has yet to load has no text and is left out."""
    bodies = [mark for mark in page.of("ai_text") if not mark.is_within((*EXCLUDED, "ai_text", "open_box"))]
    box = _overview_around(bodies[0].node) if bodies else None
    if box is None:
        return
    main = box.css_first(AI_MAIN)
    text = visible_text(main) if main is not None else clean(" ".join(ai_text(mark.node) for mark in bodies))
    if text:
        answer = blank("ai_overview", text)
        answer["references"] = list(_references(box))
        yield bodies[0].order, answer


def _plain_overview(page: GooglePage) -> Iterator[tuple[int, AnswerBox]]:
    """The AI overview on the page without JavaScript: the lines between its heading and the notice with its link."""
    links = (mark for mark in page.of("link") if PLAIN_AI in mark.attribute("href"))
    link, box = next(((mark, box) for mark in links if (box := mark.within("plain_box"))), (None, None))
    if link is None or box is None:
        return
    labels = {line for node in box.node.css(CONTROLS) for line in lines(node)}
    rows = takewhile(lambda line: visible_text(link.node) not in line, lines(box.node)[1:])
    if text := " ".join(line for line in rows if line not in labels):
        yield box.order, blank("ai_overview", text)


def _overview_around(body: LexborNode) -> LexborNode | None:
    """The box of an overview; other generated text has none."""
    return enclosing(body, "data-mcpr") or enclosing(body, "data-subtree")


def ai_text(body: LexborNode) -> str:
    """The text of an overview: its sentences where they are marked, without the videos and cards between them."""
    sentences = body.css(AI_SENTENCE)
    inner = {
        node.mem_id for sentence in sentences for node in sentence.css(AI_SENTENCE) if node.mem_id != sentence.mem_id
    }
    return " ".join(texts(node for node in sentences if node.mem_id not in inner)) or visible_text(body)


def _references(box: LexborNode) -> Iterator[Reference]:
    seen: set[str] = set()
    for node in box.css(AI_SOURCE):
        anchor = next((a for a in node.css("a[href]") if outside(attribute(a, "href"))), None)
        link = outside(attribute(anchor, "href"))
        title = visible_text(node.css_first(AI_TITLE)) or OPENS.sub("", attribute(anchor, "aria-label"))
        if link and title and link not in seen:
            seen.add(link)
            yield {
                "position": len(seen),
                "title": title,
                "link": link,
                "source": visible_text(node.css_first(AI_SITE)) or None,
            }


def _dictionary(page: GooglePage) -> Iterator[tuple[int, AnswerBox]]:
    marks = [mark for mark in page.of("dictionary") if not mark.is_within(EXCLUDED)]
    meanings = [mark for mark in marks if mark.attribute("data-dobid") == "dfn"]
    if not meanings:
        return
    definitions = [text for mark in meanings if not page.is_hidden(mark.node) and (text := visible_text(mark.node))]
    head = next((mark for mark in marks if mark.attribute("data-dobid") == "hdw"), None)
    if definitions:
        answer = blank("dictionary", definitions[0])
        answer["title"] = visible_text(head.node) if head else None
        answer["list"] = definitions
        yield meanings[0].order, answer


def _tools(page: GooglePage) -> Iterator[tuple[int, AnswerBox]]:
    """The first tool, such as the calculator, in the first blocks of a column."""
    if page.root.css_first(ANY_TOOL) is None:  # as on most pages; the search below takes six times as long
        return
    for column in page.of("column"):
        blocks = islice((node for node in column.node.iter() if page.count(node) < 2), FIRST_BLOCKS)
        for node in (block.css_first(ANY_TOOL) for block in blocks):
            read = TOOLS.get(f"#{attribute(node, 'id')}", partial(_plain, "other"))
            answer = read(node) if node is not None and not page.is_hidden(node) else None
            if answer is not None:
                yield column.order, answer
                return


def _currency(node: LexborNode) -> AnswerBox | None:
    rows = lines(node)
    return blank("currency", " ".join(rows[:3])) if rows else None


def _unit_converter(node: LexborNode) -> AnswerBox | None:
    """The result of a conversion, with its unit and its source value where the page has them."""
    sides = [_measure(side) for side in (_nearest(node, CONVERTED_FROM), node)]
    return blank("unit_converter", " = ".join(filter(None, sides))) if sides[1] else None


def _nearest(node: LexborNode, selector: str) -> LexborNode | None:
    """The first match in the nearest ancestor that contains any."""
    return next((match for around in ancestry(node) if (match := around.css_first(selector)) is not None), None)


def _measure(side: LexborNode | None) -> str:
    value = attribute(side.css_first("input"), "value") if side is not None else ""
    unit = visible_text(side.css_first("option[selected]")) if side is not None else ""
    return clean(f"{value} {unit}") if value else ""


def _weather(node: LexborNode) -> AnswerBox | None:
    degrees, sky = visible_text(node.css_first("#wob_tm")), visible_text(node.css_first("#wob_dc"))
    if not degrees:
        return None
    answer = blank("weather", " ".join(part for part in (f"{degrees}°", sky) if part))
    answer["title"] = visible_text(node.css_first("#wob_loc")) or None
    answer["list"] = texts(node.css("#wob_dts, #wob_pp, #wob_hm, #wob_ws"))
    return answer


def _translation(node: LexborNode) -> AnswerBox | None:
    text = visible_text(node.css_first("#tw-target-text"))
    answer = blank("translation", text)
    answer["title"] = visible_text(node.css_first("#tw-source-text")) or None
    return answer if text else None


def _plain(kind: AnswerType, node: LexborNode) -> AnswerBox | None:
    text = visible_text(node)
    return blank(kind, text) if text else None


TOOLS: dict[str, Callable[[LexborNode], AnswerBox | None]] = {
    "#cwos": partial(_plain, "calculator"),
    "#knowledge-currency__updatable-data-column": _currency,
    "#NotFQb": _unit_converter,
    "#wob_wc": _weather,
    "#tw-container": _translation,
}
ANY_TOOL = ", ".join((*TOOLS, SHORT_ANSWER))
