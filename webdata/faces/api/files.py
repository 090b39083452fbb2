"""`GET /v1/files/{id}`: a file of an answer, for some minutes."""

from typing import Annotated

from pydantic import Field

from webdata.accounts.access.files import SECONDS, Files
from webdata.domain.errors import UnknownIdError
from webdata.domain.query import Query
from webdata.faces.api.key_pages import KeyCall, KeyPage, KeyReply
from webdata.resources.terms.page_files import PICTURE_TYPES

FILES = "/v1/files"
UNKNOWN = f"There is no such file: one is kept for {SECONDS / 60:g} minutes, for keys of the account that fetched it."


class FileQuery(Query):
    """A file."""

    id: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9_-]{32}$",
            description="the end of the path in x-file",
            examples=["T2pB0vJc8m4yLq1xWs7hKd3nRf6uZa9e"],
        ),
    ]


class FilePages:
    """The page of the files that are kept."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def pages(self) -> list[KeyPage]:
        """It, as the API declares it."""
        return [
            KeyPage(
                path=f"{FILES}/{{id}}",
                summary="a screenshot that an answer has in x-file",
                query=FileQuery,
                schema={},
                reply=self._file,
                name="file",
                content_types=PICTURE_TYPES,
                scope="url_request",
            )
        ]

    async def _file(self, call: KeyCall) -> KeyReply:
        found = await self._files.find(call.query.id, call.caller.account.id)
        if found is None:
            raise UnknownIdError(UNKNOWN)
        return KeyReply(found.body, {}, found.content_type)
