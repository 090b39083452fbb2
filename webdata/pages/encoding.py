"""The text of a page in any charset, declared rightly, wrongly or not at all.

The order is that of https://encoding.spec.whatwg.org and of browsers: byte-order mark, HTTP header, the page's own
declaration, detection from the bytes. A declaration that the bytes contradict is ignored.
"""

import codecs
import encodings
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO

from charset_normalizer import from_bytes
from w3lib.encoding import (
    DEFAULT_ENCODING_TRANSLATION,
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

SNIFFED = 30_000
"""Bytes of the detector's sample."""
LINE = 1_000
"""Bytes of a line in the sample before its first byte that is not ASCII."""
HEAD = 4096
"""Bytes in which a page declares its charset and its language."""
SHIFTS = re.compile(rb"\x1b\$[@B]")
"""The bytes before Japanese text in ISO-2022-JP, which is in ASCII otherwise."""
BEYOND = re.compile(b"[\x80-\xff]")
PIECE = 256 * 1024
"""Bytes that are decoded at a time."""
WIDEST = 4
"""Bytes of the widest character."""
SAMPLE = 200_000
"""Bytes that are searched for the signs of a charset."""
CODECS = {
    "ascii": "cp1252", "big5": "big5hkscs", "euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030",
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "shift_jis": "cp932", "tis-620": "cp874",
    "johab": "cp949", "hz": "gb18030", "utf-16": "utf-16-le", "utf-7": "cp1252", "iso2022_jp": "iso2022_jp_ext",
}  # fmt: skip
"""Charsets by Python's names, and the larger ones that browsers read them as."""
NAMES = {
    "big5hkscs": "big5", "cp866": "ibm866", "cp874": "windows-874", "cp932": "shift_jis", "cp949": "euc-kr",
    "euc_jp": "euc-jp", "iso2022_jp_ext": "iso-2022-jp", "mac-cyrillic": "x-mac-cyrillic", "mac-roman": "macintosh",
    "utf-16-le": "utf-16le", "utf-16-be": "utf-16be",
}  # fmt: skip
"""Python's names of charsets and the WHATWG's, where they differ by more than a hyphen."""
LABELS = {
    "cp1252": "iso88591 x_cp1252 x_user_defined",
    "utf_8": "unicode_1_1_utf_8 unicode11utf8 unicode20utf8 x_unicode20utf8",
    "iso8859_2": "iso88592", "iso8859_3": "iso88593", "iso8859_5": "iso88595",
    "iso8859_6": "csiso88596e csiso88596i iso_8859_6_e iso_8859_6_i", "iso8859_7": "sun_eu_greek",
    "iso8859_8": "csiso88598e csiso88598i iso_8859_8_e iso_8859_8_i logical visual", "iso8859_13": "iso885913",
    "iso8859_14": "iso885914", "iso8859_15": "csisolatin9 iso885915", "koi8_r": "koi koi8", "koi8_u": "koi8_ru",
    "mac_roman": "csmacintosh mac x_mac_roman", "mac_cyrillic": "x_mac_cyrillic x_mac_ukrainian",
    "cp874": "dos_874 iso885911", **{f"cp125{part}": f"x_cp125{part}" for part in (0, 1, 3, 4, 5, 6, 7, 8)},
    "gb18030": "csgb2312 gb_2312 x_gbk", "big5hkscs": "cn_big5 x_x_big5", "euc_jp": "cseucpkdfmtjapanese x_euc_jp",
    "cp949": "cseuckr csksc56011987 iso_ir_149 ks_c_5601_1989 ksc_5601 windows_949", "utf_16_be": "unicodefffe",
    "utf_16_le": "csunicode iso_10646_ucs_2 ucs_2 unicode unicodefeff",
}  # fmt: skip
"""The labels of https://encoding.spec.whatwg.org/#names-and-labels that Python has not, with low lines for hyphens."""
DEFAULT_ENCODING_TRANSLATION.update({label: codec for codec, labels in LABELS.items() for label in labels.split()})
EUROS = {"strict": "euros", "replace": "euros or replaced"}
"""The handlers of errors for Chinese text in which a lone byte 0x80 is a euro sign, as in windows-936:
https://encoding.spec.whatwg.org/#gb18030-decoder"""
LONGEST_WITH_EUROS = 500_000
"""Bytes of a body in which they are searched for: each takes longer than thousands of other characters."""
LATIN = "cp1252"
"""What browsers read text without a declaration as."""
ALPHABETS = (
    (LATIN, "àâçéèêëîïôùûüœæÿ"),  # French
    (LATIN, "äöüß"),
    (LATIN, "áéíóúñüç"),  # Spanish
    (LATIN, "áàâãçéêíóôõúü"),  # Portuguese
    (LATIN, "àèéìíîòóùú"),  # Italian
    (LATIN, "åäöæøéü"),  # the Nordic languages
    (LATIN, "áéíóúýþðæö"),  # Icelandic
    (LATIN, "àáèéëêïíóòöüç"),  # Dutch and Catalan
    ("cp1254", "çğıöşüâîû\u0307"),
    ("cp1250", "ąćęłńóśźż"), ("iso8859_2", "ąćęłńóśźż"),  # Polish
    ("cp1250", "áčďéěíňóřšťúůýžäľĺôŕ"), ("iso8859_2", "áčďéěíňóřšťúůýžäľĺôŕ"),  # Czech and Slovak
    ("cp1250", "áéíóöőúüű"), ("iso8859_2", "áéíóöőúüű"),  # Hungarian
    ("cp1250", "ăâîşţ"), ("iso8859_2", "ăâîşţ"),  # Romanian
    ("cp1250", "čćđšž"), ("iso8859_2", "čćđšž"),  # Croatian and Slovene
    ("cp1257", "ąčęėįšųūž"), ("cp1257", "āčēģīķļņšūž"),  # Lithuanian and Latvian
)  # fmt: skip
"""The letters beyond ASCII of languages in Latin script, in lower case, and a charset that text in them may be in."""
NEARLY_ALL = 0.9
"""The share of a text's letters beyond ASCII that belong to its language; the others are in names."""
EUROPEAN = frozenset([None, "cp1250", "cp1252", "cp1254", "cp1257", "iso8859_2"])
"""Charsets that the detector confuses."""
RUN = re.compile(b"[\x80-\xff]+")
LONE = 0.8
"""The share of bytes beyond ASCII between ASCII in text in Latin script; in other scripts they follow another."""
LIKELY = [
    "utf_8", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "koi8_r",
    "cp866", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949", "iso8859_2", "iso8859_5", "iso8859_7",
    "mac_cyrillic",
]  # fmt: skip
"""Charsets of real pages."""
WEB = frozenset([
    "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "big5hkscs", "cp866", "cp874", "cp932", "cp949",
    "euc_jp", "gb18030", "iso2022_jp_ext", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman",
    *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *(f"cp125{part}" for part in range(9)),
])  # fmt: skip
"""The codecs of the WHATWG's charsets, and UTF-32. Python has others by name that are no charset of pages, or none at
all: `zlib` unpacks, `punycode` takes the square of a text's length, `idna` fails."""
MOST_NAMES = 300
"""Names of charsets that are remembered: all known ones, and some that pages have made up, up to 64 KB each."""
for _charset in (*WEB, *CODECS, *LIKELY):
    codecs.lookup(_charset)  # imports it, which fails later in a process that has no file left to open

WORD = re.compile(r"(?<!\w)[^\W\d_]{3,}(?!\w)")
"""A word; a letter alone, beside a digit or a unit, may be the sign of another charset: `Ł15` is £15, `ľm` µm."""
LANGUAGE = re.compile(rb"""<html\s[^>]*?\blang\s*=\s*["']?([a-z]{2}(?:-(?:tw|hk|hant))?)""", re.IGNORECASE)
LANGUAGES = {
    "cp1251": "ba be bg kk ky mk ru sah sr tg tt uk", "cp1253": "el", "cp1255": "he", "cp1256": "ar fa", "cp874": "th",
    "cp932": "ja", "cp949": "ko", "gb18030": "zh", "big5hkscs": "zh-tw zh-hk zh-hant",
}  # fmt: skip
"""The charsets of languages in no Latin script: https://html.spec.whatwg.org/#determining-the-character-encoding"""
OF_LANGUAGES = {language: codec for codec, languages in LANGUAGES.items() for language in languages.split()}
HALVES = re.compile(b"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
"""Surrogates in UTF-8 for one character, as databases write it: they are invalid, but say nothing."""
DAMAGE = {"utf-8": 0.5}
SLIGHT = 0.01
"""The share of characters beyond ASCII that may be invalid in text of the declared charset: real pages are truncated
and patched. DAMAGE is the share for charsets that no other text resembles: even one character of UTF-8 is rarely text
of another charset."""


def decoded(body: bytes, content_type: str | None) -> tuple[str, str]:
    """The text of a body, and the WHATWG's name of its charset. Invalid sequences become U+FFFD."""
    charset, mark = read_bom(body)
    if charset is not None and mark is not None:
        return _text(body[len(mark) :], _codec(charset) or "utf-8")
    if (wide := _wide(body[:1000])) is not None:
        return _text(body, wide)
    declared = _codec(http_content_type_encoding(content_type)) or _codec(html_body_declared_encoding(body[:HEAD]))
    if declared is None and body.isascii() and SHIFTS.search(body[:SAMPLE]):
        return _text(body, "iso2022_jp_ext")
    if declared is not None and _holds(body, declared):
        return _text(body, declared)
    if _holds(body, "utf-8") and not body.isascii():
        return _text(body, "utf-8")
    return _text(body, _damaged(body, declared) or _sniffed(body))


def _codec(name: str | None) -> str | None:
    """The codec of a charset; None for a name that is not known, or is none of the web's."""
    resolved = resolve_encoding(name) if name else None
    _forget_unknown()
    try:
        codec = CODECS.get(found := codecs.lookup(resolved).name, found) if resolved else None
    except LookupError:
        return None
    return codec if codec in WEB else None


def _forget_unknown() -> None:
    """Bound the names that Python remembers for ever, since no codec has them."""
    remembered = encodings._cache  # noqa: SLF001  # there is no public attribute
    if len(remembered) > MOST_NAMES:
        for name in [name for name, codec in remembered.items() if codec is None]:
            remembered.pop(name, None)


def _text(body: bytes, codec: str) -> tuple[str, str]:
    text = "".join(_pieces(body, codec, "replace"))
    return text, NAMES.get(
        codec, codec.replace("_", "-").replace("cp125", "windows-125").replace("iso8859", "iso-8859")
    )


def _holds(body: bytes, codec: str) -> bool:
    """Whether a body is valid in a charset; valid UTF-8 counts as no other charset, whatever is declared."""
    if codec != "utf-8" and not codec.startswith("utf-16") and not body.isascii() and _valid(body, "utf-8"):
        return False
    if codec.startswith("utf-16") and b"\0" not in body[:SAMPLE]:
        return False
    return _valid(body, codec)


def _valid(body: bytes, codec: str) -> bool:
    try:
        for _ in _pieces(body, codec, "strict"):
            pass
    except UnicodeError:
        return False
    return True


def _pieces(body: bytes, codec: str, errors: str) -> Iterator[str]:
    """The text of a body in pieces: decoding blocks all other threads."""
    decoder = codecs.getincrementaldecoder(codec)(_errors(body, codec, errors))
    for start in range(0, len(body), PIECE):
        yield decoder.decode(body[start : start + PIECE])
    yield decoder.decode(b"", final=True)


def _errors(body: bytes, codec: str, errors: str) -> str:
    """The handler of errors that knows the euro signs of a body, where it may have some."""
    may_have_euros = codec == "gb18030" and len(body) <= LONGEST_WITH_EUROS and b"\x80" in body
    return EUROS[errors] if may_have_euros else errors


def _with_euros(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError) and error.object[error.start] == 0x80:
        return "€", error.start + 1
    raise error


def _with_euros_and_replaced(error: UnicodeError) -> tuple[str, int]:
    try:
        return _with_euros(error)
    except UnicodeDecodeError as other:
        return "\ufffd", other.end


codecs.register_error(EUROS["strict"], _with_euros)
codecs.register_error(EUROS["replace"], _with_euros_and_replaced)


def _damaged(body: bytes, declared: str | None) -> str | None:
    """The declared charset, or UTF-8, if only few places of the text are invalid in it."""
    first = BEYOND.search(body)
    start = first.start() if first else 0
    for codec in dict.fromkeys(filter(None, (declared, "utf-8"))):
        sample = HALVES.sub(b"", body[start : start + SAMPLE * WIDEST])
        text = sample.decode(codec, _errors(sample, codec, "replace"))[:SAMPLE]
        beyond = sum(char > "\x7f" for char in text)
        if text.count("\ufffd") <= max(DAMAGE.get(codec, SLIGHT) * beyond, 1 if beyond > 20 else 0):
            return codec
    return None


def _sniffed(body: bytes) -> str:
    if body.isascii():
        return "utf-8"
    sample = _sample(body)
    best = from_bytes(sample, cp_isolation=LIKELY).best()
    found = best.encoding if best else None
    if _is_latin(sample):
        return _european(sample)
    return (_of_language(body) or _european(sample)) if found in EUROPEAN else _codec(found) or LATIN


def _of_language(body: bytes) -> str | None:
    """The charset of the language that a page of few words says it is in, if the bytes are valid in it."""
    language = LANGUAGE.search(body[:HEAD])
    codec = OF_LANGUAGES.get(language[1].decode().lower()) if language else None
    return codec if codec and _valid(body, codec) else None


def _is_latin(sample: bytes) -> bool:
    runs = RUN.findall(sample)
    return sum(len(run) == 1 for run in runs) >= LONE * len(runs)


def _european(sample: bytes) -> str:
    """The charset of text in Latin script: that of its language, else that of browsers."""
    letters = {codec: _letters(sample, codec) for codec in dict.fromkeys(codec for codec, _ in ALPHABETS)}
    shares = [
        (sum(letters[codec][char] for char in alphabet) / (letters[codec].total() or 1), codec)
        for codec, alphabet in ALPHABETS
    ]
    share, codec = max(shares, key=lambda found: found[0])
    return codec if share >= NEARLY_ALL else LATIN


def _letters(sample: bytes, codec: str) -> Counter[str]:
    """The letters beyond ASCII of a sample, with signs that are frequent only in text of another charset."""
    text = sample.decode(codec, "replace").lower()
    letters = Counter(char for word in WORD.findall(text) for char in word if char > "\x7f")
    return letters + Counter(char for char in text if "\x7f" < char < "\xa0" or char in "\ufffd³¹")


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a byte-order mark, recognised by the positions of its zero bytes; None for other text."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) <= len(sample) / 8 or min(even, odd) > max(even, odd) / 8:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _sample(body: bytes) -> bytes:
    """Lines with bytes beyond ASCII: only they differ between charsets."""
    lines = BytesIO()
    place = 0
    while lines.tell() < SNIFFED and (found := BEYOND.search(body, place)):
        start = max(body.rfind(b"\n", place, found.start()) + 1, found.start() - LINE, place)
        end = body.find(b"\n", found.start(), found.start() + SNIFFED)
        place = end + 1 if end >= 0 else found.start() + SNIFFED
        lines.write(body[start:place])
    return lines.getvalue()[:SNIFFED]
