"""`GET /v1/files/{id}`: a file of an answer, for some minutes."""

from collections.abc import Mapping
from typing import Annotated

from webdata.accounts.access.files import SECONDS, Files
from webdata.domain.errors import UnknownIdError
from webdata.domain.query import Query
from webdata.domain.shapes import described
from webdata.faces.api.key_pages import KeyCall, KeyPage, KeyReply
from webdata.resources.terms.page_files import PICTURE_TYPES

FILES = "/v1/files"
UNKNOWN = f"There is no such file: one is kept for {SECONDS / 60:g} minutes."


class FileQuery(Query):
    """A file."""

    id: Annotated[
        str, described("the end of the path in x-file", "7d793037a0760186574b0282f2f435e7", pattern=r"^[0-9a-f]{32}$")
    ]


def file_page(files: Files) -> KeyPage:
    """The page of the files that are kept."""

    async def found(segments: Mapping[str, str]) -> KeyReply | None:
        file = await files.find(segments["id"])
        return file and KeyReply(file.body, {}, file.content_type)

    async def unknown(_call: KeyCall) -> KeyReply:
        raise UnknownIdError(UNKNOWN)

    return KeyPage(
        path=f"{FILES}/{{id}}",
        summary="a screenshot that an answer has in x-file",
        query=FileQuery,
        record=str,
        reply=unknown,
        linked=found,
        name="file",
        content_types=PICTURE_TYPES,
        scope="url_request",
    )
