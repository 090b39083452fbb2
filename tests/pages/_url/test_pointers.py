"""Links that say nothing of their own."""

import pytest

PROSE = "".join(
    f"<p>Paragraph {number} of this part says a thing or two about its subject, at some length.</p>"
    for number in range(9)
)
TITLES = ["Kettle of steel", "Kettle of copper", "Kettle of glass", "Kettle of tin"]


def cards(last):
    """A page with a record for each title, behind which stands a link to the same page."""
    records = (
        f"<div class=card><h3><a href=/k/{number}>{title}</a></h3><p>Boils a litre in {number + 2} minutes.</p>"
        f"<a class=more href=/k/{number}>{last(number)}</a></div>"
        for number, title in enumerate(TITLES)
    )
    return f"<h1>Kettles</h1><div>{PROSE}</div><div>{''.join(records)}</div>"


def test_links_with_one_text_to_where_the_titles_lead_are_left_out(read):
    """A link that every record has with the same text, to the page of its title, goes; the titles stay."""
    text = read(cards(lambda _: "Ver producto"))
    assert ("Ver producto" in text, [title in text for title in TITLES]) == (False, [True] * 4)


@pytest.mark.parametrize(
    ("href", "heading"),
    [
        ("page.html", "# How many kettles?\n"),
        ("/canonical", "# How many kettles?\n"),
        ("/b", "# [How many kettles?](https://site.example.org/b)\n"),
    ],
)
def test_a_headline_that_leads_to_its_own_page_is_no_link(read, href, heading):
    """The headline of a thread with a link to the thread, by the page's address or its canonical one, is its own."""
    canonical = "<link rel=canonical href=https://site.example.org/canonical>"
    text = read(f"<title>How many kettles?</title>{canonical}<h1><a href='{href}'>How many kettles?</a></h1>{PROSE}")
    assert text.startswith(heading)


@pytest.mark.parametrize(
    "last",
    [lambda number: f"{number + 3} in stock", lambda number: ["Sold out", "Two left", "On order", "New"][number]],
)
def test_links_that_tell_records_apart_stay(read, last):
    """A link with a fact of its record stays, also where it leads to the page of its title."""
    text = read(cards(last))
    assert [last(number) in text for number in range(4)] == [True] * 4


def test_links_that_alone_lead_to_a_page_stay(read):
    """A link with the text of others stays where no title leads to the same page."""
    links = "".join(f"<div class=card><h3>{t}</h3><a href=/{t[-3:]}>Open the page</a></div>" for t in TITLES)
    assert read(f"<h1>Kettles</h1><div>{PROSE}</div>{links}").count("Open the page") == 4


def test_long_links_around_records_stay(read):
    """A link around all of a record is its text, however long it is and whatever else leads to the page."""
    records = "".join(
        f"<div class=r><div><a class=all href=/{t[-3:]}>{t} {PROSE[:900].replace('p>', 'span>')}</a></div>"
        f"<a href=/{t[-3:]}>{t}</a></div>"
        for t in TITLES
    )
    assert read(f"<h1>Kettles</h1><div>{records}</div>").count("Paragraph 5") == 4


def test_a_word_of_a_sentence_is_never_such_a_link(read):
    """The same word in several sentences stays, whatever leads to its page elsewhere."""
    lines = "".join(f"<li>About {t.lower()}, see <a href=/{t[-3:]}>here</a> for more.</li>" for t in TITLES)
    titles = "".join(f"<p><a href=/{t[-3:]}>{t}</a></p>" for t in TITLES)
    assert read(f"<h1>Kettles</h1><div>{PROSE}</div>{titles}<ul>{lines}</ul>").count("[here]") == 4


def test_skip_links_are_left_out(read):
    """Links before the content of a page to its content or to a landmark go, whatever their words."""
    skips = "<a href=#c>Aller au contenu</a><a href=#f>Pied de page</a>"
    text = read(f"{skips}<div id=c><h1>T</h1>{PROSE}</div><footer id=f>Imprint</footer>")
    assert ("Aller" in text, "Pied" in text, "Paragraph 8" in text) == (False, False, True)


def test_links_to_sections_before_the_content_stay(read):
    """A table of contents before the headline leads to parts of the content, and stays."""
    contents = "<ul><li><a href=#a>Of steel</a></li><li><a href=#b>Of tin</a></li></ul>"
    sections = f"<div id=a><h2>Steel</h2>{PROSE}</div><div id=b><h2>Tin</h2>{PROSE.replace('part', 'piece')}</div>"
    text = read(f"{contents}<h1>T</h1>{sections}")
    assert [line in text for line in ("Of steel", "Of tin")] == [True, True]


def test_links_back_to_the_top_are_left_out(read):
    """Links behind the content to the top of a page go, whatever their words."""
    assert "Nach oben" not in read(f"<h1>T</h1><div>{PROSE}</div><div><a href=#top>Nach oben</a></div>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=/k>Kettle</a><h3><a href=/k>Kettle</a></h3><h3><a href=/k>Kettle</a></h3>", "### [Kettle]"),
        ("<a href=/k>Kettle</a> <a href=/k>Kettle</a>", "[Kettle]"),
        ("<a href=/k>Kettle</a> or <a href=/k>Kettle</a>", "[Kettle] or [Kettle]"),
        ("<a href=/k>Kettle</a> <a href=/l>Kettle</a>", "[Kettle] [Kettle]"),
    ],
)
def test_a_link_that_repeats_the_one_before_it_is_left_out(within, html, expected):
    """Links with one text to one page are one, the heading if one of them is that, unless a text is between."""
    address = "https://site.example.org/"
    text = within(f"<div>{html}</div>")
    assert text.replace(f"({address}k)", "").replace(f"({address}l)", "") == expected


@pytest.mark.parametrize("language", ["hreflang=it", ""])
def test_links_to_a_page_in_other_languages_are_left_out(within, language):
    """A list of links that all say the language of their page, several of them, is navigation."""
    links = "<li><a href=/de hreflang=de>Deutsch</a><li><a href=/fr hreflang=fr>Autres</a><li><a href=/it {}>I</a>"
    text = within(f"<div><ul>{links.format(language)}</ul></div>")
    assert ("Deutsch" in text) != bool(language)
