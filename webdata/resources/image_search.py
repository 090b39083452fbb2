"""Image search: the query, the record types and the resource of `/v1/image`."""

from typing import Annotated, TypedDict

from pydantic import Field

from webdata.domain.query import SearchQuery, Verbatim
from webdata.domain.records import Ad, AnswerBox, Carousel, Company, Place, RelatedSearch, Result, ShoppingAd
from webdata.resources import Resource, ResultFields

MAX_WRITTEN = 64 * 1024
"""The most characters of a packed query; no request line that the server accepts is as long."""


class ImageQuery(SearchQuery):
    """An image search; it has no parameter but the terms."""

    packed: Annotated[
        str, Verbatim(), Field(description="the packed query as its caller wrote it", max_length=MAX_WRITTEN)
    ] = ""

    @property
    def as_text(self) -> str:
        """The packed query verbatim; the terms if there is none, as in a batch."""
        return self.packed or self.q


class FoundImage(TypedDict):
    """The thumbnail of an image."""

    src: str
    """In the engine's cache."""
    alt: str


class ImageSource(TypedDict):
    """The page that an image is on."""

    href: str
    title: str
    domain: str
    """Its host, as in the engine's page."""


class OriginalImage(TypedDict):
    """The image on its own site; values that the page does not have are None."""

    src: str | None
    width: str | None
    """Pixels."""
    height: str | None
    file_format: str
    """The MIME type; `image/` if it is not known."""


class Thumbnails(TypedDict):
    """Previews in the engine's cache, safe to link to."""

    small: str
    medium: str
    large: str


class ImageResult(TypedDict):
    """A result of an image search."""

    image: FoundImage
    link: ImageSource
    original_image: OriginalImage
    thumbnails: Thumbnails


class ImagePage(TypedDict):
    """The record of a page of images; all arrays but the images are always empty. The envelope is added to it."""

    image_results: list[ImageResult]
    results: list[Result]
    ads: list[Ad]
    ads_count: int
    answers: list[AnswerBox]
    shopping_ads: list[ShoppingAd]
    places: list[Place]
    related_searches: list[RelatedSearch]
    carousel: list[Carousel]
    company: Company
    total: int
    """The number of images in the record."""


IMAGE_SEARCH = Resource(
    name="image_search",
    path="/v1/image",
    summary="Image results",
    query=ImageQuery,
    content=("image_results",),
    rows="image_results",
    result_fields=ResultFields(
        title=("link.title", "image.alt"),
        url=("link.href",),
        source=("link.domain",),
        thumbnail=("thumbnails.medium", "image.src"),
        image=("original_image.src",),
    ),
    category="images",
    bare_term=True,
)
