"""What a text of a page says as a number, a price or a date."""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from webdata.pages._text import CODES, CURRENCIES, Price, clean, currency_code, decimal, price_in
from webdata.pages._text import number as first_number
from webdata.resources.terms.extraction import ReadPrice

if TYPE_CHECKING:
    from dateparser.date import DateData, DateDataParser

LONGEST_READ = 200
"""Characters of a text that is read as a number, a price or a date."""
EXACT = 2**53
"""Beyond it not each whole number has a floating-point number of its own."""
NEGATIVE = re.compile(r"(?<![\w.,])[-\u2212]\s?[^\w\s-]?\s?$")
SHARE = re.compile(r"[-\u2212]?\d[\d.,]*+ ?%")
SIGN = re.compile("[$\u00a3\u00a5\u20a0-\u20c0]")
KRONOR = re.compile(r"(?<![^\W\d_])(?:kr|sek)(?![^\W\d_])", re.IGNORECASE)
"""The currency whose cents are behind a colon: `29:90 kr`."""
APART = re.compile(
    r"(?P<before>(?:[^\d:]{1,40}: )?(?:[A-Z]{1,3}|[Kk]r|Rs)?\W{0,3})(?P<whole>\d{1,3}(?:[., '\u2019]?\d{3}){0,4})"
    r"(?P<mark>[.,] | |:| ?(?P<sign>\u20ac|z\u0142) ?)(?P<cents>\d\d)(?P<behind>\W*[^\W\d]{0,4}\W*)"
)
"""A price whose cents are apart, be it by a space or by the sign: `$119. 95`, `$119 95`, `35 \u20ac 99`."""
RANGE = re.compile(
    r"(?:(?:ab|da|de|desde|from|fr\u00e5n|od|van|vanaf|von) )?(\d[\d.,]*+) ?"
    r"(?:[-\u2013\u2014]|a|\u00e0|bis|do|till?|to|tot) ?",
    re.IGNORECASE,
)
"""What is before the last price of a range."""
HUNDREDTHS = re.compile(r"(\d{1,2}) ?(\u00a2|p|ct|cents?)")
OF_HUNDREDTHS = {"\u00a2": "USD", "p": "GBP"}
NO_DIGITS = re.compile(r"\D+")
CODE = re.compile(r"(?<![^\W_])(?:[a-z]{3}|[A-Z][a-z]{2})(?=:? ?\d)|(?:(?<=\d)|(?<=\d ))(?:[a-z]{3}|[A-Z][a-z]{2})\b")
"""What may be the code of a currency in small letters beside an amount."""
ISO = re.compile(
    r"([1-9]\d{3})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])"
    r"(?:[T ]([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d)(?:[.,]\d+)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?"
)
BASIC = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=T|$)")
"""The beginning of a date in ISO 8601 without hyphens."""
DOTTED = re.compile(r"(\d{1,2})\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)(?!\d)")
"""The beginning of a date with the day before the month, as all languages but English have them with points."""
MAIL = re.compile(r"(?:\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d")
"""The beginning of a date in HTTP and mail: https://www.rfc-editor.org/rfc/rfc5322#section-3.3"""
LEADING = re.compile(r"[^\d\W][\D]*?\s((?:[^\W\d]+\.?,?\s)?\d)")
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
LABEL = re.compile(r"^[^\d:]{1,40}: +")
LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_](?:[A-Z][a-z]{3}[-_])?([A-Z]{2}))?")
LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "tr", "cs", "sv", "da", "nb", "fi", "hu", "ro", "el",
    "bg", "hr", "sk", "sl", "lt", "lv", "et", "ca", "id", "vi", "th", "ja", "zh", "ko", "ar", "fa", "he", "hi",
)  # fmt: skip
"""In which a date is read where the page does not say its own; all that the library has take it seconds."""
FORMS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


def number(text: str | float) -> int | float | None:
    """The first number of a text, in the ways in which languages write it: `1,234.5`, `1.234,5`, `-3`, `8.3K`.

    A number of JSON is one already.
    """
    if not isinstance(text, str):
        return exact(text)
    line = clean(text[:LONGEST_READ])
    value = first_number(line)
    if value is None:
        return None
    start = re.search(r"\d", line)
    if start and NEGATIVE.search(line[: start.start()]):
        value = -value
    return exact(value)


def exact(value: float) -> int | float | None:
    """A number as JSON has it: a whole one without a point; None for one that is not finite."""
    if not isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < EXACT else value


