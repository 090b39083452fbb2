"""The files of a new engine, and a new case of its fixtures: plain text that goes into a source tree."""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules
from string import Template
from typing import Any

import webdata
from webdata import resources
from webdata.crawling.cases import Case
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import ConfigError
from webdata.domain.records import Record
from webdata.resources import Resource, schema
from webdata.sandbox.sites import site_for

NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*")
TREE = ("webdata/spiders", "schemas", "fixtures")
"""Folders that a source tree has, and an installed package has not."""
LINE = 120


@dataclass(frozen=True)
class SkeletonTarget:
    """The resource that a new engine answers, as its code names it."""

    name: str
    module: str
    constant: str
    query: str
    query_module: str
    example: dict[str, str]
    """The smallest query that is valid."""
    path: str
    summary: str
    rank: int
    """That of its next engine."""
    empty: Record
    """A record without results, and without the envelope."""
    is_new: bool


def source_tree() -> Path:
    """The root of the source tree; raises ConfigError where the package is installed without one."""
    root = Path(webdata.__file__).parents[1]
    if not all((root / folder).is_dir() for folder in TREE):
        raise ConfigError(
            "this webdata is installed without its source tree: clone its repository, make setup there, "
            "and run .venv/bin/webdata"
        )
    return root


def new_engine(name: str, resource: str, host: str) -> dict[str, str]:
    """The files of a new engine, by their paths in the source tree.

    Raises ConfigError for a name that cannot be one, or that is taken.
    """
    for what, given in (("an engine", name), ("a resource", resource)):
        if not NAME.fullmatch(given) or keyword.iskeyword(given):
            raise ConfigError(f"{given!r} cannot be the name of {what}: give words of a-z and 0-9, joined by _")
    if not HOST.fullmatch(host):
        raise ConfigError(f"{host!r} is not a host: give one such as www.example.org")
    target = _target(resource)
    texts = _texts(name, target, host)
    found = {
        f"webdata/spiders/{name}.py": filled("spider.py", texts),
        f"webdata/pages/{name}.py": filled("page.py", texts),
        f"fixtures/{name}/nothing-found.case": Case(
            target.example,
            {"origin": "composed", "url": f"https://{host}/search", "status": 200, "headers": {}},
            filled("page.html", {"title": next(iter(target.example.values()), name)}).encode(),
            target.empty,
        )
        .written()
        .decode(),
    }
    site = site_for(host)
    if site is None or site.__module__.endswith(".url"):
        found[f"webdata/sandbox/sites/{name}.py"] = filled("site.py", texts)
    if target.is_new:
        found[f"webdata/resources/{resource}.py"] = filled("resource.py", texts)
    return found


def write(root: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write new files; raises ConfigError, and writes nothing, where one exists."""
    taken = [path for path in texts if (root / path).exists()]
    if taken:
        raise ConfigError(f"give another name, or delete what exists already: {', '.join(taken)}")
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode() if isinstance(text, str) else text)


def _texts(name: str, target: SkeletonTarget, host: str) -> dict[str, str]:
    imports = {f"from {target.module} import {target.constant}", f"from {target.query_module} import {target.query}"}
    if target.module == target.query_module:
        imports = {f"from {target.module} import {', '.join([target.constant, target.query])}"}
    return {
        "name": name,
        "class_name": _camel(name),
        "site": _camel(name.partition("_")[0]),
        "host": host,
        "domain": host.removeprefix("www."),
        "imports": "\n".join(sorted(imports)),
        "query_import": f"from {target.query_module} import {target.query}",
        "resource": target.constant,
        "resource_name": target.name,
        "base": _camel(target.name),
        "query": target.query,
        "field": next(iter(target.example), "q"),
        "path": target.path,
        "summary": target.summary,
        "rank": str(target.rank),
        "record": _literal(target.empty),
    }


def _target(name: str) -> SkeletonTarget:
    engines = [spider for spider in load_spiders() if name in [one.name for one in spider.resources]]
    if not engines:
        module = f"{resources.__name__}.{name}"
        return SkeletonTarget(
            name=name,
            module=module,
            constant=name.upper(),
            query=f"{_camel(name)}Query",
            query_module=module,
            example={"q": "coffee shops"},
            path=f"/v1/{name.replace('_', '-')}",
            summary=name.replace("_", " ").capitalize(),
            rank=0,
            empty={"results": []},
            is_new=True,
        )
    resource = next(one for one in engines[0].resources if one.name == name)
    module, constant = _where(resource)
    required = {key: field for key, field in resource.query.model_fields.items() if field.is_required()}
    return SkeletonTarget(
        name=name,
        module=module,
        constant=constant,
        query=resource.query.__name__,
        query_module=resource.query.__module__,
        example={key: str((field.examples or ["coffee"])[0]) for key, field in required.items()},
        path=resource.path,
        summary=resource.summary,
        rank=max(spider.rank for spider in engines) + 1,
        empty={key: value for key, value in _empty(resource.schema, name).items() if key not in resource.envelope},
        is_new=False,
    )


def _where(resource: Resource) -> tuple[str, str]:
    """The module and the constant of a resource."""
    for found in iter_modules(resources.__path__, f"{resources.__name__}."):
        module = import_module(found.name)
        for constant, value in vars(module).items():
            if value is resource:
                return module.__name__, constant
    raise ConfigError(f"webdata/resources has no constant that is the resource {resource.name}")


def _empty(node: Mapping[str, Any], file: str) -> Any:
    """The smallest value of a JSON Schema, which is in the file of this name."""
    if "$ref" in node:
        where, _, name = node["$ref"].partition("#/$defs/")
        file = where.removesuffix(".json") or file
        return _empty(schema(file)["$defs"][name] if name else schema(file), file)
    if alternatives := node.get("anyOf") or node.get("oneOf"):
        return min((_empty(one, file) for one in alternatives), key=lambda value: len(repr(value)))
    if "const" in node or "enum" in node:
        return node.get("const", next(iter(node.get("enum", ())), None))
    types = node.get("type", "null")
    if types == "object":
        return {key: _empty(node.get("properties", {}).get(key, {}), file) for key in node.get("required", ())}
    if isinstance(types, list):
        types = "null" if "null" in types else types[0]
    return {"array": [], "string": "", "boolean": False, "null": None}.get(types, node.get("minimum", 0))


def _literal(value: Any, indent: int = 4, before: str = "return ") -> str:
    """A value of JSON as Python, in the form of the formatter."""
    line = repr(value).replace("'", '"')
    if indent + len(before) + len(line) < LINE or not isinstance(value, dict):
        return line
    keys = ((f'"{key}": ', one) for key, one in value.items())
    items = (f"{' ' * indent}    {key}{_literal(one, indent + 4, key)},\n" for key, one in keys)
    return f"{{\n{''.join(items)}{' ' * indent}}}"


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def filled(template: str, texts: Mapping[str, str]) -> str:
    """A template of this package with its placeholders replaced."""
    source = files(__package__).joinpath("templates", f"{template}.tmpl").read_text(encoding="utf-8")
    return Template(source).substitute(texts)
