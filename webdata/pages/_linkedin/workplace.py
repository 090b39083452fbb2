"""Whether a posting's own words say that its workplace is remote or hybrid.

The words are parts of products, tools, trades and towns, too: "Remote Start Technician", "Hybrid Cloud Engineer",
"Remote, OR". So a word counts by its place in its segment, which brackets, dashes and commas separate: alone, at the
end, with words such as "fully" and "work", or before a trade that is done at a desk.
"""

import re
from typing import NamedTuple

SEGMENTS = re.compile(r"[()\[\]{}|,;·•/!*&+–—]|\s-+\s?|-+\s|:\s(?!no\b)|\b(?:or|and|y|et|und|o|ou)\b")
WORDS = re.compile(r"[^\s.]+(?:\.\w+)*")

REMOTE = re.compile(r"\b(?:remote(?:ly)?|remot[oa]|anywhere|home[ -]based|à distance)\b")
REMOTE_PHRASES = re.compile(
    r"\bwork(?:ing)? (?:remotely|from (?:home|anywhere))\b|\bwfh\b|\btelecommut\w+|\btelework(?:ing)?\b|\btélétravail\b"
    r"|\bhomeoffice\b|\bsmart working\b|\bzdaln\w+|\bудал[её]нн?\w+|\bthuiswerk\w*|\bdistansarbete\b|\bhjemmekontor\b"
    r"|\betätyö\w*|在宅(?:勤務|ワーク)|リモート(?:ワーク|勤務|可)|재택|원격 ?근무|远程|遠端"
    r"|\bteletrabajo\b|\btrabajo (?:en|desde) casa\b|\btravail à distance\b|\btrabajo (?:remoto|a distancia)\b"
)
"""What says so wherever it stands."""
HYBRID = re.compile(r"\b(?:hybride?|híbrid[oa]|hibrid[oa])\b")
NEVER = re.compile(r"(?!)")

NEGATED = re.compile(
    r"\b(?:no|not|non|isn.t|never|without|cannot|can.t|kein\w*|nicht|nie|не|inte|ikke|ei|pas|sin|sem)\b|:\s*no\b"
)
TOWN = re.compile(r"^remote, or(?:egon)?\b")
"""Remote, a town in Oregon."""

