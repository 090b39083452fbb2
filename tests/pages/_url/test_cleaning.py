"""The removal of chrome from a page."""

import pytest
from lxml.html import fromstring

FOUR = "".join(f"<li><a href='/{number}'>Page {number}</a>" for number in range(4))
CELLS = "".join(f"<td><a href='/{number}'>{number}</a>" for number in range(5))
NOTE = "I had the same on two machines of mine, and what helped was to take the newer one of both and wait. "


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<h2>Downloads</h2><ul>{FOUR}</ul>", "Page 3"),
        (f"<details><summary>S</summary><ul>{FOUR}</ul></details>", "Page 3"),
        (f"<table><tr><th>A<th>B<th>C<th>D<th>E<tr>{CELLS}</table>", "[4]("),
        ("<table><tr><th>A<th>B<tr class=promo><td class=share>cell<td>other</table>", "cell"),
        ("<figure><img src='/i.png' alt=x><figcaption class=social>Caption</figcaption></figure>", "Caption"),
        ("<div class='elementor-widget'><p>Words.</p></div>", "Words."),
        ("<div class='footer-note'>Words.</div>", "Words."),
        ("<div class='rating'>4.5 out of 5</div>", "4.5 out of 5"),
        ("<aside><p>Mind the step.</p></aside>", "Mind the step."),
        ("<div role=alert>Mind the step.</div>", "Mind the step."),
        ("<p class=paywall>For subscribers.</p>", "For subscribers."),
        ("<h2>Comments</h2><p>Comments begin with a hash sign.</p>", "## Comments"),
        ("<p aria-hidden=true>For subscribers.</p>", "For subscribers."),
        ("<picture><source srcset=b.webp><img src='/s.jpg' alt=pic></picture>", "![pic]"),
    ],
)
def test_content_is_not_removed(within, html, expected):
    """Parts of tables, details and figures, titled lists of links, remarks and page builders' wrappers are content."""
    assert expected in within(html)


@pytest.mark.parametrize(
    "html",
    [
        "<div class='related-posts'><h3>Another one</h3><p>What happened elsewhere.</p></div>",
        "<div class='newsletter'><p>Get our letter each morning.</p></div>",
        "<div class='Newsletter__container___2dvsF'><p>Get our letter each morning.</p></div>",
        "<div id=sidebar><p>The weather of today.</p></div>",
        "<aside><p>Read <a href='/x'>the other one</a>.</p></aside>",
        f"<ul>{FOUR}</ul>",
    ],
)
def test_chrome_between_the_prose_of_an_article_is_removed(read, html):
    """On a page that says it is an article, parts with little of its prose leave by name, asides and lists by links."""
    assert read(article(html)) == read(article(""))


@pytest.mark.parametrize(
    "html",
    [
        "<section id='SQL-FOR-UPDATE-SHARE'><h2>The locking clause</h2><p>It locks the rows.</p></section>",
        "<div id=share><h2>Share</h2><p>Each share is counted.</p></div>",
        "<table class=related><tr><td>cell<td>other</table>",
        f"<div class='promo'>{f'<p>{NOTE * 3}</p>' * 8}</div>",
        "<div class='kt-adv-heading25_8ce93e-ad'>It locks the rows.</div>",
        "<p class=paywall>It locks the rows.</p>",
    ],
)
def test_ids_of_headings_tables_and_much_prose_are_no_chrome_of_an_article(read, html):
    """An id that a program has made of a heading names nothing, and a name decides nothing about much of the prose."""
    words = " ".join(fromstring(f"<div>{html}</div>").itertext()).split()
    found = read(article(html))
    assert [word for word in words if word.strip(".,") not in found] == []


def article(html, end=""):
    """A page that says it is an article, with this between its paragraphs, and behind them."""
    around = f"<p>{NOTE * 3}</p>" * 4
    head = "<head><meta property='og:type' content='article'><title>T</title></head>"
    return f"{head}<main><h1>T</h1>{around}{html}{around}{end}</main>"


@pytest.mark.parametrize(
    "html",
    [
        f"<ul>{FOUR}</ul>",
        f"<h3>More from this site</h3><ul>{FOUR}</ul>",
        "<div class='widget'><p>A remark.</p></div>",
        "<aside><p>A remark with <a href='/x'>a link</a>.</p></aside>",
        "<div class='site-footer'>The last word.</div>",
        "<div class='author-box'><p>About the author of the quotation.</p></div>",
        "<p>(c) Dredgers;</p><p>12 comments were read.</p>",
        "<div class='promo-price'>Now 9.99</div>",
        "<div class='menu-item'><h3>Fried perch</h3><span>14.50</span></div>",
        "<section id=share><h2>Share</h2><p>Each share is counted.</p></section>",
        "<div class='e1e566ad 4ad9f53'>A hashed class.</div>",
    ],
)
@pytest.mark.parametrize("content", ["page", "main"])
def test_names_texts_and_links_within_the_content_decide_nothing(read, html, content):
    """Between the paragraphs of a page no class, no id, no text and no list of links makes a part chrome."""
    around = f"<p>{NOTE * 3}</p>" * 4
    with_it = read(f"<title>T</title><main><h1>T</h1>{around}{html}{around}</main>", content=content)
    without = read(f"<title>T</title><main><h1>T</h1>{around}{around}</main>", content=content)
    words = " ".join(fromstring(f"<div>{html}</div>").itertext()).split()
    assert [word for word in words if word.strip("().;") not in with_it] == []
    assert len(with_it) > len(without)


