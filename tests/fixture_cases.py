"""The cases of `fixtures/`, by engine and name."""

from dataclasses import dataclass
from pathlib import Path

from webdata.crawling.cases import SUFFIX, Case

FIXTURES = Path(__file__).parents[1] / "fixtures"


@dataclass(frozen=True)
class NamedCase(Case):
    """A case, and where it is from."""

    engine: str = ""
    name: str = ""


def cases(engine: str = "*") -> list[NamedCase]:
    """All cases of an engine, or of all engines, in the order of their names."""
    return [_named(path) for path in sorted(FIXTURES.glob(f"{engine}/*{SUFFIX}"))]


def _named(path: Path) -> NamedCase:
    return NamedCase(**vars(Case.read(path)), engine=path.parent.name, name=path.stem)
