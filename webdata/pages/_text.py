"""Numbers, prices, ratings and dates in the visible text of pages, over locales.

Each function takes a text and returns a plain value, or None where the text has none. None raises an error.
"""

import re
import unicodedata
from math import isfinite
from typing import NamedTuple

CONTROLS = {
    code: " " if chr(code).isspace() else None
    for code in (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))
}
"""What is there instead of the control characters, which no text has."""
INVISIBLE = CONTROLS | dict.fromkeys(
    [0x00AD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF]
)
SPACES = " \u00a0\u202f\u2009"

MULTIPLIERS = {
    "k": 1e3, "tsd": 1e3, "mil": 1e3, "tis": 1e3, "tys": 1e3, "тыс": 1e3, "тис": 1e3, "bin": 1e3, "rb": 1e3,
    "nghìn": 1e3, "m": 1e6, "mio": 1e6, "mln": 1e6, "mn": 1e6, "млн": 1e6, "jt": 1e6, "lakh": 1e5, "लाख": 1e5,
    "हज़ार": 1e3, "b": 1e9, "bn": 1e9, "mrd": 1e9, "млрд": 1e9, "千": 1e3, "천": 1e3, "พัน": 1e3, "万": 1e4,
    "萬": 1e4, "만": 1e4, "หมื่น": 1e4, "แสน": 1e5, "ล้าน": 1e6, "億": 1e8, "亿": 1e8, "억": 1e8,
    "ألف": 1e3, "آلاف": 1e3, "مليون": 1e6, "هزار": 1e3, "میلیون": 1e6, "χιλ": 1e3, "εκ": 1e6, "milj": 1e6,
    "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9, "trillion": 1e12,
    "millionen": 1e6, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9, "millón": 1e6, "millones": 1e6,
    "milhão": 1e6, "milhões": 1e6, "milioni": 1e6, "miliardi": 1e9, "miljoen": 1e6, "miljard": 1e9, "miljoner": 1e6,
    "milion": 1e6, "milionów": 1e6, "миллион": 1e6, "миллионов": 1e6, "миллиардов": 1e9, "milyon": 1e6,
    "milyar": 1e9, "triệu": 1e6, "tỷ": 1e9, "juta": 1e6, "ribu": 1e3,
}  # fmt: skip
"""Multipliers by the term after a short number (`8.3K`, `1,2 mil`, `1.2万`)."""

