"""The tools, made from the resources: one each, with the parameters of its query and the fields of its results."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from webdata.domain.query import MAX_LENGTH, of_answer
from webdata.domain.query_schema import plain_description, resolved_schema
from webdata.faces.mcp.wording import ARGUMENTS, WORDINGS, ToolWording, wording_of
from webdata.resources import ENVELOPE, Resource

MOST_RESULTS, USUAL_RESULTS = 100, 10
LONGEST_PART, USUAL_PART = 30_000, 12_000
"""Characters of a document that are given at once."""
ALL = "all"
"""The value of `tools` that stands for all of them."""


@dataclass(frozen=True)
class WebTool:
    """A tool of a resource. What is made of the resource is made once."""

    resource: Resource
    wording: ToolWording

    @property
    def name(self) -> str:
        """Its name, unique among all tools."""
        return self.wording.name

    @property
    def is_read_only(self) -> bool:
        """Whether it changes nothing."""
        return True

    @property
    def argument_names(self) -> dict[str, str]:
        """The arguments that are headers of HTTP, with the headers' names."""
        return self.resource.query.header_names()

    def is_open_to(self, scopes: Collection[str]) -> bool:
        """Whether a key with these scopes opens it."""
        return not scopes or self.resource.name in scopes

    @property
    def lists_results(self) -> bool:
        """Whether it gives a list of results; otherwise it gives one text."""
        return self.resource.rows is not None and self.resource.result_fields is not None

    @cached_property
    def query_fields(self) -> list[str]:
        """The parameters of its query that a model chooses; a page that it wants it asks for by the tool of pages."""
        hidden = {*self.wording.given, *self.own_arguments, *of_answer(self.resource.query)}
        return [name for name in self.resource.query.fields() if name not in hidden]

    @cached_property
    def row_fields(self) -> list[str]:
        """The further fields of a result that can be asked for."""
        return [name for name in self.resource.columns if name not in ("query", "position")]

    @cached_property
    def page_fields(self) -> list[str]:
        """The other parts of a page, beside its results, that can be asked for."""
        return [name for name in self.resource.schema["properties"] if name not in (*ENVELOPE, self.resource.rows)]

    @cached_property
    def own_arguments(self) -> dict[str, Any]:
        """The schemas of the arguments that choose what is shown of an answer, whatever its query calls so."""
        return self._of_lists() if self.lists_results else PART_ARGUMENTS

    def _of_lists(self) -> dict[str, Any]:
        names = ", ".join(self.row_fields)
        fields = f"what else to show of each result, of {names}; or other parts of the page that an answer names"
        return {
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_RESULTS,
                "default": USUAL_RESULTS,
                "description": "how many of the found results to show",
            },
            "fields": {"type": "array", "items": {"type": "string"}, "description": fields},
        }

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        query = self.resource.query
        fields = query.model_fields
        required = [name for name in self.query_fields if fields[name].is_required()]
        properties = {name: _argument(self.resource, name) for name in self.query_fields}
        return {
            "type": "object",
            "properties": {**properties, **self.own_arguments},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its structured content."""
        if not self.lists_results:
            return DOCUMENT
        result = {"type": "object", "properties": {name: {"type": "string"} for name in self.paths}}
        return {
            "type": "object",
            "properties": {"found": {"type": "integer"}, "results": {"type": "array", "items": result}},
            "required": ["found", "results"],
        }

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """The fields of a result as they are shown, and the paths in a result of its resource that may have each."""
        found = self.resource.result_fields
        if found is None:
            return {}
        shown = {"title": found.title, "url": found.url, "image": found.image, "date": found.date}
        shown |= {"source": found.source, "snippet": found.text}
        return {name: paths for name, paths in shown.items() if paths}


PART_ARGUMENTS = {
    "max_chars": {
        "type": "integer",
        "minimum": 1000,
        "maximum": LONGEST_PART,
        "default": USUAL_PART,
        "description": "how many characters to give at once",
    },
    "cursor": {"type": "string", "description": "next_cursor of the last answer, for the part after it"},
}
DOCUMENT = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "length": {"type": "integer", "description": "characters of the whole text"},
        "next_cursor": {"type": "string", "description": "absent at the end"},
    },
    "required": ["text", "length"],
}

CHOICES = "one of "
"""The beginning of a description that repeats the choices of its schema."""


def _argument(resource: Resource, name: str) -> dict[str, Any]:
    """The schema of a parameter, with its description as for an argument instead of a part of a URL."""
    found = resolved_schema(resource.query, name)
    kept = {key: value for key, value in found.items() if key != "pattern"}  # the description says it in words
    if kept.get("maxLength") == MAX_LENGTH:  # as long as any text may be
        del kept["maxLength"]
    description = ARGUMENTS.get(name) or plain_description(resource.query, name)
    if not description.startswith(CHOICES):
        kept["description"] = description
    return kept


def tools_of(resources: Iterable[Resource]) -> dict[str, WebTool]:
    """The tools by name, in the order of their wordings, and behind them those without."""
    order = {name: place for place, name in enumerate(WORDINGS)}
    ordered = sorted(set(resources), key=lambda one: (order.get(one.name, len(order)), one.path))
    made = [WebTool(resource, wording_of(resource)) for resource in ordered]
    return {tool.name: tool for tool in made}


class AnyTool(Protocol):
    """What every tool has."""

    @property
    def wording(self) -> ToolWording: ...  # as of a WebTool
    @property
    def name(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def output_schema(self) -> dict[str, Any]: ...
    @property
    def argument_names(self) -> dict[str, str]: ...
    @property
    def is_read_only(self) -> bool: ...
    def is_open_to(self, scopes: Collection[str]) -> bool: ...


Tools = TypeVar("Tools", bound=AnyTool)


def stated(tool: AnyTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without nulls and empty texts, where an argument need not be given.

    Clients that make every argument required, as the strict schemas of some models are, have their models fill them so.
    """
    required = tool.input_schema.get("required", ())
    return {name: value for name, value in arguments.items() if name in required or value not in (None, "")}


def chosen_tools(tools: Mapping[str, Tools], wanted: str | None, scopes: Collection[str]) -> dict[str, Tools]:
    """The tools that a client names, separated by commas, or the default ones, as far as its key opens them.

    Raises ValueError for a name that is none.
    """
    names = [name.strip() for name in (wanted or "").split(",") if name.strip()]
    if unknown := [name for name in names if name != ALL and name not in tools]:
        raise ValueError(f"tools cannot have {unknown[0][:60]!r}: give {ALL}, or some of {','.join(tools)}")
    if ALL in names:
        names = list(tools)
    elif not names:
        names = [name for name, tool in tools.items() if tool.wording.is_default]
    return {name: tools[name] for name in names if tools[name].is_open_to(scopes)}