@pytest.mark.parametrize(
    "html",
    [
        "<nav><a href='/x'>Chrome</a></nav>",
        "<div role=banner>Chrome</div>",
        "<header><p>Chrome</p></header>",
        "<footer><p>Chrome</p></footer>",
        "<div id='onetrust-consent-sdk'>Chrome</div>",
        "<div class='sharedaddy'>Chrome</div>",
        "<div class='sociable'>Chrome</div>",
        "<div class='site-footer'>Chrome</div>",
        "<div class='relatedPosts'>Chrome</div>",
        "<div class=navheader><table><tr><th>Chrome<tr><td><a href=/1>Prev</a><td><a href=/2>Next</a></table></div>",
        "<div role=dialog>Chrome</div>",
        "<div style='display: none'>Chrome</div>",
        "<form><label>Chrome</label><input name=a><input name=b></form>",
        "<select><option>Chrome</option></select>",
        f"<form><div>Chrome</div><div><label><input type=checkbox>{NOTE * 9}</label></div><input><input></form>",
        "<button>Chrome</button>",
        "<ul>" + "".join(f"<li><a href='/{number}'>Chrome</a>" for number in range(4)) + "</ul>",
        "<amp-ad>Chrome</amp-ad><amp-sidebar>Chrome</amp-sidebar>",
    ],
)
def test_chrome_around_the_content_is_removed(read, html):
    """Landmarks of the page, known vendors, named parts, controls, dialogs and short links before and after it go."""
    text = read(f"<title>T</title><body>{html}<h1>T</h1><div>{f'<p>{NOTE * 3}</p>' * 6}</div>{html}")
    assert "Chrome" not in text
    assert text.count(NOTE.strip()) == 18


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h3><button aria-controls=a>How deep?</button></h3><div id=a hidden><p>Three metres.</p></div>", "How deep?"),
        (f"<dl><dt>How deep?<dd style='display:none'><p>{NOTE}</p></dl>", NOTE.strip()),
        ("<div role=tabpanel hidden><p>Three metres.</p></div>", "Three metres."),
        ("<p>Press <button>Save</button> to store it.</p>", "Press Save to store it."),
        ("<x-note><template shadowrootmode=open><p>In the shadow.</p></template></x-note>", "In the shadow."),
        ("<x-card><x-title>One</x-title><x-text>Two</x-text></x-card>", "One\n\nTwo"),
        ("<p><img alt=a><noscript><img src='/a.png' alt=a></noscript></p>", "![a](https://site.example.org/a.png)"),
        (
            "<p>Price: <span class=visually-hidden>9.99 euros</span><span aria-hidden=true>9.99 €</span></p>",
            "Price: 9.99 €",
        ),
        ("<h3><button aria-controls=a>When?</button></h3><div id=a hidden>9 to 5.</div>", "### When?\n\n9 to 5."),
        (f"<p>{NOTE}<span style='display:none'> So it went, day by day. {NOTE}</span></p>", "day by day"),
        (
            (
                "<input type=radio id=a><label for=a>npm</label><input type=radio id=b><label for=b>yarn</label>"
                "<div class=tab>install</div><div class=tab>add</div>"
            ),
            "**npm**\n\ninstall\n\n**yarn**\n\nadd",
        ),
        (
            (
                "<div role=tablist><b role=tab aria-controls=p aria-selected=true>All</b>"
                "<b role=tab aria-controls=p>Some</b></div><div role=tabpanel id=p>one</div>"
            ),
            "**All**\n\none",
        ),
        (
            (
                "<div><label for=a>npm</label><label for=b>yarn</label></div><div><div>install</div><div>add</div>"
                "</div><input type=radio id=a><input type=radio id=b>"
            ),
            "**npm**\n\ninstall\n\n**yarn**\n\nadd",
        ),
        (
            "<input type=checkbox id=a><label for=a>How deep?</label><div>Ten metres.</div>",
            "**How deep?**\n\nTen metres.",
        ),
        (
            "<div><template id=B:0></template></div><i>After.</i><div hidden id=S:0><h3>Depth</h3></div>",
            "### Depth\n\n*After.*",
        ),
        (
            (
                "<div><template id=B:0></template></div><i>After.</i><div hidden id=S:1><p>Nine.</p></div>"
                "<div hidden id=S:0><h3>Depth</h3><template id=P:1></template></div>"
            ),
            "### Depth\n\nNine.\n\n*After.*",
        ),
        ("<p>Nine<span style='position:absolute;left:-9999px'>in all</span> metres.</p>", "Nine metres."),
        ("<p>Nine<span style='position:relative;left:-1263px'> and a slide</span>.</p>", "Nine and a slide."),
        (
            (
                "<div><div role=tablist><button role=tab>npm</button><button role=tab>yarn</button></div>"
                "<div role=tabpanel><p>install</p></div><div role=tabpanel hidden><p>add</p></div></div>"
            ),
            "**npm**\n\ninstall\n\n**yarn**\n\nadd",
        ),
        (
            (
                "<div role=tablist><b role=tab id=a>npm</b><b role=tab id=b>yarn</b></div><section><div role=tabpanel "
                "aria-labelledby=a>install</div><div role=tabpanel aria-labelledby=b hidden>add</div></section>"
            ),
            "**npm**\n\ninstall\n\n**yarn**\n\nadd",
        ),
        (
            (
                "<div role=tablist><b role=tab id=a>Per month</b><b role=tab id=b>Per year</b></div><section>"
                "<div role=tabpanel aria-labelledby=a><h4><i>Per </i>month</h4>Nine</div>"
                "<div role=tabpanel aria-labelledby=b hidden><h4><i>Per </i>year</h4>Ninety</div></section>"
            ),
            "#### *Per* month\n\nNine\n\n#### *Per* year\n\nNinety",
        ),
        (
            (
                "<div><div class=tab>npm</div><div class='on tab'>yarn</div><div></div></div>"
                "<div class=panes><div class=p>install</div><div class='p on'>add</div></div>"
            ),
            "**npm**\n\ninstall\n\n**yarn**\n\nadd",
        ),
    ],
)
def test_what_one_click_opens_is_content(within, html, expected):
    """Panels, answers, rests of paragraphs, tabs, parts that come later, shadow roots and buttons in sentences stay."""
    assert expected in within(html)


