"""The form on a consent page that refuses what can be refused, and lets the reader in.

Google's consent page (consent.google.com, consent.youtube.com) holds a form for each answer, which differ in the hidden
field `set_eom`: `true` refuses. Other sites are read by the words on their buttons. Nobody's age is told.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborNode

from webdata.pages._elements import parsed

BUTTON = "button, input[type=submit]"
REFUSES = re.compile(
    "reject|refuse|decline|necessary|essential|disagree|ablehnen|notwendige|refuser|rechazar|rifiuta|recusar|rejeitar"
    "|weigeren|afwijzen|avvisa|afvis|avslå|hylkää|odrzuć|odmítnout|elutas|reddet|отклонить|拒否|拒绝|거부",
    re.IGNORECASE,
)
ACCEPTS = re.compile(
    "accept|agree|allow|consent|continue|akzeptieren|zustimmen|accepter|aceptar|accetta|aceitar|accepteren"
    "|godkänn|accepter|hyväksy|zaakceptuj|kabul|принять|同意|동의",
    re.IGNORECASE,
)

AGE = re.compile(r"over.?18|\b18\+|\bage.?(?:gate|check|verif)", re.IGNORECASE)
"""What is asked for on other walls, and is not ours to tell."""


@dataclass(frozen=True)
class Form:
    """What a browser would send for a form: `method` is GET or POST, `fields` with those of the button pressed."""

    url: str
    method: str
    fields: Mapping[str, str]


def form(body: bytes, url: str) -> Form | None:
    """The form of the consent page at a URL, to refuse if there is one, else to accept; None without either."""
    answers = [
        (rank, _form(found, button, url))
        for found in parsed(body).css("form")
        if not AGE.search(found.html or "")
        for button in found.css(BUTTON)
        if (rank := _rank(found, button)) and _is_http(urljoin(url, found.attributes.get("action") or ""))
    ]
    return max(answers, key=lambda answer: answer[0])[1] if answers else None


def _rank(found: LexborNode, button: LexborNode) -> int:
    """2 for a button that refuses, 1 for one that accepts, 0 for another."""
    if (eom := found.css_first("input[name=set_eom]")) is not None:
        return 2 if eom.attributes.get("value") == "true" else 1
    words = " ".join(filter(None, (button.text(), *map(button.attributes.get, ("value", "aria-label", "name", "id")))))
    return 2 if REFUSES.search(words) else 1 if ACCEPTS.search(words) else 0


def _form(found: LexborNode, button: LexborNode, url: str) -> Form:
    inputs = [one for one in found.css("input") if (one.attributes.get("type") or "text") not in ("submit", "image")]
    fields = {name: one.attributes.get("value") or "" for one in inputs if (name := one.attributes.get("name"))}
    if name := button.attributes.get("name"):
        fields[name] = button.attributes.get("value") or ""
    method = "POST" if (found.attributes.get("method") or "").upper() == "POST" else "GET"
    return Form(urljoin(url, found.attributes.get("action") or ""), method, fields)


def _is_http(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https")
