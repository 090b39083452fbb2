"""Image search: the query, the record types and the resource of `/v1/image`."""

from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import SearchQuery, Verbatim
from webdata.domain.records import EmptyObject
from webdata.domain.shapes import Link
from webdata.resources import Resource, ResultFields, searches_for

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


ImageAddress = Annotated[Link, InSchema("address")]
Pixels = Annotated[
    Annotated[str, Field(pattern="^[0-9]+$")] | None,
    Field(description="Null when the page does not tell."),
    InSchema("pixels"),
]
Nothing = Annotated[list[Any], Field(max_length=0, description="Always empty."), InSchema("nothing")]
MOST_IMAGES = 20
"""In one record."""


class FoundImage(TypedDict):
    """The thumbnail."""

    src: ImageAddress
    """In the engine's cache."""
    alt: str
    """Usually the title of the page that the image is on."""


class ImageSource(TypedDict):
    """The page that the image is on."""

    href: ImageAddress
    title: str
    domain: str
    """The page's host."""


class OriginalImage(TypedDict):
    """The image on its own site; it may be gone, or refuse links."""

    src: Link | None
    """Null when the page does not tell."""
    width: Pixels
    height: Pixels
    file_format: Annotated[str, Field(pattern="^image/[a-z0-9.+-]*$")]
    """The MIME type; `image/` if it is not known."""


class Thumbnails(TypedDict):
    """Previews in the engine's cache, safe to link to; equal where it has one size."""

    small: ImageAddress
    medium: ImageAddress
    large: ImageAddress


@InSchema("image_result")
class ImageResult(TypedDict):
    """A result of an image search."""

    image: FoundImage
    link: ImageSource
    original_image: OriginalImage
    thumbnails: Thumbnails


class ImagePage(TypedDict):
    """The images of a page; all other arrays are always empty."""

    image_results: Annotated[list[ImageResult], Field(max_length=MOST_IMAGES)]
    results: Nothing
    ads: Nothing
    ads_count: Literal[0]
    answers: Nothing
    shopping_ads: Nothing
    places: Nothing
    related_searches: Nothing
    carousel: Nothing
    company: EmptyObject
    """Always empty."""
    total: Annotated[int, Field(ge=0, le=MOST_IMAGES)]
    """The number of images in the record."""


@InSchema(closed=True)
class ImageRecord(ImagePage):
    """The images of a page; all other arrays are always empty."""

    query: str
    """The packed path segment verbatim, such as q=origami+crane."""


IMAGE_SEARCH = Resource(
    name="image_search",
    path="/v1/image",
    summary="Image results",
    query=ImageQuery,
    record=ImageRecord,
    canaries=searches_for("cat", "lighthouse", "coffee grinder", "red bicycle", "mountain lake", "sourdough bread"),
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