@pytest.mark.parametrize(
    "html",
    [
        "<div class=row><p class=on>Height</p><p>2 m</p></div><div class=row><p class=on>Width</p><p>3 m</p></div>",
        "<div><p class=on>Height</p><p>2 m</p></div><div class=b><p>Width</p><p class=on>3 m</p></div>",
        "<div><p class=on>Height</p><p>2 m</p></div><div class=b><p class='on x'>Width</p><p>3 m</p></div>",
    ],
)
def test_rows_of_facts_are_no_tabs(within, html):
    """Rows of one class, and elements with marks of other numbers or further classes, stay in their order."""
    assert within(html) == "Height\n\n2 m\n\nWidth\n\n3 m"


@pytest.mark.parametrize(
    "html",
    [
        "<button aria-controls=a>Open main menu</button><div id=a hidden><a href=/x>Unlike</a></div>",
        "<form><input type=radio id=a><label for=a>Unlike</label><div>Three metres.</div></form>",
    ],
)
def test_menus_and_fields_are_not_opened(within, html):
    """A hidden part that is links is a menu, and the boxes of a form open nothing."""
    assert "Unlike" not in within(html)


@pytest.mark.parametrize(
    "hidden",
    [
        f"<div><div class=pane>{NOTE}</div><div class=pane style='display:none'>Second. {NOTE}</div></div>",
        f"<div style='visibility: hidden'>Second. {f'<p>{NOTE * 3}</p>' * 20}</div>",
    ],
)
def test_hidden_panes_beside_a_shown_one_and_most_of_the_page_are_content(read, hidden):
    """Scripts show the other panes of tabs and, when they have run, the page."""
    head = "<head><meta property='og:type' content='article'><title>T</title></head>"
    assert "Second." in read(f"{head}<main><h1>T</h1>{f'<p>{NOTE * 3}</p>' * 8}{hidden}</main>")


def test_of_twins_the_shown_one_stays(read):
    """A text right behind the same one for screen readers is what others see."""
    label = "<label for=c><span class=sr-only>Copper</span><span class=tip>Copper</span></label>"
    assert read(f"{PRODUCT}<h1>Grinder</h1><p>{NOTE * 4}</p>{label}").count("Copper") == 1


def test_hidden_rows_of_a_table_are_the_rest_of_it(read):
    """Rows that a click shows stay with the shown ones; a hidden row of another form is none of the table."""
    rows = "<tr><th>Language<th>Menus<tr><td>English<td>Yes<tr style='display:none'><td>Danish<td>Yes"
    text = read(f"<title>T</title><body><table>{rows}<tr hidden><td colspan=2>Copied</table><p>{NOTE * 9}</p>")
    assert "| English | Yes |\n| Danish | Yes |" in text
    assert "Copied" not in text


def test_what_stands_before_the_headline_is_beside_it(read):
    """Lines before the first headline go from what a page is about; an introduction and many lines before it stay."""
    text = f"<h1>T</h1><div>{''.join(f'<p>{number} {NOTE * 3}</p>' for number in range(6))}</div>"
    assert "Notice" in read(f"<body><div>Notice</div>{text}")
    assert "Notice" not in read(f"<body><div>Notice</div>{text}", content="main")
    assert "Notice 9" in read(
        f"<body>{''.join(f'<h2>Notice {n} of the day</h2>' for n in range(99))}{text}", content="main"
    )
    article = "<meta property=og:type content=article><body>"
    assert "Introduction" in read(f"{article}<p>Introduction. {NOTE * 9}</p>{text}", content="main")


def test_the_thread_of_noscript_is_content(read):
    """The posts that a page of scripts holds in `noscript` are its content."""
    posts = "".join(f"<div><p>Post {number}. {NOTE}</p></div>" for number in range(4))
    text = read(
        f"<title>T</title><body><div id=app></div><script src=a.js></script><noscript><div>{posts}</div></noscript>"
    )
    assert [f"Post {number}." in text for number in range(4)] == [True] * 4


def test_comments_are_removed_from_what_a_page_is_about(read):
    """Comments stay in the whole page and leave what it is about, if an article remains without them."""
    html = f"<body><div><p>{NOTE * 9}</p></div><div id=comments><div class=comment><p>I agree. {NOTE}</p></div>"
    assert "I agree" in read(html)
    assert "I agree" not in read(html, content="main")
    assert NOTE.strip() in read(html, content="main")


