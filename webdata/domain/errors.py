"""Every error that webdata raises on purpose.

WebdataError
├── ConfigError              a setting that cannot be used
│   └── MissingExtraError    a library of an extra that is not installed
├── QueryError               parameters that cannot be run; lists every one of them
│   └── WrongLinesError      queries of a submission, of which the first are listed
├── FetchError               no page was fetched; carries its outcome
│   ├── NotFoundError        not_found   the upstream says that the thing does not exist
│   ├── BlockedError         blocked     captcha, consent, login or denial page
│   ├── LayoutError          layout      a page of a shape that the parser does not know
│   └── UpstreamError        upstream    reset, 5xx, broken body
│       ├── UpstreamTimeoutError         no answer in time
│       └── PassedOverError              an API that may not be asked now
├── UnsupportedContentError  content that cannot be given in the requested form
├── RecordError              a record that its own schema refuses: a fault of ours
├── BodyTooLargeError        a request's body that is longer than any may be
├── PassingError             a request that could not be passed on to another service
│   ├── BrokenBodyError      its body does not end as it should
│   ├── SlowBodyError        its body comes too slowly
│   ├── UpgradeError         another protocol than HTTP is asked for
│   └── ProxyError           there is no response
│       └── ProxyTimeoutError    none in time
├── OverloadedError          no room for another call now
├── DatabaseUnavailableError        the database of keys and credits does not answer
├── CallerGoneError          the caller hung up before anything was fetched
└── AccessError
    ├── UnauthorizedError    no key, or one that does not open
    ├── OutOfCreditsError    no credit left to pay with
    ├── RateLimitedError     more calls than the plan has
    ├── QuotaError           more than the account may store
    ├── TargetError          a URL that may not be fetched from here
    ├── UnknownIdError       an id of nothing that the account has
    ├── ConflictError        what the state of a batch, schedule or webhook does not allow
    └── UnknownPathError     a path that leads nowhere
"""

from collections.abc import Sequence
from typing import ClassVar, TypedDict

from webdata.domain.attempts import Attempt
from webdata.domain.in_schema import InSchema
from webdata.domain.outcome import Outcome


@InSchema("problem", closed=True)
class Problem(TypedDict):
    """One thing that is wrong with a query.

    `loc` leads to it (`["query", "num"]`), `msg` says what was wrong and what would be right,
    `type` is the machine's word for it (`missing`, `int_parsing`, …).
    """

    loc: list[str | int]
    msg: str
    type: str


class WebdataError(Exception):
    """The root of the tree."""


class ConfigError(WebdataError):
    """A setting that cannot be used; the message names it and what would be right."""


class MissingExtraError(ConfigError):
    """A library that is not installed; the message names its extra and the command that installs it."""


class QueryError(WebdataError):
    """Parameters that cannot be run."""

    def __init__(self, problems: list[Problem]):
        super().__init__("; ".join(problem["msg"] for problem in problems))
        self.problems = problems


class WrongLinesError(QueryError):
    """Queries of a submission that cannot be run; the message has their number, `problems` the first."""

    def __init__(self, message: str, problems: list[Problem]):
        super().__init__(problems)
        self.args = (message,)


class FetchError(WebdataError):
    """No page was fetched. `outcome` is how the fetch ended, `kind` narrows it down."""

    outcome: ClassVar[Outcome]
    retry_after: float = 0
    """Seconds for which the upstream wants no more requests; 0 when it does not say."""
    rate_limited: bool = False
    """Whether the upstream says that it gets too many requests."""
    readable: bool = False
    """Whether the page can be read all the same, where no better one is fetched."""
    attempts: Sequence[Attempt] = ()
    """The attempts of a call that was lost, in the order in which they ended."""
    seconds: float = 0
    """How long that call took."""
    region_mode: str | None = None
    """How the site was given the region: `proxy` or `parameters`; None without a region."""

    def __init__(self, reason: str, kind: str | None = None):
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class NotFoundError(FetchError):
    """The upstream says that the thing does not exist.

    `message` is what callers may read of it, in a text of our own; None where there is nothing to add.
    """

    outcome = Outcome.NOT_FOUND

    def __init__(self, reason: str, kind: str | None = None, message: str | None = None):
        super().__init__(reason, kind)
        self.message = message


