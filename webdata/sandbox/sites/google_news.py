"""Google News: the feed of a search, the pages of its articles, and the call that tells where they lead.

Scenarios of its own, beside those that every site has:

| word | what happens |
|---|---|
| `sandbox:unsupported` | the feed that says that there is none |
| `sandbox:old_links` | links as before July 2024, which hold the publishers' addresses |
| `sandbox:links_limited` | the feed comes, its articles are 429 |
| `sandbox:links_consent` | the feed comes, its articles are the consent page |
| `sandbox:links_down` | the feed comes, connections for its articles break |
| `sandbox:links_slow` | the feed comes, its articles after 5 seconds; `sandbox:links_slow=SECONDS` |

`sandbox:slow` holds for the feed and for all that is needed for its links.
"""

import json
from http import HTTPStatus
from typing import Any

from webdata.sandbox.exchange import HTML, Handler, Headers, Reply, SandboxRequest, redirect
from webdata.sandbox.scenarios import apply_scenarios, scenarios
from webdata.sandbox.sites import _google_interstitials as interstitials
from webdata.sandbox.sites import _news_ids
from webdata.sandbox.sites._news_feed import FILE, SITE, Search, apology, feed
from webdata.sandbox.templates import blocks

HOSTS = ("news.google.com",)

XML: Headers = (("Content-Type", "application/xml; charset=UTF-8"),)
JSON: Headers = (("Content-Type", "application/json; charset=UTF-8"),)
GUARD = ")]}'\n\n"
CALL = "Fbv4je"
CALL_PATH = "/_/DotsSplashUi/data/batchexecute"
ARTICLE_FOLDERS = ("/rss/articles/", "/articles/", "/read/")
OF_LINKS = {"links_limited": "limited", "links_consent": "consent", "links_down": "reset", "links_slow": "slow"}
"""What a word for the links is to their articles."""


def answer(request: SandboxRequest) -> Reply:
    """Google News' answer: a feed, an article's page, addresses, or a page of `_google_interstitials`."""
    if request.path == CALL_PATH:
        return _call(request)
    if request.method not in ("GET", "HEAD"):
        return interstitials.error(
            HTTPStatus.METHOD_NOT_ALLOWED, "The request method is inappropriate for this address."
        )
    if request.path.startswith(ARTICLE_FOLDERS):
        return _article(request)
    return PAGES.get(request.path, _missing)(request)


def _found(request: SandboxRequest) -> Reply:
    terms = request.first("q")
    return apply_scenarios(request, terms, _feed, SCENARIOS) if terms.strip() else _missing(request)


def _missing(_request: SandboxRequest) -> Reply:
    return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such page here.")


def _apology(request: SandboxRequest) -> Reply:
    return Reply(200, XML, apology(_search(request)))


def _feed(request: SandboxRequest) -> Reply:
    return Reply(200, XML, feed(_search(request)))


def _empty(request: SandboxRequest) -> Reply:
    return Reply(200, XML, feed(_search(request), entries=0))


def _layout(request: SandboxRequest) -> Reply:
    return Reply(200, HTML, blocks(FILE)["layout"].fill(q=request.first("q")).encode("utf-8", "replace"))


def _unsupported(_request: SandboxRequest) -> Reply:
    return redirect(f"{SITE}/rss/unsupported")


def _search(request: SandboxRequest) -> Search:
    terms = request.first("q")
    asked = scenarios(terms)
    return Search(
        q=terms,
        hl=request.first("hl") or "en-US",
        gl=request.first("gl") or "US",
        ceid=request.first("ceid") or "US:en",
        words=" ".join(_word(one.name, one.number) for one in asked if one.name in OF_LINKS or one.name == "slow"),
        old_links=any(one.name == "old_links" for one in asked),
    )


def _word(name: str, number: float | None) -> str:
    """The scenario of a feed as one of its articles."""
    return f"sandbox:{OF_LINKS.get(name, name)}" + ("" if number is None else f"={number}")


def _article(request: SandboxRequest) -> Reply:
    opened = _news_ids.opened(_id(request))
    if opened is None:
        return interstitials.error(HTTPStatus.NOT_FOUND, "There is no such article here.")
    return apply_scenarios(request, opened[1], _signed, ARTICLE_SCENARIOS)


def _signed(request: SandboxRequest) -> Reply:
    one = _id(request)
    signature = _news_ids.signature(one, _news_ids.TIME)
    page = blocks(FILE)["article"].fill(id=one, time=_news_ids.TIME, signature=signature)
    return Reply(200, HTML, page.encode())


def _id(request: SandboxRequest) -> str:
    return request.path.rpartition("/")[2]


def _call(request: SandboxRequest) -> Reply:
    """The addresses of all signed ids of one call."""
    try:
        asked = [_asked(row) for row in json.loads(request.form["f.req"][0])[0]]
    except (KeyError, IndexError, TypeError, ValueError):
        return interstitials.error(HTTPStatus.BAD_REQUEST, "This is no call.")
    opened = [_news_ids.opened(one) for one, *_ in asked]
    words = next((found[1] for found in opened if found), "")
    return apply_scenarios(request, words, lambda _: _answered(asked, opened), ARTICLE_SCENARIOS)


Asked = tuple[str, int, str, str]


def _asked(row: list[Any]) -> Asked:
    """The id, time, signature and number in `["Fbv4je", '["garturlreq", …, ID, TIME, SIGNATURE]', null, NUMBER]`."""
    one, time, signature = json.loads(row[1])[2:5]
    return str(one), int(time), str(signature), str(row[3])


def _answered(asked: list[Asked], opened: list[tuple[str, str] | None]) -> Reply:
    frames: list[list[Any]] = []
    for (one, time, signature, number), found in zip(asked, opened, strict=True):
        known = found and signature == _news_ids.signature(one, time)
        told = json.dumps(["garturlres", found[0], 1]) if known and found else None
        frames.append(["wrb.fr", CALL, told, None, None, None, number])
    return Reply(200, JSON, (GUARD + json.dumps([*frames, ["di", 12]])).encode())


SCENARIOS: dict[str, Handler] = {
    "captcha": interstitials.captcha(_feed),
    "consent": interstitials.consent(_feed),
    "denied": interstitials.denied,
    "limited": interstitials.limited,
    "error": interstitials.failed,
    "empty": _empty,
    "layout": _layout,
    "unsupported": _unsupported,
    **dict.fromkeys(("old_links", *OF_LINKS), _feed),
}
ARTICLE_SCENARIOS: dict[str, Handler] = {"limited": interstitials.limited, "consent": interstitials.consent(_signed)}
PAGES: dict[str, Handler] = {"/rss/search": _found, "/rss/unsupported": _apology, "/sorry/index": interstitials.sorry}
