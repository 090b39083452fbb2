"""Pages of HTML from templates. Everything they show is text: Jinja2 escapes it."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from webdata.accounts.access.invitations import DASHBOARD
from webdata.faces.dashboard.static_files import address
from webdata.faces.dashboard.visits import Visit
from webdata.runtime.server.replies import Reply

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src {pictures}; connect-src {connected}; "
    "form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
OWN_PICTURES = "'self' data:"
ANY_PICTURES = "'self' data: https:"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def render(
    template: str, visit: Visit, *, status: int = 200, pictures: bool = False, live: bool = False, **values: Any
) -> Reply:
    """A page of a template such as `keys`, which sees `visit` and the values.

    Only with `pictures` it may show those of other sites; only if it is `live` its script may ask this one.
    Raises UndefinedError for a value that is missing.
    """
    text = ENVIRONMENT.get_template(f"{template}.html.j2").render(visit=visit, **values)
    policy = POLICY.format(
        pictures=ANY_PICTURES if pictures else OWN_PICTURES, connected="'self'" if live else "'none'"
    )
    cookie = {"set-cookie": visit.set_cookie} if visit.set_cookie else {}
    headers = {**HEADERS, "content-security-policy": policy, **cookie}
    return Reply(status, text.encode("utf-8", "replace"), headers)


def redirect(path: str, **query: str) -> Reply:
    """Lead to a page below `/dashboard` by GET; a `notice` in its query is shown there."""
    target = f"{DASHBOARD}{path}{'?' if query else ''}{urlencode(query)}"
    return Reply(303, b"", {"location": target, "cache-control": "no-store"})


def time_element(moment: datetime | None, never: str = "never") -> Markup:
    """A time in UTC, which the script shows in the zone of the person; the exact time is its title."""
    if moment is None:
        return Markup("<span class=faint>{}</span>").format(never)
    at = moment.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{at:%Y-%m-%d %H:%M:%S} UTC", f"{at:%Y-%m-%d %H:%M} UTC"
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("webdata", "faces/dashboard/templates"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"time": time_element, "number": lambda number: f"{number:,}"}
    environment.globals |= {"DASHBOARD": DASHBOARD, "file": address}
    return environment


ENVIRONMENT = _environment()
