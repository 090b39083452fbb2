"""Numbers, prices and dates in texts of many languages."""

import pytest

from webdata.pages._url.readings import date, number, price


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.5", 1234.5), ("1.234,5 kg", 1234.5), ("1 234 567", 1_234_567), ("-3 °C", -3), ("−4,5", -4.5),
        ("-$5.20", -5.2), ("x-5", 5), ("8.3K", 8300), ("(12)", 12), ("none", None), ("٣٫٥", 3.5),
    ],
)  # fmt: skip
def test_the_first_number_of_a_text(text, expected):
    """Separators and signs of many languages are read; a whole number has no point."""
    found = number(text)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [("$1,299.00", 1299.0, "USD"), ("1.299,00 €", 1299.0, "EUR"), ("19.99", 19.99, "SEK"), ("100 kr", 100.0, "SEK")],
)
def test_a_price_has_the_currency_beside_it(text, amount, currency):
    """Where the text does not say it, it is what the page says elsewhere."""
    assert price(text, "SEK") == {"amount": amount, "currency": currency}
    assert price("free") is None


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("$119. 95", 119.95, "USD"), ("CHF 1'118, 99", 1118.99, "CHF"), ("Price: £ 8. 94", 8.94, "GBP"),
        ("$1 119 95", 1119.95, "USD"), ("119 95 €", 119.95, "EUR"), ("35 €99", 35.99, "EUR"),
        ("35€ 99", 35.99, "EUR"), ("1 299:50 kr", 1299.5, None), ("SEK 29:90", 29.9, "SEK"),
        ("2, 50 and 3, 50 €", 50.0, "EUR"), ("Pack of 2, 50 €", 50.0, "EUR"), ("1 299 50", 1299.0, None),
        ("from 12:30 €", 30.0, "EUR"),
    ],
)  # fmt: skip
def test_cents_may_stand_apart(text, amount, currency):
    """Pages have them in an element of their own, from which there is a space; texts of more are read as they are."""
    assert price(text) == {"amount": amount, "currency": currency}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-20% 49.99", {"amount": 49.99, "currency": None}), ("40% off", None),
        ("26 - 50 €", {"amount": 26.0, "currency": "EUR"}), ("ab 26 bis 50 €", {"amount": 26.0, "currency": "EUR"}),
        ("model 26 - 50 €", {"amount": 50.0, "currency": "EUR"}), ("60 - 50 €", {"amount": 50.0, "currency": "EUR"}),
        ("99¢", {"amount": 0.99, "currency": "USD"}), ("99p", {"amount": 0.99, "currency": "GBP"}),
        ("140,00 pln", {"amount": 140.0, "currency": "PLN"}), ("Chf 12", {"amount": 12.0, "currency": "CHF"}),
        ("1,5 Mio. €", {"amount": 1.5e6, "currency": "EUR"}), ("2 bn USD", {"amount": 2e9, "currency": "USD"}),
        ("try 9.99 €", {"amount": 9.99, "currency": "EUR"}), ("15.08.2017", None),
    ],
)  # fmt: skip
def test_a_price_is_none_of_the_numbers_beside_it(text, expected):
    """Shares and dates are no prices, the lowest of a range is, cents are hundredths."""
    assert price(text) == expected


def test_numbers_of_json_are_read_already():
    """The point in them is never between groups of digits."""
    assert (number(4.667), number(7), number(float("inf"))) == (4.667, 7, None)
    assert price(12.345, "eur") == {"amount": 12.345, "currency": "EUR"}
    assert price(float("inf")) is None


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2026-11", "", "2026-11"),
        ("2026-11-30", "", "2026-11-30"),
        ("2026-11-30T10:00:00Z", "", "2026-11-30T10:00:00+00:00"),
        ("Mon, 30 Nov 2026 10:00:00 GMT", "", "2026-11-30T10:00:00+00:00"),
        ("November 2026", "en", "2026-11"),
        ("Published: March 5, 2026", "en", "2026-03-05"),
        ("Last updated on 5 March 2026", "en", "2026-03-05"),
        ("12/09/2025 | The Journal", "en", "2025-12-09"),
        ("Updated on Oct 17, 2025 by Ann", "en", "2025-10-17"),
        ("2026 © The Journal", "en", None),
        ("Joined 2002", "en", None),
        ("Mar 5, 2026 10:30 AM", "en", "2026-03-05T10:30:00"),
        ("5. März 2026", "de", "2026-03-05"),
        ("12 février 2026", "fr", "2026-02-12"),
        ("5 марта 2026 г.", "ru", "2026-03-05"),
        ("2026年3月5日", "ja", "2026-03-05"),
        ("03/05/2026", "en-GB", "2026-05-03"),
        ("03/05/2026", "en-US", "2026-03-05"),
        ("03/05/2026", "", "2026-03-05"),
        ("05.03.2026", "xx", "2026-05-03"),
        ("05.03.2026", "", "2026-03-05"),
        ("5.3.2026, 10:30", "", "2026-03-05T10:30:00"),
        ("31.02.2026", "", None),
        ("05.03.2026", "en-US", "2026-05-03"),
        ("20261130", "", "2026-11-30"),
        ("20261130T100000Z", "", "2026-11-30T10:00:00+00:00"),
        ("20261330", "", None),
        ("2026-13-45", "", None),
        ("2026-02-30", "", None),
        ("2026-03-05 10:00:30.5+0530", "", "2026-03-05T10:00:30+05:30"),
        ("3 days ago", "en", None),
        ("5 March", "en", None),
        ("1,299.00", "en", None),
        ("yesterday", "en", None),
    ],
)
def test_a_date_is_iso_8601(text, language, expected):
    """It has as much as the text; an order of day and month is that of the page's language, and ages are no dates."""
    assert date(text, language) == expected
