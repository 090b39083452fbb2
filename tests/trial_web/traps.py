"""Pages that lead to forbidden addresses, and the block pages of firewalls."""

from functools import partial

from webdata.sandbox.exchange import HTML, Headers, Reply, SandboxRequest, redirect
from webdata.sandbox.sites._web_pages import TEMPLATE, Trial, article_markup, constant, small_page
from webdata.sandbox.sites._web_redirects import refresh
from webdata.sandbox.templates import blocks

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
PROTECTED: dict[str, tuple[str, int, Headers]] = {
    "cloudflare": ("Cloudflare's challenge", 403, (("Server", "cloudflare"), ("cf-mitigated", "challenge"))),
    "cloudflare_denial": ("Cloudflare's refusal", 403, (("Server", "cloudflare"), ("cf-ray", "5a4db0c5a4db0c5a-AMS"))),
    "datadome": ("DataDome's captcha", 403, (("x-datadome", "protected"), ("x-dd-b", "1"))),
    "akamai": ("Akamai's refusal", 403, (("Server", "AkamaiGHost"),)),
}
"""By block of the template: a description, the status and the headers."""


def subresources(target: str, _request: SandboxRequest) -> Reply:
    """A page whose pictures, scripts, frames and forms have a target as their URL."""
    more = blocks(TEMPLATE)["subresources"].fill(target=target)
    return Reply(200, HTML, small_page("Subresources", "Whoever loads them goes astray.", more=more))


def protected(name: str, request: SandboxRequest) -> Reply:
    """A firewall's block page."""
    _, status, headers = PROTECTED[name]
    return Reply(status, (*HTML, *headers), blocks(TEMPLATE)[name].fill(host=request.host).encode())


def with_widget(request: SandboxRequest) -> Reply:
    """An article with a challenge's widget in a form, which is no block page."""
    form = blocks(TEMPLATE)["turnstile"].fill()
    return Reply(200, HTML, article_markup(request.url).replace("</article>", f"{form}</article>").encode())


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
    *(
        Trial(f"/challenge/{name.replace('_', '-')}", text, partial(protected, name))
        for name, (text, _, _) in PROTECTED.items()
    ),
    Trial("/challenge/widget", "an article whose form has a challenge's widget: no obstacle", with_widget),
)
