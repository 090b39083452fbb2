"""Errors as a model reads them: what went wrong, and what to do next."""

from collections.abc import Mapping
from typing import Any

from webdata.faces.mcp.tools import AnyTool

NEXT = {
    "bad_request": "Correct the arguments and call again.",
    "validation_error": "Correct the arguments and call again.",
    "target_not_allowed": "Choose another address: this one may not be fetched.",
    "unauthorized": "Do not call again: the user has to give this connection another key.",
    "not_found": "Check the address or the name, or search for it.",
    "too_many_requests": "Wait, then call again; make fewer calls at once.",
    "out_of_credits": "Do not call again: tell the user that the account has no credits left.",
    "quota_exceeded": "Do not call again: tell the user.",
    "blocked": "Call once more with another region, or with fewer arguments; then use another tool or site.",
    "layout_changed": "Do not repeat this call: use another tool or site.",
    "upstream_failed": "Call once more; then use another tool or site.",
    "upstream_timeout": "Call once more; then use another tool or site.",
    "overloaded": "Wait, then call again.",
}
"""By the code of an error."""
ELSE = "Do not repeat this call: tell the user, with the request id."


def error_text(tool: AnyTool, body: Mapping[str, Any]) -> str:
    """What a tool says of an error of `/v1`, in the names of its arguments."""
    error, detail = body["error"], body["detail"]
    messages = [str(row["msg"]) for row in detail] if isinstance(detail, list) else [str(error["message"])]
    text = "\n".join(messages)
    for name, header in tool.argument_names.items():
        text = text.replace(header, name)
    wait = f" Wait {error['retry_after']} seconds first." if "retry_after" in error else ""
    return f"{error['code']}: {text}\nNext: {NEXT.get(error['code'], ELSE)}{wait} (request id {error['request_id']})"
