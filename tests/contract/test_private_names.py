"""What the product uses of the private names of libraries, and what breaks when a release changes them."""

import ast
import importlib
import inspect
import re
import textwrap
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "webdata"
WITHOUT_PRIVATE_NAMES = {"enum", "typing", "abc", "builtins"}
"""Modules whose classes are made to be extended by names with an underscore, or by none."""
DOCUMENTED = {"_asdict"}
"""Names with an underscore that belong to a library's public interface."""
PRIVATE_NAMES = [
    (
        "runtime.server.site",
        "Twisted, twisted.web.http.HTTPChannel and twisted.internet.abstract.FileDescriptor",
        (
            "_buffer _busyReceiving _command _failChooseTransferDecoder _finishRequestBody _maybeChooseTransferDecoder "
            "_networkProducer _path _receivedHeaderCount _receivedHeaderSize _requestProducer _tempDataLen "
            "_respondToBadRequestAndDisconnect _transferDecoder _version _waitingForTransport"
        ),
        "refusing a malformed or an overlong request with a problem, and pausing a client that does not read",
    ),
    (
        "runtime.server.plain_http",
        "Twisted, HTTPChannel",
        "_command _path _respondToBadRequestAndDisconnect",
        "sending a request without TLS on to https",
    ),
    (
        "runtime.server.chunks",
        "Twisted, _ChunkedTransferDecoder",
        (
            "_ChunkedTransferDecoder _MalformedChunkedDataError _buffer _dataReceived_CHUNK_LENGTH "
            "_dataReceived_TRAILER _start"
        ),
        "bounds on the extensions and trailers of a chunked request",
    ),
    ("runtime.server.replies", "Twisted, Headers", "_rawHeaders", "writing the headers of a reply at once"),
    ("runtime.archives.reader", "warcio, DecompressingBufferedReader", "_decompress", "reading others' archives"),
    ("downloadermiddlewares.cookies", "Scrapy, its cookies middleware", "_split_domain", "public suffixes offline"),
    (
        "fetching.transports.http",
        "Scrapy, the HTTP/1 download handler; Twisted, twisted.web._newclient",
        (
            "_ChunkedTransferDecoder _LenientHTTP11ClientFactory _LenientHTTP11ClientProtocol _LenientHTTPClientParser "
            "_MalformedChunkedDataError _ScrapyAgent _bind_address _bodyProtocol _buffer _bytes_received _cb_bodyready "
            "_contextFactory _crawler _createConnection _dataReceived_CHUNK_LENGTH _default_maxsize _default_warnsize "
            "_download_handlers _factory _fail_on_dataloss _giveUp _newclient _parser _pool _producer "
            "_quiescentCallback _start"
        ),
        "bounds on headers, chunks and bodies of a site, the share of bytes by account, and one TLS context for all",
    ),
    (
        "fetching.transports.proxy_tunnel",
        "Scrapy, the agents of the HTTP/1 download handler; Twisted, Agent",
        "_ScrapyProxyAgent _TunnelingAgent _contextFactory _download_handlers _getEndpoint _get_agent _pool",
        "requests through proxies that speak TLS, with credentials and bounds of our own",
    ),
    (
        "fetching.transports.impersonate",
        "Scrapy, the errors of download handlers; scrapy-impersonate, its handler",
        "_download_handlers _download_request",
        "the bounds on a response that libcurl reads",
    ),
    (
        "fetching.transports.handler",
        "Scrapy, the HTTP/1 download handler; Twisted, HTTPConnectionPool",
        "_contextFactory _download_handlers _pool",
        "connecting to addresses alone that the egress rule has allowed",
    ),
    ("fetching.transports.browser.handler", "Scrapy, the errors of download handlers", "_download_handlers", "errors"),
    (
        "fetching.transports.browser.process",
        "Playwright, the pipe to its driver",
        "_proc",
        "a bound on what the script of a page makes the driver send",
    ),
    (
        "fetching.connection_pool",
        "Twisted, HTTPConnectionPool",
        "_connections _putConnection _removeConnection _timeouts",
        "a bound on the idle connections to all hosts together",
    ),
    ("fetching.egress.connect", "Twisted, HTTPConnectionPool", "_reactor", "connecting to allowed addresses alone"),
    ("observability.logs", "Python, logging", "_srcfile", "logging without a look at the stack"),
    (
        "crawling.engine_loader",
        "Scrapy, SpiderLoader",
        "_check_name_duplicates _load_all_spiders _load_spiders _spiders",
        "loading the engines once for all crawlers",
    ),
    ("crawling.jobs.feeds", "Scrapy, FeedExporter", "_close_slot", "feeds that are continued after a kill"),
    ("crawling.jobs.crawl", "Scrapy, CrawlerProcess", "_create_crawler", "a crawler that knows its file of queries"),
    ("pages._url.feeds", "lxml", "_Element", "the type of an element, for the type checker alone"),
    ("pages._news.items", "lxml", "_Element", "the type of an element, for the type checker alone"),
]
"""By module of the product: whose private names it uses, which, and what breaks when a release changes them."""


