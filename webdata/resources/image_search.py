"""Image search: what callers may ask, and the shape of the answers (spec.md, image response)."""

from typing import Annotated, TypedDict

from pydantic import Field

from webdata.domain.query import SearchQuery, Verbatim
from webdata.domain.records import Ad, Answer, Carousel, Company, Place, RelatedSearch, Result, ShoppingAd
from webdata.resources import Resource

MAX_WRITTEN = 64 * 1024
"""Characters of the longest packed query; longer than any request line that is read."""


class ImageQuery(SearchQuery):
    """An image search: only the terms are honoured (spec.md, packed query parameters and rule 6)."""

    packed: Annotated[
        str, Verbatim(), Field(description="the packed query as its caller wrote it", max_length=MAX_WRITTEN)
    ] = ""

    @property
    def as_text(self) -> str:
        """The packed query verbatim (spec.md, common envelope fields); the terms where there is none, as in a batch."""
        return self.packed or self.q


class FoundImage(TypedDict):
    """The thumbnail of an image."""

    src: str
    """In the engine's cache."""
    alt: str


class ImageSource(TypedDict):
    """The page that shows an image."""

    href: str
    title: str
    domain: str
    """Its host, as the engine gives it."""


class OriginalImage(TypedDict):
    """The image itself, on its own site; None where the page does not tell."""

    src: str | None
    width: str | None
    """Pixels."""
    height: str | None
    file_format: str
    """The MIME type; `image/` when it is not known."""


class Thumbnails(TypedDict):
    """Previews in the engine's cache, safe to link to."""

    small: str
    medium: str
    large: str


class ImageResult(TypedDict):
    """A result of an image search (spec.md, image response)."""

    image: FoundImage
    link: ImageSource
    original_image: OriginalImage
    thumbnails: Thumbnails


class ImagePage(TypedDict):
    """What a page of images tells; all but the images is always empty (spec.md, image response)."""

    image_results: list[ImageResult]
    results: list[Result]
    ads: list[Ad]
    ads_count: int
    answers: list[Answer]
    shopping_ads: list[ShoppingAd]
    places: list[Place]
    related_searches: list[RelatedSearch]
    carousel: list[Carousel]
    company: Company
    total: int
    """How many images there are in the record."""


IMAGE_SEARCH = Resource(
    name="image_search",
    path="/v1/image",
    summary="Image results",
    query=ImageQuery,
    content=("image_results",),
    rows="image_results",
    bare_term=True,
)