def test_comments_on_an_article_stay_with_their_authors(read):
    """Short ones, too; where none has prose, what their names say is only how many there are."""
    html = (
        f"<title>T</title><meta property=og:type content=article><h1>T</h1><div><p>{NOTE * 9}</p></div>"
        "<ol class=commentlist><div class=comment><div class=comment-author>Ann</div>{}</div>"
        "<div class=comment><div class=comment-author>Ben</div>So do I.</div></ol><div class=author>By Cora Ray</div>"
    )
    text = read(html.format(f"<p>I agree. {NOTE}</p>"))
    assert ["Ann" in text, "I agree" in text, "So do I" in text, "Cora" in text] == [True, True, True, False]
    assert "So do I" not in read(html.format("No."))
    assert "I agree" not in read(html.format(f"<p>I agree. {NOTE}</p>"), content="main")


def test_an_article_may_have_any_number_of_comments(read):
    """Where it has a text of its own, what it is about has none of them, however much of its prose they are."""
    comments = "".join(f"<div class=comment id=comment-{n}><p>Answer {n}. {NOTE * 9}</p></div>" for n in range(30))
    head = "<title>T</title><meta property=og:type content=article>"
    html = f"{head}<h1>T</h1><div><p>{NOTE * 60}</p></div><div id=comments>{comments}</div>"
    assert ["Answer 9" in read(html, content=content) for content in ("page", "main")] == [True, False]


PRODUCT = "<meta property=og:type content=product><title>T</title><body>"


def test_reviews_of_many_on_the_page_of_a_product_are_beside_it(read):
    """Many texts of one form in a part that a word names as reviews leave `main`, also with most of the prose."""
    reviews = "".join(f"<div class=one><b>Ann {number}</b><p>{NOTE}</p></div>" for number in range(9))
    html = f"{PRODUCT}<div><h1>Grinder</h1><p>{NOTE * 4}</p><div class=seo-reviews__all>{reviews}</div></div>"
    assert ["Ann 7" in read(html, content=content) for content in ("page", "main")] == [True, False]


@pytest.mark.parametrize(
    ("mark", "is_left"),
    [("class=related-products", False), ("class=recently-viewed", False), ("class=parts", True)],
)
def test_parts_named_as_of_other_products_are_beside_a_product(read, mark, is_left):
    """Other products in the midst of a product's page stay in the page and leave its main part."""
    others = f"<div {mark}><h2>More</h2><p>Kettle</p><p>Mill</p></div>"
    html = f"{PRODUCT}<h1>Grinder</h1><p>{NOTE * 4}</p>{others}<p>{NOTE * 4}</p>"
    assert ["Kettle" in read(html, content=content) for content in ("page", "main")] == [True, is_left]


@pytest.mark.parametrize(("title", "is_left"), [("Kettle", True), (f"<a href=/k>Kettle {NOTE}</a>", False)])
def test_prose_without_links_is_not_of_other_products_by_its_name_alone(read, title, is_left):
    """A part named as of other products that has prose leaves a product's main part where it is mostly links."""
    others = f"<div class=similar><h2>More</h2><div>{title}</div><p>So. {NOTE}</p></div>"
    html = f"{PRODUCT}<h1>Grinder</h1><p>{NOTE * 4}</p>{others}<p>{NOTE * 4}</p>"
    assert ("So. I had" in read(html, content="main")) == is_left


@pytest.mark.parametrize(
    ("price", "is_left"), [("<b itemprop=price>19.90</b>", True), ("<b>$19.90</b>", True), ("<b>19.90</b>", False)]
)
def test_a_form_with_a_price_is_what_a_page_is_about(read, price, is_left):
    """A form that says the price of what it orders stays in `main`; another one goes."""
    form = f"<form>{price}<button>Order</button></form>"
    html = f"<title>T</title><body><h1>Chair</h1><p>{NOTE * 9}</p>{form}<p>{NOTE * 9}</p>"
    assert ("19.90" in read(html, content="main")) == is_left


def test_a_closed_drawer_is_no_text_of_a_page(read):
    """A part beside the content that screen readers leave out is closed, as the cart of a shop."""
    html = f"<title>T</title><body><h1>Kettles</h1><p>{NOTE * 9}</p><aside aria-hidden=true>Subtotal: 0.00</aside>"
    assert "Subtotal" not in read(html)


@pytest.mark.parametrize("mark", ["class=bbp-topic", "itemtype='https://schema.org/QAPage'"])
def test_replies_of_a_thread_are_what_it_is_about(read, mark):
    """On a page that says that it is a thread the replies stay in what it is about."""
    html = f"<h1>Question</h1><div {mark}><p>{NOTE * 9}</p></div><div class=comments><p>So. {NOTE}</p></div>"
    assert "So. I had the same" in read(f"<body>{html}", content="main")


def test_what_stands_before_a_threads_headline_is_beside_it(read):
    """Short texts before the headline are the site's, also where replies are what the page is about."""
    html = f"<div>Members: 14</div><h1>Question</h1><div class=bbp-topic><p>{NOTE * 9}</p></div>"
    assert "Members" not in read(f"<body>{html}", content="main")
    assert "Members" in read(f"<body>{html}")


@pytest.mark.parametrize("name", ["paywall-text", "teaser", "sidebar"])
def test_what_half_of_the_page_is_named_is_content(read, name):
    """A name of chrome on nearly every paragraph is one of content there, though each has little of the page."""
    text = read(f"<title>T</title><h1>T</h1><p>{NOTE}</p>" + f"<div class='{name}'><p>{NOTE}</p></div>" * 20)
    assert text.count(NOTE.strip()) == 21