@pytest.mark.slow
@pytest.mark.usefixtures("starts")  # to import a module of the browser does
def test_the_private_names_of_libraries_are_listed():
    """Each private name of a library that a module uses stands in its line, which says what breaks, and no other."""
    found = {module.name: sorted(private_names(module) - DOCUMENTED) for module in modules()}
    listed = {module: sorted(names.split()) for module, _, names, _ in PRIVATE_NAMES}
    assert {module: names for module, names in found.items() if names} == listed


class ProductModule:
    """A module of the product: its dotted name, and its syntax tree."""

    def __init__(self, path):
        self.name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        self.tree = ast.parse(path.read_text(encoding="utf-8"))

    @property
    def classes(self):
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.bases]


@cache
def modules():
    paths = (path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts and path.stem != "__init__")
    return [ProductModule(path) for path in paths]


def private_names(module):
    """The names of other packages that begin with an underscore: imported, read, or defined anew by a class."""
    nodes = list(ast.walk(module.tree))
    imported = {name for node in nodes if isinstance(node, ast.ImportFrom) for name in _imported(node)}
    foreign = {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_foreign(node)}
    return imported | foreign | {name for node in module.classes for name in _inherited(module, node)}


def _imported(node):
    if node.module.startswith("webdata"):
        return []
    names = [alias.name for alias in node.names if is_private(alias.name)]
    return [*names, *(part for part in node.module.split(".") if is_private(part))]


def _is_foreign(node):
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return is_private(node.attr) and not own and not _is_super(node.value) and node.attr not in own_names()


def _is_super(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


@cache
def own_names():
    """Private names that the product's own classes and modules define."""
    nodes = [node for module in modules() for node in ast.walk(module.tree)]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return defined | stored | {node.attr for node in nodes if _is_stored_by_self(node)}


def _is_stored_by_self(node):
    stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    return stored and isinstance(node.value, ast.Name) and node.value.id == "self"


def _inherited(module, node):
    """Private names of the classes of other packages that a class of the product extends."""
    made = getattr(importlib.import_module(f"webdata.{module.name}"), node.name)
    bases = [
        base for base in made.__mro__ if base.__module__.partition(".")[0] not in {"webdata", *WITHOUT_PRIVATE_NAMES}
    ]
    theirs = {name for base in bases for name in _names_of(base)}
    used = {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute) and _of_self(child)}
    defined = {child.name for child in node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)}
    return {name for name in used | defined if is_private(name)} & theirs


def _of_self(node):
    return (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")) or _is_super(node.value)


@cache
def _names_of(base):
    try:
        source = textwrap.dedent(inspect.getsource(base))
    except (OSError, TypeError):  # it is written in C
        return frozenset()
    return frozenset(re.findall(r"(?:self\.|def )(_[A-Za-z]\w*)", source))


def is_private(name):
    return name.startswith("_") and not name.startswith("__")
