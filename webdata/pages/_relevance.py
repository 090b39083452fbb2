"""Whether results answer a query at all, in any script.

An engine that takes its client for a robot sends well-formed results about the query's first word, or about none of
its words. The check looks for the words of the query in title, text and address of each result; accents, case,
inflection and a mistyped letter make no difference. Scripts without spaces are compared by runs of characters.

The check is lenient: one result with more than half of the words, or with three of them, is enough. So is a third of
the words in half of the results each, if the first word is not the only one. A query without words, or fewer than
three results, count as answered.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

FEWEST_RESULTS = 3
SHARE = 0.5
"""The share of the words above which a result answers the query."""
WORDS = 3
"""Words with which a result answers a long query, whatever their share."""
COMMON = 1 / 3
"""The share of the words that half of the results must have, each, where no single result answers the query."""
FUZZY_LETTERS = 5
"""Letters; shorter words resemble each other by chance."""
ALIKE = 0.6

UNSPACED = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
UNSPACED_ABUGIDA = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer: a syllable takes more characters than in the scripts above."""
CJK_RUN = re.compile(f"[{UNSPACED}]+")
PIECE = re.compile(f"[{UNSPACED}]+|[{UNSPACED_ABUGIDA}]+|[^\\W_{UNSPACED}{UNSPACED_ABUGIDA}]+")
CJK_FILLER = re.compile(
    "怎么样|怎麼樣|是什么|什么|什麼|怎么|怎麼|如何|哪里|哪裡|多少|とは|ですか|から|まで|する|の|は|を|が|に|と|で"
)

PART = re.compile(r'(?P<sign>-?)(?:(?P<operator>[A-Za-z]+):)?(?P<value>"[^"]*"|[^\s"|]+)|(?P<bar>\|)')
HOST_OPERATORS = {"site", "domain", "url"}
TEXT_OPERATORS = {"intitle", "inbody", "inanchor", "inurl", "instreamset"}
SILENT_OPERATORS = {
    "filetype", "ext", "contains", "feed", "hasfeed", "language", "loc", "location", "prefer", "ip", "near",
}  # fmt: skip
"""Operators whose effect cannot be seen in a result."""
EITHER, NOT = "OR", "NOT"

FILLERS = frozenset(
    """
    a an and are at be by can do does for from get how i in is it me my near of on or that the this to vs was what
    when where which who why with you your www http https com html
    am auf aus bei das dem den der des die ein eine einen für ich im ist mein mit nach oder und von vom was wann
    warum welche wer wie wo zu zum zur
    au aux avec ce ces comment dans de du en est et la le les où par pour qu que quel quelle qui sur un une
    al como con cual cuál cuando de del dónde el es esta las lo los más mi para por qué quién se sin su un una y
    ao as com da das do dos é em na nas no nos o os ou para pela pelo qual quem um uma
    che con da dei del della di dove gli il in la le nel per quale quando un una
    aan dat een het hoe hvad hvordan hvor ik naar op te van voor waar wat
    att av den det en ett för hur jag med när och på som till vad var
    czy do gdzie i jak jest kto na nie o po się to w z że
    в во где для за и из как какой когда кто на не о от по с со такое у что это
    bir bu da de için ile ne nasıl nedir nerede ve
    في من على عن ما هو هي هل كيف أين متى إلى
    """.split()  # noqa: SIM905  # as text it can be read
)  # fmt: skip
"""Words that are not looked for, in widely used languages."""


class ComparedResult(NamedTuple):
    """A result: its title and text, and its address."""

    text: str
    link: str


@dataclass(frozen=True)
class Terms:
    """A query in parts: words, each with its alternatives, and sites, any one of which is enough."""

    words: list[frozenset[str]]
    sites: list[str]


def answers(q: str, results: Sequence[ComparedResult]) -> bool:
    """Whether any of the results answers the query; True where that cannot be judged."""
    terms = _terms(q)
    if len(results) < FEWEST_RESULTS:
        return True
    if terms.sites and not any(_is_on(result.link, site) for result in results for site in terms.sites):
        return False
    texts = [_Text(result) for result in results]
    return not terms.words or any(_answers(terms.words, text) for text in texts) or _share_a_topic(terms.words, texts)


def _share_a_topic(words: list[frozenset[str]], texts: list["_Text"]) -> bool:
    """Whether half of the results have a third of the words, and not only the first one."""
    common = [
        2 * sum(any(text.meets(word) >= 1 for word in alternatives) for text in texts) >= len(texts)
        for alternatives in words
    ]
    return any(common[1:]) and sum(common) >= COMMON * len(words)


def _answers(words: list[frozenset[str]], text: "_Text") -> bool:
    weights = [max(_weight(word) for word in alternatives) for alternatives in words]
    met = sum(max(text.meets(word) for word in alternatives) for alternatives in words)
    return met >= WORDS or met > SHARE * sum(weights)


