"""The editions of the news aggregator: countries and the languages of their news.

The list is that of the aggregator's own page for the choice of language and region.
"""

EDITIONS = (
    *("US:en", "GB:en", "CA:en", "AU:en", "IN:en", "IE:en", "NZ:en", "SG:en", "ZA:en", "PH:en", "MY:en", "PK:en"),
    *("NG:en", "KE:en", "GH:en", "UG:en", "TZ:en", "ZW:en", "BW:en", "NA:en", "ET:en"),
    *("DE:de", "AT:de", "CH:de", "FR:fr", "BE:fr", "CA:fr", "CH:fr", "MA:fr", "SN:fr", "IT:it"),
    *("ES:es", "MX:es-419", "AR:es-419", "CO:es-419", "CL:es-419", "PE:es-419", "VE:es-419", "CU:es-419", "US:es-419"),
    *("BR:pt-419", "PT:pt-150", "NL:nl", "BE:nl", "SE:sv", "NO:no", "PL:pl", "CZ:cs", "SK:sk", "HU:hu", "RO:ro"),
    *("SI:sl", "RS:sr", "BG:bg", "GR:el", "TR:tr", "LT:lt", "LV:lv", "LV:en", "UA:uk", "UA:ru", "RU:ru"),
    *("IL:he", "IL:en", "EG:ar", "SA:ar", "AE:ar", "LB:ar"),
    *("JP:ja", "KR:ko", "CN:zh-Hans", "TW:zh-Hant", "HK:zh-Hant", "TH:th", "VN:vi", "ID:id", "ID:en"),
    *("IN:hi", "IN:bn", "IN:mr", "IN:ta", "IN:te", "IN:ml", "BD:bn"),
)
"""Each `country:language`; the first of a language is that of its country, the first of a country that of its
language."""
OLD_NAMES = {"iw": "he", "in": "id", "nb": "no", "nn": "no"}
"""Other codes of languages, by which clients still name them."""
OLD_COUNTRIES = {"UK": "GB"}


def edition(hl: str | None, gl: str | None, usual_country: str | None = None) -> str:
    """The edition of a language (`de`, `de-AT`, `zh-TW`) and a country (`at`), of which one is given.

    Without a country it is that of the language's tag, else `usual_country` if it has an edition in that language,
    else the country of the language. An edition that is not in the list is made of the two.
    """
    tag, _, variant = (hl or "").partition("-")
    language = OLD_NAMES.get(tag.lower(), tag.lower())
    tagged = variant.upper() if len(variant) == 2 else ""
    country = (gl or "").upper() or tagged
    country = OLD_COUNTRIES.get(country, country)
    if country:
        return _of(country, language) or (f"{country}:{language}" if language else _of(country, "") or f"{country}:en")
    return _of(usual_country or "", language) or _of("", language) or f"{usual_country or 'US'}:{language}"


def _of(country: str, language: str) -> str:
    """The first edition of a country, a language or both; "" if there is none."""
    for one in EDITIONS:
        its_country, _, its_language = one.partition(":")
        if country in ("", its_country) and language in ("", its_language.partition("-")[0]):
            return one
    return ""