CURRENCIES = {
    "$": "USD", "US$": "USD", "CA$": "CAD", "C$": "CAD", "CDN$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD",
    "HK$": "HKD", "NT$": "TWD", "S$": "SGD", "SG$": "SGD", "MX$": "MXN", "R$": "BRL", "€": "EUR", "£": "GBP",
    "¥": "JPY", "￥": "JPY", "円": "JPY", "JP¥": "JPY", "CN¥": "CNY", "元": "CNY", "₹": "INR", "₩": "KRW", "원": "KRW",
    "฿": "THB", "บาท": "THB", "₫": "VND", "đ": "VND", "₱": "PHP", "₽": "RUB", "руб.": "RUB", "₴": "UAH",
    "грн": "UAH", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "lei": "RON", "₺": "TRY", "TL": "TRY", "₪": "ILS",
    "Rp": "IDR", "RM": "MYR", "₦": "NGN", "₸": "KZT", "ر.س.": "SAR", "ر.س": "SAR", "د.إ.": "AED", "د.إ": "AED",
    "ج.م.": "EGP", "ج.م": "EGP", "৳": "BDT", "₾": "GEL", "د.ك.": "KWD", "د.ك": "KWD", "د.ب.": "BHD", "د.ب": "BHD",
    "ر.ع.": "OMR", "ر.ع": "OMR", "د.أ.": "JOD", "د.أ": "JOD", "د.ت.": "TND", "د.ت": "TND", "د.ل.": "LYD",
    "د.ل": "LYD", "₼": "AZN", "₲": "PYG", "₡": "CRC", "₵": "GHS", "Rs.": None, "Rs": None, "kr.": None, "kr": None,
    "Fr.": "CHF", "GH₵": "GHS", "E£": "EGP", "RMB": "CNY", "S/": "PEN", "S/.": "PEN", "U$S": "USD", "RD$": "DOP",
    "TT$": "TTD", "J$": "JMD", "MOP$": "MOP", "$CA": "CAD", "$US": "USD", "$AU": "AUD", "$NZ": "NZD", "KSh": "KES",
    "лв.": "BGN", "лв": "BGN", "дин.": "RSD", "руб": "RUB", "р.": "RUB", "тг": "KZT", "₮": "MNT", "₭": "LAK",
    "៛": "KHR", "Gs.": "PYG", "FCFA": None, "R": "ZAR", "Kr.": None, "Kr": None,
    "Zł": "PLN", "Lei": "RON", "LEI": "RON", "CAN$": "CAD", "BZ$": "BZD", "GY$": "GYD", "B/.": "PAB", "￡": "GBP",
    "VNĐ": "VND", "TSh": "TZS", "USh": "UGX", "Dhs": "AED", "дин": "RSD", "р": "RUB", "Р": "RUB", "рублей": "RUB",
    "рубля": "RUB", "тенге": "KZT", "сум": "UZS", "сом": "KGS", "ש״ח": "ILS", 'ש"ח': "ILS", "ر.ق": "QAR",
    "د.ج": "DZD", "د.م.": "MAD", "د.م": "MAD", "د.ع": "IQD", "ل.ل": "LBP", "جنيه": "EGP", "درهم": None, "ريال": None,
    "دينار": None, "﷼": None, "ریال": "IRR", "تومان": None, "₨": None, "֏": "AMD", "؋": "AFN", "人民币": "CNY",
    "euro": "EUR", "euros": "EUR", "Euro": "EUR", "Euros": "EUR",
}  # fmt: skip
"""Currency marks beside amounts, and the ISO 4217 code of each; None for a mark of several currencies."""

CODES = (
    "AED", "ARS", "AUD", "AZN", "BAM", "BDT", "BGN", "BHD", "BOB", "BRL", "BWP", "BYN", "CAD", "CHF", "CLP", "CNY",
    "COP", "CZK", "DKK", "DOP", "DZD", "EGP", "ETB", "EUR", "GBP", "GHS", "GTQ", "HKD", "HNL", "HUF", "IDR", "ILS",
    "INR", "IQD", "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KRW", "KWD", "KZT", "LAK", "LBP", "LKR", "LYD",
    "MAD", "MDL", "MKD", "MMK", "MNT", "MUR", "MXN", "MYR", "NAD", "NGN", "NOK", "NPR", "NZD", "OMR", "PEN", "PHP",
    "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TTD", "TWD", "TZS",
    "UAH", "UGX", "USD", "UYU", "UZS", "VND", "XAF", "XOF", "ZAR", "ZMW",
)  # fmt: skip
"""ISO 4217 codes of currencies, without those that are words or names before numbers, such as TOP, GEL and AMD."""

OF_SIGN = {
    "$": frozenset([
        "ARS", "AUD", "CAD", "CLP", "COP", "DOP", "HKD", "JMD", "MXN", "NAD", "NZD", "SGD", "TTD", "TWD", "USD", "UYU",
    ]),
    "¥": frozenset(["CNY", "JPY"]),
    "￥": frozenset(["CNY", "JPY"]),
    "£": frozenset(["EGP", "GBP", "LBP"]),
}  # fmt: skip
"""The currencies that a sign alone may mean, where a page says elsewhere which it is."""
SHARED = ("$", "¥", "￥", "£", "kr", "kr.", "Rs", "Rs.")
"""The marks of several currencies, beside which a code may say which is meant."""
MOST_DIGITS = 18
"""Digits of a total; a longer row of digits is something else."""
MOST_GROUPS = 8
"""Marks of a kind within a number; a longer row is something else."""
LONGEST_NAME = 30
"""Characters before a price that are looked at."""
THOUSANDTHS = {"BHD": ".", "JOD": ".", "KWD": ".", "LYD": ".,", "OMR": ".", "TND": ".,"}
"""The currencies of a thousand parts (ISO 4217), and the marks after which three digits are such parts."""

MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "janv", "fév",
    "févr", "mars", "avr", "mai", "juin", "juil", "août", "déc", "mär", "märz", "okt", "dez", "ene", "abr", "ago",
    "dic", "gen", "mag", "giu", "lug", "set", "ott", "fev", "out", "mei", "mrt", "maj", "sty", "lut", "kwi", "cze",
    "lip", "sie", "wrz", "paź", "lis", "gru", "янв", "февр", "мар", "апр", "мая", "июн", "июл", "авг", "сент",
    "окт", "нояб", "дек", "січ", "лют", "бер", "квіт", "трав", "черв", "лип", "серп", "вер", "жовт", "лист",
    "груд", "oca", "şub", "nis", "haz", "tem", "ağu", "eyl", "eki", "kas", "ara", "led", "úno", "bře", "dub",
    "kvě", "čvn", "čvc", "srp", "zář", "říj", "thg", "ม.ค", "ก.พ", "มี.ค", "เม.ย", "พ.ค", "มิ.ย", "ก.ค", "ส.ค",
    "ก.ย", "ต.ค", "พ.ย", "ธ.ค", "january", "february", "march", "april", "june", "july", "august", "september",
    "october", "november", "december", "januar", "februar", "juni", "juli", "oktober", "dezember", "janvier",
    "février", "avril", "juillet", "septembre", "octobre", "novembre", "décembre", "enero", "febrero", "marzo",
    "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre", "gennaio",
    "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre", "janeiro", "fevereiro",
    "março", "maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro", "januari", "februari",
    "maart", "augustus", "stycznia", "lutego", "marca", "kwietnia", "czerwca", "lipca", "sierpnia", "września",
    "października", "listopada", "grudnia", "января", "февраля", "марта", "апреля", "июня", "июля", "августа",
    "сентября", "октября", "ноября", "декабря", "tháng", "ocak", "şubat", "nisan", "haziran", "temmuz", "ağustos",
    "eylül", "ekim", "kasım", "aralık", "มกราคม", "กุมภาพันธ์", "มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน",
    "กรกฎาคม", "สิงหาคม", "กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม", "يناير", "فبراير", "مارس", "أبريل", "مايو",
    "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر", "فروردین", "اردیبهشت", "خرداد", "تیر",
    "مرداد", "شهریور", "مهر", "آبان", "آذر", "دی", "بهمن", "اسفند", "בינו׳", "בפבר׳", "במרץ", "באפר׳", "במאי",
    "ביוני", "ביולי", "באוג׳", "בספט׳", "באוק׳", "בנוב׳", "בדצמ׳", "जन", "फ़र", "मार्च", "अप्रैल", "मई", "जून",
    "जुल", "अग", "सित", "अक्टू", "नव", "दिस", "ιαν", "φεβ", "μαρ", "απρ", "μαΐ", "ιουν", "ιουλ", "αυγ", "σεπ",
    "οκτ", "νοε", "δεκ", "січня", "лютого", "березня", "квітня", "травня", "червня", "липня", "серпня", "вересня",
    "жовтня", "грудня", "ledna", "února", "března", "dubna", "května", "června", "července", "srpna", "září", "října",
    "listopadu", "prosince", "siječnja", "veljače", "ožujka", "travnja", "svibnja", "lipnja", "srpnja", "kolovoza",
    "rujna", "studenoga", "prosinca", "júna", "júla", "augusta", "septembra", "októbra", "novembra", "decembra",
    "júl", "jún", "szept", "ápr", "máj", "márc", "január", "február", "március", "április", "május", "június",
    "július", "augusztus", "szeptember", "tammik", "helmik", "maalisk", "huhtik", "toukok", "kesäk", "heinäk", "elok",
    "syysk", "lokak", "marrask", "jouluk", "tammikuuta", "helmikuuta", "maaliskuuta", "huhtikuuta", "toukokuuta",
    "kesäkuuta", "heinäkuuta", "elokuuta", "syyskuuta", "lokakuuta", "marraskuuta", "joulukuuta", "iun", "iul",
    "ianuarie", "februarie", "martie", "aprilie", "iunie", "iulie", "septembrie", "octombrie", "noiembrie",
    "decembrie", "јан", "феб", "мај", "јун", "јул", "сеп", "дец", "януари", "февруари", "март", "април", "май",
    "юни", "юли", "август", "септември", "октомври", "ноември", "декември", "sausio", "vasario", "kovo",
    "balandžio", "gegužės", "birželio", "liepos", "rugpjūčio", "rugsėjo", "spalio", "lapkričio", "gruodžio", "jūn",
    "jūl", "jaanuar", "veebruar", "märts", "aprill", "juuni", "juuli", "gener", "febrer", "març", "maig", "juny",
    "juliol", "agost", "setembre", "octubre", "desembre", "জানু", "ফেব", "মার্চ", "এপ্রিল", "মে", "জুন", "জুলাই",
    "আগস্ট", "সেপ", "অক্টো", "নভে", "ডিসে", "ஜன", "பிப்", "மார்", "ஏப்", "மே", "ஜூன்", "ஜூலை", "ஆக", "செப்", "அக்",
    "நவ", "டிச", "شباط", "آذار", "نيسان", "أيار", "حزيران", "تموز", "آب", "أيلول",
)  # fmt: skip
"""Names of months and their short forms, matched as whole terms: "12 products" is no date."""

