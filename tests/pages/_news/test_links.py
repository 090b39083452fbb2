"""The replacement of a feed's links by the publishers' addresses."""

from webdata.pages._news import links
from webdata.sandbox.sites import _news_ids

KILN, GLAZE = "https://clay.example/kiln?a=1&b=2", "https://clay.example/glaze"
OLD, NEW, OTHER = _news_ids.legacy_id(KILN), _news_ids.opaque_id(GLAZE, ""), _news_ids.opaque_id(KILN, "")


def redirect(one: str) -> str:
    return f"https://news.google.com/rss/articles/{one}?oc=5"


def page(*ids: str, clusters: tuple[str, ...] = ()):
    entries = [
        {
            "title": "Kiln Lane - Clay Weekly",
            "link": redirect(one),
            "links": [{"rel": "alternate", "href": redirect(one)}, {"rel": "self"}],
            "summary": f'<a href="{redirect(one)}">Kiln</a> <a href="{redirect(one)}&amp;x=1">href="</a>',
            "summary_detail": {"type": "text/html", "value": f'<a href="{redirect(one)}">Kiln</a>'},
            "content": [{"type": "text/html", "value": f'<a href="{redirect(one)}">Kiln</a>'}],
            "sub_articles": [{"url": redirect(more), "title": "Kiln", "publisher": "Clay"} for more in clusters],
        }
        for one in ids
    ]
    return {"feed": {"title": "news", "entries": entries}, "entries": entries, "entities": []}


def test_unresolved_ids_are_distinct_and_those_of_entries_first():
    """The ids of entries are before those of clusters."""
    assert links.unresolved(page(NEW, OTHER, NEW, clusters=(OLD, NEW))) == [NEW, OTHER, OLD]


def test_every_link_is_rewritten():
    """The link, the list of links, all HTML and the cluster have the publisher's address."""
    found = links.resolved(page(OLD, clusters=(NEW,)), {NEW: GLAZE})
    (entry,) = found["entries"]
    assert (entry["link"], entry["aggregator_link"], entry["link_resolved"]) == (KILN, redirect(OLD), True)
    assert entry["links"] == [{"rel": "alternate", "href": KILN}, {"rel": "self"}]
    escaped = "https://clay.example/kiln?a=1&amp;b=2"
    assert entry["summary"] == f'<a href="{escaped}">Kiln</a> <a href="{escaped}">href="</a>'
    assert entry["summary_detail"]["value"] == entry["content"][0]["value"] == f'<a href="{escaped}">Kiln</a>'
    (article,) = entry["sub_articles"]
    assert (article["url"], article["aggregator_link"], article["link_resolved"]) == (GLAZE, redirect(NEW), True)
    assert (found["links_resolved"], found["feed"]["entries"]) == (1, found["entries"])


def test_a_link_of_unknown_address_is_unchanged():
    """Such a link is the same in every field, and `link_resolved` is false."""
    given = page(NEW)
    found = links.resolved(given, {})
    (entry,) = found["entries"]
    assert (entry["link"], entry["aggregator_link"], entry["link_resolved"]) == (redirect(NEW), redirect(NEW), False)
    assert (entry["summary"], entry["links"]) == (given["entries"][0]["summary"], given["entries"][0]["links"])
    assert found["links_resolved"] == 0


def test_a_page_can_be_resolved_again():
    """A second pass resolves further links; `aggregator_link` is the same after both."""
    once = links.resolved(page(OLD, NEW), {})
    assert (once["links_resolved"], links.unresolved(once)) == (1, [NEW])
    twice = links.resolved(once, {NEW: GLAZE})
    assert [entry["link"] for entry in twice["entries"]] == [KILN, GLAZE]
    assert [entry["aggregator_link"] for entry in twice["entries"]] == [redirect(OLD), redirect(NEW)]
    assert twice["links_resolved"] == 2
    assert GLAZE in twice["entries"][1]["summary"]


def test_resolving_does_not_change_its_argument():
    """Resolving returns a new page."""
    given = page(OLD)
    links.resolved(given, {})
    assert given == page(OLD)