def test_what_the_publisher_declares_as_paid_is_content(read):
    """The class in `cssSelector` of a page's structured data marks content, whatever its name and however hidden."""
    data = '{"isAccessibleForFree": false, "hasPart": {"@type": "WebPageElement", "cssSelector": ".promo-text"}}'
    text = read(
        f"<script type='application/ld+json'>{data}</script><h1>T</h1><div><p>{NOTE * 3}</p><p>{NOTE * 3}</p>"
        f"<div class='promo-text' style='display: none'><p>For subscribers.</p></div><p>{NOTE * 3}</p></div>"
    )
    assert "For subscribers." in text


TITLES = "".join(
    f"<div><a href='/{number}'><p>The title of page {number} is long enough to be taken for prose of it</p></a></div>"
    for number in range(4)
)


def test_lists_of_titles_behind_an_article_are_removed(read):
    """Behind its text they are those of other pages, in blocks too; within it they are part of the text."""
    assert read(article("", f"<div>{TITLES}</div>")) == read(article(""))
    assert "The title of page 3" in read(article(f"<div>{TITLES}</div>"))


DIALOG = f"<div role=dialog><h2>Policy</h2>{f'<p>What we do with data. {NOTE * 3}</p>' * 9}</div>"


def test_dialogs_with_policies_are_not_the_page(read):
    """A dialog with most of the prose leaves where the headline and enough prose are beside it, and else stays."""
    assert "Policy" not in read(f"<h1>Mug</h1><p>{NOTE * 8}</p>{DIALOG}")
    assert "Policy" in read(f"<h1>Mug</h1><p>{NOTE}</p>{DIALOG}")
    assert "Policy" in read(f"<p>{NOTE * 8}</p>{DIALOG.replace('h2', 'h1')}")


def test_popovers_are_not_the_page(read):
    """A part that browsers show only over the page, once a control is pressed, is left out."""
    assert "Tap" not in read(f"<h1>Mug</h1><p>{NOTE * 8}</p><div popover><h4>Notices</h4><p>Tap. {NOTE}</p></div>")


def test_the_footer_of_a_site_within_main_is_not_content(read):
    """Where `main` is around the whole page its footer has many links; the footer of a part has few."""
    links = "".join(f"<a href='/{number}'>Page number {number}</a> " for number in range(24))
    html = f"<main><h1>T</h1><p>{NOTE * 9}</p><footer><p>The end. {NOTE}</p>{{}}</footer></main>"
    assert "number 3" not in read(html.format(links))
    assert "The end." in read(html.format("<a href='/a'>All</a>"))


def test_menus_and_notices_of_forums_are_not_the_thread(read):
    """Containers of known programs, and groups of links around a thread of few words, leave; its posts stay."""
    notice = "<div class='js-browserWarning'><p>Take another browser, which shows this page as it should be.</p></div>"
    signature = "<aside class='message-signature'>My machines</aside>"
    post = f"<article class='message--post'><p>{NOTE * 4}</p>{signature}</article>"
    text = read(f"<div>{'<a href=/f>Forum</a>, ' * 6}</div>{notice}<h1>Question</h1>{post}")
    assert text == f"# Question\n\n{(NOTE * 4).strip()}\n"


@pytest.mark.parametrize(
    ("classes", "is_shown"), [("d-none", False), ("ipsHide", False), ("d-none d-md-block", True), ("note", True)]
)
def test_short_texts_that_style_sheets_hide_on_all_screens_are_left_out(within, classes, is_shown):
    """A few words under a class that shows nothing go; those that are shown on some screens stay."""
    assert ("Begins here" in within(f"<div>Of kettles <span class='{classes}'>Begins here</span></div>")) == is_shown


def test_long_texts_that_style_sheets_hide_stay(within):
    """Prose and facts under such a class are what a click opens."""
    prose = "The kettle of steel boils a litre in two minutes, and is as quiet as that of glass. "
    assert "boils" in within(f"<div class=d-none><p>{prose}</p></div>")


def test_asides_outside_of_main_are_left_out(read):
    """What a page says is beside its main part goes, with its prose; within the main part it stays."""
    aside = "<aside><p>Make an account to read what others say of it, and to say what you think yourself.</p></aside>"
    answer = "<p>One of steel, since they are quiet and do not break; one that I had is as good as new after years.</p>"
    main = f"<main><h1>T</h1><p>What is the best kettle?</p>{answer}{{0}}</main>"
    assert ("an account" in read(main.format("") + aside), "an account" in read(main.format(aside))) == (False, True)


def test_an_element_around_main_is_never_beside_the_content(read):
    """A class of the frame of a page that names its sidebar, too, does not take the list of posts in `main` away."""
    menu = "".join(
        f"<div><a href=/m/{number}>A longer entry of the menu, number {number}</a></div>" for number in range(30)
    )
    posts = "".join(f"<article><h2><a href=/{number}>Recipe {number}</a></h2></article>" for number in range(6))
    page = f"<div>{menu}</div><div class=content-sidebar-wrap><main>{posts}</main></div>"
    assert [f"Recipe {number}" in read(page) for number in range(6)] == [True] * 6


@pytest.mark.parametrize(
    ("before", "after", "is_text"),
    [
        ("", "<h2>Second</h2>", True),
        ("<h3>Tools</h3>", "", True),
        ("<p><b>What is ahead:</b></p>", "", True),
        ("", "", False),
        ("<p>More:</p><div>", "</div>", False),
    ],
)
def test_lists_of_links_of_the_text_of_an_article(read, before, after, is_text):
    """A list that ends a section or that a heading or a label announces stays; one between paragraphs or apart goes."""
    links = "<ul>" + "".join(f"<li><a href='/{number}'>Tool no. {number}</a>" for number in range(5)) + "</ul>"
    prose, meta = f"<p>{NOTE * 3}</p>" * 6, "<meta property=og:type content=article><title>T</title><h1>T</h1>"
    assert ("Tool no. 4" in read(f"{meta}<div>{prose}{before}{links}{after}{prose}</div>")) == is_text


