"""Calls of resources: those that come by HTTP, and those that another face of the service makes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from webdata.accounts.access.admission import Admission, CallRequest, CallResult
from webdata.accounts.access.answer_archive import NO_RECORD, ArchivedCall, NotArchivedError
from webdata.domain.errors import QueryError
from webdata.faces.api.calling import Called
from webdata.faces.api.files import FILES
from webdata.faces.api.problems import logged_problem
from webdata.faces.api.replies import answer_reply, archive_headers
from webdata.faces.api.result_pages import with_pages
from webdata.faces.api.side_calls import account_headers
from webdata.runtime.server.replies import JSON, Reply

OK = 200
FILE_HEADER = "x-file"
Observer = Callable[[str, str], None]
"""Called after each reply of a resource: with the resource's name, and `ok` or the code of the error."""


class ApiCalls:
    """Runs calls, and makes their replies."""

    def __init__(self, admission: Admission, observer: Observer | None = None) -> None:
        self._admission = admission
        self._observe = observer

    async def called(self, request: CallRequest) -> Called:
        """A call of another face, in which all is as by HTTP but where its key comes from."""
        result, reply = await self.answered(request, JSON)
        return Called(result, reply.status, reply.headers, reply.body)

    async def answered(self, request: CallRequest, wanted_type: str) -> tuple[CallResult, Reply]:
        """Run a call, and make its reply, with an error as JSON or PROBLEM_JSON.

        What the call holds is released when the reply is read.
        """
        ends = monotonic() + self._admission.deadline
        result = await self._admission.answer(request)
        try:
            result, pages = await with_pages(self, request, result, ends - monotonic())
            reply = self._reply(request, result, wanted_type)
            if result.archived_days:
                reply = reply.with_headers(await self._archived(request, result, reply))
            return result, _with_pages_paid(result, reply, pages) if pages else reply
        except BaseException:
            if result.share:
                result.share.release()
            raise

    def _reply(self, request: CallRequest, result: CallResult, wanted_type: str) -> Reply:
        shown = _shown(request, result)
        if isinstance(shown, Exception):
            problem = logged_problem(shown, request.id, request.resource)
            reply, code = problem.reply(request.id, wanted_type), problem.code
        else:
            reply, code = shown, "ok"
        if self._observe:
            self._observe(request.resource.name, code)
        headers = {**(result.status.headers() if result.status else {}), **reply.headers}
        if result.file:
            headers[FILE_HEADER] = f"{FILES}/{result.file}"
        release = result.share.release if result.share and result.share.bytes_held else None
        return Reply(reply.status, reply.body, headers, release, reply.cached_as)

    async def _archived(self, request: CallRequest, result: CallResult, reply: Reply) -> dict[str, str]:
        """Archive an answer; returns the headers that say so, or why it is not."""
        archive = self._admission.archive
        assert archive, "it has days"
        try:
            if isinstance(result.end, Exception) or reply.status != OK:
                raise NotArchivedError(NO_RECORD)
            assert result.status, "it has an answer"
            assert result.query, "it has an answer"
            caller, days = result.status.caller, result.archived_days
            call = ArchivedCall(request.id, caller.account, caller.key, request.resource.name, result.query, days)
            of_caller = {*result.status.headers(), FILE_HEADER}
            headers = {name: value for name, value in reply.headers.items() if name not in of_caller}
            answer = await archive.add(call, result.end, reply.body, headers)
        except NotArchivedError as error:
            return {"x-not-archived": str(error)}
        return archive_headers(answer)


def _with_pages_paid(result: CallResult, reply: Reply, pages: Sequence[Called]) -> Reply:
    """The reply to a search with pages, whose headers are about all of its calls. It is not sent again."""
    made = [Called(result, reply.status, reply.headers, reply.body), *pages]
    return replace(reply.with_headers(account_headers(made)), cached_as=None)


def _shown(request: CallRequest, result: CallResult) -> Reply | Exception:
    """The reply with the record of a call, or why there is none."""
    if isinstance(result.end, Exception):
        return result.end
    try:
        accept = request.header("accept") or ""
        return answer_reply(request.resource, result.end, result.remarks, result.query, accept)
    except QueryError as error:  # whether a record has the part that was asked for is known with it alone
        return error
