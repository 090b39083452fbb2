"""What an archive holds: an exchange as it is written, a page as it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

HeaderPairs = tuple[tuple[str, str], ...]
"""Names and values, their bytes as Latin-1."""

MARK = "Webdata-"
"""The beginning of the names of own fields of a record, which WARC allows (ISO 28500, 4)."""
ENGINE = f"{MARK}Engine"
QUERY = f"{MARK}Query"
"""The fields of the query whose page it is, as JSON; a record without it is a further page of a query."""
TRANSPORT = f"{MARK}Transport"
OF_TRANSFER = frozenset(
    ["content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "trailer", "upgrade", "te"]
)
"""Headers that describe the transfer on a connection, not the page."""


@dataclass(frozen=True)
class ArchivedExchange:
    """A request and its response, without anybody's secrets."""

    url: str
    method: str
    sent: HeaderPairs
    """The headers of the request."""
    sent_body: bytes
    status: int
    headers: HeaderPairs
    """Those of the response, without those OF_TRANSFER."""
    body: bytes
    """As it was sent, in its `Content-Encoding`."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Own fields of the record of the response, by their names."""

    @property
    def is_encoded(self) -> bool:
        """Whether the site has compressed the body."""
        return bool(header_of(self.headers, "content-encoding"))


@dataclass(frozen=True)
class ArchivedPage:
    """A response of an archive."""

    id: str
    """Of its record; unique."""
    url: str
    date: str
    status: int
    headers: HeaderPairs
    body: bytes
    """Without the coding of its transfer, in its `Content-Encoding`."""
    marks: Mapping[str, str]

    def header(self, name: str) -> str:
        """The first header of this name; "" without one."""
        return header_of(self.headers, name)


def header_of(headers: HeaderPairs, name: str) -> str:
    """The value of the first header of this name, which is in lower case; "" without one."""
    return next((value for one, value in headers if one.lower() == name), "")


def pairs_without_transfer(headers: HeaderPairs) -> HeaderPairs:
    """The headers that describe the page."""
    return tuple((name, value) for name, value in headers if name and name.lower() not in OF_TRANSFER)
