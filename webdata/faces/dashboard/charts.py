"""Charts as SVG inside a page: no scripts, and colours by the classes of the page's stylesheet, light and dark.

A chart of pygal takes 25 ms and 96 KB, of which 9 KB are left without the styles and scripts that the policy of the
pages forbids.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from markupsafe import Markup

from webdata.faces.api.replies import PHASES

LEFT, BOTTOM, TOP = 56, 26, 8
"""Room for the labels."""
HALF_LABEL = 22
"""Half of the width of a bar's label, which ends within the chart."""
GAP = 0.25
"""The share of a bar's place that is free."""
STEPS = 4

BAR_WIDTH, BAR_HEIGHT = 1000, 20

SVG = Markup('<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="{}" role="img" aria-label="{}">{}</svg>')
RECT = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}">{}</rect>')
TITLE = Markup("<title>{}</title>")
LINE = Markup('<path class="guide" d="M{} {}H{}"/><text class="y" x="{}" y="{}">{}</text>')
LABEL = Markup('<text class="x" x="{}" y="{}">{}</text>')


class ChartSize(NamedTuple):
    """The size of a chart in its own units, and how many of its bars have a label at most."""

    width: int
    height: int
    most_labels: int


WIDE, NARROW = ChartSize(960, 240, 8), ChartSize(380, 240, 4)
"""For large screens and for phones, on which the text of a wide one is too small to read."""


@dataclass(frozen=True)
class Series:
    """The numbers of one colour, one for each bar."""

    name: str
    colour: str
    """A class of the stylesheet."""
    values: Sequence[int]

    @property
    def total(self) -> int:
        """The sum of all bars."""
        return sum(self.values)


def stacked_bars(label: str, bars: Sequence[str], series: Sequence[Series], size: ChartSize = WIDE) -> Markup:
    """A bar for each name, of the numbers of all series: a picture of numbers that stand in a table, too."""
    most = max(map(sum, zip(*(one.values for one in series), strict=True)), default=0)
    ticks = _ticks(most)
    parts = [*_guides(ticks, size), *_labels(bars, size), *_rects(bars, series, ticks[-1], size)]
    name = "chart narrow" if size is NARROW else "chart"
    return SVG.format(name, size.width, size.height, "xMidYMid", label, Markup().join(parts))


def timing_bar(timings: Mapping[str, float]) -> Markup:
    """The seconds of each phase of a call as one bar."""
    total = sum(timings.get(phase, 0) for phase in PHASES) or 1
    left, parts = 0.0, []
    for phase in PHASES:
        width = timings.get(phase, 0) / total * BAR_WIDTH
        if width:
            parts.append(RECT.format(f"phase-{phase}", f"{left:.1f}", 0, f"{width:.1f}", BAR_HEIGHT, ""))
        left += width
    return SVG.format("timings", BAR_WIDTH, BAR_HEIGHT, "none", "Time by phase", Markup().join(parts))


def _ticks(most: int) -> list[int]:
    """Round numbers from 0 to at least the largest one."""
    steps = (factor * 10**power for power in count() for factor in (1, 2, 5))
    step = next(step for step in steps if step * STEPS >= most)
    return [step * number for number in range(STEPS + 1)]


def _guides(ticks: Sequence[int], size: ChartSize) -> Iterator[Markup]:
    for tick in ticks:
        y = _y(tick, ticks[-1], size)
        yield LINE.format(LEFT, f"{y:.1f}", size.width, LEFT - 8, f"{y + 4:.1f}", f"{tick:,}")


def _labels(bars: Sequence[str], size: ChartSize) -> Iterator[Markup]:
    """The names of some bars, the last one among them."""
    for place in range(len(bars) - 1, -1, len(bars) // -size.most_labels):
        x = min(_x(place + 0.5, len(bars), size), size.width - HALF_LABEL)
        yield LABEL.format(f"{x:.1f}", size.height - 6, bars[place])


def _rects(bars: Sequence[str], series: Sequence[Series], most: int, size: ChartSize) -> Iterator[Markup]:
    width = f"{(_x(1, len(bars), size) - _x(0, len(bars), size)) * (1 - GAP):.1f}"
    for place, name in enumerate(bars):
        below, x = 0, f"{_x(place + GAP / 2, len(bars), size):.1f}"
        for one in series:
            if value := one.values[place]:
                top = _y(below + value, most, size)
                height = f"{_y(below, most, size) - top:.1f}"
                yield RECT.format(one.colour, x, f"{top:.1f}", width, height, _title(name, one.name, value))
                below += value


def _title(bar: str, name: str, value: int) -> Markup:
    return TITLE.format(f"{bar}: {name} {value:,}")


def _x(place: float, bars: int, size: ChartSize) -> float:
    return LEFT + (size.width - LEFT) * place / bars


def _y(value: int, most: int, size: ChartSize) -> float:
    return TOP + (size.height - TOP - BOTTOM) * (1 - value / most)
