"""The element of a page's content."""

import pytest


def test_a_page_of_short_facts_is_content(read):
    """The Markdown of a product page whose only prose is a review has price, stock and specifications."""
    text = read(
        "<title>Grinder | Shop</title><header><form><input><button>Search</button></form></header>"
        "<div class=breadcrumb><a href='/'>Home</a></div><div class=product><h1>Grinder</h1>"
        "<div class=price>€ 49.90</div>"
        "<button>Add</button><p>In stock</p><ul><li>Weight: 2 kg<li>Power: 150 W</ul><p>Delivery in 2 days</p></div>"
        "<div class=reviews><h2>Reviews</h2><div class=comment><p>Bought it twice for my family and friends, and never "
        "looked back since then.</p></div></div><div class=related><a href='/x'>Other grinder</a></div>"
    )
    for fact in ("# Grinder", "€ 49.90", "In stock", "- Power: 150 W", "Delivery in 2 days", "never looked back"):
        assert fact in text
    for chrome in ("Search", "Add"):
        assert chrome not in text


LEAD = "What the town decided on Monday night, and why it will not be the end of it for those who live there."


@pytest.mark.parametrize(
    "lead", [f"<h2>{LEAD}</h2>", f"<h3>{LEAD}</h3>", f"<p class=deck>{LEAD}</p>", f"<div>{LEAD}</div>"]
)
def test_the_lead_between_headline_and_text_is_content(read, lead):
    """The lead stands outside the element of the text; bylines and buttons between them are left out."""
    text = read(
        f"<title>T</title><div><div class=top><h1>The bridge</h1>{lead}<div>By A. Miller</div>"
        "<p><a href='/a'>Miller and Sons, all about bridges</a> <a href='/b'>All pages of the series</a></p></div>"
        f"<div class=story>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 12 + '</p>'} {'<p>More.</p>' * 3}</div></div>",
        content="main",
    )
    assert text.startswith("# The bridge\n\n")
    assert LEAD in text
    assert "Miller" not in text


def test_far_more_than_a_lead_before_the_text_is_not_added(read):
    """A list of teasers between a headline and the text is no lead."""
    text = read(
        f"<title>T</title><div><div><h1>The bridge</h1>{f'<p>{LEAD}</p>' * 9}</div></div>"
        f"<div class=story>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 150 + '</p>'}</div>",
        content="main",
    )
    assert LEAD not in text


def test_an_article_before_many_comments_is_content(read):
    """Where the comments have nearly all prose, what stands between them and the headline is the text itself."""
    text = read(
        "<title>T</title><meta property=og:type content=article><div><div><h1>The bridge</h1></div><div class=entry>"
        f"<p>{LEAD}</p><h2>The rules</h2><table><tr><td>agree<td>ask</table>{f'<p>{LEAD}</p>' * 9}</div>"
        f"<div>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 150 + '</p>'}</div></div>",
    )
    for part in ("# The bridge\n\nWhat the town", "## The rules", "agree", "Tuesday"):
        assert part in text


def test_a_headline_with_a_link_to_its_section_is_that_of_the_page(read):
    """What is between it and the text is content; a headline that is all link is the name of the site."""
    text = read(
        "<title>T</title><meta property=og:type content=article><div><header><h1><a href='/local'>Local | </a> The "
        f"bridge is open again</h1><p>{LEAD}</p></header><div>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 150}</div>",
    )
    assert LEAD in text


def test_the_lead_between_a_headline_and_main_is_content(read):
    """Prose below a headline outside of `main` is its lead; the site's notes without one are not."""
    text = read(
        f"<title>T</title><div><h1>The bridge</h1><div><p>{LEAD}</p></div><div>Ann Miller</div></div>"
        f"<main>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 9}</main><div>All rights reserved</div>",
    )
    assert LEAD in text
    assert not any(note in text for note in ("Miller", "rights"))


def test_an_article_of_several_on_a_page_is_the_first_headline_s(read):
    """Stories that follow it, and prose beside it, are not what the page is about; the whole page has them."""
    story = "<article><h1>Story {0}</h1>" + f"<p>{LEAD} {{0}}.</p>" * 9 + "</article>"
    html = (
        f"<title>T</title><meta property=og:type content=article><body>{''.join(map(story.format, range(9)))}"
        f"<div>{f'<p>{LEAD} Elsewhere.</p>' * 20}</div>"
    )
    text = read(html, content="main")
    assert ["Story 0" in text, "Story 1" in text, "Elsewhere" in text] == [True, False, False]
    assert "Story 8" in read(html)


