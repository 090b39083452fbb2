"""Web search: the resource of `/v1/search`, and its query, of which video search has a part and Bing's more."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from webdata.domain.google_domains import DOMAINS, nearest
from webdata.domain.query import Capped, SearchQuery, explained, lower
from webdata.domain.records import WebPage
from webdata.domain.shapes import described
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.result_pages import PagesQuery


def _language(value: object) -> object:
    return LANGUAGE_PREFIX.sub("", value.strip()) if isinstance(value, str) else value


def _known_domain(value: str | None) -> str | None:
    if value is None or value.removeprefix("www.") in DOMAINS:
        return value
    raise explained(f"cannot be {value!r}: give a domain of the engine, such as domain={nearest(value)}")


COUNTRY = r"^[a-z]{2}$"
LANGUAGE_PREFIX = re.compile(r"^lang_", re.IGNORECASE)
LANGUAGE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$"
LANGUAGES = r"^lang_[A-Za-z-]{2,10}(\|lang_[A-Za-z-]{2,10})*$"
COUNTRIES = r"^[-(]*country[A-Z]{2}\)?([|.][-(]*country[A-Z]{2}\)*)*$"
GOOGLE_DOMAIN = r"^(www\.)?google\.(com|cat|[a-z]{2}|com?\.[a-z]{2})$"
"""The form of `DOMAINS`, which alone are accepted."""

Count = Annotated[int | None, Capped(), described("a whole number from 1 to 100, such as num=10", 10, ge=1, le=100)]
Offset = Annotated[int | None, described("a whole number from 0 to 10000, such as start=10", 10, ge=0, le=10_000)]
Country = Annotated[
    str | None, described("a two-letter country code, such as gl=de", "de", pattern=COUNTRY), BeforeValidator(lower)
]
Language = Annotated[
    str | None,
    described("a language code, such as hl=de or hl=pt-BR", "de", pattern=LANGUAGE),
    BeforeValidator(_language),
]


class GoogleQuery(SearchQuery):
    """The parameters that web and video search have in common."""

    num: Count = None
    start: Offset = None
    gl: Country = None
    hl: Language = None
    lr: Annotated[
        str | None,
        described("languages to search in, such as lr=lang_de or lr=lang_de|lang_fr", "lang_de", pattern=LANGUAGES),
    ] = None
    cr: Annotated[
        str | None,
        described(
            "countries to search in, such as cr=countryDE or cr=countryDE|countryAT", "countryDE", pattern=COUNTRIES
        ),
    ] = None
    safe: Annotated[
        Literal["active", "off", "medium", "high"] | None,
        BeforeValidator(lower),
        Field(description="one of active, off, medium, high"),
    ] = None
    tbs: Annotated[
        str | None,
        described(
            "the engine's own filters, such as tbs=qdr:w for the last week",
            "qdr:w",
            pattern=r"^[\w:,.=/ -]+$",
            max_length=200,
        ),
    ] = None
    filter: Annotated[Literal["0", "1"] | None, Field(description="1 to leave similar results out, 0 to keep them")] = (
        None
    )
    domain: Annotated[
        str | None,
        described("a domain of the engine, such as domain=google.de", "google.de", pattern=GOOGLE_DOMAIN),
        BeforeValidator(lower),
        AfterValidator(_known_domain),
    ] = None


class WebQuery(PagesQuery, GoogleQuery):
    """A web search."""


WEB_SEARCH = Resource(
    name="web_search",
    path="/v1/search",
    summary="Web results",
    query=WebQuery,
    record=WebPage,
    canaries=searches_for(
        "coffee grinder",
        "weather in Lisbon",
        "best running shoes",
        "python tutorial",
        "who wrote Dracula",
        "hotels in London",
    ),
    content=("results", "answers", "places", "local_businesses", "carousel"),
    rows="results",
    result_fields=ResultFields(
        text=("description",), date=("metadata.date",), source=("metadata.source",), thumbnail=("metadata.thumbnail",)
    ),
    category="general",
    elsewhere={"tbm=vid": "/v1/video", "tbm=isch": "/v1/image", "tbm=nws": "/v1/news"},
)
