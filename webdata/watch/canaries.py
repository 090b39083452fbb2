"""The canaries: queries whose answers are measured again and again, the shipped ones and the operator's own."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webdata.config.canaries import MOST_CANARIES, NAME, CanaryFile, GivenCanary
from webdata.crawling.engine import EngineSpider
from webdata.crawling.upstream import UpstreamSpider
from webdata.domain.errors import ConfigError, QueryError
from webdata.domain.query import Query
from webdata.resources import Resource, example


@dataclass(frozen=True)
class Canary:
    """A query of a resource that one engine is asked."""

    engine: str
    resource: Resource
    query: Query
    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What its pages are compared by, such as `web_search {"q": "coffee"}`."""
        return f"{self.resource.name} {json.dumps(self.fields, sort_keys=True, default=str)}"


def canaries_of(spiders: Iterable[type[EngineSpider]], file: CanaryFile) -> dict[str, list[Canary]]:
    """The canaries of each engine that has some, by its name; raises ConfigError for a file that cannot be used.

    No upstream that may cost money, and no engine of pages of any site, has shipped ones.
    """
    engines = {spider.name: spider for spider in spiders}
    found: dict[str, list[Canary]] = {}
    for one in (*(_shipped(engines.values()) if file.shipped else ()), *_given(engines, file.canary)):
        found.setdefault(one.engine, []).append(one)
    for engine, canaries in found.items():
        if len(canaries) > MOST_CANARIES:
            raise ConfigError(f"{NAME} cannot be used: {engine} has {len(canaries)} canaries: {MOST_CANARIES} at most")
    return found


def _shipped(spiders: Iterable[type[EngineSpider]]) -> Iterator[Canary]:
    for spider in spiders:
        if not spider.any_site and not issubclass(spider, UpstreamSpider):
            for resource in spider.resources:
                for fields in resource.canaries or [example(resource)]:
                    query = resource.query.check(fields)
                    if not spider.refused(query):
                        yield Canary(spider.name, resource, query, fields)


def _given(engines: Mapping[str, type[EngineSpider]], given: Sequence[GivenCanary]) -> Iterator[Canary]:
    for number, one in enumerate(given, 1):
        where = f"{NAME} cannot be used, at canary {number}"
        if one.engine not in engines:
            raise ConfigError(f"{where}: {one.engine[:40]!r} is no engine: give one of {', '.join(sorted(engines))}")
        spider = engines[one.engine]
        resource = _resource(spider, one.resource, where)
        try:
            query = resource.query.check(one.query)
        except QueryError as error:
            raise ConfigError(f"{where}: {error}") from None
        if refused := spider.refused(query):
            raise ConfigError(f"{where}: {spider.name} cannot honour {', '.join(refused)}: leave it out")
        yield Canary(spider.name, resource, query, one.query)


def _resource(spider: type[EngineSpider], name: str | None, where: str) -> Resource:
    known = {resource.name: resource for resource in spider.resources}
    if name is None and len(known) == 1:
        return spider.resources[0]
    if name not in known:
        raise ConfigError(f"{where}: give resource = one of {', '.join(known)}")
    return known[name]
