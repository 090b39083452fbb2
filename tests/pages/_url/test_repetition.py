"""Copies of texts, and what stands around the texts of a thread's posts."""

import pytest

NOTE = "Remark {0}: I had the same on machine {0} of mine, and what helped was to take the newer one and wait. "
PROSE = "".join(f"<p>{NOTE.format(number) * 2}</p>" for number in range(6))
COPY = "Free delivery on the day after the order"
FIGURES = [f"<figure><img src=/{number}.png alt=x><figcaption>{COPY}</figcaption></figure>" for number in range(4)]


def thread(*posts):
    """A page that says it is a thread, with these posts."""
    return (
        f"<title>T</title><h1>T</h1><div class=bbp-topic>{''.join(f'<div class=post>{post}</div>' for post in posts)}"
    )


@pytest.mark.parametrize(
    "html",
    [
        f"<div><div class=bar><p>{COPY}</p></div><section class=box>{PROSE}<p>{COPY}</p></section></div>",
        f"<div><div class=desktop>{COPY}</div><div class=mobile>{COPY}</div>{PROSE}</div>",
    ],
)
def test_a_copy_of_a_text_is_left_out_of_what_a_page_is_about(read, html):
    """A text that stands twice, in a bar or for another screen, is once in `main` and twice in `page`."""
    assert (read(f"<h1>T</h1>{html}", content="main").count(COPY), read(f"<h1>T</h1>{html}").count(COPY)) == (1, 2)


def test_of_a_text_before_the_headline_and_behind_it_the_second_stays(read):
    """The preview of a post, hidden above the headline of its thread, is the copy of the post."""
    text = f"<div class=text>{NOTE.format(1) * 3}</div>"
    posts = "".join(f"<div class=post>{NOTE.format(number) * 3}</div>" for number in range(2, 5))
    page = f"<title>T</title><div class=bbp-topic><div>{text}</div><div><h1>Machines</h1>{text}</div>{posts}</div>"
    written = read(page, content="main")
    assert (written.startswith("# Machines\n"), written.count(NOTE.format(1).strip())) == (True, 3)


def test_of_two_headlines_before_the_text_the_second_stays(read):
    """The headline of a bar that stays in sight is the copy of the one above the text."""
    headline = "<div><h1>What is in the box of the machine</h1></div>"
    question = "".join(f"<p>{NOTE.format(number)}</p>" for number in range(11, 16))
    text = f"<div class=question>{headline}{question}</div><div class=answers>{PROSE * 2}</div>"
    written = read(f"<title>T</title><div class=bar>{headline}<p>Close</p></div><div>{text}</div>", content="main")
    assert written.startswith("# What is in the box of the machine\n\nRemark 11")


@pytest.mark.parametrize(
    "html",
    [
        "".join(f"<div class=card><h2>Card {number}</h2><p>{COPY}</p></div>" for number in range(4)),
        f"<table><tr><th>A<th>B{f'<tr><td><p>{COPY}</p><td>x' * 4}</table>",
        f"<div>{FIGURES[0]}</div><section>{FIGURES[1]}</section><div class=wide>{FIGURES[2]}</div>{FIGURES[3]}",
        f"<div class=song>{f'<p>{COPY}</p><p>And another line</p>' * 4}</div>",
    ],
)
def test_what_records_share_is_no_copy(read, html):
    """A fact of each of several cards, cells and captions with one text and a refrain stay."""
    assert read(f"<h1>T</h1><div>{PROSE}{html}</div>", content="main").count(COPY) == 4


def test_labels_and_signatures_of_posts_are_left_out_of_what_a_thread_is_about(read):
    """Ranks, counts, controls and repeated signatures around posts go; names in headings, times and texts stay."""
    posts = [
        f"<div class=user><h4>Ann{number}</h4><div class=rank>Member no. {number}</div></div><time>May {number}</time>"
        f"<div class=text>{NOTE.format(number) * 3}</div><div class=signature>{COPY}, and so on, for as long as it is "
        "wanted.</div><div class=controls>Like Reply</div>"
        for number in range(1, 4)
    ]
    text = read(thread(*posts), content="main")
    for kept in ("Ann1", "Ann3", "May 1", "May 3", NOTE.format(1).strip(), NOTE.format(3).strip()):
        assert kept in text
    for gone in ("Member no.", COPY, "Like Reply"):
        assert gone not in text
        assert gone in read(thread(*posts))


@pytest.mark.parametrize("name", ["signature restore", "ipsEntry__signature"])
def test_signatures_of_known_programs_are_left_out_of_what_a_thread_is_about(read, name):
    """What each member has below a post goes by the class that forums write, though no other has the same text."""
    posts = [
        f"<h4>Ann{number}</h4><div>{NOTE.format(number) * 3}</div><blockquote class='{name}'>{COPY} no. {number}"
        f"{' of mine' * number * number}</blockquote>"
        for number in range(1, 4)
    ]
    assert (COPY in read(thread(*posts)), COPY in read(thread(*posts), content="main")) == (True, False)


