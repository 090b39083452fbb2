"""`GET /metrics`: what was counted, for Prometheus."""

from webdata.accounts.access.api_keys import Header
from webdata.faces.api.open_pages import FRESH, OpenPage
from webdata.observability.metrics import OPENMETRICS, Metrics
from webdata.runtime.server.replies import Reply


def metrics_page(metrics: Metrics) -> OpenPage:
    """The page: Prometheus' text, or OpenMetrics for those that accept it."""

    async def reply(header: Header) -> Reply:
        body, content_type = metrics.text(header("accept") or "")
        return Reply(200, body, {"content-type": content_type, "vary": "accept", **FRESH})

    return OpenPage("/metrics", "what was counted, for Prometheus", reply, ("text/plain", OPENMETRICS))
