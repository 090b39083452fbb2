"""The texts of eBay's pages by language, and the price formats of its sites."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Texts:
    """The texts of one language; `{}` is an amount, a place or a number."""

    lang: str
    sign_in: str
    results_for: str
    window: str
    new: str
    to: str
    buy_now: str
    best_offer: str
    bids: str
    delivery: str
    free_delivery: str
    located: str
    returns: str
    feedback: str
    fewer: str
    none: str
    sponsored: str
    conditions: tuple[str, ...]
    places: tuple[str, ...]


ENGLISH = Texts(
    lang="en",
    sign_in="Sign in",
    results_for="results for",
    window="Opens in a new window or tab",
    new="New Listing",
    to="to",
    buy_now="Buy It Now",
    best_offer="or Best Offer",
    bids="{} bids",
    delivery="+{} delivery",
    free_delivery="Free delivery",
    located="Located in {}",
    returns="Free returns",
    feedback="{}% positive ({})",
    fewer="Results matching fewer words",
    none="No exact matches found",
    sponsored="Sponsored",
    conditions=("Brand New", "Pre-Owned", "Open Box", "New (Other)", "Parts Only", "Very Good - Refurbished"),
    places=("United States", "United Kingdom", "Germany", "Japan", "Canada"),
)
GERMAN = Texts(
    lang="de",
    sign_in="Einloggen",
    results_for="Ergebnisse für",
    window="Wird in neuem Fenster oder Tab geöffnet",
    new="Neues Angebot",
    to="bis",
    buy_now="Sofort-Kaufen",
    best_offer="oder Preisvorschlag",
    bids="{} Gebote",
    delivery="+{} Lieferung",
    free_delivery="Kostenlose Lieferung",
    located="aus {}",
    returns="Kostenloser Rückversand",
    feedback="{} % positiv ({})",
    fewer="Ergebnisse für weniger Suchbegriffe",
    none="Keine genauen Treffer gefunden",
    sponsored="Anzeige",
    conditions=("Brandneu", "Gebraucht", "Neu (Sonstige)", "Als Ersatzteil", "Sehr gut - Refurbished"),
    places=("Deutschland", "Großbritannien", "China", "Italien"),
)
FRENCH = Texts(
    lang="fr",
    sign_in="Connectez-vous",
    results_for="résultats pour",
    window="La page s'ouvre dans une nouvelle fenêtre ou un nouvel onglet",
    new="Nouvelle annonce",
    to="à",
    buy_now="Achat immédiat",
    best_offer="ou Offre directe",
    bids="{} enchères",
    delivery="+{} de livraison",
    free_delivery="Livraison gratuite",
    located="de {}",
    returns="Retours gratuits",
    feedback="{} % d'évaluations positives ({})",
    fewer="Résultats correspondant à moins de mots",
    none="Aucune correspondance exacte",
    sponsored="Sponsorisé",
    conditions=("Neuf", "Occasion", "Ouvert (jamais utilisé)", "Pour pièces détachées"),
    places=("France", "Allemagne", "Espagne", "Royaume-Uni"),
)

LANGUAGES = {"ebay.de": GERMAN, "ebay.at": GERMAN, "ebay.ch": GERMAN, "ebay.fr": FRENCH}
"""By domain of the site; all others are in English."""

CURRENCIES = {"ebay.co.uk": "£{}", "ebay.ca": "C ${}", "ebay.com.au": "AU ${}", "ebay.ie": "EUR {}"}
"""The price formats of sites other than those of `LANGUAGES` (`EUR 12,50`) and the American one (`$12.50`)."""


def texts(domain: str) -> Texts:
    """The texts of a site such as `ebay.de`."""
    return LANGUAGES.get(domain, ENGLISH)


def money(domain: str, cents: int) -> str:
    """A formatted price."""
    plain = f"{cents // 100:,}.{cents % 100:02}"
    if domain in LANGUAGES:
        return f"EUR {plain.translate(str.maketrans(',.', '.,'))}"
    return CURRENCIES.get(domain, "${}").format(plain)