def test_lists_within_posts_stay(read):
    """A list beside the paragraphs of a post is its text, though none of its items is prose."""
    posts = [
        f"<h4>Ann{number}</h4><div class=text><p>{NOTE.format(number) * 3}</p><ul><li>Change {number}</ul></div>"
        for number in range(1, 4)
    ]
    text = read(thread(*posts), content="main")
    assert [f"Change {number}" in text for number in range(1, 4)] == [True] * 3


def test_short_posts_are_what_a_thread_is_about(read):
    """The texts of posts stay where one of them is long, and where they are much of the page."""
    posts = [f"<div class=text>{text}</div>" for text in (NOTE.format(1), "Yes.", "Thanks a lot.", "No.")]
    text = read(thread(*posts), content="main")
    short = read(thread(*posts[1:]), content="main")
    assert [word in text and word in short for word in ("Yes.", "Thanks a lot.", "No.")] == [True] * 3


def test_a_quotation_of_another_post_is_a_copy(read):
    """The answer to a quotation stays, and who is quoted; the quoted text is in the thread once."""
    quote = f"<blockquote><p>Ann wrote:</p><p>{NOTE.format(1)}</p></blockquote>"
    text = read(
        thread(
            f"<div class=text><p>{NOTE.format(1)}</p></div>", f"<div class=text>{quote}<p>{NOTE.format(2)}</p></div>"
        ),
        content="main",
    )
    assert text.count(NOTE.format(1).strip()) == 1
    assert "Ann wrote:" in text
    assert NOTE.format(2).strip() in text


def test_facts_and_ranks_of_members_are_left_out_of_what_a_thread_is_about(read):
    """Facts in definition lists and a rank below the name go; the name in a term or a heading stays, as do texts."""
    posts = [
        f"<dl class=profile><dt><a href=/m/{number}>Bea{number}</a></dt><dd>Posts: {number}7</dd></dl><div class=user>"
        f"<h4><a href=/m/{number}>Ann{number}</a></h4><h5>Junior member {number}</h5></div>"
        f"<div class=text>{NOTE.format(number) * 3}</div>"
        for number in range(1, 4)
    ]
    text = read(thread(*posts), content="main")
    kept = [all(f"{name}{number}" in text for number in range(1, 4)) for name in ("Bea", "Ann")]
    assert (kept, "Posts:" in text, "Junior" in text, text.count("Remark")) == ([True] * 2, False, False, 9)


def test_headings_and_terms_within_posts_stay(read):
    """The sections and the definitions of a post are its text."""
    posts = [
        f"<h4>Ann{number}</h4><div class=text><h5>Step {number}</h5><p>{NOTE.format(number) * 3}</p>"
        f"<dl><dt>Cause {number}</dt><dd>{NOTE.format(number)}</dd></dl></div>"
        for number in range(1, 4)
    ]
    text = read(thread(*posts), content="main")
    assert [f"{word} {number}" in text for word in ("Step", "Cause") for number in range(1, 4)] == [True] * 6


def test_remarks_on_answers_are_left_out_of_what_a_thread_is_about(read):
    """Comments on a question or an answer go from `main`, questions and answers stay; `page` has all of them."""
    schema = "itemscope itemtype=https://schema.org/"
    answers = "".join(
        f"<div {schema}Answer><p>{NOTE.format(number) * 2}</p><ul><li {schema}Comment>Thanks to {number}</ul></div>"
        for number in range(1, 4)
    )
    html = f"<div {schema}QAPage><h1>T</h1><div {schema}Question><p>{NOTE.format(0)}</p>{answers}</div></div>"
    main, page = read(html, content="main"), read(html)
    assert (main.count("Remark"), "Thanks" in main, page.count("Thanks to")) == (7, False, 3)


def test_labels_of_posts_in_a_list_that_differ_in_numbers_are_left_out_of_what_a_thread_is_about(read):
    """Counts that are as long as prose are labels of posts in an ordered list; what is counted in the posts stays."""
    label = "{0} gold badges and {0} silver badges and {0} bronze badges, answered for the {0}th time"
    posts = "".join(
        f"<li class=bbp-topic><h4>Ann{number}</h4><div class=text><p>{NOTE.format(number) * 3}</div>"
        f"<div class=member><img src=/{number}.png alt=''><span>{label.format(number)}</span></div>"
        for number in range(1, 5)
    )
    html = f"<title>T</title><h1>T</h1><ol class=posts>{posts}</ol>"
    text = read(html, content="main")
    assert ("silver badges" in text, "silver badges" in read(html)) == (False, True)
    assert all(NOTE.format(number).strip() in text and f"Ann{number}" in text for number in range(1, 5))


