"""`GET /metrics`: what was counted, for Prometheus."""

from webdata.api.open_pages import FRESH, OpenPage
from webdata.api.params import Header
from webdata.api.replies import Reply
from webdata.observability.metrics import OPENMETRICS, AllWorkers, Metrics
from webdata.observability.workers_metrics import WorkersMetrics


def metrics_page(metrics: Metrics, workers: WorkersMetrics | None = None) -> OpenPage:
    """The page: Prometheus' text, or OpenMetrics for those that accept it. `workers` adds all others."""

    async def reply(header: Header) -> Reply:
        counted = AllWorkers(await workers.collect()) if workers else metrics
        body, content_type = counted.text(header("accept") or "")
        return Reply(200, body, {"content-type": content_type, "vary": "accept", **FRESH})

    return OpenPage("/metrics", "what was counted, for Prometheus", reply, ("text/plain", OPENMETRICS))
