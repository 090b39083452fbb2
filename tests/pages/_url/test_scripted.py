"""Text that only a page's scripts hold: JSON-LD, and the data that scripts would show."""

import json
import time

import pytest

from webdata.pages._url.scripted import holds_text
from webdata.pages.url import needs_scripts, page

URL = "https://site.example.org/a/page.html"
BODY = "The bees of the valley fly from one tree to the next, and carry the pollen of each to all the others. "
SHELL = "<!doctype html><title>Bees</title><script src=a.js></script><div id=root></div>"
NAV = "".join(f"<a href=/{name}>{name}</a> " for name in ("Home", "Products", "About us", "Contact"))


def as_json_ld(**item):
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **item})}</script>'


def as_data(value, name="__NEXT_DATA__"):
    text = json.dumps(value).replace("<", "\\u003c")
    return f'{SHELL}<script id="{name}" type="application/json">{text}</script>'


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"@type": "NewsArticle", "articleBody": f"{BODY * 2}\n{BODY}"}, f"{(BODY * 2).strip()}\n\n{BODY.strip()}\n"),
        (
            {"@type": "FAQPage", "mainEntity": [
                {"@type": "Question", "name": "Do bees sting?",
                 "acceptedAnswer": {"@type": "Answer", "text": f"<p>{BODY}</p><ul><li>Yes, all</li></ul>"}},
            ]},
            f"## Do bees sting?\n\n{BODY.strip()}\n\n- Yes, all\n",
        ),
        (
            {"@type": ["Thing", "Product"], "name": "Hive", "description": BODY,
             "offers": {"@type": "Offer", "price": 19.5, "priceCurrency": "EUR"}},
            f"{BODY.strip()}\n\n19.5 EUR\n",
        ),
        (
            {"@type": "Recipe", "description": BODY, "recipeIngredient": ["2 eggs", "1 cup of honey"],
             "recipeInstructions": [{"@type": "HowToStep", "text": "Beat the eggs until they are white."}]},
            f"{BODY.strip()}\n\n- 2 eggs\n- 1 cup of honey\n\nBeat the eggs until they are white.\n",
        ),
        (
            {"@type": "DiscussionForumPosting", "text": BODY,
             "comment": [{"@type": "Comment", "text": "I have seen them on Tuesday."}]},
            f"{BODY.strip()}\n\nI have seen them on Tuesday.\n",
        ),
        (
            {"@type": "ItemList", "itemListElement": [
                {"@type": "ListItem", "position": 1,
                 "item": {"@type": "Product", "name": "Hive", "url": "/hive", "description": BODY.strip(),
                          "offers": [{"price": "19.50", "priceCurrency": "EUR"}]}},
                {"@type": "ListItem", "position": 2, "name": "Smoker", "url": "https://shop.example/smoker"},
            ]},
            "- [Hive](https://site.example.org/hive) – 19.50 EUR\n- [Smoker](https://shop.example/smoker)\n",
        ),
    ],
    ids=["article", "FAQ", "product", "recipe", "thread", "list"],
)  # fmt: skip
def test_text_of_json_ld_is_on_a_page_without_it(read, item, expected):
    """Articles, answers, products, recipes, posts and lists are in the order in which a page shows them."""
    assert read(f"{SHELL}{as_json_ld(**item)}") == f"# Bees\n\n{expected}"


def test_text_that_the_page_shows_is_not_there_twice(read):
    """Of structured data only what the page lacks is added, and nothing where it shows most of it."""
    shown = f"<h1>Bees</h1><p>{BODY}</p>"
    assert read(f"{shown}{as_json_ld(**{'@type': 'Article', 'articleBody': BODY})}").count("valley") == 1
    questions = [
        {"@type": "Question", "name": "Do bees sting?", "acceptedAnswer": {"@type": "Answer", "text": BODY}},
        {"@type": "Question", "name": "Do they sleep?", "acceptedAnswer": {"@type": "Answer", "text": "Yes. " * 40}},
    ]
    text = read(f"{shown}{as_json_ld(**{'@type': 'FAQPage', 'mainEntity': questions})}")
    assert text.count("valley") == 1
    assert "## Do they sleep?" in text
    assert "sting" not in text