AGO = (
    "ago", "geleden", "sedan", "siden", "temu", "назад", "тому", "önce", "lalu", "trước", "atrás", "fa", "पहले",
    "ezelőtt", "ที่ผ่านมา", "ที่แล้ว", "前", "전", "il y a", "vor", "hace", "há", "před", "acum", "منذ",
    "قبل", "پیش", "לפני", "πριν από", "sitten", "napja", "órája", "hónapja", "éve",
    "pred", "prije", "пре", "преди", "prieš", "pirms", "tagasi", "πριν", "আগে", "முன்பு", "پہلے", "hai", "duela",
    "gelede",
)  # fmt: skip
DAYS = (
    "yesterday", "today", "hier", "gestern", "heute", "ayer", "ieri", "ontem", "gisteren", "igår", "i går",
    "wczoraj", "вчера", "вчора", "dün", "kemarin", "hôm qua", "เมื่อวาน", "昨日", "昨天", "어제", "أمس", "دیروز",
    "אתמול", "eilen", "tegnap", "χθες", "včera", "कल",
    "i dag", "idag", "tänään", "dnes", "danes", "днес", "šiandien", "täna", "σήμερα", "bugün", "היום", "اليوم",
    "hari ini", "hôm nay", "오늘", "今日", "今天", "avui", "hoy", "hoje", "oggi", "aujourd'hui", "aujourd’hui",
    "vandaag", "dziś", "dzisiaj", "сегодня", "сьогодні", "danas", "jučer",
)  # fmt: skip

