"""Cards of other pages."""

import pytest

LAST = "until it is about as long as paragraphs use to be."
TEXT = f"<div>{f'<p>The page says a thing or two about its subject, {LAST}</p>' * 12}</div>"


def summaries(address, count=3):
    """Cards with a linked heading and a paragraph each."""
    text = "A summary of the page that says in a sentence or two what it is about, and no more than that."
    cards = (f"<div class=card><h3><a href='{address}{n}'>Title {n}</a></h3><p>{text}</p></div>" for n in range(count))
    return f"<div class=cards>{''.join(cards)}</div>"


ARTICLE = '<script type="application/ld+json">{"@type": "NewsArticle"}</script><h1>T</h1>'


@pytest.mark.parametrize("behind", ["", "<p>Write to us, and you have a letter of ours in your box each week.</p>"])
def test_summaries_of_other_pages_behind_an_article_are_left_out(read, behind):
    """Cards with prose under titles that lead to other pages go with the heading above them, behind the article."""
    text = read(f"{ARTICLE}{TEXT}<section><h2>Others</h2>{summaries('/p/')}</section>{behind}")
    assert (text.count("A summary"), "Others" in text, text.count(LAST)) == (0, False, 12)


@pytest.mark.parametrize(
    "html",
    [
        f"{TEXT}{summaries('#answer')}",
        f"{TEXT}{summaries('/p/')}{TEXT}",
        f"<p>These are the best.</p>{summaries('/p/', 9)}",
    ],
)
def test_summaries_that_are_an_article_stay(read, html):
    """Answers that a heading opens, cards between the paragraphs of an article and those that are its text stay."""
    assert read(f"{ARTICLE}{html}").count("A summary") >= 3


@pytest.mark.parametrize(("alt", "is_shown"), [("", True), ("A kettle", False)])
def test_features_with_icons_stay_on_a_product_page(read, alt, is_shown):
    """Links with decorative pictures are features of a product; those with pictures of products lead to others."""
    features = "".join(
        f"<a class=f href=/f/{n}><img src=/{n}.png alt='{alt}'><div>Part {n}</div></a>" for n in range(4)
    )
    data = '{"@type": "Product", "offers": {"@type": "Offer"}}'
    product = f'<script type="application/ld+json">{data}</script><h1>T</h1>{TEXT}'
    assert ("Part 2" in read(f"{product}<div>{features}</div>{TEXT}")) == is_shown


def test_a_link_around_prose_is_another_page_beside_a_product(read):
    """One summary of a page of news, all of it a link, is on the page of a product and not what that is about."""
    product = "<meta property='og:type' content='product'><h1>A kettle</h1><p>$ 49.90</p>"
    summary = f"<div><a href='/news/1'><img src=/1.png alt=New><p>The news of today, {LAST}</p></a></div>"
    found = [
        f"today, {LAST}" in read(f"{product}{TEXT}{summary}{TEXT}", content=content) for content in ("page", "main")
    ]
    assert found == [True, False]


def threads(count=4, fact="9K views"):
    """Records of other threads: a title with its author and forum, how many have read it, a picture."""
    menu = (
        "<a href=/t/{0}>A thread about machine {0}</a> <a href=/u/{0}>Ann</a> <a href=/d/{0}>May 5</a> <a href=/f>F</a>"
    )
    facts = f"<div class=facts>{fact}</div><img src=/p.png alt=Ann>"
    items = (f"<div class=item><div class=title>{menu.format(n)}</div>{facts}</div>" for n in range(count))
    return f"<section><h3>Similar</h3><div><div class=items>{''.join(items)}</div></div></section>"


def test_facts_of_other_threads_go_with_their_titles(read):
    """How many have read other threads is left out with the titles of these, and so is the heading above all."""
    posts = f"<div class=bbp-topic><div class=post>{TEXT}</div></div>"
    text = read(f"<title>T</title><h1>T</h1>{posts}{threads()}")
    assert [part for part in ("A thread", "9K views", "Similar", "p.png") if part in text] == []


def test_short_posts_stay_without_their_menus(read):
    """A post of few words behind the last long one is no record of another page, for its menu has no titles."""
    menu = "<div><a href=/r>Reply</a> <a href=/q>Quote</a> <a href=/s>Share</a> <a href=/p>Report</a></div>"
    posts = "".join(f"<div class=post><div>Thanks, {name}</div>{menu}</div>" for name in ("Ann", "Ben", "Cy"))
    text = read(f"<title>T</title><h1>T</h1><div class=bbp-topic><div class=post>{TEXT}</div>{posts}</div>")
    assert [name for name in ("Ann", "Ben", "Cy") if f"Thanks, {name}" not in text] == []
