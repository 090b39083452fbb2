"""How a type of a record stands in the JSON Schemas; it imports nothing, since the smallest processes import errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

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