@pytest.mark.parametrize(("count", "is_text"), [(3, True), (2, False)])
def test_lists_of_links_behind_the_prose_of_sections_are_their_text(read, count, is_text):
    """Where several sections of an article end with a list of links, the lists are what these are about."""
    links = "".join(f"<li><a href='/{number}'>Tool no. {number} of the whole workshop</a>" for number in range(5))
    section = f"<div><h3>Tools</h3><p>{NOTE * 3}</p><div class=list><ul>{links}</ul></div><p>Ask</p></div>"
    meta = "<meta property=og:type content=article><title>T</title><h1>T</h1>"
    assert ("Tool no. 4" in read(f"{meta}<div>{f'<p>{NOTE * 9}</p>' * 6}{section * count}</div>")) == is_text


@pytest.mark.parametrize(("after", "is_left"), [(f"<div><p>{NOTE}</p></div>", True), ("<div>Short</div>", False)])
def test_a_heading_of_prose_in_a_part_named_as_chrome_stays(read, after, is_left):
    """On the page of an article the name of an element around a heading alone says nothing of the prose behind it."""
    meta, prose = "<meta property=og:type content=article><title>T</title><h1>T</h1>", f"<p>{NOTE * 9}</p>"
    html = f"{meta}<main>{prose}<div><div class=social-text><h2>Wiring</h2></div>{after}</div>{prose}</main>"
    assert ("## Wiring" in read(html)) == is_left


def test_a_list_of_links_below_a_heading_of_the_text_stays(read):
    """`See also` at the end of a text is a part of it; the same list in an element of its own is one of the site."""
    links = "<h2>See also</h2><ul>" + "".join(f"<li><a href='/{number}'>Tool no. {number}</a>" for number in range(4))
    text = f"<p>{NOTE * 3}</p>" * 6
    assert "Tool no. 3" in read(f"<h1>T</h1><div>{text}{links}</ul></div>")
    assert "Tool no. 3" not in read(f"<h1>T</h1><div>{text}</div><div>{links}</ul></div>")


@pytest.mark.parametrize(
    ("html", "is_shown"),
    [
        ("<div role=button><h3>Of kettles</h3>{note}</div>", True),
        ("<div role=button><div><a href=/1>Of kettles</a></div><div>{note}</div></div>", True),
        ("<a role=button href=/1><img src=/1.png alt='Of kettles'></a>", True),
        ("<a role=button href=/1><h3>Of kettles</h3></a>", True),
        ("<a role=button href=/1>Of kettles</a>", False),
        ("<div role=button>Of kettles</div>", False),
    ],
)
def test_cards_that_are_said_to_be_buttons_are_content(within, html, is_shown):
    """Prose, and a link around a picture or a title, are content; a button has a few words."""
    assert ("Of kettles" in within(f"<div>{html.format(note=NOTE)}</div>")) == is_shown


def test_a_part_with_links_that_is_said_to_be_a_button_is_content(read):
    """A carousel with a role by which it moves has cards with prose; a button with one link is a control."""
    card = "".join(f"<div><a href='/{number}'>Game {number}</a><p>{NOTE}</p></div>" for number in range(4))
    text = read(f"<title>T</title><h1>T</h1><div><p>{NOTE * 3}</p><div role=button tabindex=0>{card}</div></div>")
    assert all(f"Game {number}" in text for number in range(4))
    assert "Game" not in read(
        f"<title>T</title><h1>T</h1><div><p>{NOTE * 3}</p><div role=button><a href=/1>Game</a></div></div>"
    )


def test_a_heading_goes_with_the_navigation_below_it(read):
    """The heading of a navigation, also of one in an element of its own, is left out; headlines and titles stay."""
    text = (
        "<p>The page says a thing or two about its subject, until it is about as long as paragraphs use to be.</p>" * 9
    )
    menu = "<nav><a href=/a>One</a> <a href=/b>Two</a></nav>"
    top = f"<h2>House</h2><p>Of machines</p><header><h2>Machines</h2>{menu}</header>"
    inner = f"<div><h3>In this text</h3><div>{menu}</div></div><div><h3><a href=/c>Record</a></h3>{menu}</div>"
    page = f"<title>T</title><article>{top}{inner}{text}<div><h2>Menu</h2>{menu}</div>"
    found = read(page)
    assert [heading for heading in ("Machines", "In this text", "Record", "Menu") if heading in found] == [
        "Machines",
        "Record",
    ]


def test_a_headline_that_leads_to_its_own_page_stays_outside_of_main(read):
    """The headline before the main part stays, also with its text in a link to the page itself."""
    headline = "<h1><a href=/a/page.html>How deep is the machine</a></h1>"
    text = read(
        f"<title>T</title><body><div>{headline}<p>Asked today</p></div><div role=main>{f'<p>{NOTE}</p>' * 9}</div>"
    )
    assert text.startswith("# How deep is the machine\n")


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<div id=siteSub>From the book of kettles</div>", ""),
        (
            "<div class='mw-pt-languages'><a href=/de lang=de>Deutsch</a> <a href=/fr lang=fr>Français</a></div>",
            "",
        ),
        ("<div class=printfooter>Retrieved from <a href=/old>https://site.example.org/old</a></div>", ""),
        (
            "<details open><summary class=hideme><span>Expand</span></summary><p>On kettles.</p></details>",
            "On kettles.",
        ),
    ],
)
def test_what_programs_write_for_print_and_as_buttons_is_left_out(within, html, left):
    """Lines of wikis that screens do not show, their lists of translations, and the button of an open part."""
    assert within(html) == left


