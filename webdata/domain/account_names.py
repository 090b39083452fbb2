"""Names of accounts and members by how they look, so that no two of them can be mistaken for each other.

After Unicode's report on security (https://www.unicode.org/reports/tr39/): a table of the letters that matter here
stands in for its list of confusable characters, which no maintained package of Python has.
"""

import unicodedata

LONGEST_FOLDED = 600
"""Characters of a folded name that are compared: a longer one does not fit an index of PostgreSQL."""
LOOKS_LIKE = str.maketrans(
    "авезікмнорстухһјѕԁԛԝցոսհαβεηικνορτυχγϲ01i|",
    "abe3lkmhopctyxhjsdqwgnuhabehlkvoptuxycolll",
)
"""Letters of other scripts, in lower case, and the Latin ones that they or their capitals look like; and those of one
script that look alike."""
ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts with letters that look the same."""


def check_account_name(name: str) -> str:
    """The name; raises ValueError where an account cannot have it."""
    if not name or name.startswith("acc_"):
        raise ValueError("the name of an account is not empty and does not begin with acc_, as ids do")
    for word in name.split():
        scripts = sorted({script for char in word if (script := _script(char))})
        if len(scripts) > 1:
            kinds = " and ".join(script.capitalize() for script in scripts)
            raise ValueError(f"the word {word!r} mixes {kinds} letters, which look alike: write it in one script")
    return name


def _script(char: str) -> str | None:
    first = unicodedata.name(unicodedata.normalize("NFKC", char)[:1], "").partition(" ")[0]
    return first if first in ALIKE and char.isalpha() else None


def folded_name(name: str) -> str:
    """The name without regard to case, width, blanks, and the script of letters that look the same."""
    text = unicodedata.normalize("NFKC", name).casefold().translate(LOOKS_LIKE)
    shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return " ".join(shown.split())[:LONGEST_FOLDED]
