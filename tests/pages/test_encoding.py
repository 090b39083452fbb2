"""Charsets: declared, wrongly declared, and not declared at all."""

import encodings.aliases
import subprocess
import sys
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdata.pages.encoding import MOST_NAMES, decoded

TEXTS = {
    "utf-8": "Grüße, 世界, здравствуйте",
    "shift_jis": "これは日本語で書かれた文章です。文字コードを調べるために十分な長さがあります。",
    "euc-jp": "これは日本語で書かれた文章です。文字コードを調べるために十分な長さがあります。",
    "gb18030": "这是一段用中文写的文字，它的长度足以判断字符编码。我们希望结果是正确的。",
    "big5": "這是一段用中文寫的文字，它的長度足以判斷字元編碼。我們希望結果是正確的。",
    "euc-kr": "이것은 한국어로 쓰인 글입니다. 문자 인코딩을 판단하기에 충분한 길이입니다.",
    "windows-1251": "Это предложение написано на русском языке и достаточно длинное.",
    "koi8-r": "Это предложение написано на русском языке и достаточно длинное.",
    "windows-1252": "Der Käse schmeckt für fünf Euro – ganz schön günstig, größere Stücke gibt es später.",
    "windows-1254": "Türkçe yazılmış bir cümle; ışık, şeker ve ağaç gibi sözcükler içeriyor.",
    "windows-1250": "Příliš žluťoučký kůň úpěl ďábelské ódy. Česká republika sousedí s Německem.",
    "windows-1256": "هذه جملة مكتوبة باللغة العربية وهي طويلة بما يكفي لمعرفة الترميز المستخدم فيها.",
    "windows-1253": "Η Ελλάδα είναι χώρα της νότιας Ευρώπης και έχει πολλά νησιά και όμορφες παραλίες.",
    "utf-16le": "Words without a mark at their beginning",
    "utf-16be": "Words without a mark at their beginning",
}


@pytest.mark.parametrize("charset", TEXTS)
def test_an_undeclared_charset_is_detected(charset):
    """The charset of text without a declaration is detected from the bytes."""
    assert decoded(TEXTS[charset].encode(charset), None) == (TEXTS[charset], charset)


@pytest.mark.parametrize("charset", [name for name in TEXTS if not name.startswith("utf-16")])
def test_a_declared_charset_is_used(charset):
    """The header's charset and the page's own are used if the bytes are valid in them."""
    body = TEXTS[charset].encode(charset)
    assert decoded(body, f"text/html; charset={charset}") == (TEXTS[charset], charset)
    meta = f'<meta charset="{charset}">'
    assert decoded(meta.encode() + body, None) == (meta + TEXTS[charset], charset)


def test_a_wrong_declaration_is_ignored():
    """UTF-8 that is declared as Latin-1 is UTF-8, and the reverse."""
    assert decoded("schön".encode(), "text/html; charset=iso-8859-1") == ("schön", "utf-8")
    assert decoded(TEXTS["windows-1252"].encode("cp1252"), "text/html; charset=utf-8")[1] == "windows-1252"


def test_a_wrong_declaration_is_ignored_however_late_the_bytes_contradict_it():
    """The first letters beyond ASCII are after a megabyte of scripts."""
    page = b'<meta charset="utf-8">' + b"x" * 1_200_000 + "¿Cuándo está gordo un gato?".encode("latin-1")
    assert decoded(page, None)[0].endswith("¿Cuándo está gordo un gato?")


def test_a_byte_order_mark_is_used_first():
    """A byte-order mark overrides the header, and is no part of the text."""
    assert decoded(b"\xef\xbb\xbfx\xc3\xbc", "text/html; charset=koi8-r") == ("xü", "utf-8")
    assert decoded("\ufeffxü".encode("utf-16-be"), None) == ("xü", "utf-16be")


def test_invalid_bytes_do_not_change_the_charset():
    """An invalid byte in a long text is one U+FFFD."""
    text, charset = decoded("здравствуйте ".encode() * 20 + b"\xff", "text/html; charset=utf-8")
    assert (text.count("\ufffd"), charset) == (1, "utf-8")


@pytest.mark.parametrize("name", sorted(set(encodings.aliases.aliases.values()) | {"idna", "punycode", "undefined"}))
@pytest.mark.parametrize("body", [b"<p>a-b " * 10_000, b"\xff\0a" * 1000, zlib.compress(bytes(1_000_000))])
def test_a_name_of_any_codec_gives_a_text(name, body):
    """Python's codecs that are no charsets of pages are none here either: they unpack, fail, or take very long."""
    text, charset = decoded(body, f"text/html; charset={name}")
    assert len(text) <= len(body)
    assert charset not in ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7", "zlib")


def test_names_of_no_charset_are_not_remembered_for_ever():
    """Python keeps each name that it has ever looked up, which would fill the memory of a process that reads pages."""
    for number in range(1000):
        assert decoded(b"x", f"text/html; charset=none-{number}") == ("x", "utf-8")
        assert decoded(b"<meta charset=none-%d>" % -number, None)[1] == "utf-8"
    assert len(encodings._cache) <= MOST_NAMES + 2


