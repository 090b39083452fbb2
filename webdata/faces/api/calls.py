"""Calls of resources: those that come by HTTP, and those that another face of the service makes."""

from collections.abc import Callable

from webdata.accounts.access.admission import Admission, CallRequest, CallResult
from webdata.domain.errors import QueryError
from webdata.faces.api.calling import Called
from webdata.faces.api.files import FILES
from webdata.faces.api.problems import logged_problem
from webdata.faces.api.replies import answer_reply
from webdata.runtime.server.replies import JSON, Reply

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
        result = await self._admission.answer(request)
        try:
            return result, self._reply(request, result, wanted_type)
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
            headers["x-file"] = f"{FILES}/{result.file}"
        release = result.share.release if result.share and result.share.bytes_held else None
        return Reply(reply.status, reply.body, headers, release, reply.cached_as)


def _shown(request: CallRequest, result: CallResult) -> Reply | Exception:
    """The reply with the record of a call, or why there is none."""
    if isinstance(result.end, Exception):
        return result.end
    try:
        accept = request.header("accept") or ""
        return answer_reply(request.resource, result.end, result.remarks, result.query, accept)
    except QueryError as error:  # whether a record has the part that was asked for is known with it alone
        return error
