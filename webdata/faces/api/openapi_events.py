"""The `webhooks` of the OpenAPI document: what the service sends, derived from the events.

https://spec.openapis.org/oas/v3.1.1#oas-webhooks
"""

from typing import Any

from webdata.domain.events import EVENTS, EventData
from webdata.runtime.server.replies import JSON

TAG = {"name": "events", "description": "What the service sends to webhooks."}
HEADERS = {
    "webhook-id": "The id of the event: the same at every attempt, and for every webhook.",
    "webhook-timestamp": "Unix seconds of this attempt: refuse what is older than some minutes.",
    "webhook-signature": "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several, separated by spaces, "
    "for a day after the secret was rotated.",
}
TAKEN = "Any status from 200 to 299 within 15 seconds: the event is delivered. 410 disables the webhook."


def webhook_operations() -> dict[str, Any]:
    """What is sent for each event, by its type."""
    return {name: {"post": _operation(event)} for name, event in EVENTS.items()}


def _operation(event: type[EventData]) -> dict[str, Any]:
    return {
        "operationId": f"event_{event.type.replace('.', '_')}",
        "summary": event.summary(),
        "tags": [TAG["name"]],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {JSON: {"schema": event_schema(event)}}},
        "responses": {"2XX": {"description": TAKEN}},
    }


def event_schema(event: type[EventData]) -> dict[str, Any]:
    """The schema of the body that is sent."""
    data = event.model_json_schema(mode="serialization")
    fields = {name: {key: one for key, one in of.items() if key != "title"} for name, of in data["properties"].items()}
    return {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"const": event.type},
            "timestamp": {"type": "string", "format": "date-time", "description": "when it happened"},
            "data": {"type": "object", "required": list(fields), "properties": fields},
        },
    }