@settings(deadline=None)
@given(st.binary(), st.sampled_from([None, "", "text/html; charset=utf-7", "text/html; charset=\udcff"]))
def test_any_bytes_have_a_text_and_a_charset(body, content_type):
    """Any bytes with any header raise no exception."""
    text, charset = decoded(body, content_type)
    assert isinstance(text, str)
    assert charset == charset.lower()


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Zoë, François, Jürgen, Øystein and Núñez met at the quay.", "windows-1252"),
        ("Škoda, Çelik, Åse, Père, Süß, Muñoz and São came, too.", "windows-1252"),
        (
            "Zażółć gęślą jaźń, powiedział pan Müller z Łodzi i poszedł w stronę wyjścia, gdzie było dużo osób.",
            "iso-8859-2",
        ),
    ],
)
def test_names_of_several_languages_do_not_change_the_charset(text, charset):
    """Text of no single language in Latin script is windows-1252, as in browsers; a few names change nothing."""
    assert decoded(text.encode(charset), None)[0] == text


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("iso-8859-8-i", "שלום", "iso8859_8"),
        ("x-cp1251", "Привет", "cp1251"),
        ("macintosh", "été", "mac_roman"),
        ("x-euc-jp", "港の船", "euc_jp"),
        ("ks_c_5601-1989", "항구", "cp949"),
        ("iso-2022-jp", "ｶﾀｶﾅ", "iso2022_jp_ext"),
    ],
)
def test_labels_of_browsers_are_known(label, text, codec):
    """A page may name its charset by any label of the Encoding standard."""
    assert decoded(f"<meta charset={label}><p>{text}".encode(codec), None)[0].endswith(text)


@pytest.mark.parametrize("text", ["Price £15", "5 µm, ± 2 ©", "nº 5 ¥"])
def test_signs_are_no_letters_of_another_charset(text):
    """Signs of windows-1252 that are letters in others do not tell of these."""
    assert decoded(text.encode("cp1252"), None) == (text, "windows-1252")


def test_few_words_are_in_the_charset_of_their_language():
    """The language of a page tells the charset of the few words that a detector cannot tell."""
    assert decoded("<html lang=ja><p>港の船".encode("cp932"), None)[1] == "shift_jis"
    assert decoded('<html dir="ltr" lang="ru-RU"><p>Привет мир'.encode("cp1251"), None)[1] == "windows-1251"


def test_halves_of_characters_do_not_change_the_charset():
    """UTF-8 with surrogates, as databases write them, is UTF-8 with invalid bytes."""
    page = b"<meta charset=utf-8>caf\xc3\xa9 \xed\xa0\xbd\xed\xb8\x80"
    assert decoded(page, None)[0].startswith("<meta charset=utf-8>café \ufffd")


@pytest.mark.parametrize("charset", ["gbk", "gb2312", "gb18030"])
def test_euro_signs_of_chinese_pages_are_known(charset):
    """They are a byte that is in no other charset of Chinese; another invalid byte is none."""
    body = "中文页面的价格".encode("gbk") + b" 5\x80, 7\x80"
    assert decoded(body, f"text/html; charset={charset}") == ("中文页面的价格 5€, 7€", "gb18030")
    text, _ = decoded(body * 20 + b"\xff", f"text/html; charset={charset}")
    assert text.endswith("7€\ufffd")


def test_shifts_into_japanese_tell_its_charset():
    """Text in ISO-2022-JP has only bytes of ASCII, but sequences that nothing else has."""
    assert decoded("潮位の記録".encode("iso-2022-jp"), "text/html") == ("潮位の記録", "iso-2022-jp")


@pytest.mark.parametrize("content_type", [None, "text/html; charset=utf-8"])
@pytest.mark.parametrize(
    "body", [b"Caf\xc3\xa9 and caf\xe9", b"<meta content='Caf\xc3'>Caf\xc3\xa9", b"Caf\xc3\xa9 \xe2\x80"]
)
def test_a_cut_character_does_not_change_the_charset(body, content_type):
    """A page with a character of UTF-8 and an invalid one is UTF-8, however short it is."""
    text, charset = decoded(body, content_type)
    assert (charset, "Café" in text, text.count("\ufffd")) == ("utf-8", True, 1)


def test_charsets_are_imported_with_the_module(starts):
    """A process that has no file left to open still reads pages in every charset."""
    command = (
        "import builtins, resource, webdata.pages.encoding as encoding;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]));"
        "print([encoding.decoded('中文'.encode(one), 'text/html; charset=' + one)[0] for one in ('big5', 'gbk')],"
        f"encoding.decoded({TEXTS['koi8-r']!r}.encode('koi8_r'), None)[1])"
    )
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("['中文', '中文'] koi8-r\n", "")