def test_an_article_with_the_lead_alone_is_not_all_that_a_page_is_about(read):
    """Where most of the prose stands in one place outside of it, that is the text, which the lead begins."""
    text = read(
        "<title>T</title><meta property=og:type content=article><body><article><h1>The bridge</h1>"
        f"<p>{LEAD * 7}</p></article><div>{''.join(f'<p>{LEAD} On day {n}.</p>' for n in range(60))}</div>",
        content="main",
    )
    assert "On day 59" in text


def test_what_stands_with_the_headline_of_a_main_part_is_its_beginning(read):
    """In the part that a page marks as its main one, the prose beside the headline is no teaser, however long."""
    text = read(
        f"<title>T</title><main><div><h1>The bridge</h1>{f'<p>{LEAD}</p>' * 9}</div>"
        f"<div class=story>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 150 + '</p>'}</div></main>",
        content="main",
    )
    assert LEAD in text


FACTS = "".join(
    f"<div><h3>Model {number}</h3><span>{number} kg</span> <span>{number}9.90</span></div>" for number in range(30)
)


def test_what_stands_around_most_of_the_facts_is_beside_them(read):
    """Short parts around the part with most of the text leave `main`; the headline and sections with headings stay."""
    html = (
        f"<title>T</title><body><div>Sign in here</div><div><h1>Models</h1></div><div class=grid>{FACTS}</div>"
        f"<div><h2>Sizes</h2><p>{LEAD}</p><h2>Care</h2><p>Dry.</p></div><div>All prices in euros</div>"
    )
    text = read(html, content="main")
    assert ["Sign in here" in read(html), "Sign in here" in text, "All prices" in text] == [True, False, False]
    assert [part in text for part in ("# Models", "Model 29", "## Sizes", "Dry.")] == [True] * 4


def test_sections_of_one_form_and_a_lead_are_not_beside_most_of_the_facts(read):
    """Parts of the form of the largest one, and paragraphs between the headline and it, stay in `main`."""
    html = (
        f"<title>T</title><body><div><h1>Models</h1><p>{LEAD}</p><div class=part><h2>New</h2>Model 31</div>"
        f"<div class=part><h2>All</h2>{FACTS}</div><div>Sign in here</div></div>"
    )
    text = read(html, content="main")
    assert [part in text for part in ("Model 31", "Model 29", LEAD)] == [True] * 3
    assert "Sign in here" not in text


PANEL = f"<div role=tabpanel><p>Keep it dry. {LEAD}</p></div>"
TABLE = "<div class=side><p>Spoken</p><table><tr><th>Language<th>Menus<tr><td>Danish<td>Yes</table></div>"
FOLD = "<div class='fold b'><h2>Size</h2><div role=region>Danish</div></div>"


@pytest.mark.parametrize(("fact", "section"), [("Keep it dry.", PANEL), ("Danish", TABLE), ("Danish", FOLD)])
def test_facts_beside_most_of_the_text_are_what_a_product_is(read, fact, section):
    """The panels of tabs and below titles, and tables of facts, stay in `main`; notes go."""
    product = "<meta property=og:type content=product><title>T</title><body><div><h1>Grinder</h1></div>"
    html = f"{product}<div><div class='fold a'><h2>Details</h2>{FACTS}</div>{section}<div>Sign in here</div></div>"
    text = read(html, content="main")
    assert [part in text for part in ("Model 29", fact, "Sign in here")] == [True, True, False]


def test_the_heading_of_the_facts_is_not_beside_them(read):
    """A heading right before the largest part stays in `main`; that of a short part which leaves goes with it."""
    html = f"<h1>Models</h1><h2>View</h2><div>As a list</div><h2>All of 2024</h2><div>{FACTS}</div>"
    text = read(f"<title>T</title><body><div>{html}</div>", content="main")
    assert [part in text for part in ("## All of 2024", "## View")] == [True, False]


def test_the_terms_of_a_shop_are_not_its_product(read):
    """The `main` of a product with its name and next to no prose stays beside long terms."""
    text = read(
        "<meta property=og:type content=product><title>T</title><main><h1>Grinder</h1><p>In stock</p></main>"
        f"<div>{f'<p>{LEAD}</p>' * 30}</div>",
        content="main",
    )
    assert "In stock" in text


