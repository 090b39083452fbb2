"""The texts of Amazon's pages by language, and the price formats of its marketplaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from webdata.sandbox.templates import data


@dataclass(frozen=True)
class Money:
    """A marketplace's price format: the currency before or after the digits, and the separators."""

    before: str = ""
    after: str = ""
    thousands: str = ","
    decimal: str = "."
    """Empty for a currency without hundredths."""
    indian: bool = False
    """Whether thousands are grouped by two: `1,23,456`."""

    def text(self, cents: int) -> str:
        """A formatted price; without hundredths, `cents` are whole units."""
        whole = f"{self.number(cents // 100)}{self.decimal}{cents % 100:02}" if self.decimal else self.number(cents)
        return f"{self.before}{whole}{self.after}"

    def number(self, value: int) -> str:
        """A whole number with its separators."""
        digits = f"{value:,}"
        if self.indian and value >= 100_000:
            head, tail = divmod(value, 1000)
            digits = f"{self._pairs(head)},{tail:03}"
        return digits.replace(",", self.thousands)

    def stars(self, tenths: int) -> str:
        """A rating with one decimal."""
        return f"{tenths / 10:.1f}".replace(".", self.decimal or ".")

    def _pairs(self, value: int) -> str:
        head, tail = divmod(value, 100)
        return f"{self._pairs(head)},{tail:02}" if head else str(tail)


DOLLARS = Money(before="$")
EUROS = Money(after="\u00a0€", thousands=".", decimal=",")
MONEY: Mapping[str, Money] = {
    "com": DOLLARS, "ca": DOLLARS, "com.au": DOLLARS, "com.mx": DOLLARS, "sg": Money(before="S$"),
    "co.uk": Money(before="£"), "ie": Money(before="€"), "de": EUROS, "it": EUROS, "es": EUROS,
    "fr": Money(after="\u00a0€", thousands="\u202f", decimal=","), "nl": Money("€\u00a0", "", ".", ","),
    "se": Money(after="\u00a0kr", thousands="\u00a0", decimal=","), "com.br": Money("R$\u00a0", "", ".", ","),
    "in": Money(before="₹", indian=True, decimal=""), "co.jp": Money(before="￥", decimal=""),
}  # fmt: skip
"""By domain of the marketplace: what follows `amazon.`."""


def texts(language: str) -> Mapping[str, str]:
    """The texts of a language (`de_DE`); English ones for a language without its own."""
    languages = data("sites/_amazon_texts")
    return cast(Mapping[str, str], languages.get(language.partition("_")[0], languages["en"]))


def money(domain: str) -> Money:
    """The price format of a domain (`co.jp`); dollars for a domain without its own."""
    return MONEY.get(domain, DOLLARS)