def test_a_page_with_more_text_than_its_data_is_as_it_is(read):
    """Descriptions for search engines beside the prose of a page are none of its text."""
    words = "A hive of wood for the bees of a valley, with a roof of tin and two doors."
    item = as_json_ld(**{"@type": "Product", "description": words})
    prose = "".join(f"<p>{number} {BODY}</p>" for number in range(5))
    assert "tin" not in read(f"<h1>Hive</h1>{prose}{item}")
    assert "tin" in read(f"<h1>Hive</h1>{NAV}{item}")


@pytest.mark.parametrize(
    "item",
    [
        {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "name": BODY, "item": "/a"}] * 3},
        {"@type": "Organization", "description": BODY},
        {"@type": "WebSite", "name": "Bees", "description": BODY},
        {"@type": "Article", "author": {"@type": "Person", "name": "Ann", "description": BODY}},
    ],
)
def test_what_describes_the_site_is_no_text_of_the_page(read, item):
    """Breadcrumbs, the site, its publisher and its authors are not what the page is about."""
    assert read(f"{SHELL}{as_json_ld(**item)}") == "Bees\n"


def as_flight(rows):
    parts = (json.dumps([1, part]).replace("<", "\\u003c") for part in (rows[:90], rows[90:]))
    return SHELL + "".join(f"<script>self.__next_f.push({part})</script>" for part in parts)


POST = f"<p>{BODY}</p><p>{BODY}And more of it.</p>"
ENTRIES = [{"title": f"The tree number {n}", "url": f"/tree/{n}", "summary": "Old."} for n in range(3)]
LINES = "".join(f"- [The tree number {n}](https://site.example.org/tree/{n}) – Old.\n" for n in range(3))
STATE = {"page": {"id": 3, "css": "a{b:c} " * 60, "post": {"html": POST}, "trees": ENTRIES, "next": "/api/page/2"}}
WRITTEN = f"# Bees\n\n{BODY.strip()}\n\n{BODY}And more of it.\n\n{LINES}"
FLAT = [{"post": 1, "trees": 2}, POST, [3, 6, 9], *(
    value for n, entry in enumerate(ENTRIES)
    for value in ({"title": 4 + 3 * n, "url": 5 + 3 * n, "summary": 12}, entry["title"], entry["url"])
), "Old."]  # fmt: skip


ESCAPED = json.dumps(json.dumps(STATE))[1:-1]
"""STATE within a text of JavaScript."""
OF_ANGULAR = json.dumps(STATE).replace('"', "&q;")
IN_HEXADECIMAL = json.dumps(STATE).replace('"', r"\x22")


@pytest.mark.parametrize(
    "html",
    [
        as_data(STATE),
        as_data(FLAT, "__NUXT_DATA__"),
        f"{SHELL}<script>window.__NUXT__ = {json.dumps(STATE)};</script>",
        f"{SHELL}<script type='application/json'>{OF_ANGULAR}</script>",
        f"{SHELL}<script>window['__APOLLO_STATE__']={json.dumps(STATE)}</script>",
        f"{SHELL}<script>window.__INITIAL_STATE__=JSON.parse({json.dumps(json.dumps(STATE))});</script>",
        f"{SHELL}<script>window.__STATE__=JSON.parse('{json.dumps(STATE)}');</script>",
        f"{SHELL}<script>window.__STATE__=JSON.parse('{ESCAPED}');</script>",
        f"{SHELL}<script>window.__STATE__=JSON.parse('{IN_HEXADECIMAL}');</script>",
        f"{SHELL}<script>window.__remixContext.streamController.enqueue({json.dumps(json.dumps(STATE))});</script>",
        as_data(STATE).replace("application/json", "fastboot/shoebox"),
        as_flight(f"1:T{len(POST):x},{POST}2:{json.dumps(['$', ENTRIES])}\n"),
        as_flight(f'0:I[3]\n1:["$","$L2",null,{json.dumps(STATE)}]\n'),
        f"{SHELL}<div id=app data-page='{json.dumps(STATE)}'></div>",
        f"{SHELL}<div id=data-preloaded data-preloaded='{json.dumps({'topic': json.dumps(STATE)})}'></div>",
    ],
    ids=[
        "Next",
        "Nuxt 3",
        "Nuxt 2",
        "Angular",
        "Apollo",
        "parsed",
        "quoted",
        "quoted with escapes",
        "quoted in hexadecimal",
        "streamed",
        "Ember",
        "React",
        "React's data",
        "Inertia",
        "Discourse",
    ],
)
def test_prose_and_lists_of_a_pages_data_are_on_a_page_without_text(read, html):
    """What is plainly prose, or a list of titles with addresses, is text; style sheets and addresses are not."""
    assert read(html) == WRITTEN


