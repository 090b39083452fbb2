"""Pages that lead to forbidden addresses, and one with a challenge's widget that is no block page."""

from functools import partial

from webdata.runtime.wire.exchange import HTML, SandboxRequest, SiteReply, redirect
from webdata.sandbox.sites.url import Trial, article, constant, small_page

from .redirects import refresh

TARGETS = {
    "loopback": "http://127.0.0.1/",
    "port": "http://127.0.0.1:8080/",
    "loopback-ipv6": "http://[::1]/",
    "localhost": "http://localhost/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "private": "http://10.0.0.1/",
    "decimal": "http://2130706433/",
    "hexadecimal": "http://0x7f.1/",
    "mapped": "http://[::ffff:127.0.0.1]/",
    "user": "http://example.com@127.0.0.1/",
    "file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:70/_sandbox",
    "ftp": "ftp://127.0.0.1/",
    "data": "data:text/html,<h1>data</h1>",
    "script": "javascript:alert(1)",
}
"""URLs that a client must not request, by name."""

SUBRESOURCES = """<link rel="stylesheet" href="TARGETstyle.css">
<link rel="preload" href="TARGETfont" as="fetch">
<link rel="dns-prefetch" href="TARGET">
<img src="TARGETimage" alt="an image">
<script src="TARGETscript"></script>
<iframe src="TARGETframe"></iframe>
<form id="form" method="post" action="TARGETform" target="frame"></form><iframe name="frame"></iframe>
<script>
const target = "TARGET";
fetch(target + "fetch", {mode: "no-cors"}).catch(() => {});
const request = new XMLHttpRequest(); request.open("GET", target + "xhr"); request.send();
try { new WebSocket(target.replace("http", "ws") + "socket"); } catch (error) { document.title = "no socket"; }
new EventSource(target + "events");
navigator.sendBeacon(target + "beacon", "a=1");
window.open(target + "window");
document.getElementById("form").submit();
</script>
</main>"""
WIDGET = (
    b'<form action="/article"><label>Newsletter <input name="email"></label>'
    b'<div class="cf-turnstile" data-sitekey="sandbox"></div><input type="hidden" name="cf-turnstile-response">'
    b'<script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async></script>'
    b"<button>Subscribe</button></form></article>"
)


def subresources(target: str, _request: SandboxRequest) -> SiteReply:
    """A page whose pictures, scripts, frames and forms have a target as their URL."""
    page = small_page("Subresources", "Whoever loads them goes astray.")
    return SiteReply(200, HTML, page.replace(b"</main>", SUBRESOURCES.replace("TARGET", target).encode()))


def with_widget(request: SandboxRequest) -> SiteReply:
    """An article with a challenge's widget in a form, which is no block page."""
    return SiteReply(200, HTML, article(request).body.replace(b"</article>", WIDGET))


TRIALS = (
    *(Trial(f"/trap/redirect/{name}", f"a redirect to {to}", constant(redirect(to))) for name, to in TARGETS.items()),
    *(
        Trial(f"/trap/refresh/{name}", f"a refresh to {to}", constant(refresh(f"0; url={to}")))
        for name, to in TARGETS.items()
    ),
    Trial(
        "/trap/chain",
        "a redirect to another host, and from there to loopback",
        constant(redirect("http://example.org/trap/redirect/loopback")),
    ),
    Trial(
        "/trap/page",
        "a page whose subresources and scripts aim at loopback",
        partial(subresources, "http://127.0.0.1/"),
    ),
    Trial("/trap/page/port", "the same, at port 8080", partial(subresources, "http://127.0.0.1:8080/")),
    Trial("/challenge/widget", "an article whose form has a challenge's widget: no obstacle", with_widget),
)