_AMOUNT = rf"\d++(?:[{SPACES}]\d{{3}}(?!\d)){{0,{MOST_GROUPS}}}(?:[.,'’٫٬]\d++){{0,{MOST_GROUPS}}}"
"""A number: a space is only before groups of three digits, and before any other mark."""
_SUM = rf"(?:{_AMOUNT}|(?<![\d.,])\.\d\d(?!\d))"
"""An amount of money, of which cents may stand without a zero."""
_TIMES = "|".join(word for word in MULTIPLIERS if len(word) > 1)
_NO_CENTS = "(?:[.,:][-–—]{1,2}|/-)?"
"""What stands for cents where there are none: `12,- €`."""
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})++")
"""A number in groups of three digits."""
_GROUPS = re.compile(rf"['’٬{SPACES}]")
"""Between the groups of a number's digits, besides dots and commas."""
_NO_SPACES = dict.fromkeys(map(ord, SPACES))
_CONTROL = re.compile(f"[{''.join(map(chr, CONTROLS))}]")
_INVISIBLE = re.compile(f"[{''.join(map(chr, INVISIBLE))}]")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d[\d.,'’٬\s]*")
_NUMBER = re.compile(rf"{_AMOUNT}|(?<![\w.,])\.\d++")
_WORD = re.compile(rf"[{SPACES}]?([^\W\d_]+)")
_CHARACTERS = re.compile(
    rf"[{SPACES}]?({'|'.join(word for word in MULTIPLIERS if not word.isascii() and ord(word[0]) > 0xE00)})"
)
_SPACE = f"[{SPACES}]?"
_LETTERS = re.compile(r"(?<=[A-Za-z])(?=\\?[$¥])|(?<=\$)(?=[A-Z]{2})|(?<=F)(?=CFA)")
"""Between the letters of a mark and its sign, where a page may have a space: `AU $`, `$ CA`."""
_RAND = rf"(?={_SPACE}\d[\d,{SPACES}]*[.,]\d\d(?!\d))"
"""What is behind an R that is no name: an amount with cents."""
_MARKS = [
    _LETTERS.sub(_SPACE, re.escape(mark)) + (_RAND if mark == "R" else "")
    for mark in sorted([*CURRENCIES, *CODES], key=len, reverse=True)
]
_CODE = "|".join(CODES)
_FIRST = "".join(map(re.escape, sorted({mark[0] for mark in (*CURRENCIES, *CODES)})))
"""The characters by one of which a mark begins: most places of a text are none of a mark."""
_MARK = f"(?=[{_FIRST}])(?:(?:{_CODE}){_SPACE}[$¥£€]|{'|'.join(_MARKS)})"
_PRICE = re.compile(
    rf"(?<![^\W\d_])(?P<before>{_MARK}):?{_SPACE}(?P<left>{_SUM})"
    rf"(?:(?P<times>[KkMm]|{_SPACE}(?i:{_TIMES}))(?!\w)|{_SPACE}(?P<code>{_CODE})(?!{_SPACE}\w))?"
    rf"|(?<!\d)(?:(?P<myriads>\d++)[万萬만]{_SPACE})?(?P<right>{_SUM})(?P<large>[万萬만億亿억])?{_NO_CENTS}"
    rf"(?:(?P<behind>{_MARK})(?P<cents>\d\d(?![\w.,%€$£]))?|{_SPACE}(?P<after>{_MARK})(?!\d))(?![^\W\d_])"
    rf"(?:{_SPACE}(?P<its>{_CODE})(?!{_SPACE}\w))?"
)
_LAST_WORD = re.compile(r"[^\W\d_]+(?= $)")
_GLUED = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d{2})?(?=\d)"
    r"|\d+\.\d{2}(?=\d+\.\d{2}(?!\d))"
    r"|\d{1,3}(?:\.\d{3})+(?:,\d{2}(?=\d)|(?=\d{1,3}[.,]\d))"
)
"""The first of two amounts without a space between them: it ends after a group of three or after two decimals. Points
alone may be before more decimals: `3.4590`."""
_STARS = re.compile(r"(?<![\d.,])\d(?:[.,٫]\d{1,2})?(?![\d.,]\d|\d)")
_SCALE = re.compile(r"(?<!\d)[5٥۵५] ?(?:개 중|つ星のうち|つ星中|段階中|顆星中的|颗星中的|üzerinden|में से|-ből)")
_DURATION = re.compile(r"(?:\d{1,2}:)?\d{1,3}:\d{2}")
_MONTH, _AGO, _DAY = ("|".join(map(re.escape, words)) for words in (MONTHS, AGO, DAYS))
_DAYS = re.compile(rf"(?:{_DAY})\b", re.IGNORECASE)
_DATE = re.compile(
    r"\d{4}[-/.年] ?\d{1,2}[-/.月] ?\d{1,2}|\d{1,2}[-/.] ?\d{1,2}[-/.] ?\d{2,4}|\d{4}년 ?\d{1,2}월"
    rf"|\d\W{{0,3}}(?:de |d[’'])?(?:{_MONTH})(?!\w)|(?<!\w)(?:{_MONTH})\.?,? (?:de )?\d"
    rf"|\d ?[^\d·|]{{0,18}}(?:{_AGO})(?![^\W\d_ก-๛\u3040-\u9fff가-힣])|\b(?:{_AGO}) ?\S{{0,6}}\d|^(?:{_DAY})\b",
    re.IGNORECASE,
)


