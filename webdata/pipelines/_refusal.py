"""What is wrong with a record that its schema refuses, in words; only such a record needs jsonschema."""

from collections.abc import Callable
from typing import Any

import jsonschema
from referencing import Registry
from referencing import Resource as SchemaResource

from webdata.domain.records import Record
from webdata.resources import Resource


def refusal(resource: Resource, record: Record, retrieve: Callable[[str], dict[str, Any]]) -> str:
    """The path of the first wrong field of a record, and jsonschema's message."""
    registry = Registry[Any](retrieve=lambda uri: SchemaResource.from_contents(retrieve(uri)))  # type: ignore[call-arg]  # attrs hides it from mypy
    validator = jsonschema.Draft202012Validator(resource.schema, registry=registry)
    error = jsonschema.exceptions.best_match(validator.iter_errors(record))
    return f"{error.json_path}: {error.message[:200]}" if error else "refused"
