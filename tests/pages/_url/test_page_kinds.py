"""The kinds of pages."""

import pytest
from lxml.html import document_fromstring

from webdata.pages._url.json_ld import items
from webdata.pages._url.page_kinds import PageKind, page_kind, products_of

WORDS = "Each of these paragraphs is long enough to be one, and says what another page is about."


def data(*types):
    """Structured data of the given types; each item has its type as its name."""
    found = ", ".join(f'{{"@type": "{name}", "name": "{name}"}}' for name in types)
    return f"<script type='application/ld+json'>[{found}]</script>"


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (data("DiscussionForumPosting"), PageKind.THREAD),
        ("<div itemscope itemtype='https://schema.org/QAPage'>", PageKind.THREAD),
        ("<meta name=generator content='Discourse 3.2'>", PageKind.THREAD),
        ("<div class='bbp-reply-content'>", PageKind.THREAD),
        ("<div class='details comment-node'>", PageKind.THREAD),
        ("<ol><li class=comments_subtree>", PageKind.THREAD),
        ("<shreddit-comment></shreddit-comment>", PageKind.THREAD),
        ("<meta name=generator content='Docusaurus v3'>", PageKind.DOCUMENTATION),
        ("<div class='rst-content'>", PageKind.DOCUMENTATION),
        (data("TechArticle"), PageKind.DOCUMENTATION),
        (data("Product", "Offer"), PageKind.PRODUCT),
        (data("LocalBusiness", "Product"), PageKind.OTHER),
        ("<meta property='og:type' content='product'>", PageKind.PRODUCT),
        (data("Product", "Product", "Product", "Product"), PageKind.LISTING),
        (data("ItemList", "Product"), PageKind.LISTING),
        (f"<h1> product</h1>{data('ItemList', 'Product')}", PageKind.PRODUCT),
        (data("NewsArticle"), PageKind.ARTICLE),
        ("<meta property='og:type' content='article'>", PageKind.ARTICLE),
        (f"<meta property='og:type' content='article'>{data('NewsArticle', 'Product', 'ItemList')}", PageKind.ARTICLE),
        (data("BlogPosting", "ItemList"), PageKind.LISTING),
        (f"<meta property='og:type' content='article'>{f'<div><p>{WORDS}</p></div>' * 12}", PageKind.OTHER),
        (f"<meta property='og:type' content='article'>{f'<div><div>{WORDS}</div></div>' * 12}", PageKind.OTHER),
        (f"<meta property='og:type' content='article'>{f'<p>{WORDS}</p>' * 12}", PageKind.ARTICLE),
        ("<main class='archive category'>", PageKind.LISTING),
        ("<ul class=archive><li>May", PageKind.OTHER),
        (data("FAQPage", "Question", "WebPage"), PageKind.OTHER),
        ("<p class='threadbare'>Threads of documentation about products.</p>", PageKind.OTHER),
    ],
)
def test_a_page_says_its_kind(html, kind):
    """Types of schema.org, Open Graph, generators and classes of programs tell the kind; words in texts do not."""
    page = document_fromstring(f"<html><head></head><body>{html}</body></html>")
    assert page_kind(page, items(page)[0]) is kind


@pytest.mark.parametrize(
    ("count", "card", "is_list"),
    [
        (9, "<li><a href=/{0}><img src=/p.png>Kettle</a><p>$19.00", True),
        (9, "<li><a href=/{0}><img src=/p.png>Kettle</a><p><b>€</b><b>19</b>", True),
        (5, "<li><a href=/{0}><img src=/p.png>Kettle</a><p>$19.00", False),
        (9, "<li><a href=/{0}>Kettle</a><p>$19.00", False),
        (9, "<li><a href=/{0}><img src=/p.png>Norway ($)</a>", False),
    ],
)
def test_many_priced_cards_are_products(count, card, is_list):
    """The products of a page are links with pictures and prices of one form, not those of a menu."""
    page = document_fromstring(f"<body><ul>{''.join(card.format(number) for number in range(count))}</ul>")
    assert products_of(page) is (page.find(".//ul") if is_list else None)


def test_a_category_with_one_rating_lists_products():
    """A page that names one product in its data, as shops do of a category, is a listing by far more cards."""
    cards = "<li><a href=/{0}><img src=/p.png>Kettle</a><p>$19.00"
    pages = [document_fromstring(f"<h1>product</h1>{data('Product')}<ul>{cards * count}</ul>") for count in (9, 24)]
    assert [page_kind(page, items(page)[0]) for page in pages] == [PageKind.PRODUCT, PageKind.LISTING]
