"""The dashboard's cookies, by HTTPS and by plain HTTP."""

from dataclasses import dataclass
from datetime import timedelta

from webdata.faces.api.browsing import PLAIN_COOKIES, SECURE_COOKIES
from webdata.runtime.server.incoming import Incoming


@dataclass(frozen=True)
class CookieKind:
    """The beginning of cookies' names, and their attributes (RFC 6265bis 4.1)."""

    prefix: str
    attributes: str

    def of(self, incoming: Incoming, name: str) -> str | None:
        """The value of a cookie of this kind in a request: the last, where there are several of its name."""
        found = None
        for line in incoming.headers.getRawHeaders(b"cookie", []):
            for pair in line.decode("latin-1").split(";"):
                sent, _, value = pair.strip().partition("=")
                found = value if sent == self.prefix + name else found
        return found

    def line(self, name: str, value: str, lasts: timedelta | None = None) -> str:
        """The value of `Set-Cookie`; a cookie that `lasts` for None ends with the browser."""
        age = "" if lasts is None else f" Max-Age={int(lasts.total_seconds())};"
        return f"{self.prefix}{name}={value};{age} {self.attributes}"


SECURE = CookieKind(SECURE_COOKIES, "Path=/; Secure; HttpOnly; SameSite=Lax")
PLAIN = CookieKind(PLAIN_COOKIES, "Path=/; HttpOnly; SameSite=Lax")
"""Not every browser stores cookies with `Secure` that come by plain HTTP, even on loopback."""
