"""Absolute URLs, as browsers write them."""

import re

from ada_url import URL

from webdata.domain.query import explained

ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
SPACES = " \t\r\n\f"


def normal_url(value: str) -> str:
    """For validators: an absolute URL as browsers normalise it, with an ASCII host and without a fragment.

    https://url.spec.whatwg.org/ Whether the URL may be fetched is not checked here.
    """
    text = value.strip(SPACES)
    if CONTROLS.search(text):
        raise ValueError("holds control characters")
    if not ABSOLUTE.match(text):
        raise _no_scheme(text)
    url = URL(text)  # raises ValueError
    url.hash = ""
    return url.href


def _no_scheme(text: str) -> Exception:
    """The error of a text that is no absolute URL; it proposes a scheme if the text is a URL without one."""
    try:
        url = URL(f"https://{text.lstrip('/')}")
    except ValueError:
        url = None
    if url is None or url.username or "." not in url.hostname.strip("."):
        return ValueError("is no absolute URL")
    return explained(f"has no scheme: write https://{text.lstrip('/')}")
