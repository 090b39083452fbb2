"""Pages in the web's character encodings, declared by header, by meta element, not at all, or wrongly."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from functools import partial

from webdata.runtime.wire.exchange import Headers, SandboxRequest, SiteReply
from webdata.sandbox.sites.url import Trial


@dataclass(frozen=True)
class Sample:
    """A text, its language and codec, and the encoding's label on the page (by default its name in `SAMPLES`)."""

    language: str
    codec: str
    title: str
    text: str
    label: str = ""
    mark: bytes = b""
    """The byte-order mark before the page."""


CHINESE = "这是沙盒的一张网页,内容都是虚构的。天气很好,我们在河边的茶馆里喝茶,听老人讲过去的故事。"
TAIWANESE = "這是沙盒的一張網頁,內容都是虛構的。天氣很好,我們在河邊的茶館裡喝茶,聽老人講過去的故事。"
JAPANESE = (
    "これは砂場のページで、内容はすべて架空のものです。天気がよいので、"
    "川のそばの茶店でお茶を飲みながら昔話を聞きました。"
)
KOREAN = (
    "이것은 모래밭의 웹 페이지이며 내용은 모두 지어낸 것입니다. 날씨가 "
    "좋아서 강가의 찻집에서 차를 마시며 옛날이야기를 들었습니다."
)
RUSSIAN = "Это страница песочницы, и всё на ней выдумано. Погода хорошая, мы пьём чай у реки и слушаем старые рассказы."
GERMAN = (
    "Dies ist eine Seite des Sandkastens, alles ist erfunden. Schönes "
    "Wetter – wir trinken Tee für 3 € am Fluß, „hören“ Märchen."
)
TURKISH = (
    "Bu, kum havuzunun bir sayfasıdır ve her şey uydurmadır. Hava güzel,"
    " ırmak kıyısında çay içip eski öyküleri dinliyoruz, şöyle böyle."
)
HEBREW = "זהו דף של ארגז החול, והכול בו מומצא. מזג האוויר יפה, אנחנו שותים תה ליד הנהר ומקשיבים לסיפורים ישנים."
ARABIC = "هذه صفحة من صندوق الرمل وكل ما فيها مختلق. الطقس جميل ونحن نشرب الشاي عند النهر ونسمع حكايات قديمة."
THAI = "นี่คือหน้าเว็บของกระบะทราย เนื้อหาทั้งหมดเป็นเรื่องแต่ง อากาศดี เราดื่มชาริมแม่น้ำและฟังเรื่องเล่าเก่าแก่"
GREEK = (
    "Αυτή είναι μια σελίδα του αμμοδόχου και όλα είναι φανταστικά. Ο καιρός "
    "είναι καλός, πίνουμε τσάι στο ποτάμι και ακούμε παλιές ιστορίες."
)

SAMPLES = {
    "utf-8": Sample("ja", "utf-8", "砂場", JAPANESE),
    "utf-8-bom": Sample("ja", "utf-8", "砂場", JAPANESE, "utf-8", BOM_UTF8),
    "utf-16le": Sample("de", "utf-16-le", "Übung", GERMAN),
    "utf-16be": Sample("de", "utf-16-be", "Übung", GERMAN),
    "utf-16le-bom": Sample("ru", "utf-16-le", "Песочница", RUSSIAN, "utf-16le", BOM_UTF16_LE),
    "utf-16be-bom": Sample("ru", "utf-16-be", "Песочница", RUSSIAN, "utf-16be", BOM_UTF16_BE),
    "gb18030": Sample("zh-CN", "gb18030", "沙盒㐂", f"{CHINESE}㐂𠮷"),
    "gb2312": Sample("zh-CN", "gb2312", "沙盒", CHINESE),
    "big5": Sample("zh-TW", "big5", "沙盒", TAIWANESE),
    "shift_jis": Sample("ja", "cp932", "砂場①", JAPANESE),
    "euc-jp": Sample("ja", "euc_jp", "砂場", JAPANESE),
    "euc-kr": Sample("ko", "euc_kr", "모래밭", KOREAN),
    "windows-1251": Sample("ru", "cp1251", "Песочница", RUSSIAN),
    "koi8-r": Sample("ru", "koi8_r", "Песочница", RUSSIAN),
    "windows-1252": Sample("de", "cp1252", "Übung", GERMAN),
    "windows-1254": Sample("tr", "cp1254", "Işık", TURKISH),
    "windows-1255": Sample("he", "cp1255", "ארגז חול", HEBREW),
    "windows-1256": Sample("ar", "cp1256", "صندوق الرمل", ARABIC),
    "tis-620": Sample("th", "tis_620", "กระบะทราย", THAI),
    "iso-8859-7": Sample("el", "iso8859_7", "Αμμοδόχος", GREEK),
}
"""By name in the path."""
MODES = {
    "header": "declared by the header",
    "meta": "declared by a meta element",
    "none": "not declared",
    "wrong": "declared wrongly by header and meta",
}


def page(name: str, mode: str, _request: SandboxRequest) -> SiteReply:
    """A sample in its encoding, declared as the mode requires."""
    sample = SAMPLES[name]
    label = sample.label or name
    declared = ("iso-8859-1" if label == "utf-8" else "utf-8") if mode == "wrong" else label
    meta = f'<meta charset="{declared}">' if mode in ("meta", "wrong") else ""
    markup = (
        f'<!DOCTYPE html>\n<html lang="{sample.language}">\n<head>{meta}<title>{sample.title}</title></head>\n'
        f"<body><main><h1>{sample.title}</h1><p>{sample.text}</p><p>{sample.text}</p></main></body>\n</html>"
    )
    charset = f"; charset={declared}" if mode in ("header", "wrong") else ""
    headers: Headers = (("Content-Type", f"text/html{charset}"),)
    return SiteReply(200, headers, sample.mark + markup.encode(sample.codec))


TRIALS = tuple(
    Trial(f"/encoding/{name}/{mode}", f"{name}, {declaration}", partial(page, name, mode))
    for name in SAMPLES
    for mode, declaration in MODES.items()
)
