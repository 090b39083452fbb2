"""A client of the API, for the commands that work from anywhere with a key."""

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, Self, TypeVar

import aiohttp
import click

from webdata.config.config import Config
from webdata.domain.retry_after import retry_after
from webdata.runtime.process.program import called_as

TRIES = 5
"""Attempts of a request that can be repeated, while the service is away or has no room."""
LONGEST_WAIT = 30.0
"""Seconds between two tries."""
SILENCE = 300.0
"""Seconds without a byte after which a response is given up: a large submission is validated before its answer."""
PASSING = (429, 503)
"""Statuses of what may pass, where the response says when; 503 also where it does not."""
INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it: 128 and the number of the signal."""
Result = TypeVar("Result")
Body = Callable[[], AsyncIterator[bytes] | bytes]
"""Makes the body of a request anew for each try."""


@dataclass(frozen=True)
class Server:
    """Where the API is, and with which key it is asked."""

    url: str
    key: str
    certificate: Path | None
    """A file of certificates to trust beside those of the system."""


class ApiError(click.ClickException):
    """What the API says is wrong, with what would be right. `status` is that of its response, 0 without one."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def at_service(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options that say where the service is, and as `server` what makes a Server with a key."""

    @click.option(
        "--url",
        envvar="WEBDATA_URL",
        help="Where the service is (or WEBDATA_URL; by default that of this machine).",
    )
    @click.option(
        "--ca",
        envvar="WEBDATA_CA",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Certificates to trust (or WEBDATA_CA); by default also that of a service started in this folder.",
    )
    @click.pass_context
    def run(context: click.Context, /, url: str | None, ca: Path | None, **options: Any) -> None:
        config: Config = context.obj
        own = config.tls_folder / "cert.pem"
        certificate = ca or (own if own.exists() else None)
        context.invoke(
            command, server=partial(Server, (url or config.url).rstrip("/"), certificate=certificate), **options
        )

    return update_wrapper(run, command)


class ApiClient:
    """Asks the API of a server; to be used as a context manager. What may pass is tried so many times."""

    def __init__(self, server: Server, tries: int | None = None) -> None:
        self._server = server
        self._tries = tries or TRIES

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=SILENCE)
        connector = aiohttp.TCPConnector(ssl=_trust(self._server))
        headers = {"X-Api-Key": self._server.key, "User-Agent": "webdata"}
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON that is answered; raises ApiError."""
        async with self.response(method, path, params, body, headers) as response:
            try:
                return await response.json()
            except (aiohttp.ContentTypeError, ValueError) as error:
                raise ApiError(_foreign(response), response.status) from error

    async def exchange(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """The status and the body that a POST is answered with, whatever they are; raises ApiError without any."""
        try:
            async with self._session.post(self._server.url + path, data=body, headers=headers) as response:
                return response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ApiError(_unreachable(self._server, error)) from error

    @asynccontextmanager
    async def response(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A response whose body is read as it comes; raises ApiError."""
        given = {name: str(value) for name, value in (params or {}).items() if value is not None}
        url = self._server.url + path
        for attempt in range(1, self._tries + 1):
            try:
                response = await self._session.request(method, url, params=given, data=body and body(), headers=headers)
            except aiohttp.ClientError as error:
                if isinstance(error, aiohttp.ClientSSLError) or attempt == self._tries:
                    raise ApiError(_unreachable(self._server, error)) from error
                wait, problem = 0.5 * 2**attempt, _unreachable(self._server, error)
            else:
                async with response:
                    if not _passes(response) or attempt == self._tries:
                        if response.status >= 400:
                            raise ApiError(await _problem(response), response.status)
                        with _broken_off(url):
                            yield response
                        return
                    wait, problem = _wait(response, 2**attempt), await _problem(response)
            await _pause(min(wait, LONGEST_WAIT), problem)


def _passes(response: aiohttp.ClientResponse) -> bool:
    return response.status in PASSING and (response.status == 503 or "retry-after" in response.headers)


def _wait(response: aiohttp.ClientResponse, usual: float) -> float:
    """The seconds after which a response asks to try again."""
    asked = response.headers.get("retry-after")
    return usual if asked is None else retry_after(asked, datetime.now(UTC)).total_seconds()


@contextmanager
def _broken_off(url: str) -> Iterator[None]:
    """Raise ApiError where a body breaks off: what has come of it may have been used, so it is not asked for again."""
    try:
        yield
    except aiohttp.ClientError as error:
        raise ApiError(f"the answer of {url} broke off ({error}): ask again") from error


def key_of(api_key: str | None) -> str:
    """The key to ask with; raises UsageError where there is none."""
    if not api_key:
        raise click.UsageError(
            "give an API key in the variable WEBDATA_KEY; on the machine of the service a test key is made by: "
            f"export WEBDATA_KEY=$({called_as()} keys create)"
        )
    return api_key


def in_session(
    server: Server, work: Callable[[ApiClient], Coroutine[Any, Any, Result]], tries: int | None = None
) -> Result:
    """The result of what is asked of a service; after Ctrl-C the program ends with INTERRUPTED."""

    async def run() -> Result:
        async with ApiClient(server, tries) as client:
            return await work(client)

    try:
        return asyncio.run(run())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


async def _pause(seconds: float, problem: str) -> None:
    click.echo(f"{problem}; trying again in {seconds:g} s", err=True)
    await asyncio.sleep(seconds)


def _trust(server: Server) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if server.certificate:
        try:
            context.load_verify_locations(server.certificate)
        except (OSError, ssl.SSLError) as error:
            raise ApiError(f"{server.certificate} cannot be read as certificates in PEM: {error}") from error
    return context


def _unreachable(server: Server, error: aiohttp.ClientError | TimeoutError) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        right = "give its file by --ca or WEBDATA_CA, such as .webdata/tls/cert.pem"
        return f"the certificate of {server.url} is not trusted: {right}"
    return f"{server.url} does not answer ({error}): give its address by --url or WEBDATA_URL"


async def _problem(response: aiohttp.ClientResponse) -> str:
    try:
        problem = await response.json(content_type=None)
        message, detail = str(problem["error"]["message"]), problem["detail"]
    except (ValueError, KeyError, TypeError, aiohttp.ClientError):
        return _foreign(response)
    further = [str(row["msg"]) for row in detail[1:20]] if isinstance(detail, list) else []
    return "\n".join([message, *further])


def _foreign(response: aiohttp.ClientResponse) -> str:
    return f"{response.url} answered {response.status} {response.reason}, which is no answer of webdata's"
