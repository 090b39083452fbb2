"""A search with the pages of its results: the part of the query that asks for them, and the query of each page."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from webdata.domain.query import Capped, OfAnswer, OfCalls, SearchQuery, explained, flag
from webdata.domain.shapes import described
from webdata.resources.url_request import URL_REQUEST, UrlQuery

MOST_PAGES = 10
USUAL_CHARS, MOST_CHARS = 20_000, 100_000
"""Characters of one page."""
SINGLE = OfCalls("since batches store the record of a search alone")


def _of_content(value: object, info: ValidationInfo) -> object:
    if value and not info.data.get("content"):
        raise explained("is of the pages of results: give content, too, such as content=3")
    return value


class PagesQuery(SearchQuery):
    """A search whose answer may have the pages of its first results."""

    content: Annotated[
        int | None,
        Capped(),
        SINGLE,
        OfAnswer(),
        described(
            f"a whole number from 1 to {MOST_PAGES}: of how many results the answer has the pages as "
            "Markdown, such as content=3; each that is fetched costs a credit",
            3,
            ge=1,
            le=MOST_PAGES,
        ),
    ] = None
    content_main: Annotated[
        bool,
        BeforeValidator(flag),
        SINGLE,
        OfAnswer(),
        Field(
            strict=True,
            description="true for what the pages are about, without comments, reviews and links to others, or false",
        ),
        AfterValidator(_of_content),
    ] = False
    content_chars: Annotated[
        int | None,
        Capped(),
        SINGLE,
        OfAnswer(),
        described(
            f"a whole number from 100 to {MOST_CHARS}: the most characters of each page; {USUAL_CHARS} without it",
            5000,
            ge=100,
            le=MOST_CHARS,
        ),
        AfterValidator(_of_content),
    ] = None

    @property
    def further_calls(self) -> tuple[str, ...]:
        return (URL_REQUEST.name,) if self.content else ()

    def page_query(self, url: str) -> UrlQuery:
        """The query of a result's page, from where and as what the search itself is done; raises QueryError."""
        asked: dict[str, Any] = {"url": url, "response_type": "markdown", "region": self.region, "device": self.device}
        part = {"content": "main" if self.content_main else "page", "max_chars": self.content_chars or USUAL_CHARS}
        return UrlQuery.check({**asked, **part, "archive": self.archive})
