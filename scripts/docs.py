"""Writes what derives from engines, resources and routes, tables of the documentation and `schemas/`: `make docs`."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from scripts.record_schemas import texts
from scripts.serving import served
from webdata.crawling.engine import EngineSpider
from webdata.crawling.upstream import UpstreamSpider
from webdata.crawling.warm_crawlers import known_spiders, load_spiders
from webdata.faces.api.docs_page import MAIN, OF_DOORS
from webdata.resources import Resource

ROOT = Path(__file__).parents[1]
TABLE = re.compile(r"(<!-- make docs: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
"""A table between its markers."""

METHODS = ("get", "post", "put", "patch", "delete")
"""Keys of a path in OpenAPI that are methods."""

Engines = dict[Resource, list[type[EngineSpider]]]


def main() -> None:
    """Write every schema anew, and the tables of every page; delete schemas of no record type."""
    made = schemas()
    for path in {*ROOT.glob("schemas/*.json")} - made.keys():
        path.unlink()
    write(made)
    write(pages())  # whose tables have the engines of resources with schemas


def write(texts_by_path: Mapping[Path, str]) -> None:
    """Write these files anew."""
    for path, text in texts_by_path.items():
        path.write_text(text, encoding="utf-8")


def schemas() -> dict[Path, str]:
    """The files of `schemas/` as they should be."""
    return {ROOT / "schemas" / f"{name}.json": text for name, text in texts().items()}


def pages() -> dict[Path, str]:
    """The pages that have such tables, with the tables as they should be."""
    found = engines()
    paths = [path for path in (ROOT / "README.md", *ROOT.glob("docs/*.md")) if TABLE.search(_text(path))]
    return {path: TABLE.sub(lambda one: one[1] + TABLES[one[2]](found) + one[3], _text(path)) for path in paths}


def engines() -> Engines:
    """The engines of each resource in the order of their rank; the resources in the order of their paths."""
    spiders = sorted(load_spiders(), key=lambda spider: spider.rank)
    resources = {resource for spider in spiders for resource in spider.resources}
    return {
        resource: [spider for spider in spiders if resource in spider.resources]
        for resource in sorted(resources, key=lambda resource: resource.path)
    }


def endpoints(found: Engines) -> str:
    """What each endpoint has, from which sites, and the commands of its batches."""
    rows = [
        (
            f"`{resource.method} {resource.route}`",
            resource.summary,
            ", then ".join(spider.site or spider.name for spider in spiders),
            "<br>".join(f"`{_batch(resource, spider)}`" for spider in spiders),
        )
        for resource, spiders in found.items()
    ]
    return _table(("endpoint", "content", "engine", "batch"), rows)


def parameters(found: Engines) -> str:
    """The parameters and the schema of each endpoint."""
    rows = [
        (
            f"`{resource.method} {resource.path}`",
            ", ".join(map("`{}`".format, resource.query.keys())),
            f"[{resource.name}](../schemas/{resource.name}.json)",
        )
        for resource in found
    ]
    return _table(("endpoint", "parameters", "schema of the answer"), rows)


def upstreams(_found: Engines) -> str:
    """The parameters of each endpoint that each kind of upstream honours."""
    kinds = [spider for spider in known_spiders() if issubclass(spider, UpstreamSpider)]
    rows = [
        (f"`{spider.name}`", f"`{resource.path}`", ", ".join(f"`{name}`" for name in spider.honours[resource.name]))
        for spider in sorted(kinds, key=lambda spider: spider.rank)
        for resource in spider.resources
    ]
    return _table(("kind", "endpoint", "parameters"), rows)


def routes(_found: Engines) -> str:
    """Every route that a service describes of itself."""
    with TemporaryDirectory() as folder, served(Path(folder), WEBDATA_TLS="off") as url:
        documents = [_fetched(f"{url}{topic.document}") for topic in (MAIN, OF_DOORS)]
    groups: dict[tuple[str, str, str], list[str]] = {}
    for path, operations in (entry for document in documents for entry in sorted(document["paths"].items())):
        for method in filter(operations.get, METHODS):
            operation = operations[method]
            groups.setdefault((path, operation["summary"], operation["tags"][0]), []).append(method.upper())
    rows = [
        (f"`{', '.join(sorted(methods))} {path}`", summary, group) for (path, summary, group), methods in groups.items()
    ]
    return _table(("route", "content", "group"), rows)


def _fetched(url: str) -> Any:
    with urlopen(url) as response:  # noqa: S310  # of the service that was started
        return json.load(response)


def _batch(resource: Resource, spider: type[EngineSpider]) -> str:
    return " ".join(["scrapy crawl", *spider.batch_arguments(resource)])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    first, *others = (f"| {' | '.join(cells)} |\n" for cells in (head, *rows))
    return f"{first}|{'---|' * len(head)}\n{''.join(others)}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


TABLES: dict[str, Callable[[Engines], str]] = {
    "endpoints": endpoints,
    "parameters": parameters,
    "routes": routes,
    "upstreams": upstreams,
}

if __name__ == "__main__":
    main()