def test_data_of_a_page_with_text_is_left_alone(read):
    """A page that shows its text repeats it in its data, with that of other parts."""
    prose = "".join(f"<p>{number} {BODY}</p>" for number in range(8))
    assert "tree number" not in read(f"<h1>Bees</h1>{prose}{as_data(STATE)}")


def test_scripts_in_data_are_not_text(read):
    """HTML in data is read as that of the page: scripts, handlers and dangerous links do not come out."""
    html = f"<p>{BODY * 3}</p><script>alert(1)</script><a href='java\tscript:alert(2)' onclick='alert(3)'>here</a>"
    text = read(as_data({"html": html}))
    assert "alert" not in text
    assert "here" in text


def test_a_page_whose_data_has_its_text_needs_no_browser():
    """Six hundred characters are as much as a page; less may be a summary of it."""
    long, short = ({"post": {"html": f"<p>{BODY * times}</p>"}} for times in (7, 3))
    assert not needs_scripts(as_data(long).encode(), "text/html")
    assert needs_scripts(as_data(short).encode(), "text/html")
    assert needs_scripts(SHELL.encode(), "text/html")


def test_a_record_says_that_its_text_is_from_scripts():
    """It has `from_scripts`, which other records have not."""

    def config(html, **options):
        given = {"url": URL, "status": 200, "headers": {"Content-Type": "text/html"}}
        return page(html.encode(), **given, response_type="markdown", **options)

    assert config(as_data(STATE))["config"]["from_scripts"] is True
    assert config(as_data(STATE), formats=["markdown", "text"])["from_scripts"] is True
    assert "tree number 1" in config(as_data(STATE), formats=["text"])["text"]
    assert "from_scripts" not in config(as_data(STATE), include=["#root"])["config"]
    assert "from_scripts" not in config(f"{SHELL}<p>{BODY}</p>")["config"]


@pytest.mark.parametrize(
    "html",
    [
        SHELL + as_json_ld(**{"@type": "ItemList", "itemListElement": [{"name": f"{n}{BODY}"} for n in range(15_000)]}),
        as_data([{"body": f"<p>{n} {BODY * 2}</p>"} for n in range(6_000)]),
        as_data(["<p>" * 500_000]),
        f'{SHELL}<script type="application/json">{"[" * 500_000}</script>',
        f"{SHELL}<script>{'window.__A__=' * 100_000}</script>",
        f"{SHELL}<script>window.__ABC__={'[' * 900_000}</script>",
        as_data("{" * 900_000),
    ],
    ids=["list", "texts", "tags", "brackets", "variables", "depth", "text"],
)  # fmt: skip
def test_hostile_data_takes_no_longer_than_a_page(read, html):
    """Bytes, values and blocks of data are bounded."""
    start = time.process_time()
    text = read(html)
    assert time.process_time() - start < 3
    assert len(text) < 1_000_000


@pytest.mark.timed
@pytest.mark.parametrize(
    "html",
    [
        "<p " + " ".join(f"a{number}" for number in range(30_000)),
        "<p " + " ".join(f'{number:x}=b"c' for number in range(100_000, 119_900)) + ">x</p>",
        "<table><tr><td>" * 3_000,
    ],
    ids=["tag", "quotes", "tables"],
)
def test_a_hostile_page_is_not_searched_for_texts(html):
    """It is read where all other calls wait for it."""
    began = time.process_time()
    assert not holds_text(html.encode(), "text/html")
    assert time.process_time() - began < 0.3


SKELETON = "<script>x</script><div id=root></div><p>"
HOSTILE = {
    "open formatting": f"{''.join(f'<font size={number}>' for number in range(2000))}{'<p><img>' * 1900}",
    "a long attribute": f'<b x=">{"y" * 90_000}">{"<p><img>" * 2900}',
    "an attribute in a comment": f'<!--<b x="--><b x="{"y" * 90_000}">{"<p><img>" * 2900}',
    "levels": "<div>" * 5900,
    "options": f"<select>{'<option>' * 5900}",
    "tables": "<table>" * 5900,
    "references": "&#1;" * 40_000,
}


@pytest.mark.timed
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_page_without_text_is_judged_at_once(hostile):
    """The event loop waits for it: a few hundredths of a second, where a tree of millions of elements takes ten."""
    begun = time.process_time()
    needs_scripts(f"{SKELETON}{hostile}".encode(), "text/html")
    assert time.process_time() - begun < 0.5
