"""Values that a caller wants of a page: where each stands, and what it is."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

import orjson
from lxml import etree
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from webdata.domain.nearest_name import nearest_name
from webdata.domain.query import explained
from webdata.domain.shapes import Natural
from webdata.resources.terms.selectors import LONGEST_SELECTOR, xpath_of

ValueType = Literal["text", "number", "price", "date", "url", "html"]
SOURCES = ("css", "xpath", "jsonld")
MOST_EXTRACTIONS = 30
MOST_SHOWN = 60
"""Characters of a wrong value that a message repeats."""
NAME = r"\w[\w .-]{0,63}"
ATTRIBUTE = "[A-Za-z_:@][A-Za-z0-9_:.@-]*"
LONGEST_ATTRIBUTE = 100
JSONLD = r"[^\s.]+(\.[^\s.]+)*"
"""A type of schema.org and the properties that lead from it to a value: `Product.offers.price`.

Counted repetitions in these patterns would take megabytes of each process.
"""

LITERAL = re.compile(r""""[^"]*"|'[^']*'""")
CALL = re.compile(r"([\w.:-]+)\s*\(")
PREFIX = re.compile(r"(?<![\w:-])([\w.-]+):(?!:)[\w*]")
OPERATORS = frozenset(["and", "or", "div", "mod"])
FUNCTIONS = frozenset([
    "node", "text", "comment", "processing-instruction", "last", "position", "count", "id", "local-name",
    "namespace-uri", "name", "string", "concat", "starts-with", "contains", "substring-before", "substring-after",
    "substring", "string-length", "normalize-space", "translate", "boolean", "not", "true", "false", "lang", "number",
    "sum", "floor", "ceiling", "round",
])  # fmt: skip
"""Node types and the core functions: https://www.w3.org/TR/1999/REC-xpath-19991116/#corelib"""


class Extraction(BaseModel):
    """One value: a selector or a path, and how what it matches is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    css: Annotated[
        str | None,
        Field(min_length=1, max_length=LONGEST_SELECTOR, description="a CSS selector such as .price"),
    ] = None
    xpath: Annotated[
        str | None,
        Field(min_length=1, max_length=LONGEST_SELECTOR, description="an XPath 1.0 expression such as //h1"),
    ] = None
    jsonld: Annotated[
        str | None,
        Field(
            pattern=f"^{JSONLD}$",
            max_length=LONGEST_SELECTOR,
            description="a type and properties of the page's JSON-LD such as Product.offers.price",
        ),
    ] = None
    attribute: Annotated[
        str | None,
        Field(
            pattern=f"^{ATTRIBUTE}$",
            max_length=LONGEST_ATTRIBUTE,
            description="the name of an attribute to read instead of the text",
        ),
    ] = None
    type: Annotated[ValueType, Field(description="text, number, price, date, url or html")] = "text"
    many: Annotated[bool, Field(description="true for a list of all values, or false for the first")] = False

    @model_validator(mode="after")
    def _check(self) -> "Extraction":
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise explained(f"has {' and '.join(given) or 'no selector'}: give one of {', '.join(SOURCES)}")
        if self.jsonld and (self.attribute or self.type == "html"):
            wrong = "attribute" if self.attribute else "type html"
            raise explained(f"has {wrong}, which data in JSON-LD have not: leave it out")
        if self.attribute and self.type == "html":
            raise explained("has an attribute, which is no HTML: give type text")
        _check_selector(self)
        return self

    @property
    def expression(self) -> str:
        """The XPath expression of its selector; not of one in JSON-LD."""
        return self.xpath or xpath_of(self.css or "")


def _check_selector(wanted: Extraction) -> None:
    """Raise an explained error for a selector that cannot be run on a page."""
    try:
        if wanted.css:
            xpath_of(wanted.css)
        if wanted.xpath:
            _check_xpath(wanted.xpath)
    except ValueError as error:
        part, text = ("css", wanted.css) if wanted.css else ("xpath", wanted.xpath)
        kind = "CSS selector" if wanted.css else "XPath expression"
        raise explained(f"has the {part} {_shown(text)}, which is no {kind} here: {error}") from None


def _check_xpath(expression: str) -> None:
    """Raise ValueError for what is no XPath 1.0, or calls for more than the page.

    It is only compiled: to evaluate it may take without end, and is never done in the program that serves calls.
    """
    bare = LITERAL.sub('""', expression)
    if unknown := [name for name in CALL.findall(bare) if name not in FUNCTIONS | OPERATORS and "::" not in name]:
        raise ValueError(f"{unknown[0]}() is none of the functions of XPath 1.0")
    if found := PREFIX.search(bare):
        raise ValueError(f"no namespace is called {found[1]!r}: match by name()")
    if "$" in bare:
        raise ValueError("there are no variables")
    try:
        etree.XPath(expression, regexp=False, smart_strings=False)
    except etree.XPathSyntaxError as error:
        raise ValueError(str(error) or "it cannot be read") from None


def _as_members(value: object) -> object:
    """An object, also of its JSON, whose texts are CSS selectors."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except ValueError:
            raise explained(f'is no JSON object: give one such as {{"price": {EXAMPLE_JSON}}}') from None
    if not isinstance(value, Mapping):
        raise explained(f'is no object of names: give one such as {{"price": {EXAMPLE_JSON}}}')
    if len(value) > MOST_EXTRACTIONS:
        raise explained(f"has {len(value)} names, and {MOST_EXTRACTIONS} are allowed: leave some out")
    for name in value:
        if not re.fullmatch(NAME, str(name)):
            raise explained(f"has the name {_shown(name)}: give one of up to 64 letters, digits, spaces, '_', '.', '-'")
    return {name: {"css": one} if isinstance(one, str) else one for name, one in value.items()}