def _terms(q: str) -> Terms:
    words: list[frozenset[str]] = []
    sites: list[str] = []
    join = skip = False
    for part in PART.finditer(q.replace("(", " ").replace(")", " ")):
        value, operator = part["value"] or "", (part["operator"] or "").lower()
        if part["bar"] or value == EITHER:
            join = True
        elif value == NOT:
            skip = True
        else:
            if not (skip or part["sign"] or operator in SILENT_OPERATORS):
                _add(words, sites, operator, value, join)
            join = skip = False
    return Terms(words, sites)


def _add(words: list[frozenset[str]], sites: list[str], operator: str, value: str, join: bool) -> None:
    """Add one part of a query; joined by OR it is an alternative to the part before."""
    if operator in HOST_OPERATORS:
        sites.append(value.strip('"').lower())
        return
    written = value if operator in TEXT_OPERATORS else f"{operator} {value}"  # as in `error: no such file`
    found = [word for word in _pieces(_folded(written)) if word not in FOLDED_FILLERS]
    if join and found and words:
        words[-1] |= frozenset(found)
    else:
        words.extend(frozenset([word]) for word in found if frozenset([word]) not in words)


def _folded(text: str) -> str:
    """The text without case, accents and apostrophes."""
    plain = unicodedata.normalize("NFKD", text.replace("'", "").replace("’", "")).casefold()
    return unicodedata.normalize("NFC", "".join(char for char in plain if unicodedata.category(char)[0] != "M"))


FOLDED_FILLERS = frozenset(map(_folded, FILLERS))


def _pieces(folded: str) -> Iterator[str]:
    """The words, and the runs of characters in scripts without spaces; single letters are left out."""
    for piece in PIECE.findall(folded):
        parts = CJK_FILLER.split(piece) if CJK_RUN.match(piece) else [piece]
        yield from (part for part in parts if len(part) > 1 or CJK_RUN.match(part))


def _is_run(word: str) -> bool:
    return re.match(f"[{UNSPACED}{UNSPACED_ABUGIDA}]", word) is not None


def _gram(word: str) -> int:
    """How many characters of a run are compared together."""
    return 2 if CJK_RUN.match(word) else 3


def _weight(word: str) -> float:
    """How many words a piece stands for."""
    return max(1.0, len(word) / _gram(word)) if _is_run(word) else 1.0


class _Text:
    """The text and address of a result, to be searched for words."""

    def __init__(self, result: ComparedResult):
        self._folded = _folded(f"{result.text} {unquote(result.link)}")

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(PIECE.findall(self._folded))

    @cached_property
    def _joined(self) -> str:
        """All letters without separators: `Wi-Fi` holds `wifi`, `log in` holds `login`."""
        return "".join(PIECE.findall(self._folded))

    def meets(self, word: str) -> float:
        """How much of a word's weight the text has."""
        if _is_run(word):
            return _weight(word) * self._covered(word)
        return float(word in self._words or self._holds(word) or self._holds_alike(word))

    def _holds(self, word: str) -> bool:
        shortest = 4 if word.isascii() else 3  # roots of Arabic and Hebrew have three letters
        return len(word) >= shortest and word in self._joined

    def _holds_alike(self, word: str) -> bool:
        if len(word) < FUZZY_LETTERS:
            return False
        near = (other for other in self._words if other[0] == word[0] and abs(len(other) - len(word)) <= 3)
        return any(_alike(word, other) >= ALIKE for other in near)

    def _covered(self, run: str) -> float:
        """The share of a run's characters that the text has beside one of their neighbours."""
        if run in self._joined:
            return 1.0
        size = _gram(run)
        starts = range(len(run) - size + 1)
        covered = {at + i for at in starts if run[at : at + size] in self._joined for i in range(size)}
        return len(covered) / len(run)


def _alike(one: str, other: str) -> float:
    """How many pairs of neighbouring letters two words share, from 0 to 1 (Dice's coefficient)."""
    pairs, others = ({word[i : i + 2] for i in range(len(word) - 1)} for word in (one, other))
    return 2 * len(pairs & others) / (len(pairs) + len(others)) if pairs and others else 0.0


def _is_on(link: str, site: str) -> bool:
    """Whether a link is on a site: a host and its subdomains, with or without a path; `.edu` is a site too."""
    try:
        parts = urlsplit(link)
        wanted = urlsplit(f"//{site.removeprefix('https://').removeprefix('http://')}")
        host, named = parts.hostname or "", (wanted.hostname or "").strip(".").removeprefix("www.")
    except ValueError:
        return True
    return (host == named or host.endswith(f".{named}")) and parts.path.lower().startswith(wanted.path.rstrip("/"))
