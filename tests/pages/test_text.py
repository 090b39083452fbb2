import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages import _text

NUMBERS = [
    ("1,234.5", 1234.5),
    ("1.234,5", 1234.5),
    ("1 234", 1234.0),
    ("1\u202f234,5", 1234.5),
    ("1'234.50", 1234.5),
    ("1.234", 1234.0),
    ("0.125", 0.125),
    ("0,5", 0.5),
    ("12.345.678", 12345678.0),
    ("1234.567", 1234.567),
    ("1,234,56", 1234.56),
    ("1.298.00", 1298.0),
    ("15.08.2026", None),
    ("version 1.10.2", None),
    ("(110)", 110.0),
    ("8.3K", 8300.0),
    ("(8,3 Tsd.)", 8300.0),
    ("1,2 mil", 1200.0),
    ("1.2万", 12000.0),
    ("4.5 ล้าน", 4500000.0),
    ("2 Mio.", 2e6),
    ("3 rb", 3000.0),
    ("6,791 reviews", 6791.0),
    ("4.5 123 reviews", 4.5),
    (".5", 0.5),
    ("3 million", 3e6),
    ("2,5 Millionen", 2.5e6),
    ("no number", None),
    ("", None),
]
PRICES = [
    ("US$: 12.50", "US$: 12.50", 12.5, "USD"),
    ("12,50 Zł", "12,50 Zł", 12.5, "PLN"),
    ("1.198,- Kr", "1.198,- Kr", 1198.0, None),
    ("14 196 Р", "14 196 Р", 14196.0, "RUB"),
    ("1 200 рублей", "1 200 рублей", 1200.0, "RUB"),
    ("644.00 جنيه", "644.00 جنيه", 644.0, "EGP"),
    ("AU $12.50", "AU $12.50", 12.5, "AUD"),
    ("C $12.50", "C $12.50", 12.5, "CAD"),
    ("HK $12", "HK $12", 12.0, "HKD"),
    ("CDN$12.99", "CDN$12.99", 12.99, "CAD"),
    ("$12.50 CAD", "$12.50 CAD", 12.5, "CAD"),
    ("CAD $12.50", "CAD $12.50", 12.5, "CAD"),
    ("Vitamin C $12.50", "$12.50", 12.5, "USD"),
    ("KWD 1.500", "KWD 1.500", 1.5, "KWD"),
    ("12.345 KWD", "12.345 KWD", 12.345, "KWD"),
    ("KWD 1,234.500", "KWD 1,234.500", 1234.5, "KWD"),
    ("TND 12,500", "TND 12,500", 12.5, "TND"),
    ("1.234,500 TND", "1.234,500 TND", 1234.5, "TND"),
    ("AED 1.500", "AED 1.500", 1500.0, "AED"),
    ("$1,034.98", "$1,034.98", 1034.98, "USD"),
    ("1.299,00 €", "1.299,00 €", 1299.0, "EUR"),
    ("EUR 9,99", "EUR 9,99", 9.99, "EUR"),
    ("12,50 zł", "12,50 zł", 12.5, "PLN"),
    ("₹1,29,900", "₹1,29,900", 129900.0, "INR"),
    ("12,800円", "12,800円", 12800.0, "JPY"),
    ("Rp 1.500.000", "Rp 1.500.000", 1500000.0, "IDR"),
    ("1 299 kr", "1 299 kr", 1299.0, None),
    ("CHF 12.50", "CHF 12.50", 12.5, "CHF"),
    ("R$ 1.234,56", "R$ 1.234,56", 1234.56, "BRL"),
    ("฿1,2992,400", "฿1,299", 1299.0, "THB"),
    ("$19.9929.99", "$19.99", 19.99, "USD"),
    ("Now $32.95, was $40.00", "$32.95", 32.95, "USD"),
    ("$3.4590", "$3.4590", 3.459, "USD"),
    ("1.2992.400 €", "1.299 €", 1299.0, "EUR"),
    ("12,- €", "12,- €", 12.0, "EUR"),
    ("12€50", "12€50", 12.5, "EUR"),
    (".99 €", ".99 €", 0.99, "EUR"),
    ("Pack of 2 $25", "$25", 25.0, "USD"),
    ("USB-C 3.0 12 €", "12 €", 12.0, "EUR"),
    ("12,50 $ CA", "12,50 $ CA", 12.5, "CAD"),
    ("12.50 $ AUD", "12.50 $ AUD", 12.5, "AUD"),
    ("$1.2M", "$1.2M", 1_200_000.0, "USD"),
    ("€1,5 Mio.", "€1,5 Mio", 1_500_000.0, "EUR"),
    ("1万2,000円", "1万2,000円", 12_000.0, "JPY"),
    ("3億円", "3億円", 300_000_000.0, "JPY"),
    ("R1,299.00", "R1,299.00", 1299.0, "ZAR"),
    ("12 900 F CFA", "12 900 F CFA", 12_900.0, None),
    ("1.500 дин.", "1.500 дин.", 1500.0, "RSD"),
]
DATES = [
    "Dec 16, 2022", "16 déc. 2022", "15 février 2024", "3. Juni 2021", "12 de mayo de 2020", "2022/12/16",
    "12.03.2024", "2023年4月3日", "3 ก.ค. 2566", "3 days ago", "vor 3 Tagen", "il y a 3 jours", "hace 2 días",
    "há 3 horas", "1 dia atrás", "3 дня назад", "2 日前", "4시간 전", "2 วันที่ผ่านมา", "Yesterday", "gestern", "昨日",
    "לפני 3 ימים", "قبل 3 ساعات", "۳ روز پیش", "16 मई 2022", "16 באוג׳ 2022", "3 päivää sitten", "πριν από 3 ημέρες",
    "14 липня 2026", "14. července 2026", "2026. júl. 14.", "14. heinäkuuta 2026", "14 iul. 2026", "14 юли 2026 г.",
    "2026 m. liepos 14 d.", "14. juuli 2026", "14 juliol 2026", "14 تموز 2026", "prije 2 sata", "преди 2 часа",
    "prieš 2 val.", "2 tundi tagasi", "pirms 2 stundām", "hoje", "今日", "сьогодні",
]  # fmt: skip
NO_DATES = [
    "5 hete pepers", "5 reviews", "30-day returns", "12 products", "5 marathons", "NBC News", "Top 10 in May",
    "before", "", "In stock",
]  # fmt: skip
RATINGS = [
    ("4.7", 4.7),
    ("Rated 4,7 out of 5", 4.7),
    ("4.5/5", 4.5),
    ("Rating: 4.1", 4.1),
    ("5", 5.0),
    ("4.6 out of 5 stars from 2,993 reviews", 4.6),
    ("별 5개 중 4.2개", 4.2),
    ("5 つ星のうち 4.5", 4.5),
    ("5 üzerinden 4,0 puan aldı", 4.0),
    ("٤٫٥ من ٥", 4.5),
    ("83%", None),
    ("10 reviews", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_a_number_is_read_in_the_format_of_its_locale(text, expected):
    """Thousands separators, decimal marks and multipliers such as K or 万 are recognised in every locale."""
    assert expected == _text.number(text)


@pytest.mark.parametrize(("text", "verbatim", "amount", "currency"), PRICES)
def test_the_first_price_is_the_current_one(text, verbatim, amount, currency):
    """A price has its verbatim text, without an old price after it."""
    assert _text.Price(verbatim, amount, currency) == _text.price(text)


@pytest.mark.parametrize("text", DATES)
def test_dates_and_ages_are_recognised_over_locales(text):
    """A date or an age in any of the languages is returned verbatim."""
    assert text == _text.date(f"{text} — ")


@pytest.mark.parametrize("text", NO_DATES)
def test_similar_texts_are_no_dates(text):
    """Terms that begin like a month, and numbers of other things, are no dates."""
    assert _text.date(text) is None


@pytest.mark.parametrize(("text", "expected"), RATINGS)
def test_a_rating_is_a_number_from_0_to_5(text, expected):
    """Only a number with at most two decimals is a rating."""
    assert expected == _text.rating(text)


def test_a_count_is_an_integer():
    """A number with a multiplier is multiplied."""
    assert (_text.count("(8.3K)"), _text.count("(110)"), _text.count("none")) == (8300, 110, None)


def test_a_row_of_digits_may_be_too_long_for_a_number():
    """Infinity is no number of JSON, and no total has as many digits."""
    digits = "9" * 5000
    found = [
        _text.number(digits),
        _text.prices(f"${digits}"),
        _text.count(digits),
        _text.largest_number(f"{digits} of 12"),
    ]
    assert found == [None, [], None, 12]


def test_a_duration_has_no_other_text():
    """It has minutes and seconds, and may have hours."""
    assert (_text.duration("4:05"), _text.duration(" 1:02:33 "), _text.duration("at 4:05")) == ("4:05", "1:02:33", None)


def test_cleaning_collapses_spaces_and_removes_invisible_characters():
    """Direction marks, soft hyphens and runs of spaces are removed."""
    assert _text.clean("\u200epot\u00a0\n tery\u202c ") == "pot tery"
    assert _text.clean("\x1b[2Jpot\x00\x0ctery\x9f") == "[2Jpot tery"


def test_folding_leaves_letters_and_digits():
    """Case, punctuation and the width of characters do not matter in comparisons."""
    assert _text.folded("Pottery, wheel!") == _text.folded("ＰＯＴＴＥＲＹ  wheel")


@given(st.text())
def test_any_text_is_accepted(text):
    """Every function returns a value or None for any text."""
    for read in (
        _text.clean,
        _text.folded,
        _text.number,
        _text.count,
        _text.largest_number,
        _text.prices,
        _text.rating,
        _text.duration,
        _text.date,
    ):
        read(text)


@given(st.from_regex(r"[$€£¥฿]?[0-9.,' ]{1,12}(K|万| Tsd\.|zł| €)?", fullmatch=True))
def test_any_amount_is_accepted(text):
    """Amounts with any separators and marks give non-negative values or None."""
    value = _text.number(text)
    assert value is None or value >= 0
    assert all(price.amount >= 0 for price in _text.prices(text))


@pytest.mark.parametrize(
    ("text", "currency", "expected"),
    [
        ("1.500", "KWD", (1.5, "KWD")),
        ("$100", "MXN", (100.0, "MXN")),
        ("¥100", "CNY", (100.0, "CNY")),
        ("£5", "EUR", (5.0, "GBP")),
        ("US$5", "CAD", (5.0, "USD")),
    ],
)
def test_a_currency_that_is_said_elsewhere_is_that_of_a_sign_that_may_mean_it(text, currency, expected):
    """A mark that is another currency's is right, whatever is said elsewhere."""
    found = _text.price_in(text, currency)
    assert found is not None
    assert (found.amount, found.currency) == expected


def test_a_currency_is_known_by_its_code_in_any_case_and_by_its_mark():
    """Pages name their currency in all of these ways."""
    assert [_text.currency_code(text) for text in ("eur", "€", " USD ", "", None)] == ["EUR", "EUR", "USD", None, None]