EXAMPLE_JSON = '{"css": ".price", "type": "price"}'


def _explained_parts(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    """The extractions; raises an error that names the first wrong one and its wrong part."""
    try:
        return handler(_as_members(value))
    except ValidationError as error:
        raise explained(_message(error.errors(include_url=False)[0])) from None


def _message(row: Any) -> str:
    name, *rest = row["loc"]
    member = str(rest[0]) if rest else ""
    known = Extraction.model_fields
    if row["type"] == "extra_forbidden":
        near = nearest_name(member, known)
        return f"has {name!r} with {_shown(member)}, the nearest member is {near!r}: give {', '.join(known)}"
    if row["type"] == "explained":
        return f"has {name!r}, which {row['msg']}"
    if member:
        return f"has {name!r}, whose {member} cannot be {_shown(row['input'])}: give {known[member].description}"
    return f"has {name!r}, which is {_shown(row['input'])}: give a CSS selector, or an object such as {EXAMPLE_JSON}"


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…")


EXAMPLE: dict[str, Any] = {"title": "h1", "price": {"jsonld": "Product.offers.price", "type": "price"}}
Extractions = Annotated[
    dict[str, Extraction],
    WrapValidator(_explained_parts),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MOST_EXTRACTIONS,
            "propertyNames": {"pattern": f"^{NAME}$"},
            "additionalProperties": {
                "anyOf": [{"type": "string", "maxLength": LONGEST_SELECTOR}, Extraction.model_json_schema()]
            },
        }
    ),
]
"""What is wanted of a page, by names; a text is a CSS selector."""


class Extracted(TypedDict):
    """What a page has of a wanted value."""

    value: Any
    """Of the type that was asked for, or a list of them; null where there is none, or none that can be read.

    A price has `amount` and `currency`.
    """
    matches: Natural
    """How many places of the page match."""
    status: Literal["found", "absent", "invalid"]
    """`absent` where nothing matches, `invalid` where nothing that matches can be read as the type."""


class ReadPrice(TypedDict):
    """A price as it is extracted."""

    amount: float
    currency: str | None
    """ISO 4217; null where the page does not say it."""
