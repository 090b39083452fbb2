"""Which engines of a resource a call is answered by: the caller's choice, the operator's, and what each can honour."""

from collections.abc import Mapping, Sequence

from webdata.crawling.engine import EngineSpider
from webdata.domain.errors import ConfigError, QueryError
from webdata.domain.query import Query
from webdata.resources import Resource

Engines = Sequence[type[EngineSpider]]


def able_engines(query: Query, resource: Resource, engines: Engines) -> list[type[EngineSpider]]:
    """The engines that can honour a query, in the order that it asks for, else in that of their rank.

    Raises QueryError where it names an engine that the resource does not have, and where none can honour it.
    """
    known = {engine.name: engine for engine in engines}
    named = list(dict.fromkeys(getattr(query, "engine_names", ())))
    if unknown := [name for name in named if name not in known]:
        raise _engine_error(f"{unknown[0]} is no engine of {resource.name}: give some of {', '.join(known)}")
    wanted = [known[name] for name in named] or list(engines)
    able = [engine for engine in wanted if not engine.refused(query)]
    if not able:
        lacks = "; ".join(f"{one.name} cannot honour {', '.join(one.refused(query))}" for one in wanted)
        raise _engine_error(f"{lacks}: leave it out, or name another engine, of {', '.join(known)}")
    return able


def _engine_error(message: str) -> QueryError:
    return QueryError([{"loc": ["header", "X-Engine"], "msg": f"X-Engine: {message}", "type": "engines"}])


def ordered_engines(resource: str, names: Sequence[str], engines: Mapping[str, Engines]) -> list[type[EngineSpider]]:
    """The engines of a resource that the operator names, in that order; raises ConfigError for a wrong name."""
    known = {engine.name: engine for engine in engines.get(resource, ())}
    if not known:
        right = f"give some of {', '.join(sorted(engines))}"
        raise ConfigError(f"WEBDATA_ENGINES cannot be used: there is no resource {resource}: {right}")
    if wrong := [name for name in names if name not in known]:
        right = f"give some of {', '.join(known)}"
        raise ConfigError(f"WEBDATA_ENGINES cannot be used: {wrong[0]} is no engine of {resource}: {right}")
    return [known[name] for name in dict.fromkeys(names)]
