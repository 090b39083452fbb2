"""The sandbox's stand-ins of upstream APIs on loopback, as an operator's upstreams, and how they fail."""

import re
import threading
from base64 import b64encode
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from time import sleep
from urllib.parse import quote
from zlib import crc32

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply
from webdata.sandbox.sites._upstream_apis import KEY

SECRET = "sk-operators-own-0123456789"
"""A part of the key of each upstream, which nothing that the service writes or answers may have."""
SENT_FORMS = (SECRET.encode(), *(b64encode(f"{'x' * skipped}{SECRET}".encode())[4:-4] for skipped in range(3)))
"""The part as it is, and within base64, whatever stands before it."""
RESOURCES = {
    "brave": ("search", "image", "video", "news"),
    "dataforseo": ("search", "image", "news"),
    "searxng": ("search", "image", "video", "news"),
    "serpapi": ("search", "image", "video", "news", "scholar"),
    "serper": ("search", "image", "video", "news", "scholar"),
    "webdata": ("search", "image", "video", "news"),
}
"""The endpoints of each kind that are tried."""
OUTCOMES = {
    **dict.fromkeys(("error", "denied", "key", "spent", "limited", "html", "garbage"), "upstream"),
    **dict.fromkeys(("reset", "truncated", "stall", "elsewhere"), "upstream"),
    "layout": "layout",
    "empty": "empty",
    "type": "ok",
    "none": "ok",
}
"""The outcome of an attempt that fails so: the wrong type alone is no failure.

`stall` and `elsewhere` are of these stand-ins, the others the sandbox's.
"""
STALL_SECONDS = 6
TERMS = re.compile(r"tea\d+")


@dataclass(frozen=True)
class LoopbackApi:
    """An upstream: its kind, and how it fails for about half of all terms; the failure `none` never happens."""

    kind: str
    failure: str

    @property
    def name(self):
        return f"{self.kind}_{self.failure}"

    @property
    def key(self):
        login = "login:" if self.kind == "dataforseo" else ""
        return f"{login}{SECRET}-{self.name}"

    def fails(self, terms):
        return self.failure != "none" and crc32(f"{self.name} {terms}".encode()) % 2 == 0

    def outcome(self, terms):
        return OUTCOMES[self.failure if self.fails(terms) else "none"]

    def settings(self, url, **more):
        return {"kind": self.kind, "url": f"{url}/{self.name}", "key": self.key, **more}

    def with_sandbox_key(self, text):
        """A text of a request with the key that the sandbox takes."""
        forms = {self.key: KEY, quote(self.key, safe=""): KEY, coded(self.key): coded(KEY)}
        for own, other in forms.items():
            text = text.replace(own, other)
        return text


def coded(text):
    return b64encode(text.encode()).decode()


class Handler(BaseHTTPRequestHandler):
    """Passes requests for `/NAME/…` on to the sandbox's site of its kind; each reply repeats the key."""

    protocol_version = "HTTP/1.1"

    def handle(self):
        with suppress(ConnectionError):  # the caller of a stall has gone
            super().handle()

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        name, _, target = self.path[1:].partition("/")
        upstream, terms = self.server.upstreams[name], TERMS.search(f"{self.path} {body}")[0]
        self.server.sent[name, terms] += 1
        self.send(self.reply(upstream, terms, f"/{target}", body), upstream.key)

    do_POST = do_GET  # noqa: N815  # the name that the server looks for

    def reply(self, upstream, terms, target, body):
        word = upstream.failure if upstream.fails(terms) else ""
        if word == "stall":
            sleep(STALL_SECONDS)
        elif word == "elsewhere":
            return SiteReply(302, (("Location", f"{self.server.url}/trap?key={upstream.key}"),))
        elif word:
            target = target.replace(terms, f"{terms}%20sandbox%3A{word}")
            body = body.replace(terms, f"{terms} sandbox:{word}")
        headers = {name.lower(): upstream.with_sandbox_key(value) for name, value in self.headers.items()}
        target = upstream.with_sandbox_key(target)
        request = SandboxRequest(self.command, "http", upstream.kind, target, headers, body.encode())
        return import_module(f"webdata.sandbox.sites.{upstream.kind}").answer(request)

    def send(self, reply, key):
        self.close_connection = reply.reset or reply.cut is not None
        if reply.reset:
            return
        body = reply.body.replace(b'"title":"', f'"title":"{key} '.encode())
        body += b"" if body.endswith(b"}") and reply.status == 200 else key.encode()
        self.send_response(reply.status)
        for name, value in (*reply.headers, ("X-Debug", key), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if reply.cut is None else body[: reply.cut])

    def log_message(self, *_):
        pass


@contextmanager
def loopback_apis(upstreams):
    """A server of these upstreams, with its `url` and the number of requests that were `sent`, by name and terms."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.sent = True, Counter()
    server.upstreams, server.url = {one.name: one for one in upstreams}, f"http://127.0.0.1:{server.server_port}"
    with served(server):
        yield server


@contextmanager
def served(server):
    """Runs a server in a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