class BlockedError(FetchError):
    """A captcha, consent, login or denial page; `kind` says which."""

    outcome = Outcome.BLOCKED


class LayoutError(FetchError):
    """A page of a shape that the parser does not know; the reason names what is missing."""

    outcome = Outcome.LAYOUT


class UpstreamError(FetchError):
    """The upstream failed: reset, 5xx, broken body."""

    outcome = Outcome.UPSTREAM


class UpstreamTimeoutError(UpstreamError):
    """The upstream did not answer in time."""


class PassedOverError(UpstreamError):
    """An API was not asked: the requests of its day are used up, or its price is more than the account has."""


LONGEST_TYPE = 255
"""Characters of a media type that are shown: no registered one is longer (RFC 6838, 4.2), and a site may send more."""


class UnsupportedContentError(WebdataError):
    """Content that cannot be given in the requested form, such as a picture as Markdown; `advice` is what would be."""

    def __init__(
        self,
        content_type: str,
        reason: str = "which cannot be given as Markdown",
        advice: str = "ask for it with response_type full",
    ):
        self.content_type = content_type[:LONGEST_TYPE]
        super().__init__(f"the page is {self.content_type}, {reason}: {advice}")
        self.reason = reason
        self.advice = advice


class RecordError(WebdataError):
    """A record that its own schema refuses: a fault of ours, never of the caller."""


class BodyTooLargeError(WebdataError):
    """A request's body of more bytes than any may have."""

    def __init__(self, most: int):
        super().__init__(f"the body is larger than {most} bytes")
        self.most = most


class PassingError(WebdataError):
    """A request that could not be passed on to another service. The message is for its caller."""


class BrokenBodyError(PassingError):
    """A request's body that does not end as it should; the rest of it does not come."""


class SlowBodyError(PassingError):
    """A request's body that comes too slowly."""


class UpgradeError(PassingError):
    """A request for another protocol than HTTP."""


class ProxyError(PassingError):
    """No response of the other service, or a part of one; `reason` is for the log."""

    def __init__(self, message: str, reason: str):
        super().__init__(message)
        self.reason = reason


class ProxyTimeoutError(ProxyError):
    """The other service did not answer in time."""


class OverloadedError(WebdataError):
    """No room for another call now; worth another try in `retry_after` seconds."""

    def __init__(self, reason: str, retry_after: int):
        super().__init__(reason)
        self.retry_after = retry_after


class FullDiskError(OverloadedError):
    """A disk is nearly full, so that nothing large is taken. The message is for the caller."""


class DatabaseUnavailableError(WebdataError):
    """The database of keys and credits does not answer. Whether it has done the operation is not known."""


class CallerGoneError(WebdataError):
    """The caller hung up before anything was fetched, so nothing is."""


class AccessError(WebdataError):
    """The caller may not do this."""


class UnauthorizedError(AccessError):
    """No key, or one that does not open."""


class OutOfCreditsError(AccessError):
    """No credit left to pay with."""


class RateLimitedError(AccessError):
    """More calls than the plan of the account has; worth another try in `retry_after` seconds."""

    def __init__(self, reason: str, retry_after: int):
        super().__init__(reason)
        self.retry_after = retry_after


class QuotaError(AccessError):
    """More than the account may store. The message says what makes room."""


class TargetError(AccessError):
    """A URL that may not be fetched from here. The message says what may be, and nothing about the network."""


class ConflictError(AccessError):
    """What the state of a batch, schedule or webhook does not allow; the message says what would be right."""


class UnknownIdError(AccessError):
    """An id of nothing that the account has."""


class UnknownPathError(AccessError):
    """A path that leads nowhere; the message lists those that the key may use."""


def outcome_of(error: BaseException) -> str:
    """How a call with this error ended: an outcome, `refused` for what may not be run, `internal` for a fault."""
    if isinstance(error, FetchError):
        return error.outcome.value
    refusals = (AccessError, CallerGoneError, OverloadedError, QueryError, UnsupportedContentError)
    return "refused" if isinstance(error, refusals) else "internal"