def price(text: str | float, currency: str | None = None) -> ReadPrice | None:
    """The first price of a text, or its first number with a currency that the page says elsewhere.

    A share such as "-20%" is no amount, and of a range the lowest is the price.
    """
    currency = currency_code(currency)
    if not isinstance(text, str):
        return {"amount": float(text), "currency": currency} if isfinite(text) else None
    line = clean(text[:LONGEST_READ])
    line = _with_cents(SHARE.sub(" ", line).strip() if "%" in line else line, currency)
    if found := HUNDREDTHS.fullmatch(line):
        return {"amount": int(found[1]) / 100, "currency": currency or OF_HUNDREDTHS.get(found[2])}
    if priced := price_in(line, currency) or _price_of_code(line):
        return {"amount": _lowest(line, priced), "currency": priced.currency or currency}
    amount = first_number(line)
    mark = line.rpartition(" ")[2]  # behind a word for a number: `1.5 Mio. €`
    currency = currency or (currency_code(mark) if mark in CODES else CURRENCIES.get(mark))
    return None if amount is None else {"amount": amount, "currency": currency}


def _with_cents(line: str, currency: str | None) -> str:
    """A price whose cents stand apart, as many pages have them smaller than the rest, with a point before them."""
    found = APART.fullmatch(line)
    if found is None:
        return line
    mark, sign = found["mark"], found["sign"] or ""
    if mark == ":" and currency != "SEK" and not KRONOR.search(line):
        return line
    if mark == " " and not SIGN.search(line):
        return line
    if (mark == " " or sign) and any(map(str.isalpha, found["behind"])):
        return line
    return f"{found['before']}{sign}{NO_DIGITS.sub('', found['whole'])}.{found['cents']}{found['behind']}"


def _price_of_code(line: str) -> Price | None:
    """The first price of a text with the code of its currency in small letters."""
    found = next((one for one in CODE.finditer(line) if one[0].upper() in CODES), None)
    return found and price_in(f"{line[: found.start()]}{found[0].upper()}{line[found.end() :]}", None)


def _lowest(line: str, found: Price) -> float:
    """The amount of a price, or of that before it in a range of which only the last one has a currency."""
    before = RANGE.fullmatch(line.partition(found.text)[0])
    lowest = decimal(before[1]) if before else None
    return found.amount if lowest is None or lowest > found.amount else lowest


def date(text: str, language: str = "") -> str | None:
    """A date or a time in ISO 8601, with as much of it as the text has; None for another text.

    `language` is that of the page, such as `en-GB`, by which `03/05/2026` is read; without one the month is first. An
    age such as "two days ago" is none: the page does not say when it was written.
    """
    line = LABEL.sub("", clean(text[:LONGEST_READ]))
    if not any(char.isdigit() for char in line):
        return None
    if found := ISO.fullmatch(BASIC.sub(r"\1-\2-\3", line, count=1)):
        return _iso(found)
    if not language and (found := DOTTED.match(line)):
        line = f"{found[3]}-{found[2]:0>2}-{found[1]:0>2}{line[found.end() :]}"
        return _iso(dated) if (dated := ISO.fullmatch(line)) else date(line)
    if MAIL.match(line):
        return _of_mail(line)
    return next(filter(None, (_in_words(part, language) for part in _parts(line))), None)


def _parts(line: str) -> Iterator[str]:
    """A text; its end from the word before the first digit; and of that what is before the end of a year.

    Of "Last updated on March 5, 2026 by Ann" the last one is the date.
    """
    found = LEADING.match(line)
    rest = line[found.start(1) :] if found else line
    yield line
    if found:
        yield rest
    if (year := YEAR.search(rest)) and year.end() < len(rest):
        yield rest[: year.end()]


def _iso(found: re.Match[str]) -> str | None:
    """A date or a time that is written so already, without parts of a second; None for a day that is none."""
    year, month, day, hour, minute, second, zone = found.groups()
    if day and int(day) > monthrange(int(year), int(month))[1]:
        return None
    date = "-".join(filter(None, (year, month, day)))
    offset = "+00:00" if zone == "Z" else f"{zone[:3]}:{zone[3:].lstrip(':') or '00'}" if zone else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{offset}" if hour else date


def _of_mail(line: str) -> str | None:
    try:
        return parsedate_to_datetime(line).isoformat()
    except ValueError:
        return None


def _in_words(line: str, language: str) -> str | None:
    """A date as people write it: in the language of the page, else in any."""
    found = LANGUAGE.match(language)
    for known in ((found[1], found[2]), None) if found else (None,):
        try:
            read: DateData = _parser(known).get_date_data(line)
        except ValueError:  # a language that it does not know
            continue
        if read.date_obj is not None and read.period is not None:
            form = FORMS.get(read.period)
            return str(read.date_obj.strftime(form) if form else read.date_obj.isoformat())
    return None


@lru_cache(16)
def _parser(language: tuple[str, str | None] | None) -> "DateDataParser":
    from dateparser.date import DateDataParser  # noqa: PLC0415 - it takes 20 MB and a quarter of a second

    settings: Mapping[str, Any] = {
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": ["year", "month"],
        "RETURN_TIME_AS_PERIOD": True,
        "PREFER_DAY_OF_MONTH": "first",
    }
    code, region = language or (None, None)
    return DateDataParser(languages=[code] if code else list(LANGUAGES), region=region, settings=dict(settings))
