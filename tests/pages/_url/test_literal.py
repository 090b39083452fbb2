"""Text that looks like HTML."""

import re

import pytest

SCRIPT = "&lt;script&gt;alert(1)&lt;/script&gt;"
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
TAG = re.compile(r"<[a-zA-Z/!?]")


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{SCRIPT}</p>",
        "<p>&amp;lt;script&amp;gt;</p>",
        "<p>&lt;<span></span>script&gt;alert(1)</p>",
        "<p>&lt;<a></a>script&gt;alert(1) &lt;<img>img src=x onerror=alert(1)&gt;</p>",
        "<p>&lt;!-- x &lt;?x &lt;/p&gt;</p>",
        f"<h2>{SCRIPT}</h2><ul><li>{SCRIPT}</ul><blockquote>{SCRIPT}</blockquote><dl><dt>{SCRIPT}<dd>{SCRIPT}</dl>",
        f"<table><tr><th>{SCRIPT}<th>b<tr><td>{SCRIPT}<td>c</table>",
        f"<p><a href='/{SCRIPT}' title='{SCRIPT}'>{SCRIPT}</a></p>",
        f"<p><img src='/{SCRIPT}' alt='{SCRIPT}' title='{SCRIPT}'></p>",
        f"<p>$ {SCRIPT} $</p><math alttext='{SCRIPT}'><mi>x</mi></math>",
        f"<iframe src='http://x.example/?{SCRIPT}' title='{SCRIPT}'></iframe>",
        f"<p><code>{SCRIPT}</code></p><pre>```\n{SCRIPT}\n```</pre>",
    ],
)
def test_text_like_html(read, after, html):
    """Outside of code nothing in the Markdown of a page is HTML, for no renderer."""
    assert not TAG.search(CODE.sub("", after(html)))
    assert not TAG.search(CODE.sub("", read(html)))


def test_a_title_like_html(read):
    """The title of a page is text, too."""
    assert read(f"<title>{SCRIPT} &amp;lt;</title><p>A text.</p>").startswith(
        "# &lt;script>alert(1)&lt;/script> &amp;lt;"
    )


def test_a_page_without_markup(read):
    """A page of HTML without markup is text, too."""
    assert not TAG.search(read("&lt;img src=x onerror=alert(1)&gt; < script>"))


def test_a_star_in_a_block_that_is_written_in_bold(read):
    """A single star in a term or a summary is escaped; beside the stars around it, it would be markup."""
    text = read("<p>A * B</p><dl><dt>All *<dd>Facts</dl><details><summary><div>More *</div></summary>Text</details>")
    assert [line for line in text.split("\n") if "*" in line] == ["A * B", "**All \\***", "**More \\***"]