class Price(NamedTuple):
    """A price: its text, its amount, and its ISO 4217 currency where the text is unambiguous."""

    text: str
    amount: float
    currency: str | None


def printable(text: str) -> str:
    """The text without control characters."""
    return text.translate(CONTROLS) if not text.isprintable() and _CONTROL.search(text) else text


def clean(text: str | None) -> str:
    """The text on one line, with single spaces and without control characters, invisible and direction marks."""
    text = text or ""
    if not text.isprintable() and _INVISIBLE.search(text):
        text = text.translate(INVISIBLE)
    return " ".join(text.split())


def folded(text: str | None) -> str:
    """The letters and digits of a text, for comparison: NFKC, case folded."""
    return "".join(char for char in unicodedata.normalize("NFKC", text or "").casefold() if char.isalnum())


def number(text: str | None) -> float | None:
    """The first number of the text: `1,234.5`, `1.234,5`, `1 234`, `8.3K`, `1,2 mil`, `1.2万`."""
    match = _NUMBER.search(text or "")
    if not match:
        return None
    times = multiplier(text or "", match.end())
    value = decimal(match.group(), short=times is not None)
    return None if value is None else value * (times or 1)


def count(text: str | None) -> int | None:
    """The first number of the text as a count of things: `(110)`, `6,791 reviews`, `8.3K`."""
    value = number(text)
    return None if value is None or value > 1e15 else round(value)


def largest_number(text: str) -> int | None:
    """The largest number of a line of totals, as its digits: 1,230,000 of `11-20 of 1,230,000 results`."""
    numbers = [re.sub(r"\D", "", digits) for digits in _DIGITS.findall(text)]
    return max((int(digits) for digits in numbers if len(digits) <= MOST_DIGITS), default=None)


def multiplier(text: str, end: int) -> float | None:
    """The multiplier after a number that ends at `end`; None without one."""
    term = _CHARACTERS.match(text, end) or _WORD.match(text, end)
    return MULTIPLIERS.get(term.group(1).casefold()) if term else None


def decimal(digits: str, short: bool = False, thousandths: str = "") -> float | None:
    """The value of digits with separators: the last one is the decimal mark, unless exactly three digits follow it.

    With `short`, for a number before a multiplier such as K, the last separator is always the decimal mark. So it is
    for a currency of a thousand parts if it is one of `thousandths`, or the other mark is before it. Digits that are
    no number, such as those of a date or a version, are None.
    """
    plain = _GROUPS.sub("", digits).replace("٫", ".")
    whole, mark, decimals = plain.rpartition(max(".,", key=plain.rfind))
    if mark and mark in whole and len(decimals) != 3 and not (_GROUPED.fullmatch(whole) and len(decimals) == 2):
        return None
    parts = bool(thousandths) and (mark in thousandths or not {".", ","}.isdisjoint(whole))
    may_be_group = len(decimals) == 3 and whole not in ("", "0") and (len(whole) <= 3 or not whole.isdecimal())
    if not mark or (may_be_group and (mark in whole or not (short or parts))):
        return _float(plain.replace(".", "").replace(",", ""))
    return _float(f"{whole.replace('.', '').replace(',', '')}.{decimals}")