def test_times_of_members_beside_posts_are_left_out_of_what_a_thread_is_about(read):
    """The day on which a member joined goes with the member's aside; the member's name and the post's day stay."""
    posts = (
        f"<article><aside><h3><a href=/m>Ann{number}</a></h3><ul><li><time>January {number}, 2001</time></ul></aside>"
        f"<time>May {number}</time><div class=text>{NOTE.format(number) * 3}</div></article>"
        for number in range(1, 4)
    )
    text = read(thread(*posts), content="main")
    assert "January" not in text
    assert all(kept in text for kept in ("Ann1", "Ann3", "May 1", "May 3"))


OTHERS = "<aside class=more><h3>Other threads</h3><ul><li><a href=/a>Which lamp?</a> May 3<li>Log in</ul></aside>"


def test_what_stands_behind_the_posts_of_a_thread_is_not_what_it_is_about(read):
    """Other threads behind the last post go, the last post stays, however short it is."""
    posts = [f"<div class=text>{NOTE.format(number) * 3}</div>" for number in range(1, 5)]
    html = (
        thread(*posts, "<div class=text>Thanks!</div>") + f"</div><div class=end>{OTHERS.replace('aside', 'div')}</div>"
    )
    text = read(html, content="main")
    assert ("Other threads" in text, "Other threads" in read(html)) == (False, True)
    assert text.rstrip().endswith("Thanks!")


def test_much_text_behind_the_posts_of_a_thread_stays(read):
    """Posts of another form behind the others are posts, too."""
    posts = [f"<div class=text>{NOTE.format(number) * 2}</div>" for number in range(1, 4)]
    html = thread(*posts) + f"</div><section><p>{NOTE.format(9) * 5}</p></section>"
    assert NOTE.format(9).strip() in read(html, content="main")


def records(part, title="<h3><a href=/{0}>Model {0}</a></h3>"):
    """A page of records with a part, where `{0}` is the number of each."""
    cards = "".join(f"<div class=card>{title}<p>Weighs {{0}} kg.</p>{part}</div>".format(number) for number in range(8))
    return f"<title>T</title><h1>Models</h1><div class=grid>{cards}</div>"


@pytest.mark.parametrize(
    "part",
    [
        "<div class=view>Quick view</div>",
        "<a href=#quick-{0}>Quick view</a>",
        "<div><a href=#rate>Quick view</a> <a href=#1>1 of 5</a></div>",
    ],
)
def test_what_all_records_say_alike_is_left_out_of_what_a_page_is_about(read, part):
    """A control that each record has stays in the page, and goes from its main part."""
    assert [read(records(part), content=content).count("Quick view") for content in ("page", "main")] == [8, 0]


@pytest.mark.parametrize(
    ("part", "title"),
    [
        ("<div class=price>19.90</div>", "<h3><a href=/{0}>Model {0}</a></h3>"),
        ("<div class=label>Colour</div><div>red {0}</div>", "<h3><a href=/{0}>Model {0}</a></h3>"),
        ("<a href=/{0}>Find out more</a>", "<h3>Model {0}</h3>"),
        ("<p><a href=/kettles>Kettle</a> of steel {0}</p>", "<h3><a href=/{0}>Model {0}</a></h3>"),
        ("<p>Steel {0}, for the <a href=/kettles>kettle</a></p>", "<h3><a href=/{0}>Model {0}</a></h3>"),
    ],
)
def test_facts_names_and_only_links_of_records_are_what_a_page_is_about(read, part, title):
    """A number, the name of what stands behind it, the only link of a record and a word of its text stay."""
    texts = [read(records(part, title), content=content) for content in ("page", "main")]
    assert texts[0] == texts[1]


def test_a_badge_of_some_records_is_what_a_page_is_about(read):
    """A text that tells some records from the others stays."""
    html = records("<div class=badge>Best seller</div>").replace("<div class=badge>Best seller</div>", "", 3)
    assert read(html, content="main").count("Best seller") == 5


def posts_of(names, head):
    """A page that says it is a thread, with a post of each of these authors."""
    posts = (f"{head.format(name, number)}<p>{NOTE.format(number) * 2}</p>" for number, name in enumerate(names, 1))
    return thread(*posts)