@pytest.mark.parametrize(
    "html",
    [
        "".join(
            f"<div class=i><div class=q>How {word}?</div><div class=a style='display: none'>Two {word}.</div></div>"
            for word in ("deep", "wide", "far")
        ),
        f"<div class='plan month'><b>9</b><p>It</div><div class='plan year' hidden><b>Two far</b><p>{NOTE}</div>",
        "<ul><li><a href=#a>1</a><li><a href=#b>2</a></ul><i id=a class=t>One</i><i id=b class=t hidden>Two far</i>",
    ],
    ids=["answers", "prices", "tabs"],
)
def test_short_hidden_texts_beside_shown_ones_are_content(within, html):
    """Answers below questions, the same list for another time, and parts to which links above them lead."""
    assert "Two far" in within(html)


@pytest.mark.parametrize(
    "note",
    ["Sold out", "<label>{0} Sold out</label>", "<a href='/{0}'>{0} Sold out</a>"],
    ids=["notes", "filters", "menus"],
)
def test_hidden_notes_filters_and_menus_below_titles_are_none(within, note):
    """The same text in each record says something of none of them."""
    records = (f"<div class=c><h4>{word}</h4><div class=s hidden>{note.format(word)}</div></div>" for word in "ABC")
    assert "Sold out" not in within("".join(records))


@pytest.mark.parametrize(
    "aside",
    [
        "<aside role=doc-endnotes><ol><li>See <a href=/1>1</a>, <a href=/2>2</a>, <a href=/3>three</a>.</ol></aside>",
        "<aside class=note><p>Mind the step, and see what the <a href=/three>three</a> say.</p></aside>",
    ],
    ids=["role", "note"],
)
def test_notes_of_a_text_are_not_beside_it(read, aside):
    """An aside with another role, and one right behind a paragraph that is no links, are of an article."""
    html = f"<meta property=og:type content=article><article><h1>T</h1>{f'<p>{NOTE * 3}</p>' * 5}{aside}</article>"
    assert "three" in read(html)


def test_prose_without_links_is_no_navigation(within):
    """Page builders write answers as `nav`."""
    answer = "<nav class=list><p>Three metres, as far as anyone who was there at noon could tell us.</p></nav>"
    assert "Three metres" in within(f"<div>How deep?</div>{answer}")


def test_parameters_in_a_form_are_documentation(read):
    """A form in which each field is explained is what the page is about; others are not."""
    field = "<div><label for=a{0}>key{0}</label><p>The name {0}.</p><input id=a{0}></div>"
    form = f"<form>{''.join(map(field.format, 'xyz'))}</form><form><label>Mail<input></label><input>Join</form>"
    html = f"<meta name=generator content=Sphinx><main><h1>T</h1><p>{NOTE * 9}</p>{form}</main>"
    assert ("keyx" in read(html), "Join" in read(html)) == (True, False)


def test_an_answer_of_a_program_in_a_button_is_text(within):
    """A button with a paragraph behind other text opens what it names."""
    assert (
        within("<button><b>404</b><p>No such key</p></button><button><p>Send</p></button>") == "**404**\n\nNo such key"
    )


@pytest.mark.parametrize("html", ["", "<meta property=og:type content=article>"])
def test_sections_with_ids_are_no_chrome(read, html):
    """Several siblings with ids and headings are sections, whatever their ids say."""
    sections = "".join(
        f"<section id={name}><h2>Haus</h2><p>{name} {NOTE}</p></section>" for name in ("author", "share", "x")
    )
    text = read(f"<title>T</title>{html}<article><h1>T</h1><p>{NOTE * 9}</p>{sections}<p>{NOTE}</p></article>")
    assert "author I had" in text


def test_a_section_about_comments_is_no_comments(read):
    """An id made of a heading names a section if paragraphs stand right in it."""
    html = f"<title>T</title><main><h1>T</h1><p>{NOTE * 9}</p><div id=comments><h2>Comments</h2>{{}}</div></main>"
    assert "Say hello" in read(html.format(f"<p>Say hello. {NOTE}</p>"), content="main")
    assert "Say hello" not in read(html.format(f"<ol><li><p>Say hello. {NOTE}</p></ol>"), content="main")


def test_a_table_in_a_dialog_is_of_a_product(read):
    """Sizes that a click shows are facts of it; a form that a click shows is not."""
    product = "<div itemscope itemtype='https://schema.org/Product'><div itemscope itemtype='https://schema.org/Offer'>"
    html = f"<title>T</title>{product}<h1>T</h1><p>{NOTE * 9}</p><div role=dialog>{{}}</div></div>"
    table = "<table><tr><td>S<td>90 cm</table>"
    assert ("90 cm" in read(html.format(table)), "90 cm" in read(html.format(f"{table}<input>"))) == (True, False)


