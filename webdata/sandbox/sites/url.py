"""The web: an invented page for every host that no other site serves.

The example hosts of RFC 2606 (`example.com`, `example.org`, `example.net` and their subdomains, `*.example`, `*.test`)
serve the trials, pages that each test how a client handles a reply; http://example.com/ lists them. Any other path or
host is an article that states that it is invented. IP addresses and names without a dot have no site.
"""

import re

from webdata.sandbox.exchange import HTML, Reply, SandboxRequest
from webdata.sandbox.sites import (
    _web_compressed,
    _web_encodings,
    _web_files,
    _web_redirects,
    _web_transfers,
    _web_traps,
)
from webdata.sandbox.sites._web_pages import TEMPLATE, Trial, article
from webdata.sandbox.templates import blocks, joined

HOSTS = ("*.*[a-z]",)

EXAMPLES = re.compile(r"(?:.+\.)?(?:example\.(?:com|org|net)|example|test)")
INDEXES = re.compile(r"(?:www\.)?example\.(?:com|org|net)")


def index(_request: SandboxRequest) -> Reply:
    """The list of all trials with their descriptions."""
    block = blocks(TEMPLATE)
    rows = joined(block["row"].fill(path=trial.path, what=trial.description) for trial in TRIALS)
    return Reply(200, HTML, block["index"].fill(rows=rows).encode())


TRIALS = (
    Trial("/article", "an article with headings, lists, a table, code, a picture, a note, and all around it", article),
    *_web_encodings.TRIALS,
    *_web_compressed.TRIALS,
    *_web_redirects.TRIALS,
    *_web_transfers.TRIALS,
    *_web_files.TRIALS,
    *_web_traps.TRIALS,
)
BY_PATH = {trial.path: trial.answer for trial in TRIALS}


def answer(request: SandboxRequest) -> Reply:
    """The trial at the path, the index, or an article."""
    if not EXAMPLES.fullmatch(request.host):
        return article(request)
    if request.path == "/" and INDEXES.fullmatch(request.host):
        return index(request)
    return BY_PATH.get(request.path, article)(request)
