"""The fill of the fields of real answers, as metrics: one answer in some is measured, and no query is kept."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget
from webdata.observability.metrics import NETWORKS
from webdata.watch.measuring import fill

ONE_IN = 20
"""Of so many answers of an engine one is measured: the others cost a microsecond."""
MOST_FIELDS = 60
"""Of a resource that are metrics, those nearest to the root of its schema."""
LABELS = ("network", "engine", "resource", "field")


class FilledFields:
    """Counts filled fields (`webdata.crawling.warm_crawlers.Observer`)."""

    def __init__(self) -> None:
        self._answers = Counter[tuple[str, str, str]]()
        self._filled = Counter[tuple[str, str, str, str]]()
        self._places = Counter[tuple[str, str, str, str]]()

    def ended(self, engine: str, call: Call, _budget: EngineBudget, end: Answer | Exception) -> None:
        """Measure an answer, if it is the turn of one of its engine; the calls of canaries are none."""
        if call.seen or not isinstance(end, Answer):
            return
        source = (NETWORKS[call.sandbox], engine, call.resource.name)
        self._answers[source] += 1
        if self._answers[source] % ONE_IN == 1:
            for path, (filled, places) in list(fill(call.resource, end.record).items())[:MOST_FIELDS]:
                self._filled[*source, path] += filled
                self._places[*source, path] += places

    def metrics(self) -> Iterator[Metric]:
        """What was counted."""
        yield _family("webdata_field_filled", "Values of a field that were filled, in measured answers.", self._filled)
        yield _family("webdata_field_places", "Values of a field that could have been filled.", self._places)


def _family(name: str, help_text: str, counts: Counter[tuple[str, str, str, str]]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=LABELS)
    for labels, number in counts.items():
        family.add_metric(labels, number)
    return family
