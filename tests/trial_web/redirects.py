"""Redirects and refreshes in unusual notations, and a redirect that sets a cookie and requires it."""

from functools import partial
from html import escape

from webdata.runtime.wire.exchange import HTML, SandboxRequest, SiteReply, redirect
from webdata.sandbox.sites.url import Trial, constant, small_page

COOKIE = "sandbox-visitor"

LOCATIONS = {
    "relative": ("a relative address", "../../files/../article"),
    "scheme-less": ("an address without a scheme, to another host", "//example.org/article"),
    "https": ("to https", "https://example.com/article"),
    "http": ("to http", "http://example.com/article"),
    "host": ("to another host", "http://www.harbour.example/article"),
    "spaces": ("an address with spaces and letters beyond ASCII", "/an article/caf\u00e9"),
    "latin-1": ("an address with bytes that are not UTF-8", "/caf\udce9"),
    "query": ("a query alone", "?to=article"),
    "fragment": ("an address with a fragment", "/article#findings"),
    "empty": ("an empty address", ""),
    "self": ("to itself, without end", "/redirect/to/self"),
}
REFRESHES = {
    "at-once": ("after 0 seconds", "0; url=/article"),
    "quoted": ("with quotes around the address", "0; URL='/article'"),
    "bare": ("without the word url", "0;/article"),
    "comma": ("with a comma and spaces", " 0 , url = /article "),
    "seconds": ("after 5 seconds", "5; url=/article"),
    "minutes": ("after 10 minutes: a page to be read", "600; url=/article"),
    "same": ("without an address: the page anew", "300"),
    "loop": ("to itself, without end", "0; url=/refresh/loop"),
    "host": ("to another host", "0; url=http://www.harbour.example/article"),
}


def refresh(content: str) -> SiteReply:
    """A page with a meta refresh."""
    head = f'</title><meta http-equiv="refresh" content="{escape(content)}">'
    return SiteReply(200, HTML, small_page("Moved", "You will be taken along.").replace(b"</title>", head.encode()))


def refresh_chain(refreshes, _request: SandboxRequest) -> SiteReply:
    """The page with so many refreshes to the article."""
    return refresh(f"0; url=/refresh/chain/{refreshes - 1}" if refreshes > 1 else "0; url=/article")


def give_cookie(_request: SandboxRequest) -> SiteReply:
    """The redirect that sets the cookie."""
    return redirect("/cookie/check", headers=(("Set-Cookie", f"{COOKIE}=yes; Path=/"),))


def check_cookie(request: SandboxRequest) -> SiteReply:
    """The page for a request with the cookie, else the redirect to where it is set."""
    if request.cookies.get(COOKIE) == "yes":
        return SiteReply(200, HTML, small_page("The cookie came back", "Whoever reads this keeps cookies."))
    return redirect("/cookie")


TRIALS = (
    *(
        Trial(f"/redirect/to/{name}", f"a redirect: {text}", constant(redirect(to)))
        for name, (text, to) in LOCATIONS.items()
    ),
    Trial(
        "/redirect/to/nowhere",
        "302 without a Location",
        constant(SiteReply(302, HTML, small_page("Found", "But where?"))),
    ),
    *(
        Trial(f"/refresh/{name}", f"meta refresh {text}", constant(refresh(content)))
        for name, (text, content) in REFRESHES.items()
    ),
    *(Trial(f"/refresh/chain/{n}", f"{n} refreshes", partial(refresh_chain, n)) for n in range(1, 12)),
    Trial(
        "/refresh/header",
        "a Refresh header",
        constant(SiteReply(200, (*HTML, ("Refresh", "0; url=/article")), small_page("Moved", "On."))),
    ),
    Trial("/cookie", "a cookie on a redirect, which must come back", give_cookie),
    Trial("/cookie/check", "the page for those who bring it", check_cookie),
)
