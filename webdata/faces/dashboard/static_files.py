"""The dashboard's style sheet and script. Their addresses hold a hash of their content, so browsers keep them."""

import hashlib
from functools import cache
from importlib.resources import files

from webdata.accounts.access.invitations import DASHBOARD
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply

CONTENT_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
RULE = "/static/<digest>/<name>"
HASH_DIGITS = 16


def address(name: str) -> str:
    """The path of a file, such as `dashboard.css`."""
    return f"{DASHBOARD}/static/{_files()[name].headers['etag'].strip(chr(34))}/{name}"


def file_reply(incoming: Incoming, digest: str, name: str) -> Reply | None:
    """A file; 304 without its content for a browser that has it; None where there is no such file."""
    reply = _files().get(name)
    if reply is None or reply.headers["etag"] != f'"{digest}"':
        return None
    if incoming.header("if-none-match") == reply.headers["etag"]:
        return Reply(304, b"", {name: reply.headers[name] for name in ("etag", "cache-control")})
    return reply


@cache
def _files() -> dict[str, Reply]:
    found = [file for file in files(__package__).joinpath("static").iterdir() if not file.name.startswith(".")]
    return {file.name: _reply(file.name, file.read_bytes()) for file in found}


def _reply(name: str, content: bytes) -> Reply:
    headers = {
        "content-type": CONTENT_TYPES[name.rpartition(".")[2]],
        "cache-control": "public, max-age=31536000, immutable",
        "etag": f'"{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}"',
        "cross-origin-resource-policy": "same-origin",
    }
    return Reply(200, content, headers)
