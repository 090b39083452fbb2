"""What the types of the records have in common: values with their constraints, and marks for the JSON Schemas.

A record is declared once, as a TypedDict. `make docs` writes `schemas/` of these types: a constraint stands in an
annotation (`Annotated[int, Field(ge=1)]`), a description is the docstring of a class or attribute.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from pydantic.fields import FieldInfo


def sometimes(when: str) -> FieldInfo:
    """An optional key of a record that is there only in this case, such as `only with resolve_links=true`."""
    comment: FieldInfo = Field(json_schema_extra={"$comment": when})
    return comment


def described(about: str, example: object, **constraints: Any) -> FieldInfo:
    """A field of a query or an event: a description, an example, and what else pydantic's Field takes."""
    field: FieldInfo = Field(description=about, examples=[example], **constraints)
    return field


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
