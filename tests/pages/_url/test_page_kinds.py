"""The kinds of pages."""

import pytest
from lxml.html import document_fromstring

from webdata.pages._url.json_ld import items
from webdata.pages._url.page_kinds import PageKind, page_kind

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
