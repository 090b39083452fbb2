"""The validation of the queries of one submission, which writes those that can be run to a file.

A line of that file is the number of a query, a tab, and the query as a JSON object. It imports no more than the queries
need, as it runs in a process of its own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import IO, Any

import orjson
from pydantic import ValidationError

from webdata.batches.queries import NewBatch
from webdata.domain.errors import BodyTooLargeError, BrokenBodyError, Problem, QueryError
from webdata.domain.nearest_name import nearest_name
from webdata.domain.query import Query, check_known

MOST_LINES = 1_000_000
MOST_LINES_BYTES = 1_000_000_000
"""Bytes of the largest body of NDJSON."""
MOST_QUERIES = 10_000
MOST_JSON_BYTES = 16 * 1024 * 1024
"""Bytes of the largest body of JSON, which is parsed as a whole."""
LONGEST_LINE = 65_536
MOST_PROBLEMS = 100
"""Wrong lines that are described; all are counted."""
MOST_IGNORED = 20
"""Names of unknown fields that are reported."""
MOST_NAME = 60
"""Characters of a name that a message repeats."""
ENDS_EARLY = "unexpected end of data"
"""What the parser says of JSON that is right as far as it goes."""
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Task:
    """What the process needs to know of a submission."""

    queries: Mapping[str, type[Query]]
    """The query of every resource, by its name."""
    given: Mapping[str, Any]
    """Parameters in the URL; in a body of JSON others are members."""
    ndjson: bool
    """Whether the body has a query a line."""


@dataclass
class Validated:
    """The queries of a submission, of which those that can be run are in the file."""

    parameters: NewBatch
    accepted: int = 0
    rejected: int = 0
    problems: list[Problem] = field(default_factory=list)
    """What is wrong with the first MOST_PROBLEMS wrong lines."""
    ignored: dict[str, None] = field(default_factory=dict)
    """Names of fields that the query of the resource does not have."""
    digest: str = ""
    """The SHA-256 of the body, in hexadecimal."""


class HashedBody:
    """The body as a binary stream of bounded length, with the hash of what was read."""

    def __init__(self, body: IO[bytes], most: int) -> None:
        self._body = body
        self._most = most
        self._read = 0
        self._hash = sha256()

    def read(self) -> bytes:
        """All of it; raises BodyTooLargeError."""
        return self._counted(self._body.read(self._most + 1))

    def lines(self) -> Iterator[bytes]:
        """Its lines; of one that is too long the first LONGEST_LINE + 1 bytes. Raises BodyTooLargeError."""
        while line := self._counted(self._body.readline(LONGEST_LINE + 1)):
            rest = line
            while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
                rest = self._counted(self._body.readline(LONGEST_LINE + 1))
            yield line

    @property
    def digest(self) -> str:
        """The hash of what was read, in hexadecimal."""
        return self._hash.hexdigest()

    def _counted(self, data: bytes) -> bytes:
        self._read += len(data)
        if self._read > self._most:
            raise BodyTooLargeError(self._most)
        self._hash.update(data)
        return data


class Validator:
    """Validates the queries of a resource, one by one, and writes the right ones to a file."""

    def __init__(self, query: type[Query], parameters: NewBatch, place: str, file: IO[bytes]) -> None:
        self.result = Validated(parameters)
        self._query = query
        self._place = place
        self._file = file
        self._known = frozenset(query.fields())
        given = {"region": parameters.region, "device": parameters.device}
        self._defaults = {name: value for name, value in given.items() if value is not None}
        for name in self._defaults:
            if name not in self._known:
                message = f"{name} is not a parameter of {parameters.resource}: leave it out"
                raise QueryError([{"loc": ["query", name], "msg": message, "type": "unknown"}])

    @cached_property
    def example(self) -> str:
        """A right query, as JSON."""
        fields = self._query.model_fields.items()
        values = {name: one.examples[0] for name, one in fields if one.is_required() and one.examples}
        return orjson.dumps(values).decode()

    def add(self, number: int, given: object) -> None:
        """Take one query, or count it as wrong."""
        if not isinstance(given, dict):
            self.refuse(number, "", f"is no JSON object: give one such as {self.example}", "no_object")
            return
        values = {**self._defaults, **{name: value for name, value in given.items() if value is not None}}
        if not self._known.issuperset(values):
            values = self._without_unknown(values)
        try:
            self._query.refuse_in_batches(values)
            if self.result.rejected >= MOST_PROBLEMS:
                self._query.model_validate(values)  # half the time of an explained error
            else:
                self._query.check(values)
        except QueryError as error:
            self._refuse_explained(number, error.problems)
        except ValidationError:
            self.result.rejected += 1
        else:
            self.result.accepted += 1
            self._file.write(b"%d\t%b" % (number, orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)))

    def refuse(self, number: int, name: str, reason: str, kind: str) -> None:
        """Count a query as wrong."""
        self.result.rejected += 1
        if len(self.result.problems) < MOST_PROBLEMS:
            loc: list[str | int] = [self._place, number, *([name] if name else [])]
            self.result.problems.append({"loc": loc, "msg": f"{self._place} {number:,} {reason}", "type": kind})

    def end(self) -> Validated:
        """The result; raises QueryError where there was no query at all."""
        if not self.result.accepted and not self.result.rejected:
            right = f"give one such as {self.example} a line" if self._place == "line" else f"such as [{self.example}]"
            raise QueryError([{"loc": ["body"], "msg": f"the body has no query: {right}", "type": "missing"}])
        return self.result

    def _refuse_explained(self, number: int, problems: list[Problem]) -> None:
        """Count a query as wrong once, with all that is wrong with it in one message."""
        first = problems[0]
        reason = "; ".join(problem["msg"] for problem in problems)
        self.refuse(number, str(first["loc"][-1]), f"cannot be run: {reason}", first["type"])

    def _without_unknown(self, values: dict[str, Any]) -> dict[str, Any]:
        for name in values:
            if name not in self._known and len(self.result.ignored) < MOST_IGNORED:
                self.result.ignored[name[:MOST_NAME]] = None
        return {name: value for name, value in values.items() if name in self._known}


def validated(task: Task, body: IO[bytes], file: IO[bytes]) -> Validated:
    """Read a body to its end and write its right queries to a file.

    Raises QueryError for wrong parameters and a body without queries, BodyTooLargeError, and BrokenBodyError for one
    that ends in the middle of a line.
    """
    if task.ndjson:
        hashed = HashedBody(body, MOST_LINES_BYTES)
        parameters = NewBatch.check(task.given)
        check_resource(parameters.resource, task.queries)
        validator = Validator(task.queries[parameters.resource], parameters, "line", file)
        _add_lines(validator, hashed.lines())
    else:
        hashed = HashedBody(body, MOST_JSON_BYTES)
        validator = _json_validator(task, hashed.read(), file)
    result = validator.end()
    result.digest = hashed.digest
    return result


def _add_lines(validator: Validator, lines: Iterable[bytes]) -> None:
    count = 0
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(BOM) if number == 1 else line
        if text.isspace() or not text:
            continue
        count += 1
        if count > MOST_LINES:
            message = f"the body has more than {MOST_LINES:,} queries: submit the others as another batch"
            raise QueryError([{"loc": ["line", number], "msg": message, "type": "too_many"}])
        _add_line(validator, number, text)


def _add_line(validator: Validator, number: int, text: bytes) -> None:
    if len(text) > LONGEST_LINE:
        validator.refuse(number, "", f"is longer than {LONGEST_LINE:,} bytes: a query is shorter", "too_long")
        return
    try:
        given = orjson.loads(text.rstrip())
    except orjson.JSONDecodeError as error:
        if error.msg == ENDS_EARLY and not text.endswith(b"\n"):
            raise BrokenBodyError(
                f"The body ends in the middle of line {number:,}, so nothing was taken: send all of it"
            ) from None
        validator.refuse(number, "", _no_json(text, error, validator.example), "no_json")
        return
    validator.add(number, given)


def _no_json(text: bytes, error: orjson.JSONDecodeError, example: str) -> str:
    try:
        text.decode()
    except UnicodeDecodeError as wrong:
        return f"is not UTF-8 (byte {wrong.start + 1}): send JSON in UTF-8, one object a line, such as {example}"
    return f"is no JSON ({error.msg}, column {error.colno}): give one object a line, such as {example}"


def _json_validator(task: Task, body: bytes, file: IO[bytes]) -> Validator:
    right = 'send a JSON object such as {"resource": "web_search", "queries": [{"q": "coffee"}]}'
    try:
        members = orjson.loads(body.removeprefix(BOM))
    except orjson.JSONDecodeError as error:
        raise _wrong_body(f"the body is no JSON in UTF-8 ({error.msg}, column {error.colno}): {right}") from None
    if not isinstance(members, dict):
        raise _wrong_body(f"the body is no JSON object: {right}")
    queries = members.pop("queries", None)
    given = [(name, value) for name, value in members.items() if value is not None]
    check_known(members, [*NewBatch.keys(), "queries"])
    parameters, _ = NewBatch.read([*task.given.items(), *given])
    if not isinstance(queries, list):
        raise QueryError([{"loc": ["body", "queries"], "msg": f"queries is no array: {right}", "type": "missing"}])
    if len(queries) > MOST_QUERIES:
        message = (
            f"queries has {len(queries):,} queries, where a body of JSON may have {MOST_QUERIES:,}: send more as "
            "Content-Type: application/x-ndjson, one a line"
        )
        raise QueryError([{"loc": ["body", "queries"], "msg": message, "type": "too_many"}])
    check_resource(parameters.resource, task.queries)
    validator = Validator(task.queries[parameters.resource], parameters, "query", file)
    for number, given in enumerate(queries, 1):
        validator.add(number, given)
    return validator


def check_resource(name: str, known: Collection[str]) -> None:
    """Raise QueryError for a name of no resource."""
    if name not in known:
        nearest = nearest_name(name, known)
        shown = name if len(name) <= MOST_NAME else f"{name[:MOST_NAME]}…"
        message = f"resource cannot be {shown!r}: the nearest is {nearest!r}; there are {', '.join(sorted(known))}"
        raise QueryError([{"loc": ["body", "resource"], "msg": message, "type": "unknown"}])


def _wrong_body(message: str) -> QueryError:
    return QueryError([{"loc": ["body"], "msg": message, "type": "body"}])