BESIDE = frozenset({
    "fully", "full", "time", "part", "100%", "100", "completely", "entirely", "mostly", "partially", "permanently",
    "temporarily", "currently", "initially", "us", "usa", "u.s", "uk", "eu", "emea", "latam", "apac", "canada", "india",
    "europe", "america", "north", "south", "united", "states", "kingdom", "global", "globally", "worldwide",
    "nationwide", "only", "ok", "okay", "eligible", "possible", "available", "optional", "allowed", "friendly", "first",
    "based", "work", "working", "job", "jobs", "position", "positions", "role", "roles", "opportunity", "opportunities",
    "option", "schedule", "model", "office", "on-site", "onsite", "in-office", "in-person", "hybrid", "remote",
    "remotely", "est", "pst", "cst", "timezone", "timezones", "week", "days", "day", "from", "home", "a", "an", "the",
})  # fmt: skip
"""What may stand beside a word that is about the workplace."""
PREPOSITIONS = frozenset({
    "in", "within", "across", "from", "throughout", "en", "à",
})  # fmt: skip
TRADES = frozenset({
    "software", "web", "frontend", "front-end", "front", "backend", "back-end", "back", "full-stack", "fullstack",
    "full", "data", "customer", "client", "sales", "marketing", "digital", "product", "project", "program", "account",
    "accounting", "accounts", "business", "content", "copy", "graphic", "ui", "ux", "ui/ux", "java", "javascript",
    "typescript", "python", "php", "ruby", "react", "node", "node.js", ".net", "c#", "c++", "go", "golang", "rust",
    "scala", "ios", "android", "mobile", "devops", "cloud", "qa", "quality", "machine", "ai", "ml", "senior", "sr",
    "junior", "jr", "lead", "principal", "staff", "entry", "entry-level", "mid", "mid-level", "part-time", "full-time",
    "contract", "freelance", "temporary", "seasonal", "bilingual", "licensed", "certified", "registered", "virtual",
    "executive", "administrative", "medical", "clinical", "mental", "rn", "lpn", "behavioral", "legal", "tax",
    "insurance", "claims", "financial", "finance", "hr", "human", "recruiting", "talent", "technical", "tech", "it",
    "help", "call", "inbound", "outbound", "appointment", "travel", "english", "spanish", "french", "german", "online",
    "math", "research", "social", "seo", "ppc", "email", "e-mail", "ecommerce", "e-commerce", "systems", "network",
    "database", "solutions", "solution", "platform", "mortgage", "loan", "billing", "coding", "payroll", "chat",
    "design", "creative", "corporate", "analytics", "security", "cyber", "cybersecurity", "salesforce", "sap",
    "wordpress", "health-coach", "therapist", "nurse", "teacher", "tutor",
})  # fmt: skip
"""The first words of trades that are done at a desk."""
REMOTE_THINGS = re.compile(
    r"(?:start|sens|desktop|terminal|device|operat|vehicle|server|pilot|view|sites?\b|camp\b|camps\b|communit|area|location"
    r"|tower|service|support|hand|weapon|control|monitor|patient|access|keyless|health\b|deposit|procedure)"
)
HYBRID_THINGS = re.compile(
    r"(?:cloud|electric|power|vehicle|cars?\b|truck|bus\b|buses\b|infrastructure|intelligence|mobile|apps?\b|applicat|seed"
    r"|corn\b|rice\b|wheat\b|technician|engines?\b|mechanic|bond|circuit|integrat|system|it\b|event|meeting|learning)"
)
"""How the things begin that are remote or hybrid themselves."""
ALONE = ("anywhere", "home based", "home-based", "à distance")
"""Words that count only where their segment has nothing else."""
NAMES = frozenset({
    "at", "by", "for", "with", "control", "universal", "tv", "sensor", "sensors", "acceso", "commande", "vente",
    "plug-in", "toyota",
})  # fmt: skip
"""The words before a word that is a name, or the end of a thing's name."""


class WorkplaceKind(NamedTuple):
    """A kind of workplace: its words, what says so wherever it stands, and the things that a word may be a part of."""

    word: re.Pattern[str]
    phrases: re.Pattern[str]
    things: re.Pattern[str]


REMOTE_WORK = WorkplaceKind(REMOTE, REMOTE_PHRASES, REMOTE_THINGS)
HYBRID_WORK = WorkplaceKind(HYBRID, NEVER, HYBRID_THINGS)


def is_remote(*texts: str | None) -> bool:
    """Whether any of the texts of a posting (title, location, highlights) says that the work is remote."""
    return any(_says(text.lower(), REMOTE_WORK) for text in texts if text)


def is_hybrid(*texts: str | None) -> bool:
    """Whether any of them says that the work is partly remote."""
    return any(_says(text.lower(), HYBRID_WORK) for text in texts if text)


def _says(text: str, kind: WorkplaceKind) -> bool:
    if not (kind.word.search(text) or kind.phrases.search(text)) or TOWN.search(text):  # few texts have such a word
        return False
    segments = [part.strip(" .-") for part in SEGMENTS.split(text)]
    return any(_is_stated(segment, kind) for segment in segments if not NEGATED.search(segment))


def _is_stated(segment: str, kind: WorkplaceKind) -> bool:
    return kind.phrases.search(segment) is not None or any(
        _is_workplace(
            WORDS.findall(segment[: found.start()]), found.group(), WORDS.findall(segment[found.end() :]), kind
        )
        for found in kind.word.finditer(segment)
    )


def _is_workplace(before: list[str], word: str, after: list[str], kind: WorkplaceKind) -> bool:
    """Whether a word is about the workplace, by the words before and after it in its segment."""
    if before and before[-1] in NAMES:
        return False
    if not after or after[0] in PREPOSITIONS or BESIDE.issuperset(after):
        return word not in ALONE or BESIDE.issuperset(before)
    if word in ALONE or kind.things.match(after[0]):
        return False
    return len(after) == 1 or after[0] in TRADES
