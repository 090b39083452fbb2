"""The texts of Amazon's pages by language, and the price formats of its marketplaces."""

from collections.abc import Mapping
from dataclasses import dataclass

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "count": "{first}-{last} of {total} results for", "nothing": "No results for {q}.",
        "stars": "{stars} out of 5 stars", "details": "rating details", "ratings": "{count} ratings",
        "bought": "{count}+ bought in past month", "sponsored": "Sponsored", "ad": "Sponsored Ad - {title}",
        "bestseller": "Best Seller", "choice": "Overall Pick", "deal": "Limited time deal",
        "price": "Price, product page", "list": "List", "coupon": "Save {percent}% with coupon",
        "delivery": "FREE delivery", "stock": "Only {count} left in stock.", "options": "See options",
        "none": "No featured offers available",
        "more": "More Buying Choices", "offers": "{count} new offers", "related": "Customers also viewed",
    },
    "de": {
        "count": "{first}-{last} von {total} Ergebnissen für", "nothing": "Keine Ergebnisse für {q}.",
        "stars": "{stars} von 5 Sternen", "details": "Bewertungsdetails", "ratings": "{count} Bewertungen",
        "bought": "{count}+ Mal im letzten Monat gekauft", "sponsored": "Gesponsert",
        "ad": "Gesponserte Anzeige – {title}", "bestseller": "Bestseller", "choice": "Gesamtsieger",
        "deal": "Befristetes Angebot", "price": "Preis, Produktseite", "list": "UVP",
        "coupon": "{percent} % mit Rabattgutschein sparen", "delivery": "GRATIS Lieferung",
        "stock": "Nur noch {count} auf Lager", "options": "Optionen ansehen", "none": "Keine vorgestellten Angebote",
        "more": "Weitere Angebote", "offers": "{count} neue Artikel", "related": "Das haben andere angesehen",
    },
    "fr": {
        "count": "{first}-{last} sur {total} résultats pour", "nothing": "Aucun résultat pour {q}.",
        "stars": "{stars} sur 5 étoiles", "details": "détails de la note", "ratings": "{count} évaluations",
        "bought": "Plus de {count} achetés au cours du mois dernier", "sponsored": "Sponsorisé",
        "ad": "Annonce sponsorisée – {title}", "bestseller": "N°1 des ventes", "choice": "Choix d'Amazon",
        "deal": "Offre à durée limitée", "price": "Prix, page du produit", "list": "Prix conseillé",
        "coupon": "Économisez {percent} % avec coupon", "delivery": "Livraison GRATUITE",
        "stock": "Il ne reste plus que {count} exemplaires en stock.", "options": "Voir les options",
        "none": "Aucune offre en vedette", "more": "Autres vendeurs", "offers": "{count} offres de produits neufs",
        "related": "Vus par d'autres clients",
    },
    "ja": {
        "count": "検索結果 {total} のうち {first}-{last}件", "nothing": "{q}の検索に一致する商品はありませんでした。",
        "stars": "5つ星のうち{stars}", "details": "評価の詳細", "ratings": "{count}個の評価",
        "bought": "過去1か月で{count}点以上購入されました", "sponsored": "スポンサー", "ad": "スポンサー広告 - {title}",
        "bestseller": "ベストセラー", "choice": "総合おすすめ", "deal": "タイムセール", "price": "価格、商品ページ",
        "list": "参考", "coupon": "{percent}%OFFクーポンあり", "delivery": "無料配送", "stock": "残り{count}点",
        "options": "オプションを見る", "none": "おすすめ出品の要件を満たす出品はありません", "more": "その他の出品",
        "offers": "{count}件の新品", "related": "他のお客様が見た商品",
    },
    "pt": {
        "count": "{first}-{last} de {total} resultados para", "nothing": "Nenhum resultado para {q}.",
        "stars": "{stars} de 5 estrelas", "details": "detalhes da classificação", "ratings": "{count} classificações",
        "bought": "Mais de {count} compras no mês passado", "sponsored": "Patrocinado",
        "ad": "Anúncio patrocinado – {title}", "bestseller": "Mais vendido", "choice": "Escolha geral",
        "deal": "Oferta por tempo limitado", "price": "Preço, página do produto", "list": "De",
        "coupon": "Economize {percent}% com cupom", "delivery": "Entrega GRÁTIS",
        "stock": "Apenas {count} em estoque.", "options": "Ver opções", "none": "Nenhuma oferta em destaque",
        "more": "Mais opções de compra", "offers": "{count} ofertas de novos", "related": "Clientes também viram",
    },
}  # fmt: skip


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
    return TEXTS.get(language.partition("_")[0], TEXTS["en"])


def money(domain: str) -> Money:
    """The price format of a domain (`co.jp`); dollars for a domain without its own."""
    return MONEY.get(domain, DOLLARS)
