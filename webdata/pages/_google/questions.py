"""Related questions ("People also ask"), with the answers that the page contains."""

from selectolax.lexbor import LexborNode

from webdata.domain.records import RelatedQuestion
from webdata.pages._elements import ancestry, attribute, lines, text_before, texts, visible_text
from webdata.pages._google.answers import ai_text
from webdata.pages._google.links import outside
from webdata.pages._google.tree import GooglePage, Ordered
from webdata.pages._text import clean

QUESTION = "[data-q]"
BUTTON = "[role=button], [role=tab], [aria-expanded]"
ANSWER = "[data-attrid^='wa:/'], .hgKElc, .LGOjhe, [data-rl]"
LIST = "li"
ROWS = "table tr"
SOURCE = "a h3"
FOLDED = "[role=button][aria-expanded]"


def related_questions(page: GooglePage) -> Ordered[RelatedQuestion]:
    """The questions of the page, each with its order."""
    marks = [mark for mark in page.of("question") if not mark.within("question")]
    if not marks and (plain := _plain_questions(page)):
        return plain
    questions: dict[str, tuple[int, RelatedQuestion]] = {}
    pairs = [(mark.order, mark.node) for mark in marks] or [
        (mark.order, node) for mark in page.of("questions") for node in mark.node.css(QUESTION)
    ]
    for order, node in pairs:
        if text := _text(node):
            questions.setdefault(text, (order, question(len(questions) + 1, text, node)))
    return list(questions.values())


def _text(node: LexborNode) -> str:
    if written := attribute(node, "data-q"):
        return clean(written)
    return next(iter(lines(node.css_first(BUTTON) or node)), "")


def question(position: int, text: str, box: LexborNode) -> RelatedQuestion:
    """A question with the answer in its box."""
    answer = box.css_first(ANSWER)
    heading = box.css_first(SOURCE)
    anchor = next((node for node in ancestry(heading) if node.tag == "a"), None) if heading is not None else None
    link = outside(attribute(anchor, "href"))
    return {
        "position": position,
        "question": text,
        "answer": ai_text(answer) or None if answer is not None else None,
        "title": visible_text(heading) or None if link else None,
        "link": link,
        "list": texts(answer.css(LIST)) if answer is not None else [],
        "table": [[visible_text(cell) for cell in row.css("td, th")] for row in box.css(ROWS)],
    }


def _plain_questions(page: GooglePage) -> Ordered[RelatedQuestion]:
    """Questions on the page without JavaScript: each answer is a box within the box of all, after its question."""
    if folded := _folded_questions(page):
        return folded
    answers = [mark for mark in page.of("plain_box") if mark.within("plain_box")]
    pairs = [(mark, text) for mark in answers if _source(mark.node) is not None and (text := _text_before(mark.node))]
    if len(pairs) < 2:
        return []
    return [(mark.order, _plain_question(position, text, mark.node)) for position, (mark, text) in enumerate(pairs, 1)]


def _folded_questions(page: GooglePage) -> Ordered[RelatedQuestion]:
    """Questions on the page without JavaScript of 2021: buttons in one box, each before its folded answer."""
    for mark in page.of("plain_box"):
        buttons = mark.node.css(FOLDED)
        asked = {text: button for button in buttons if (text := visible_text(button))}
        if len(asked) > 1 and len(asked) == len(buttons):
            pairs = enumerate(asked.items(), 1)
            return [(mark.order, _folded_question(position, text, button)) for position, (text, button) in pairs]
    return []


def _folded_question(position: int, text: str, button: LexborNode) -> RelatedQuestion:
    """A question with the answer in the element after that of its button, which may be empty until scripts run."""
    head = button.parent if button.next is None else button
    answer = head.next if head is not None else None
    empty: RelatedQuestion = {
        "position": position, "question": text, "answer": None, "title": None, "link": None, "list": [], "table": [],
    }  # fmt: skip
    if answer is None or not visible_text(answer):
        return empty
    return (
        _plain_question(position, text, answer)
        if _source(answer) is not None
        else {**empty, "answer": visible_text(answer)}
    )


def _text_before(box: LexborNode) -> str:
    """The text before a box, in the nearest element around it that has any."""
    return next(filter(None, (visible_text(text_before(node)) for node in ancestry(box))), "")


def _plain_question(position: int, text: str, box: LexborNode) -> RelatedQuestion:
    source = _source(box)
    link = outside(attribute(source, "href"))
    sources = {
        row for anchor in box.css("a[href]") if outside(attribute(anchor, "href")) == link for row in lines(anchor)
    }
    return {
        "position": position,
        "question": text,
        "answer": " ".join(row for row in lines(box) if row not in sources) or None,
        "title": next(iter(lines(source)), None),
        "link": link,
        "list": [],
        "table": [],
    }


def _source(box: LexborNode) -> LexborNode | None:
    """The first link in an answer that leads away from Google."""
    return next((anchor for anchor in box.css("a[href]") if outside(attribute(anchor, "href"))), None)
