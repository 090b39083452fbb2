"""eBay's sites: which one a region searches."""

from typing import NamedTuple

from webdata.domain.query import Region


class EbaySite(NamedTuple):
    """The host of a site, and its language."""

    host: str
    language: str


DOMAINS = (
    "ebay.com", "ebay.at", "ebay.be", "ebay.ca", "ebay.ch", "ebay.co.uk", "ebay.com.au", "ebay.com.hk", "ebay.com.my",
    "ebay.com.sg", "ebay.de", "ebay.es", "ebay.fr", "ebay.ie", "ebay.it", "ebay.nl", "ebay.ph", "ebay.pl",
)  # fmt: skip
"""eBay's domains; visitors may be led from one to that of their country."""

HOME = EbaySite("www.ebay.com", "en")

SITES = {
    Region.EU: EbaySite("www.ebay.ie", "en"),
    Region.CA: EbaySite("www.ebay.ca", "en"),
    Region.US: HOME,
    Region.IE: EbaySite("www.ebay.ie", "en"),
    Region.GB: EbaySite("www.ebay.co.uk", "en"),
    Region.FR: EbaySite("www.ebay.fr", "fr"),
    Region.DE: EbaySite("www.ebay.de", "de"),
    Region.AU: EbaySite("www.ebay.com.au", "en"),
}
"""The regions with a site of their own; the others use the American one."""


def site(region: Region | None) -> EbaySite:
    """The site of a region."""
    return SITES.get(region, HOME) if region else HOME
