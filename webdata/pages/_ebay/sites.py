"""eBay's sites: which one a region searches."""

from typing import NamedTuple

from webdata.domain.query import Region


class Site(NamedTuple):
    """The host of a site, and its language."""

    host: str
    language: str


DOMAINS = (
    "ebay.com", "ebay.at", "ebay.be", "ebay.ca", "ebay.ch", "ebay.co.uk", "ebay.com.au", "ebay.com.hk", "ebay.com.my",
    "ebay.com.sg", "ebay.de", "ebay.es", "ebay.fr", "ebay.ie", "ebay.it", "ebay.nl", "ebay.ph", "ebay.pl",
)  # fmt: skip
"""eBay's domains; visitors may be led from one to that of their country."""

HOME = Site("www.ebay.com", "en")

SITES = {
    Region.EU: Site("www.ebay.ie", "en"),
    Region.CA: Site("www.ebay.ca", "en"),
    Region.US: HOME,
    Region.IE: Site("www.ebay.ie", "en"),
    Region.GB: Site("www.ebay.co.uk", "en"),
    Region.FR: Site("www.ebay.fr", "fr"),
    Region.DE: Site("www.ebay.de", "de"),
    Region.AU: Site("www.ebay.com.au", "en"),
}
"""The regions with a site of their own; the others use the American one."""


def site(region: Region | None) -> Site:
    """The site of a region."""
    return SITES.get(region, HOME) if region else HOME
