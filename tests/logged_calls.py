"""Calls for the log, as accounts make them."""

from datetime import UTC, datetime

from ulid import ULID

from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.calls.model import LoggedCall

HOSTILE = "<script>alert(1)</script> javascript:alert(1) \u202egnp.exe\u2069 \"'>&"


def logged_call(time=None, **values):
    """A call that began and ended at a time, or just now."""
    time = time or datetime.now(UTC)
    usual = {
        "id": f"req_{ULID.from_datetime(time)}",
        "time": time,
        "account_id": DEFAULT_ACCOUNT,
        "key_id": "key_1",
        "test": False,
        "resource": "web_search",
        "engine": "google_web",
        "outcome": "ok",
        "code": "",
        "message": "",
        "transport": "http",
        "cost": 1,
        "cached": False,
        "seconds": 0.3,
        "timings": {"queue": 0.001, "fetch": 0.25, "parse": 0.01, "validate": 0.001},
        "query": {"q": "coffee"},
        "attempts": [attempt()],
    }
    return LoggedCall(**(usual | values))


def attempt(**values):
    usual = {"engine": "google_web", "transport": "http", "proxy": "de1", "outcome": "ok", "kind": None, "seconds": 0.2}
    return usual | values
