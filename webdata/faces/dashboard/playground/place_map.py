"""Places as numbered points on a grid of latitude and longitude, with a scale: a map without anybody's tiles."""

from cmath import rect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, floor, log10, radians

from webdata.faces.dashboard.playground.cards import Card

WIDTH, HEIGHT, MARGIN = 640.0, 360.0, 36.0
"""The size of the drawing and the margin in it, in its own units."""
LEAST_SPAN = 0.002
"""Degrees of latitude that are shown at least: some 200 m."""
KM_PER_DEGREE = 111.32
"""Kilometres of a degree of latitude; of longitude times the cosine of the latitude."""
MOST_LINES = 6
APART = 26.0
"""The distance of two points at least, so that each can be read and clicked; the drawing's units."""
MOST_STEPS = 60
"""How often all points that are too near each other are moved apart."""


@dataclass(frozen=True)
class Point:
    """A place on the drawing: its point, and where it is."""

    x: float
    y: float
    at: tuple[float, float]
    """Another place than the point's, where others are too near."""
    number: int
    title: str


@dataclass(frozen=True)
class GridLine:
    """A meridian or a parallel."""

    at: float
    label: str


@dataclass(frozen=True)
class PlaceMap:
    """A drawing of WIDTH and HEIGHT; y grows to the south."""

    points: list[Point]
    meridians: list[GridLine]
    parallels: list[GridLine]
    scale_length: float
    scale_label: str
    width: float = WIDTH
    height: float = HEIGHT
    margin: float = MARGIN


def place_map(cards: Sequence[Card]) -> PlaceMap | None:
    """The map of the cards that have a point; None where there is none."""
    placed = [
        (number, card, card.point) for number, card in enumerate(cards, 1) if card.point and _is_on_earth(card.point)
    ]
    if not placed:
        return None
    latitudes, longitudes = [point[0] for _, _, point in placed], [point[1] for _, _, point in placed]
    middle = ((min(latitudes) + max(latitudes)) / 2, (min(longitudes) + max(longitudes)) / 2)
    squeeze = max(cos(radians(middle[0])), 0.05)
    span = max(max(latitudes) - min(latitudes), LEAST_SPAN), (max(longitudes) - min(longitudes)) * squeeze
    unit = min((HEIGHT - 2 * MARGIN) / span[0], (WIDTH - 2 * MARGIN) / max(span[1], LEAST_SPAN))

    def across(longitude: float) -> float:
        return WIDTH / 2 + (longitude - middle[1]) * squeeze * unit

    def down(latitude: float) -> float:
        return HEIGHT / 2 - (latitude - middle[0]) * unit

    length = _round_down(WIDTH / 4 / unit * KM_PER_DEGREE)
    return PlaceMap(
        _points(placed, [(across(lon), down(lat)) for _, _, (lat, lon) in placed]),
        _grid(middle[1], WIDTH / squeeze / unit, across, "E", "W"),
        _grid(middle[0], HEIGHT / unit, down, "N", "S"),
        round(length / KM_PER_DEGREE * unit, 1),
        f"{length:g} km" if length >= 1 else f"{length * 1000:g} m",
    )


def _points(placed: Sequence[tuple[int, Card, object]], at: Sequence[tuple[float, float]]) -> list[Point]:
    return [
        Point(round(moved.real, 1), round(moved.imag, 1), (round(x, 1), round(y, 1)), number, card.title)
        for (number, card, _), (x, y), moved in zip(placed, at, _apart(at), strict=True)
    ]


def _apart(at: Sequence[tuple[float, float]]) -> list[complex]:
    """The places of points as complex numbers, each moved away from those that are too near, within the drawing."""
    found = [complex(x, y) for x, y in at]
    for _ in range(MOST_STEPS):
        if not sum(_push(found, first, second) for first in range(len(found)) for second in range(first)):
            break
        found = [_within(one) for one in found]
    return found


def _push(found: list[complex], first: int, second: int) -> bool:
    """Whether two points were too near each other; each is moved by half of what is missing."""
    way = found[first] - found[second]
    if abs(way) >= APART:
        return False
    way = way or rect(1, first)  # those of one place go into different directions
    missing = (APART + 0.5 - abs(way)) / 2 * way / abs(way)
    found[first] += missing
    found[second] -= missing
    return True


def _within(point: complex) -> complex:
    edge = APART / 2
    return complex(min(max(point.real, edge), WIDTH - edge), min(max(point.imag, edge), HEIGHT - edge))


def _is_on_earth(point: tuple[float, float]) -> bool:
    return -90 <= point[0] <= 90 and -180 <= point[1] <= 180


def _round_down(number: float) -> float:
    """1, 2 or 5 times a power of ten, just below a number."""
    power = 10.0 ** floor(log10(number))
    return float(f"{next(step for step in (5, 2, 1) if step * power <= number) * power:.6g}")


def _grid(middle: float, span: float, at: Callable[[float], float], plus: str, minus: str) -> list[GridLine]:
    """Lines at round degrees within the drawing."""
    step = _round_down(span / 2)
    first = floor((middle - span / 2) / step) + 1
    degrees = [(first + number) * step for number in range(MOST_LINES) if (first + number) * step < middle + span / 2]
    return [GridLine(round(at(one), 1), f"{abs(one):.6g}° {plus if one >= 0 else minus}") for one in degrees]
