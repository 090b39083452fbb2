"""The form of a consent page, filled in to refuse cookies where the page offers that.

Google's consent page (consent.google.com, consent.youtube.com) has a form for each answer, which differ in the hidden
field `set_eom`: `true` refuses. The forms of other sites are recognised by the text of their buttons. Forms that
verify an age are never filled in.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._elements import outermost, parsed
from webdata.pages._urls import join

BUTTON = "button, input[type=submit]"
LABELS = ("value", "aria-label", "name", "id")
MOST_BUTTONS = 50
"""Buttons of a form that are read; a consent page has two or three."""
REFUSES = re.compile(
    "reject|refuse|decline|necessary|essential|disagree|ablehnen|notwendige|refuser|rechazar|rifiuta|recusar|rejeitar"
    "|weigeren|afwijzen|avvisa|afvis|avslå|hylkää|odrzuć|odmítnout|elutas|reddet|отклонить|拒否|拒绝|거부",
    re.IGNORECASE,
)
ACCEPTS = re.compile(
    "accept|agree|allow|consent|continue|akzeptieren|zustimmen|accepter|aceptar|accetta|aceitar|accepteren"
    "|godkänn|hyväksy|zaakceptuj|kabul|принять|同意|동의",
    re.IGNORECASE,
)

AGE = re.compile(r"over.?18|\b18\+|\bage.?(?:gate|check|verif)", re.IGNORECASE)
"""The text of forms that verify an age."""


@dataclass(frozen=True)
class Form:
    """The submission of a form: `method` is GET or POST, `fields` include those of the pressed button."""

    url: str
    method: str
    fields: Mapping[str, str]


class ConsentButton(NamedTuple):
    """A button of a form, and its rank: 2 where it refuses, 1 where it accepts, 0 for another."""

    rank: int
    form: LexborNode
    button: LexborNode


def form(body: bytes, url: str) -> Form | None:
    """The submission for the consent page at a URL: one that refuses, else one that accepts, else None."""
    try:
        answers = [answer for element in outermost(parsed(body).css("form")) for answer in _answers(element, url)]
    except LayoutError:  # larger or deeper than any consent page
        return None
    best = max(answers, key=lambda answer: answer.rank, default=None)
    return _form(best.form, best.button, url) if best else None


def _answers(element: LexborNode, url: str) -> Iterator[ConsentButton]:
    """The answers of a form that is sent to a site and verifies no age."""
    if not _target(element, url).startswith(("http://", "https://")) or AGE.search(element.html or ""):
        return
    eom = element.css_first("input[name=set_eom]")
    for button in element.css(BUTTON)[:MOST_BUTTONS]:
        rank = _rank(button) if eom is None else 2 if eom.attributes.get("value") == "true" else 1
        if rank:
            yield ConsentButton(rank, element, button)


def _target(element: LexborNode, url: str) -> str:
    """The address that a form is sent to; "" for an invalid one."""
    return join(url, element.attributes.get("action") or "") or ""


def _rank(button: LexborNode) -> int:
    text = " ".join(filter(None, (button.text(), *map(button.attributes.get, LABELS))))
    return 2 if REFUSES.search(text) else 1 if ACCEPTS.search(text) else 0


def _form(element: LexborNode, button: LexborNode, url: str) -> Form:
    inputs = [one for one in element.css("input") if (one.attributes.get("type") or "text") not in ("submit", "image")]
    fields = {name: one.attributes.get("value") or "" for one in inputs if (name := one.attributes.get("name"))}
    if name := button.attributes.get("name"):
        fields[name] = button.attributes.get("value") or ""
    method = "POST" if (element.attributes.get("method") or "").upper() == "POST" else "GET"
    return Form(_target(element, url), method, fields)
