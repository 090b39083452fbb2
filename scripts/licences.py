"""The licences of what `webdata[all]` installs, by the metadata of each package: `make licences`."""

import sys
from collections.abc import Collection, Iterator
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement

EXPRESSION, CLASSIFIER = "License-Expression", "License :: "
UNKNOWN = "unknown"


def main() -> None:
    """Write a line for each package: its name, its release and its licence."""
    for package in sorted(packages("webdata[all]"), key=lambda one: one.name.lower()):
        sys.stdout.write(f"{package.name} {package.version}: {licence(package)}\n")


def packages(wanted: str) -> list[Distribution]:
    """What a requirement installs here, itself left out; each package once."""
    found: dict[str, Distribution] = {}
    waiting, seen = [Requirement(wanted)], set[str]()
    while waiting:
        one = waiting.pop()
        if str(one) not in seen:
            seen.add(str(one))
            package = distribution(one.name)
            found[package.name.lower()] = package
            waiting += _required(package, one.extras)
    return [package for package in found.values() if package.name != Requirement(wanted).name]


def licence(package: Distribution) -> str:
    """Its licence: an SPDX expression where it has one, else the names of its classifiers, else its own words."""
    about = package.metadata
    if expression := about.get(EXPRESSION):
        return str(expression)
    classified = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith(CLASSIFIER)]
    return " OR ".join(classified) or (about.get("License") or UNKNOWN).strip().splitlines()[0]


def _required(package: Distribution, extras: Collection[str]) -> Iterator[Requirement]:
    """What a package requires with these extras, on this Python."""
    environments = [{"extra": extra} for extra in ("", *extras)]
    for required in map(Requirement, package.requires or []):
        if required.marker is None or any(map(required.marker.evaluate, environments)):
            yield required


if __name__ == "__main__":
    main()