@pytest.mark.parametrize(
    "head",
    [
        "<div class=head><img src=/p.png alt='{0}'><div class=who>{0}</div></div>",
        "<div class=head itemprop=author><div class=who><span itemprop=name>{0}</span></div></div>",
        "<div class=head itemprop=author><div class=who><a href=/u>{0}</a></div></div>",
        "<div class=head><h4><a href=/u>{0}</a></h4><div>Senior member of this house</div></div>",
        "<div class=head><div class=who><a href='/u/{0}.html'>{0}</a></div></div>",
    ],
)
def test_each_post_of_a_thread_names_its_author(read, head):
    """The name beside a picture, of microdata, and of a heading is in each post, also of who has written before."""
    text = read(posts_of(["Ann Lee", "Ben", "Ann Lee", "Cy", "Ann Lee"], head), content="main")
    assert (text.replace("![Ann Lee]", "").count("Ann Lee"), "Senior member" in text) == (3, False)


def test_a_picture_in_one_link_with_its_name_is_a_button(read):
    """The name of a button with an icon is no author."""
    text = read(
        posts_of(["Ann"] * 4, "<div class=head><a href=/like><img src=/l.png alt=Like>Like</a></div>"), content="main"
    )
    assert "Like" not in text


@pytest.mark.parametrize(
    ("head", "is_shown"),
    [
        ("<div class=head><div>2{1}/11/2025 at 7:16 pm</div></div>", True),
        ("<div class=head><div>Joined: 2{1}/11/2025</div></div>", False),
        ("<div class=head><div>Joined: <b>2{1}/11/2025</b></div></div>", False),
        ("<div class=head><div>2{1}/11/2025</div><time>{1} May</time></div>", False),
        ("<div class=head><div>2{1}/11/2025</div><time datetime=2025-11-2{1}></time></div>", True),
    ],
)
def test_dates_of_posts_without_times_stay(read, head, is_shown):
    """A date says of when a post is, unless it has a label, as that of a member, or the posts have times."""
    assert ("21/11/2025" in read(posts_of(["Ann"] * 5, head), content="main")) is is_shown


FACTS = "<h3><a href=/u/{1}>{1}</a></h3><a href=/u/{1}/posts>12 posts</a> <a href=/u>5 stars</a>"
HEAD = f"<{{0}} class=author-column>{FACTS}</{{0}}>"


@pytest.mark.parametrize("tag", ["aside", "div"])
def test_each_post_names_its_author_beside_its_text(read, tag):
    """The column with the author's name is in each post of a page, also of short ones behind the last long one."""
    names = ("Ann", "Ben", "Cy", "Dan")
    texts = [NOTE.format(number) * 4 for number in range(2)] + ["Yes.", "Thanks."]
    posts = [f"{HEAD.format(tag, name)}<div class=text>{text}</div>" for name, text in zip(names, texts, strict=True)]
    text = read(thread(*posts))
    assert [name for name in names if f"### [{name}]" not in text] == []


def test_the_dates_of_short_posts_stay(read):
    """A list of the menu of a post that has its date stays where no long post follows, too."""
    date = "<li><a href=/p/{0}><time>May {0}</time></a>"
    menu = f"<ul class=menu>{date}<li><a>A</a><li><a>B</a><li><a href=/p/{{0}}>#{{0}}</a></ul>"
    texts = [NOTE.format(number) * 4 for number in range(1, 4)] + ["Yes.", "Thanks."]
    posts = [f"{menu.format(number)}<div class=text>{text}</div>" for number, text in enumerate(texts, 1)]
    text = read(thread(*posts))
    assert [number for number in range(1, 6) if f"[May {number}]" not in text] == []


def test_a_quotation_with_whom_it_quotes_is_no_label(read):
    """A short quotation in an element of its own is text of its post, and so is the name above it."""
    quote = "<aside class=quote><div class=title>Ann{0}:</div><blockquote><p>What is gate {0}?</p></blockquote></aside>"
    posts = [f"<div class=text>{quote.format(number)}<p>{NOTE.format(number) * 2}</p></div>" for number in range(3)]
    text = read(thread(*posts), content="main")
    assert [number for number in range(3) if f"What is gate {number}?" not in text] == []


def test_a_post_with_nearly_all_of_the_prose_says_whose_it_is(read):
    """The name and the time of the only long post of a thread are what the thread is about."""
    head = "<div class=head><h4><a href=/u>Ann</a></h4></div>"
    text = f"<div class=body><div><time>May 5</time></div><div class=text>{PROSE}</div></div>"
    written = read(thread(f"{head}{text}"), content="main")
    assert "[Ann]" in written
    assert "May 5" in written


def test_the_title_of_a_record_is_no_copy(read):
    """A linked heading stays with the other facts of its record, also where a record before it has the same."""
    title = "<h3><a href=/{0}>Battery of the machine {0}</a></h3>"
    first = "".join(f"<li class=top>{title.format(number)}" for number in range(4))
    second = "".join(f"<div class=hit>{title.format(number)}<p>${number}9.00</p></div>" for number in range(4))
    text = read(f"<h1>T</h1><ul>{first}</ul><div>{second}</div>", content="main")
    assert text.count("### [Battery of the machine 2]") == 2
