"""What the types of the records have in common: values with their constraints, and marks for the JSON Schemas.

A record is declared once, as a TypedDict. `make docs` writes `schemas/` of these types: a constraint stands in an
annotation (`Annotated[int, Field(ge=1)]`), a description is the docstring of a class or attribute.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import Field
from pydantic.fields import FieldInfo

Declared = TypeVar("Declared", bound=type)


@dataclass(frozen=True)
class InSchema:
    """Says how a type stands in the JSON Schemas: above a TypedDict, or among the arguments of `Annotated`.

    Types without this mark are written where they are used, and are open: records may have keys besides theirs.
    """

    name: str = ""
    """That of its definition; without one it is written wherever it is used."""
    closed: bool = False
    """Whether an object has no keys but its own: that of a whole record has not."""
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keywords of JSON Schema that no annotation says; a TypedDict in the place of a schema stands for its schema."""

    def __call__(self, declared: Declared) -> Declared:
        """The TypedDict, marked."""
        declared.__in_schema__ = self  # type: ignore[attr-defined]  # a mark that the types do not know
        return declared


def sometimes(when: str) -> FieldInfo:
    """An optional key of a record that is there only in this case, such as `only with resolve_links=true`."""
    comment: FieldInfo = Field(json_schema_extra={"$comment": when})
    return comment


NonEmpty = Annotated[str, Field(min_length=1)]
Link = Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*:")]
"""An absolute URL of any scheme."""
WebLink = Annotated[str, Field(pattern="^https?://")]
SecureLink = Annotated[str, Field(pattern="^https://")]
Position = Annotated[int, Field(ge=1)]
"""A rank, from 1."""
Natural = Annotated[int, Field(ge=0)]
"""A number of things."""
Amount = Annotated[float, Field(ge=0)]
"""An amount of money."""
Share = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A time in ISO 8601, with its offset from UTC."""
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]
"""A day in ISO 8601."""


def time_or_null(moment: datetime | None) -> Time | None:
    """A moment as records have it."""
    return None if moment is None else moment.isoformat()