@pytest.mark.parametrize(
    ("html", "is_left"),
    [
        ("<table><tr><th>Share<td>9.99</table>", True),
        ("<ul><li>9.99</ul>", True),
        (f"<p>9.99 {NOTE}</p>", True),
        (f"<p>9.99 {NOTE}<a href=/x>More</a></p>", False),
        (f"<p>9.99 {NOTE}</p><form><input></form>", False),
        (f"<img src=/i.png><p>9.99 {NOTE}</p>", False),
    ],
    ids=["table", "list", "prose", "link", "form", "picture"],
)
def test_parts_of_an_article_without_links_are_text_whatever_their_names(read, html, is_left):
    """A name alone is too weak a sign: what is named as chrome has a link, a picture or a form."""
    head = "<meta property=og:type content=article><title>T</title>"
    part = f"<p>{NOTE * 4}</p><div class=share-prices>{html}</div><p>{NOTE * 4}</p>"
    assert ("9.99" in read(f"{head}<article><h1>T</h1>{part}</article>")) is is_left


def test_a_label_of_a_shown_value_stays(after):
    """A label leads to a field; where a page only shows the value, it is a term, as the header of a row is."""
    shown = "<ul><li><label for=a>State:</label> <span id=a>open</span></li></ul>"
    headed = "<table><tr><th><label for=b>Part</label></th><td>North</td></tr></table>"
    asked = "<p>Say</p><label for=c>Your name</label><input id=c>"
    assert after(f"{shown}{headed}{asked}") == "- State: open\n\n| Part | North |\n| --- | --- |\n\nSay"


def test_what_a_reader_ticks_off_in_an_article_stays(read):
    """Ingredients are labels of boxes that nothing sends; a single one opens a menu, and those of a form are asked."""
    boxes = "".join(f"<p><b>{n} g</b> <label class=box><input type=checkbox>flour {n}</label>" for n in (1, 2, 3))
    menu = "<input type=checkbox id=menu><label for=menu>Menu</label>"
    form = "<form><label class=to><input type=checkbox>news</label></form>" * 3
    head = "<title>T</title><meta property=og:type content=article>"
    text = read(f"{head}<h1>T</h1>{menu}<div><p>{NOTE * 9}</p>{boxes}<p>{NOTE * 2}</p>{form}</div>")
    assert "**3 g** flour 3" in text
    assert not any(asked in text for asked in ("Menu", "news"))


@pytest.mark.parametrize("content", ["page", "main"])
def test_fields_of_any_type_that_documentation_explains_stay(read, content):
    """Also a number, also a single one that nothing sends, in both extents."""
    row = "<div><label for={0}>{0}</label> <i>int</i><p>What {0} does.</p><input id={0} type=number></div>"
    forms = f"<form><h3>Query</h3>{row.format('limit')}{row.format('offset')}</form><form>{row.format('accept')}</form>"
    meta = "<meta name=generator content='readme.io'>"
    text = read(f"{meta}<main><h1>T</h1>{NOTE * 8}{forms}</main>", content=content)
    assert [name for name in ("limit", "offset", "accept") if f"{name} *int*" in text] == ["limit", "offset", "accept"]


def test_the_name_of_the_first_author_of_a_thread_stays(read):
    """A class that says `author` is no chrome around the posts, though nothing stands before it."""
    post = "<div class=email-header><div class=email-author><h2>{}</h2></div></div><div class=email-body>{}</div>"
    first, rest = (post.format(name, f"<p>{NOTE * 8}</p>") for name in ("Ann Smith", "Bob Jones"))
    text = read(f"<h3 class=quoted-switch>T</h3><div class=first>{first}</div><div class=replies>{rest}</div>")
    assert "## Ann Smith" in text
    assert "## Bob Jones" in text


def test_a_form_with_nothing_to_fill_in_is_text(read):
    """Programs put texts of posts into forms that only have hidden fields."""
    form = f"<form><input type=hidden name=t><p>Said in a form. {NOTE}</p></form>"
    text = read(f"<main><h1>T</h1><div><p>{NOTE * 8}</p></div>{form}</main>", content="main")
    assert "Said in a form." in text


def test_the_short_description_of_a_product_stays(read):
    """Prose between the name and the long description is of the product, also in elements of its own."""
    short = f"<div class=info><div class=short><p>In short. {NOTE}</p></div></div>"
    html = f"{PRODUCT}<div><div><h1>Rope</h1>{short}</div><div class=tabs><div><p>{NOTE * 9}</p></div></div></div>"
    assert "In short." in read(html, content="main")


@pytest.mark.parametrize(
    ("labels", "panels"),
    [
        ("<a data-w-tab=1 class='tab current'>One</a><a class=tab>Two</a>", "<div class=tabs>{}</div>"),
        ("<a class='tab active' href='#'>One</a><a class=tab href='#'>Two</a>", "{}"),
    ],
)
def test_labels_of_tabs_stand_above_panels_behind_them(after, labels, panels):
    """Another class marks the shown panel than its tab, or the panels have no element of their own."""
    inner = "<div class='pane active'><p>First.</p></div><div class=pane><p>Second.</p></div>"
    html = f"<div><div class=menu>{labels}</div>{panels.format(inner)}</div>"
    assert after(html) == "**One**\n\nFirst.\n\n**Two**\n\nSecond."


def test_a_part_that_opens_the_block_behind_it_is_its_title(after):
    """Whatever the length of its text."""
    item = "<div><div role=button aria-expanded=false><b>Why?</b></div><div style='display:none'><p>So.</p></div></div>"
    assert after(item) == "**Why?**\n\nSo."


def test_the_notes_of_a_text_stay_in_main(read):
    """They stand behind the element with the text, in one of their own."""
    notes = "<div class=footnotes><ol><li id=n><p>In May.</p></li></ol></div>"
    html = f"<h1>T</h1><div><div><p>{NOTE * 8}<sup><a href='#n'>1</a></sup></p></div>{notes}</div>"
    assert "[^1]: In May." in read(html, content="main")