def test_a_tab_with_most_of_the_prose_is_not_all_of_a_page(read):
    """The panels beside it stay, of which a list of documents and one of questions have no prose."""
    prose = "".join(
        f"<p>{number} The department looks after buildings, and answers letters on these.</p>" for number in range(40)
    )
    panels = "".join(
        f"<div role=tabpanel>{panel}</div>"
        for panel in (prose, "<ul><li><a href=/f.pdf>Building permit</a></ul>", "<p>What does it cost?</p>")
    )
    text = read(f"<div><div class=tabs>{panels}</div></div>")
    assert [line in text for line in ("39 The", "Building permit", "What does it cost?")] == [True] * 3


def test_a_short_question_is_what_its_long_answers_are_about(read):
    """The question of a thread stays in `main` where the answers in one element have nearly all of the prose."""
    answers = "".join(f"<div class=answercell><p>{LEAD.replace('Monday', f'day {n}') * 20}</p></div>" for n in range(9))
    question = "How did the town decide on the bridge, and who was it that asked for it?"
    text = read(
        f"<title>T</title><div><h1>The bridge</h1></div><div><div class=question><p>{question}</p></div>"
        f"<div class=answers>{answers}</div></div>",
        content="main",
    )
    assert question in text
    assert text.count("What the town decided on day") == 180


def test_the_headline_stands_before_a_text_with_headings_of_its_own(read):
    """A text with an `h1` within has the headline before it, without the button beside that."""
    headline = "<div><h1>The bridge</h1></div><div>Menu</div>"
    text = f"<article>{f'<p>{LEAD}</p>' * 9}<h1>Part two</h1>{f'<p>{LEAD}</p>' * 9}</article>"
    meta = '<title>The bridge</title><script type=\'application/ld+json\'>{"@type": "Article"}</script>'
    assert read(f"{meta}<body>{headline}<div>{text}</div>", content="main").startswith("# The bridge\n")


def test_comments_on_records_are_not_what_a_page_is_about(read):
    """The records of a page without prose stay in `main` where the comments on them have all of the prose."""
    comments = "".join(f"<div class=comment><p>{LEAD.replace('Monday', f'day {n}')}</p></div>" for n in range(9))
    text = read(
        f"<title>T</title><body><h1>Models</h1><div><div class=grid>{FACTS}</div><div id=comment-list>{comments}</div>",
        content="main",
    )
    assert "Model 29" in text


SENTENCE = "What the town decided on Monday night will not be the end of it, for those who live beside the old bridge."


@pytest.mark.parametrize(
    "html",
    [
        (
            f"<section><h2>All</h2>{f'<p>{SENTENCE}</p>' * 20}</section>"
            f"<section><h2>Order</h2><p>{SENTENCE} Last.</p></section>"
        ),
        f"<details open><summary>More</summary>{f'<p>{SENTENCE}</p>' * 20}</details><p>{SENTENCE} Last.</p>",
    ],
)
def test_one_of_several_sections_is_not_all_of_a_page(read, html):
    """A section beside one of its form, and a part that opens, have most of the prose and are not all of a page."""
    assert "Last." in read(f"<title>T</title><h1>The bridge</h1><div>{html}</div>", content="main")


@pytest.mark.parametrize(
    ("title", "headlines", "expected"),
    [
        (
            "Your Garden: A Guide to Plants",
            "<h1>Plants of the Garden: A Guide</h1><h1>By</h1>",
            "Plants of the Garden: A Guide",
        ),
        ("Your Garden: A Guide to Plants", "<h1>Blog</h1><h1>By</h1>", "Your Garden: A Guide to Plants"),
        ("Plants of the Garden - The Forum", "<h2>Plants of the Garden</h2>", "Plants of the Garden"),
        ("Plants of the Garden and Others", "<h2>Plants of the Garden</h2>", "Plants of the Garden and Others"),
    ],
)
def test_of_several_headlines_the_one_that_the_title_says_is_the_pages(read, title, headlines, expected):
    """A headline outside of the text with the words of the title, or its beginning, is the title."""
    text = "The page says a thing or two about its subject, until it is about as long as paragraphs use to be. "
    page = f'<title>{title}</title><script type="application/ld+json">{{"@type": "NewsArticle"}}</script>'
    assert read(f"{page}<div>{headlines}</div><div>{f'<p>{text}</p>' * 12}</div>").startswith(f"# {expected}\n")


@pytest.mark.parametrize("tag", ["div", "p"])
def test_a_page_that_begins_with_its_title_has_it_as_headline(read, tag):
    """A title in an element without meaning at the beginning of a page is its headline."""
    text = read(f"<title>Kettles</title><body><div><{tag}>Kettles</{tag}></div><p>One of steel.</p>")
    assert text == "# Kettles\n\nOne of steel.\n"
