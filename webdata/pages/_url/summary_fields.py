"""The fields of a page's summary: where each stands in the vocabularies of pages, and how it is read.

https://schema.org/docs/full.html, https://ogp.me/
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from webdata.pages._url.schema_values import (
    ValueContext,
    date,
    entries,
    gtin,
    name,
    names,
    number,
    place,
    price,
    questions,
    rating,
    salary,
    steps,
    term,
    text,
    texts,
    url,
    urls,
    words,
)

SchemaItem = Mapping[str, Any]
"""An item in the form of JSON-LD."""


@dataclass(frozen=True)
class SummaryField:
    """One field: its paths in an item of schema.org, its names among the elements `meta`, and what reads a value."""

    paths: tuple[str, ...]
    """Of properties, joined by dots; the first with a value counts."""
    metas: tuple[str, ...] = ()
    read: Callable[[list[Any], ValueContext], Any] = text


TITLE = ("og:title", "twitter:title")
DESCRIPTION = SummaryField(
    ("description", "abstract"),
    (
        "og:description",
        "twitter:description",
        "description",
        "dc.description",
        "dcterms.description",
        "dcterms.abstract",
    ),
)
IMAGE = SummaryField(
    ("image", "thumbnailUrl"),
    ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"),
    url,
)
RATING = SummaryField(("aggregateRating.ratingValue",), (), rating)
REVIEWS = SummaryField(("aggregateRating.reviewCount", "aggregateRating.ratingCount"), (), number)
PUBLISHED = SummaryField(
    ("datePublished", "dateCreated"),
    (
        "article:published_time", "article:published", "og:article:published_time", "og:published_time",
        "datepublished", "pubdate", "publishdate", "publish_date", "publish-date", "pub_date", "published",
        "parsely-pub-date", "sailthru.date", "cxenseparse:recs:publishtime", "citation_publication_date",
        "citation_online_date", "citation_date", "dc.date.issued", "dcterms.issued", "dc.date.created",
        "dcterms.created", "date", "dc.date", "dcterms.date",
    ),
    date,
)  # fmt: skip
MODIFIED = SummaryField(
    ("dateModified",),
    (
        "article:modified_time", "article:modified", "og:article:modified_time", "og:modified_time",
        "og:updated_time", "datemodified", "dc.date.modified", "dcterms.modified", "last-modified",
    ),
    date,
)  # fmt: skip
AUTHOR = SummaryField(
    ("author", "creator"),
    (
        "author", "article:author", "og:article:author", "og:author", "parsely-author", "sailthru.author",
        "cxenseparse:author", "citation_author", "dc.creator", "dc:creator", "dcterms.creator",
    ),
    names,
)  # fmt: skip
NAME = SummaryField(("name", "headline"), TITLE, name)
URL = SummaryField(("url", "@id"), ("og:url",), url)

FIELDS: Mapping[str, Mapping[str, SummaryField]] = {
    "product": {
        "name": NAME,
        "description": DESCRIPTION,
        "brand": SummaryField(("brand", "manufacturer"), ("product:brand", "og:brand")),
        "sku": SummaryField(("sku", "productID", "mpn"), ("product:retailer_item_id",)),
        "gtin": SummaryField(("gtin", "gtin13", "gtin12", "gtin14", "gtin8", "isbn"), (), gtin),
        "price": SummaryField(("offers", "hasVariant.offers"), ("product:price:amount", "og:price:amount"), price),
        "availability": SummaryField(
            ("offers.availability", "hasVariant.offers.availability"), ("product:availability", "og:availability"), term
        ),
        "condition": SummaryField(("offers.itemCondition", "itemCondition"), ("product:condition",), term),
        "seller": SummaryField(("offers.seller",)),
        "rating": RATING,
        "reviews": REVIEWS,
        "image": IMAGE,
    },
    "job": {
        "title": SummaryField(("title", "name"), TITLE),
        "company": SummaryField(("hiringOrganization",)),
        "location": SummaryField(("jobLocation", "applicantLocationRequirements"), (), place),
        "remote": SummaryField(("jobLocationType",)),
        "employment": SummaryField(("employmentType",), (), texts),
        "salary": SummaryField(("baseSalary", "estimatedSalary"), (), salary),
        "posted": SummaryField(("datePosted",), (), date),
        "expires": SummaryField(("validThrough",), (), date),
        "description": DESCRIPTION,
    },
    "event": {
        "name": NAME,
        "start": SummaryField(("startDate",), (), date),
        "end": SummaryField(("endDate",), (), date),
        "location": SummaryField(("location",), (), place),
        "organizer": SummaryField(("organizer",)),
        "performers": SummaryField(("performer", "performers"), (), texts),
        "price": SummaryField(("offers",), (), price),
        "status": SummaryField(("eventStatus",), (), term),
        "description": DESCRIPTION,
        "image": IMAGE,
    },
    "recipe": {
        "name": NAME,
        "author": AUTHOR,
        "ingredients": SummaryField(("recipeIngredient", "ingredients"), (), texts),
        "instructions": SummaryField(("recipeInstructions",), (), steps),
        "preparation": SummaryField(("prepTime",)),
        "cooking": SummaryField(("cookTime",)),
        "total": SummaryField(("totalTime",)),
        "yield": SummaryField(("recipeYield",)),
        "category": SummaryField(("recipeCategory",), (), texts),
        "cuisine": SummaryField(("recipeCuisine",), (), texts),
        "rating": RATING,
        "published": PUBLISHED,
        "description": DESCRIPTION,
        "image": IMAGE,
    },
    "article": {
        "title": SummaryField(("headline", "name"), TITLE, name),
        "description": DESCRIPTION,
        "author": AUTHOR,
        "published": PUBLISHED,
        "modified": MODIFIED,
        "publisher": SummaryField(("publisher",), ("og:site_name", "dc.publisher"), name),
        "section": SummaryField(("articleSection",), ("article:section",)),
        "keywords": SummaryField(("keywords",), ("article:tag", "keywords"), words),
        "image": IMAGE,
    },
    "listing": {
        "name": NAME,
        "description": DESCRIPTION,
        "items": SummaryField(("itemListElement", "mainEntity.itemListElement", "hasPart", "mainEntity"), (), entries),
    },
    "faq": {"name": NAME, "questions": SummaryField(("mainEntity",), (), questions)},
    "organization": {
        "name": SummaryField(("name", "legalName"), ("og:site_name",)),
        "url": URL,
        "description": DESCRIPTION,
        "logo": SummaryField(("logo", "image"), ("og:image",), url),
        "phone": SummaryField(("telephone", "contactPoint.telephone")),
        "email": SummaryField(("email", "contactPoint.email")),
        "address": SummaryField(("address", "location"), (), place),
        "profiles": SummaryField(("sameAs",), (), urls),
    },
    "breadcrumb": {},
}
"""By the kinds of summaries, the most specific first: a page is of the first that it has."""
BREADCRUMB = SummaryField(("itemListElement",), (), entries)
"""The path to a page, which each kind has."""