def _float(digits: str) -> float | None:
    try:
        value = float(digits)
    except ValueError:
        return None
    return value if isfinite(value) else None


def prices(text: str | None) -> list[Price]:
    """Every price in the text, in order; amounts without a space between them (`฿1,2992,400`) are separated."""
    if not _DIGIT.search(text or ""):
        return []
    return [price for match in _PRICE.finditer(text or "") if (price := _price(match)) is not None]


def price(text: str | None) -> Price | None:
    """The first price in the text, which is the current one where an old one follows."""
    return next(iter(prices(text)), None)


def currency_code(text: str | None) -> str | None:
    """The ISO 4217 code of a currency's code or mark; another text as it is."""
    bare = (text or "").strip()
    return CURRENCIES.get(bare) or (bare.upper() if bare.upper() in CODES else bare or None)


def price_in(text: str, currency: str | None) -> Price | None:
    """The first price of a text without a mark, or whose sign may mean this currency; None for another text."""
    found = price(text)
    if found is None:
        return price(f"{currency} {text}") if currency in CODES else None
    sign = found.text.strip("0123456789.,:'’" + SPACES)
    return found._replace(currency=currency) if currency in OF_SIGN.get(sign, ()) else found


def _price(match: re.Match[str]) -> Price | None:
    mark, text = match["before"] or match["behind"] or match["after"], match.group()
    digits, code = match["left"] or match["right"], match["code"] or match["its"]
    if code and mark not in SHARED:
        text = text.removesuffix(code).rstrip(SPACES)
    if _is_of_a_name(match):
        mark, text = mark[-1], text[text.index(mark[-1]) :]
    currency = (code if mark in SHARED else None) or _currency(mark)
    thousandths = THOUSANDTHS.get(currency or "", "")
    term = match["times"] or match["large"]
    times = MULTIPLIERS[term.strip(SPACES).casefold()] if term else None
    glued = _GLUED.match(digits) if not thousandths else None
    first = glued.group() if glued else digits
    amount = decimal(f"{first}.{match['cents']}" if match["cents"] else first, times is not None, thousandths)
    if amount is None:
        return None
    amount = amount * (times or 1) + int(match["myriads"] or 0) * MULTIPLIERS["万"]
    return Price(text.replace(digits, first, 1), amount, currency)


def _currency(mark: str) -> str | None:
    bare = mark.translate(_NO_SPACES)
    return bare[:3] if bare[:3] in CODES else CURRENCIES[bare]


def _is_of_a_name(match: re.Match[str]) -> bool:
    """Whether the letter before a sign ends a name ("Vitamin C $12"), by spaces around it and a capital before."""
    mark = match["before"] or ""
    name = _LAST_WORD.search(match.string, max(0, match.start() - LONGEST_NAME), match.start())
    return len(mark) == len("C $") and mark[1] in SPACES and name is not None and name.group()[:1].isupper()


def rating(text: str | None) -> float | None:
    """A number of stars out of five: `4.7`, `Rated 4,7 out of 5`, `4.5/5`, `별 5개 중 4.7개`."""
    scale = _SCALE.search(text or "")
    for match in _STARS.finditer(text or "", scale.end() if scale else 0):
        value = decimal(match.group(), short=True)
        if value is not None and 0 <= value <= 5:
            return value
    return None


def duration(text: str | None) -> str | None:
    """The text, if it is a duration such as `4:05` or `1:02:33`."""
    line = clean(text)
    return line if _DURATION.fullmatch(line) else None


def date(text: str | None) -> str | None:
    """The text, if it is a date or an age (`Dec 16, 2022`, `vor 3 Tagen`, `2 日前`) and nothing else."""
    line = clean(text).strip("—–-·, ")
    may_be_date = 0 < len(line) <= 40 and (_DIGIT.search(line) or _DAYS.match(line))
    return line if may_be_date and _DATE.search(line) else None
