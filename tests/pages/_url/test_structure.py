# ruff: noqa: E501, ISC004  pages are longer than lines
"""The structure of a page after its Markdown is rendered by a reader of CommonMark."""

import pytest
from lxml.html import fromstring
from markdown_it import MarkdownIt

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TWO = "def f():\n    return 1"
LISTING = f"//pre/code[. = '{TWO}\n']"
NO_NUMBERS = "not(//pre[contains(., '2')]) and not(//table)"
ONE_LISTING = "count(//pre) = 1"
PICTURE = "//img[@src = 'https://site.example.org/a/{}']"
LINK = "//a[@href = '{}']"

PAGES = {
    "text": (
        "<pre><code class='language-python'>import os\n\n\ndef f():\n\treturn 1\n</code></pre>",
        ["//pre/code[. = 'import os\n\n\ndef f():\n\treturn 1\n']", "//code[@class = 'language-python']"],
    ),
    "divs of lines": (
        "<pre><code><div class=line>def f():</div><div class=line>    return 1</div></code></pre>",
        [LISTING],
    ),
    "divs of lines, one of them empty": (
        "<pre><div>a</div>\n<div></div>\n<div><br></div>\n<div>b</div></pre>",
        ["//pre/code[. = 'a\n\n\nb\n']"],
    ),
    "spans of lines": (
        "<pre class=shiki><code><span class=line>def f():</span>\n<span class=line></span>\n"
        "<span class=line>    return <b>1</b></span></code></pre>",
        ["//pre/code[. = 'def f():\n\n    return 1\n']", "not(//strong)"],
    ),
    "spans of lines without line ends": (
        "<pre><code><span class=line>def f():</span><span class=line>    return 1</span></code></pre>",
        [LISTING],
    ),
    "lines by style": (
        "<pre><span style='display: block'>def f():</span><span style='display:block'>    return 1</span></pre>",
        [LISTING],
    ),
    "Docusaurus": (
        "<div class='language-js codeBlockContainer'><pre class='prism-code language-js'><code class=codeBlockLines>"
        "<span class=token-line>const a = 1;<br></span><span class=token-line style='display:inline-block'><br></span>"
        "<span class=token-line>b();<br></span></code><button>Copy</button></pre></div>",
        ["//pre/code[. = 'const a = 1;\n\nb();\n']", "//code[@class = 'language-js']"],
    ),
    "lines of nothing but a prompt": (
        "<pre>&gt; a\n&gt;\n&gt;\n\n\n&gt; b</pre>",
        ["//pre/code[. = '> a\n>\n>\n\n\n> b\n']"],
    ),
    "code around a listing": (
        "<code class='highlight-wrap'>\n<pre><code class=language-python>def f():\n    return 1</code></pre>\n</code>",
        [LISTING, ONE_LISTING, "count(//code[@class = 'language-python']) = 1", "count(//code) = 1"],
    ),
    "code that its class makes a block": (
        "<code class='hl lean block'>\n  <span>def</span> m : <a href=/n>Nat</a></code><p>Or</p><code class='hl lean block'><span "
        "class=hover-info><code>Nat : Type</code></span>#check\n  Nat</code>",
        ["//pre/code[@class = 'language-lean'][. = 'def m : Nat\n']", "//pre/code[. = '#check\n  Nat\n']"],
    ),
    "lines of a block of code": (
        "<div class=code-block data-lang=python>def f():\n    return 1</div>",
        [LISTING, "//code[@class = 'language-python']"],
    ),
    "SyntaxHighlighter 2": (
        "<div class='syntaxhighlighter python'><div class=lines><div class='line alt1'><code class=number>1.</code><code class=content>"
        "<code class=keyword>def</code> <code class=plain>f():</code></code></div><div class='line alt2'><code class=number>2.</code>"
        "<code class=content><code class=block>&nbsp;&nbsp;&nbsp;&nbsp;</code><code class=plain>return 1</code></code></div></div></div>",
        [LISTING, NO_NUMBERS.replace("'2'", "'2.'"), "//code[@class = 'language-python']"],
    ),
    "a header within a listing": (
        "<pre><code class='hljs language-python'><div><span>python</span><button><b></b></button></div><div>def f():\n    return 1"
        "</div></code></pre>",
        [LISTING, ONE_LISTING],
    ),
    "an editor within a listing": (
        "<pre><div><div><div><svg></svg>Python</div><div><button>Run</button></div></div><div class=cm-editor><div class=cm-content>"
        "<span>def f():</span><br><span>    return 1</span></div></div></div></pre>",
        [LISTING, ONE_LISTING, "//code[@class = 'language-python']"],
    ),
    "a command that is the name of its language": (
        "<pre><code class=language-bash><span>bash</span>\nexit</code></pre>",
        ["//pre/code[. = 'bash\nexit\n']"],
    ),
    "a label of a button that copies": (
        "<div class=code-block><div><button></button><div aria-hidden=true>Copy</div></div><div><pre>def f():\n    return 1</pre></div>"
        "</div>",
        [LISTING, "not(//p)"],
    ),
    "Pygments": (
        "<div class='highlight-python'><div class=highlight><table class=highlighttable><tr><td class=linenos><div "
        "class=linenodiv><pre>1\n2</pre></div></td><td class=code><div><pre><span></span><span class=k>def</span> f():"
        "\n    <span class=k>return</span> 1\n</pre></div></td></tr></table></div></div>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-python']", ONE_LISTING],
    ),
    "Pygments in the line": (
        "<div class=highlight><pre><span></span><span class=linenos>1</span>def f():\n"
        "<span class=linenos>2</span>    return 1\n</pre></div>",
        [LISTING],
    ),
    "Rouge": (
        "<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code><table "
        "class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td><td "
        "class=rouge-code><pre>def f():\n    return 1\n</pre></td></tr></tbody></table></code></pre></div></div>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-ruby']", ONE_LISTING],
    ),
    "Hugo": (
        "<div class=highlight><div class=chroma><table class=lntable><tr><td class=lntd><pre class=chroma><code>"
        "<span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td><td class=lntd><pre class=chroma><code "
        "class=language-py data-lang=py><span class=line><span class=cl>def f():\n</span></span><span class=line>"
        "<span class=cl>    return 1\n</span></span></code></pre></td></tr></table></div></div>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-py']", ONE_LISTING],
    ),
    "Hugo in the line": (
        "<pre class=chroma><code><span class=line><span class=ln>1</span><span class=cl>def f():\n</span></span>"
        "<span class=line><span class=ln>2</span><span class=cl>    return 1\n</span></span></code></pre>",
        [LISTING],
    ),
    "Hexo": (
        "<figure class='highlight py'><table><tr><td class=gutter><pre><span class=line>1</span><br><span class=line>2"
        "</span><br></pre></td><td class=code><pre><span class=line>def f():</span><br><span class=line>    return 1"
        "</span><br></pre></td></tr></table></figure>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-py']", ONE_LISTING],
    ),
    "GitHub": (
        "<table class='highlight js-file-line-container'><tr><td class=blob-num data-line-number=1></td><td "
        "class=blob-code>def f():</td></tr>\n<tr><td class=blob-num data-line-number=2></td><td class=blob-code>"
        "    <span class=k>return</span> 1</td></tr></table>",
        [LISTING, "not(//table)", ONE_LISTING],
    ),
    "highlight.js": (
        "<pre><code class='hljs python'><table class=hljs-ln><tbody><tr><td class='hljs-ln-line hljs-ln-numbers' "
        "data-line-number=1><div class=hljs-ln-n></div></td><td class='hljs-ln-line hljs-ln-code'>def f():</td></tr>"
        "<tr><td class='hljs-ln-line hljs-ln-numbers'></td><td class='hljs-ln-line hljs-ln-code'>    return 1</td></tr>"
        "</tbody></table></code></pre>",
        [LISTING, "//code[@class = 'language-python']", "not(//table)"],
    ),
    "prettify": (
        "<pre class='prettyprint linenums lang-py'><ol class=linenums><li class=L0><span class=kwd>def</span> f():</li>"
        "<li class=L1><span class=pln>    return 1</span></li></ol></pre>",
        [LISTING, "not(//ol)", "//code[@class = 'language-py']"],
    ),
    "SyntaxHighlighter": (
        "<div class='syntaxhighlighter php'><table><tbody><tr><td class=gutter><div class='line number1'>1</div><div "
        "class='line number2'>2</div></td><td class=code><div class=container><div class='line number1'><code "
        "class=php>def f():</code></div><div class='line number2'><code class=spaces>    </code><code class=php>"
        "return 1</code></div></div></td></tr></tbody></table></div>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-php']", ONE_LISTING],
    ),
    "Prism's numbers": (
        "<pre class='line-numbers language-py'><code class='language-py line-numbers'>def f():\n    return 1"
        "<span aria-hidden=true class=line-numbers-rows><span></span><span></span></span></code></pre>",
        [LISTING, "//code[@class = 'language-py']"],
    ),
    "VuePress": (
        "<div class='language-py line-numbers-mode'><pre class='language-py{1,2}'><code>def f():\n    return 1\n</code>"
        "</pre><div class=line-numbers-wrapper><span class=line-number>1</span><br><span class=line-number>2</span>"
        "</div></div>",
        [LISTING, "//code[@class = 'language-py']", "not(//*[. = '1'])"],
    ),
    "numbers before blocks of lines": (
        "<pre><div><span class=c1>1</span><div><i>def</i> f():</div></div><div><span class=c1>2</span><div>    return 1"
        "</div></div></pre>",
        [LISTING, NO_NUMBERS],
    ),
    "numbers in a list before the listing": (
        "<div><ul><li>1<li>2</ul><pre>def f():\n    return 1</pre></div>",
        [LISTING, "not(//li)"],
    ),
    "lines that begin with numbers": (
        "<pre><div><span>1</span> <span>apple</span></div><div><span>2</span> <span>pears</span></div></pre>",
        ["//pre/code[. = '1 apple\n2 pears\n']"],
    ),
    "Crayon": (
        "<div class=crayon-main><table class=crayon-table><tr><td class=crayon-nums><div><div class=crayon-num>1</div>"
        "<div class=crayon-num>2</div></div></td><td class=crayon-code><div class=crayon-pre><div class=crayon-line>"
        "def f():</div><div class=crayon-line>    return 1</div></div></td></tr></table></div>",
        [LISTING, NO_NUMBERS],
    ),
    "a fence in code": (
        "<pre>```\n[](x)\n\n\n$a$\n&lt;b&gt; *x* \\_\n```</pre>",
        ["//pre/code[. = '```\n[](x)\n\n\n$a$\n<b> *x* \\_\n```\n']"],
    ),
    "a listing in a list": (
        "<ol><li>First<pre>a\n\n  b</pre></li><li>Second</li></ol>",
        ["//li[1]/pre/code[. = 'a\n\n  b\n']", "count(//ol/li) = 2"],
    ),
    "a listing in a quotation": (
        "<blockquote><pre>a\n\n\nb</pre></blockquote>",
        ["//blockquote/pre[. = 'a\n\n\nb\n']"],
    ),
    "a table of ranks": (
        "<table><tr><th>#<th>Name<tr><td>1<td>Ann<tr><td>2<td>Bob</table>",
        ["count(//table//td) = 4", "not(//pre)"],
    ),
    "code with words of chrome": (
        "<pre><code class='share nav comment line-numbers'>x = 1</code></pre>",
        ["//pre/code[. = 'x = 1\n']"],
    ),
    "ranks of headings": (
        "<h2>A</h2><h3>B<br>C</h3><h6>D</h6><div role=heading aria-level=4>E</div>",
        ["//h2[. = 'A']", "//h3[. = 'B C']", "//h6[. = 'D']", "//h4[. = 'E']"],
    ),
    "a card that is a link": (
        "<a href=/x><h3>Name</h3><p>Text of it.</p></a>",
        ["//h3/a[@href = 'https://site.example.org/x']", "//h3[. = 'Name']", "//p[. = 'Text of it.']"],
    ),
    "a picture in a block of a link": (
        "<a href=/x><div><img src=/p.png alt=Pic></div><p>Text</p><p>of it.</p></a>",
        ["//a[@href = 'https://site.example.org/x']/img[@alt = 'Pic']", "//a[contains(., 'Text of it.')]"],
    ),
    "a label of a listing": (
        "<div><div><span>JS</span></div><pre><code class=language-js>let a = 1</code></pre></div>",
        ["//code[@class = 'language-js']", "not(//p)"],
    ),
    "a line under text": ("<p>Text<br>====</p>", ["not(//h1[contains(., 'Text')])", "//p[contains(., '====')]"]),
    "check boxes that open a block": (
        "<ul><li><input type=checkbox id=a><div>Ann said</div><li><input type=checkbox id=b><div>Ben said</div></ul>",
        ["//li[normalize-space() = 'Ann said']", "//li[normalize-space() = 'Ben said']"],
    ),
    "check boxes": (
        "<ul><li><input type=checkbox checked> Done<li><label><input type=checkbox disabled> Open</label></ul>",
        ["//li[. = '[x] Done']", "//li[. = '[ ] Open']"],
    ),
    "ruby": (
        "<p>昔<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>に</p>",
        ["//p[. = '昔東(とう)京(きょう)に']"],
    ),
    "ruby with all bases first": (
        "<p><ruby><rb>東</rb><rb>京</rb><rt>とう</rt><rt>きょう</rt></ruby></p>",
        ["//p[. = '東(とう)京(きょう)']"],
    ),
    "lines in cells": (
        "<table><tr><th>A<th>B<tr><td>one<br>two<td><p>x</p><p>y</p></table>",
        ["//td[1][br][. = 'onetwo']", "//td[2][br][. = 'xy']", "count(//tr) = 2"],
    ),
    "lists in cells": (
        "<table><tr><th>A<th>B<tr><td><ul><li>one<li>two</ul><td><ol><li>x<li>y</ol></table>",
        ["//td[1][br][. = '- one- two']", "//td[2][br][. = '1. x2. y']"],
    ),
    "a listing in a cell": (
        "<table><tr><th>A<th>B<tr><td><pre>open\nclose | x</pre><td>works</table>",
        ["//td[1]/code[1][. = 'open']", "//td[1]/code[2][. = 'close | x']", "count(//td) = 2"],
    ),
    "emphasis beside wide characters": (
        "<p>これは<b>「強調」</b>です。太字<strong>（重要）</strong>です。</p>",
        ["//strong[. = '強調']", "//strong[. = '重要']", "//p[. = 'これは「強調」です。太字（重要）です。']"],
    ),
    "emphasis beside letters": (
        "<p>a<em>“b”</em>c and <b>Note:</b>text, <b> spaced </b>x, <b>one</b><b>two</b></p>",
        ["//em[. = 'b']", "//strong[. = 'Note']", "//strong[. = 'onetwo']", "not(//p[contains(., '*')])"],
    ),
    "code and links in emphasis": (
        "<p>see<b><code>x</code></b>now, 漢<b><a href=/y>字</a></b>漢, <i>a <i>b</i> c</i></p>",
        ["//code[. = 'x']", "//a[. = '字']", "//em[. = 'a b c']", "not(//p[contains(., '*')])"],
    ),
    "emphasis around blocks": (
        "<b><div>One.</div><div>Two.</div></b>",
        ["//p/strong[. = 'One.']", "//p/strong[. = 'Two.']"],
    ),
    "a caption": (
        "<figure><img src=f.png alt=f><figcaption>The <em>old</em> and <i>new</i></figcaption></figure>",
        ["//p[. = 'The old and new']", "count(//em) = 2", PICTURE.format("f.png")],
    ),
    "terms": (
        "<dl><dt>Term<dd>Text of it.<dt>Other<dd><ul><li>a<li>b</ul></dl>",
        ["//strong[. = 'Term']", "//p[. = 'Text of it.']", "count(//ul/li) = 2"],
    ),
    "the largest picture": (
        "<p><img src=s.jpg srcset='w_424,c_limit/s.jpg 424w, w_848,c_limit/s.jpg 848w' alt=A></p>",
        [PICTURE.format("w_848,c_limit/s.jpg")],
    ),
    "a picture that is a link to its largest": (
        "<p><a href=l.jpg><img src=s.jpg srcset='s.jpg 1x, l.jpg 2x' alt=A></a></p>",
        [PICTURE.format("l.jpg"), "not(//a)"],
    ),
    "a lazy picture": (
        "<p><img src=/img/blank.gif data-src=real.jpg alt=A></p><p><img src='data:,' data-srcset='a.jpg, b.jpg 2x'></p>",
        [PICTURE.format("real.jpg"), PICTURE.format("b.jpg")],
    ),
    "a picture of sources": (
        "<picture><source srcset='big.webp 1x'><img src='data:image/svg+xml,%3Csvg%3E' alt=Pic></picture>",
        [PICTURE.format("big.webp") + "[@alt = 'Pic']"],
    ),
    "a picture without scripts": (
        "<p><img class=lazyload alt=Chart><noscript><img src=rain.png></noscript></p>"
        "<noscript><img src=/t.gif width=1 height=1 alt=t></noscript><div><noscript><img src=two.png></noscript></div>",
        [PICTURE.format("rain.png") + "[@alt = 'Chart']", PICTURE.format("two.png"), "count(//img) = 2"],
    ),
    "script addresses": (
        "<p><a href='java&#9;script:a(1)'>one</a> <a href=' javascript:a(1)'>two</a> <a href='&#1;JaVa\nScript:x'>3</a></p>",
        ["not(//a)", "//p[. = 'one two 3']"],
    ),
    "addresses by the standard": (
        r"<p>The four of them are <a href='\docs\p.html'>1</a>, which has a long text beside it, and <a href='http://[2001:db8::1]:8080/x'>2</a> <a href='https://müller.example/ä'>"
        "3</a> <a href=' /a\tb?q=(1) '>4</a></p>",
        [
            LINK.format("https://site.example.org/docs/p.html"),
            "//a[. = '2'][contains(@href, '2001:db8::1')]",
            LINK.format("https://xn--mller-kva.example/%C3%A4"),
            LINK.format("https://site.example.org/ab?q=%281%29"),
        ],
    ),
    "marks that are none": (
        "<p>Look!<a href=/x>there</a></p><p>[name]: http://x.example/</p>",
        ["//a[. = 'there']", "//p[. = '[name]: http://x.example/']", "not(//img)"],
    ),
    "a name of a file over a table of code": (
        "<table class=highlighttable><tr><th colspan=2 class=filename>a.py</th></tr><tr><td class=linenos><pre>1\n2</pre></td>"
        "<td class=code><pre>def f():\n    return 1\n</pre></td></tr></table>",
        [LISTING, NO_NUMBERS, "//p[. = 'a.py']"],
    ),
    "numbers that are not selected": (
        "<pre><code class=language-py><span style='display:flex'><span style='user-select:none'>1</span><span>def f():\n</span>"
        "</span><span style='display:flex'><span style='user-select:none'>2</span><span>    return 1\n</span></span></code></pre>",
        [LISTING, "//code[@class = 'language-py']"],
    ),
    "as many numbers as lines": (
        "<pre class=lines><a href=#L1>1</a>\n<a href=#L2>2</a></pre><pre>def f():\n    return 1</pre>",
        [LISTING, NO_NUMBERS, ONE_LISTING],
    ),
    "lines of an editor": (
        "<div class=CodeMirror-code><div><div class=CodeMirror-linenumber>1</div><pre class=CodeMirror-line>def f():</pre></div>"
        "<div><div class=CodeMirror-linenumber>2</div><pre class=CodeMirror-line>    return 1</pre></div></div>",
        [LISTING, NO_NUMBERS, ONE_LISTING],
    ),
    "lines with numbers without a pre": (
        "<div class=fragment><div class=line><span class=lineno>1</span>def f():</div>"
        "<div class=line><span class=lineno>2</span>    return 1</div></div>",
        [LISTING, NO_NUMBERS],
    ),
    "obsolete listings": (
        "<xmp><b>x</b>\n y</xmp><listing>a\n b</listing>",
        ["//pre[1]/code[. = '<b>x</b>\n y\n']", "//pre[2]/code[. = 'a\n b\n']"],
    ),
    "a listing in a link, with a picture": (
        "<a href=/x><pre>a <img src=i.png alt=pic>\n b</pre></a>",
        ["//pre/code[. = 'a pic\n b\n']", "not(//a)"],
    ),
    "code in cells": (
        "<table><tr><th>A<th>B<tr><td><pre>if x:\n    y()</pre><td><code>a<br>b</code></table>",
        ["//td[1]/code[. = '    y()']", "//td[2]/code[. = 'a']", "//td[2]/code[. = 'b']"],
    ),
    "numbers in cells": (
        "<table><tr><th>A<th>B<tr><td><ol start=3><li>a<li>b</ol><td>c</table>",
        ["//td[1][contains(., '3. a')][contains(., '4. b')]"],
    ),
    "a table by roles": (
        "<div role=table><div role=rowgroup><div role=row><span role=columnheader>A</span><span role=columnheader>B</span></div>"
        "</div><div role=row><div role=rowheader>1</div><div role=cell>2</div></div></div>",
        ["//th[1][. = 'A']", "//td[1][. = '1']/following-sibling::td[. = '2']"],
    ),
    "roles without all of the text": (
        "<div role=grid><div role=row>Week <div role=cell>1</div><div role=cell>2</div></div><div role=row><div role=cell>3</div>"
        "<div role=cell>4</div></div></div>",
        ["not(//table)", "//p[contains(., 'Week')]"],
    ),
    "icons in cells": (
        "<table><tr><th>A<th>B<tr><td><svg><title>Yes</title></svg><td><i aria-label=No></i><tr><td>x<td><a title=z href=/x></a></table>",
        ["//td[. = 'Yes']/following-sibling::td[. = 'No']", "not(//td[. = 'z'])"],
    ),
    "an empty item has a number": ("<ol><li>a<li><li>c</ol>", ["//ol[@start = '3']/li[. = 'c']"]),
    "a box after a custom button": (
        "<ul><li><task-button></task-button><input type=checkbox checked> done<li>On <input type=checkbox></ul>",
        ["//li[normalize-space() = '[x] done']", "//li[normalize-space() = 'On']"],
    ),
    "a paragraph in a heading": ("<h2 id=x><p>One</p></h2><p>two</p>", ["//h2[. = 'One']", "//p[. = 'two']"]),
    "a link of a heading without a mark": ("<h2 id=x>One<a href=#x>\u200b</a></h2>", ["//h2[. = 'One']"]),
    "marks in pairs across elements": (
        "<p><span>*a</span> <b>b</b> c* <i>2*3</i> `d <code>e</code></p>",
        ["//p[. = '*a b c* 2*3 `d e']", "//em[. = '2*3']", "//code[. = 'e']", "count(//em | //strong) = 2"],
    ),
    "words with lines beneath": ("<p>is_<wbr>a_<wbr>b and *one</p>", ["//p[. = 'is_a_b and *one']"]),
    "a line like the first row of a table": ("<p>| x | y |<br>|---|---|<br>| 1 | 2 |</p>", ["not(//table)"]),
    "marks in bold cells": (
        "<table><tr><th>A<th>B<tr><td><b>2*</b> <b>3*</b><td>c</table>",
        ["//td/strong[. = '2*']", "//td/strong[. = '3*']"],
    ),
    "ruby without end tags": ("<p><ruby>漢<rp>(<rt>kan<rp>)</ruby>y</p>", ["//p[. = '漢(kan)y']"]),
    "addresses in other attributes": (
        "<img src=blank.gif data-lazyload=real.jpg alt=x> <image src=old.png alt=y>",
        [PICTURE.format("real.jpg"), PICTURE.format("old.png"), "not(//img[contains(@src, 'blank')])"],
    ),
    "custom elements": (
        "<x-card><x-title>First title</x-title><x-text>Then the text.</x-text></x-card><p>A <x-b>word</x-b> here.</p>",
        ["//p[. = 'First title']", "//p[. = 'Then the text.']", "//p[. = 'A word here.']"],
    ),
    "cards in a list": (
        "<ul> <li> <article> <figure> <div>New</div> <a href=/c> <img src=a.png alt=x> </a> </figure> <div> <p>Cosy</p> "
        "</div> </article> </li> <li> <section> <h4>Cold</h4> </section> </li> </ul>",
        ["count(//ul/li) = 2", "//li[1]/p[. = 'New']", "//li[1]/p[. = 'Cosy']", "//li[1]//img", "//li[2]/h4"],
    ),
    "a question in a heading": (
        "<details><summary><h4>Why?</h4></summary><p>So.</p></details>",
        ["//h4[. = 'Why?']", "//h4/following::p[. = 'So.']", "not(//strong)"],
    ),
    "bold nothing": ("<p>a<b>\u200b</b>b</p>", ["//p[. = 'a\u200bb']"]),
    "lines of GitHub": (
        "<div><div><div data-line-number=1 class=react-line-number>1</div><div class=react-line-number>2</div></div>"
        "<div class=react-code-lines><div class=react-file-line><b>def</b> f():</div><div class=react-file-line><span>    </span>"
        "return 1</div></div></div>",
        [LISTING, NO_NUMBERS, ONE_LISTING],
    ),
    "lines of LaTeXML": (
        "<div class='ltx_listing ltx_lst_language_Python ltx_lstlisting'><div class=ltx_listing_data><a href='data:,'>x</a></div>"
        "<div class=ltx_listingline><span class='ltx_tag ltx_tag_listingline'>1</span>def f():</div><div class=ltx_listingline>"
        "<span class='ltx_tag ltx_tag_listingline'>2</span>    return 1</div></div>",
        [LISTING, NO_NUMBERS, "//code[@class = 'language-Python']"],
    ),
    "lines in the order of their places": (
        "<div><div class=margin-view-overlays><div class=line-numbers>1</div><div class=line-numbers>2</div></div><div>"
        "<div class=view-lines><div style='top:19px'>    return 1</div><div style='top:0px'>def f():</div></div></div></div>",
        [LISTING, NO_NUMBERS, ONE_LISTING],
    ),
    "lines by data": (
        "<pre data-language=py><code style='display:grid'><span data-line=''>def f():</span><span data-line=''>    return 1</span>"
        "</code></pre>",
        [LISTING, "//code[@class = 'language-py']"],
    ),
    "a line that is a block among text": (
        "<pre><code><span class=gatsby-highlight-code-line>def f():</span>    return 1\n</code></pre>",
        [LISTING],
    ),
    "numbers in a code of their own": ("<pre><code>1\n2\n</code><code>def f():\n    return 1</code></pre>", [LISTING]),
    "numbers in a cell with a name": (
        "<table><tr><td class=line-numbers><div>1<br>2</div></td><td><div>def f():<br>&nbsp;   return 1</div></td></tr></table>",
        [LISTING, ONE_LISTING],
    ),
    "a listing for each theme": (
        "<div><pre data-theme=a>def f():\n    return 1</pre><pre data-theme=b>def f():\n    return 1</pre></div>",
        [LISTING, ONE_LISTING],
    ),
    "signs of a difference": (
        "<table><tr><td class=blob-num></td><td class=blob-code><span data-code-marker='-'>a</span></td></tr>"
        "<tr><td class=blob-num></td><td class=blob-code><span data-code-marker='+'>b</span></td></tr></table>",
        ["//pre/code[. = '-a\n+b\n']"],
    ),
    "code by style": (
        "<div style='white-space: pre; font-family: monospace'>def f():\n    return 1</div><p>Then</p>"
        "<p><code style='white-space:pre'>def f():\n    return 1</code></p>",
        ["count(//pre/code[. = 'def f():\n    return 1\n']) = 2"],
    ),
    "line ends by style": (
        "<div style='white-space:pre-wrap'><b>Ann</b> one\ntwo\n<p>three</p>\n</div><p class=whitespace-pre-line>four\nfive</p>",
        ["//p[strong = 'Ann'][count(br) = 1]", "//p[. = 'three']", "//p[. = 'four\nfive'][br]"],
    ),
    "emphasis beside its kind in spans": (
        "<p><b>Hel</b><span><b>lo</b> <b>wor</b></span><span></span><b>ld</b></p>",
        ["//p/strong[1][. = 'Hello']", "//p/strong[2][. = 'world']", "//p[. = 'Hello world']"],
    ),
    "emphasis by style": (
        "<b style='font-weight:normal'><p><span style='font-weight:400'>Plain</span> <span style='font-weight:700'>bold</span> "
        "<span style='font-style: italic'>slanted</span></p></b>",
        ["//p[. = 'Plain bold slanted']", "count(//strong) = 1", "//strong[. = 'bold']", "//em[. = 'slanted']"],
    ),
    "emphasis over an empty line": (
        "<p><b>One<br><br>Two</b> three</p>",
        ["//strong[. = 'One']", "//strong[. = 'Two']", "not(//p[contains(., '*')])"],
    ),
    "indices with links and variables": (
        "<p>10<sup><a href=/x>6</a></sup> 2<sup><i>n</i></sup></p>",
        ["//p[. = '10⁶ 2ⁿ']", "//a[. = '⁶']", "not(//em)"],
    ),
    "a formula with its twin": (
        "<p>So <span class=MathJax><math><mi>x</mi></math></span><script type=math/tex>x^2</script> ok <mjx-container><svg>"
        "<g data-latex='y^2'></g></svg></mjx-container></p><p><math><annotation encoding=tex>{\\displaystyle z^{2}}</annotation></math></p>",
        ["//p[. = 'So $x^2$ ok $y^2$']", "//p[. = '$z^{2}$']"],
    ),
    "pictures that stand for signs": ("<p>Hi <img alt=😀 src=1f600.png></p>", ["//p[. = 'Hi 😀']", "not(//img)"]),
    "a picture in a heading": ("<h2><img src=i.png alt=x> One</h2>", ["//h2[contains(., 'One')]/img"]),
    "a background that is a picture": (
        "<div role=img aria-label=Pier style=\"background-image: url('pier.jpg')\"></div>",
        [PICTURE.format("pier.jpg") + "[@alt = 'Pier']"],
    ),
    "parts of a picture that are links": (
        "<p><img src=m.png usemap=#m alt=Map><map name=m><area href=/n alt=North><area href=/s alt=South><area alt=none></map></p>",
        [LINK.format("https://site.example.org/n") + "[. = 'North']", "//p[contains(., 'North South')]"],
    ),
    "addresses in attributes of unknown scripts": (
        "<img src='data:,' data-x-src=https://c.example/1 alt=a><img data-y-srcset='b.jpg 1x, c.jpg 2x' alt=b>",
        ["//img[@src = 'https://c.example/1']", PICTURE.format("c.jpg")],
    ),
    "a frame that a script loads": (
        "<iframe src=about:blank data-src=https://v.example/1 title=Film></iframe>",
        ["//a[@href = 'https://v.example/1'][. = 'Film']"],
    ),
    "quotations behind each other": (
        "<blockquote><p>One</p></blockquote><blockquote><p>Two</p></blockquote>",
        ["count(//blockquote) = 2", "//blockquote/p[. = 'Two']"],
    ),
    "headings in other titles": (
        "<fieldset><legend><h3>Group</h3></legend><p>x</p></fieldset><div role=heading aria-level=4><div>Inner</div></div>",
        ["//h3[. = 'Group']", "//h4[. = 'Inner']"],
    ),
    "boxes by class": (
        "<ul><li><div class='checkbox checkbox-on'></div> <span>Paid</span></li></ul>",
        ["//li[normalize-space() = '[x] Paid']"],
    ),
    "a cell over rows and columns": (
        "<table><tr><th>A<th>B<th>C<tr><td rowspan=2 colspan=2>x<td>1<tr><td>2</table>",
        ["//tr[2]/td[3][. = '2']"],
    ),
    "a list that begins below zero": ("<ol start=-1><li>a<li>b</ol>", ["//ol/li[. = 'b']"]),
    "lines like a table": ("<p>a | b<br>--- | ---<br>c | d</p>", ["not(//table)", "//p[contains(., '--- | ---')]"]),
    "a tab whose panel begins with its word": (
        "<div role=tablist><b role=tab aria-controls=p>npm</b></div><div role=tabpanel id=p><pre>npm i x</pre></div>",
        ["//strong[. = 'npm']/following::pre"],
    ),
    "ends that libxml2 does not see": (
        "<h2>Title<h3>Sub</h3><p>one</p>two</p>three</br>four",
        ["//h2[. = 'Title']", "//h3[. = 'Sub']", "//p[. = 'two']", "//p[. = 'three\nfour']"],
    ),
    "text around a part that goes": (
        "<div>one<section hidden>unseen</section>two</div>",
        ["//p[. = 'one two']"],
    ),
    "a name of a language in a listing": (
        "<pre><div><div>python</div><div><button>Copy</button></div><code class=language-python>def f():\n    return 1</code>"
        "</div></pre>",
        [LISTING, ONE_LISTING],
    ),
    "a rule in a cell": (
        "<table><tr><th>A<th>B<tr><td>x<hr>y<td>z</table>",
        ["//td[1][. = 'x<br>y' or br]", "not(//hr)"],
    ),
    "a fence of MathML": (
        "<p><math><mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced></math></p>",
        ["//p[. = '$f ( x, y )$']"],
    ),
    "MathML with a number of the equation and a brace": (
        "<p><math><mtable><mlabeledtr><mtd><mtext>(3)</mtext></mtd><mtd><mi>\U0001d465</mi><mtext>if even</mtext></mtd></mlabeledtr>"
        "</mtable><mover><mi>y</mi><mo>⏞</mo></mover></math></p>",
        [r"//p[. = '$\begin{matrix} x if even & (3) \end{matrix} \overbrace{y}$']"],
    ),
    "formulas that a script will find": (
        "<script>MathJax = {tex: {inlineMath: [['$', '$']]}};</script><p>So \\(a_{b}_{c} &lt; 1\\) and $x_1$, <b>of $2</b>.</p>"
        "<p>\\[F = ma\\]</p><pre>\\(a\\)</pre><p>$$p_{i}_{j}$$</p><p>\\begin{align}u &amp;= v\\end{align}</p>",
        [
            "//p[. = 'So $a_{b}_{c} < 1$ and $x_1$, of $2.']",
            "//p[. = '$$F = ma$$']",
            "//pre[contains(., '\\(a')]",
            "//p[. = '$$p_{i}_{j}$$']",
            r"//p[. = '$$\begin{align}u &= v\end{align}$$']",
        ],
    ),
    "delimiters of formulas on a page without formulas": (
        "<p>Match \\(a_b\\) or $1 and $2.</p>",
        ["//p[. = 'Match \\(a_b\\) or $1 and $2.']"],
    ),
    "TeX in attributes": (
        "<p>So <span class=math-inline data-math='a^2'><span class=katex><span class=katex-html>a2</span></span></span> is</p>"
        "<div class=math-block data-math='b^2'><span class=katex>b2</span></div><p data-math=1>plain</p>",
        ["//p[. = 'So $a^2$ is']", "//p[. = '$$b^2$$']", "//p[. = 'plain']"],
    ),
    "pictures of formulas": (
        "<p>So <img src='https://latex.codecogs.com/svg.image?%5Cdpi{99}%5Cfrac%7Ba%7D%7Bb%7D&space;x'>, "
        "<img src='https://s0.wp.com/latex.php?latex=a+%3D+b&amp;bg=fff'>, <img src=/p?q=1 alt='C:\\new_x'>.</p>"
        "<p><img src=/x.svg alt='\\exp(x)'></p>",
        [
            r"//p[starts-with(., 'So $\frac{a}{b} x$, $a = b$, ')]",
            r"//img[@alt = 'C:\new_x']",
            r"//p[. = '$$\exp(x)$$']",
        ],
    ),
    "a formula that MathJax drew of characters": (
        "<p>So <mjx-container class=MathJax><mjx-math><mjx-mfrac><mjx-frac><mjx-num><mjx-msup><mjx-mi><mjx-c class=mjx-c1D465></mjx-c>"
        "</mjx-mi><mjx-script><mjx-mn><mjx-c class=mjx-c32></mjx-c></mjx-mn></mjx-script></mjx-msup></mjx-num><mjx-dbox><mjx-dtable>"
        "<mjx-row><mjx-den><mjx-msqrt><mjx-sqrt><mjx-surd><mjx-mo><mjx-c>√</mjx-c></mjx-mo></mjx-surd><mjx-box><mjx-mi><mjx-c>y</mjx-c>"
        "</mjx-mi></mjx-box></mjx-sqrt></mjx-msqrt></mjx-den></mjx-row></mjx-dtable></mjx-dbox></mjx-frac></mjx-mfrac><mjx-munderover>"
        "<mjx-over><mjx-mi><mjx-c>n</mjx-c></mjx-mi></mjx-over><mjx-box><mjx-munder><mjx-row><mjx-base><mjx-mo><mjx-c>∑</mjx-c></mjx-mo>"
        "</mjx-base></mjx-row><mjx-row><mjx-under><mjx-mi><mjx-c>i</mjx-c></mjx-mi></mjx-under></mjx-row></mjx-munder></mjx-box>"
        "</mjx-munderover></mjx-math></mjx-container> is</p>",
        [r"//p[. = 'So $\frac{x^{2}}{\sqrt{y}} ∑_{i}^{n}$ is']"],
    ),
    "buttons in a sentence": (
        "<p>Return the <span><button><em>special</em></button></span> value.</p>",
        ["//p[. = 'Return the special value.']", "//em"],
    ),
    "a request in a button": (
        "<div><button><span>get</span><span>/pets/{id}</span><svg></svg></button></div><p>Text.</p><button>Get it</button>",
        ["//p[. = 'get /pets/{id}']", "not(//*[contains(text(), 'Get it')])"],
    ),
    "texts of pictures that are HTML": (
        "<p><img src=a.png alt='&lt;p&gt;Tom &amp;amp; Ann&lt;/p&gt; 1 &lt; 2 hy&shy;phen'><img src=b.png alt='The &lt;br&gt; tag'></p>",
        ["//img[@alt = 'Tom & Ann 1 < 2 hyphen']", "//img[@alt = 'The <br> tag']"],
    ),
    "soft hyphens": (
        "<p>One hy&shy;phen, <b>two</b> hy&#xfeff;phens, <code>x&shy;y</code>.</p>",
        ["//p[. = 'One hyphen, two hyphens, x\xady.']"],
    ),
    "a published document": (
        "<base href=https://docs.google.com/document/d/e/x/pub><style>.c1{color:#000;font-weight:700}.c2{font-style:italic}"
        "</style><p class=c9><span class=c1>Bold</span><span class=c3> and </span><span class=c2>italic</span> <a class=c1 "
        "href='https://www.google.com/url?q=https://o.example/a?b%3Dc&amp;sa=D'>link</a></p><ul class='c4 lst-kix_a1-0 start'><li>One</ul>"
        "<ul class='c4 lst-kix_a1-1 start'><li>Two</ul><ol class='lst-kix_a1-2 start'><li>Three</ol><ul class='c4 lst-kix_a1-1'><li>Four</ul>",
        [
            "//strong[. = 'Bold']",
            "//em[. = 'italic']",
            LINK.format("https://o.example/a?b=c"),
            "//ul/li[starts-with(., 'One')]/ul/li[starts-with(., 'Two')]/ol/li[. = 'Three']",
            "//ul/li[starts-with(., 'One')]/ul/li[. = 'Four']",
        ],
    ),
    "classes of other style sheets": (
        "<style>.c1{font-weight:700}</style><p><span class=c1>Plain</span></p>",
        ["not(//strong)"],
    ),
    "emphasis that meets other emphasis": (
        "<p><i>I</i><sub><i>n</i></sub> is <b>Keynote „</b><i><b>New?</b></i></p><p><b><font>Info:<br><br>By bus</font></b></p>",
        [
            "//em[. = 'In']",
            "//strong[. = 'Keynote']",
            "//em/strong[. = 'New?']",
            "//p/strong[. = 'Info:']",
            "//p/strong[. = 'By bus']",
            "not(//p[contains(., '*')])",
        ],
    ),
    "a document without an end": (
        f"<object data=x.svg><p>One</p><p>{'two ' * 200}</p>",
        [LINK.format("https://site.example.org/a/x.svg"), "//p[. = 'One']"],
    ),
    "elements without content": (
        f"<div><embed src=/a.svg><p>One</p><bgsound src=a><p>Two</p><p>{'long<wbr>' * 300} <b>word</b></p></div>",
        ["//p[. = 'One']", "//p[. = 'Two']", "//strong[. = 'word']", LINK.format("https://site.example.org/a.svg")],
    ),
    "terms with one definition": (
        "<dl><dt>Cat<dt>Kitten<dd>Small.<dd>Soft.<dt>Dog</dl>",
        ["//p/strong[. = 'Cat']", "//p/strong[. = 'Kitten']", "//p[. = 'Soft.']", "//p/strong[. = 'Dog']"],
    ),
    "a shadow root": (
        "<x-s><template shadowrootmode=open><h2><slot name=t>None</slot></h2><slot></slot><p>End.</p></template>"
        "<span slot=t>Title</span><p>Body.</p></x-s>",
        ["//h2[. = 'Title']", "//h2/following::p[. = 'Body.']/following::p[. = 'End.']"],
    ),
}


@pytest.mark.parametrize(("html", "checks"), PAGES.values(), ids=PAGES)
def test_the_structure_of_a_page_stays(within, html, checks):
    """Code, headings, lists, tables, emphasis, pictures and links are read from the Markdown as the page has them."""
    text = within(html)
    read = fromstring(f"<div>{READER.render(text)}</div>").getroottree()
    assert [check for check in checks if not read.xpath(check)] == [], text


@pytest.mark.parametrize(
    "between", ["</body></html>", "</body><body class=b>", "</body></html><html><head></head><body>"]
)
def test_what_stands_behind_the_end_of_a_page_is_in_it(read, between):
    """Browsers show what comes after the ends of `body` and `html`, and a second body, behind the first."""
    assert read(f"<html><body><h1>One</h1><p>two</p>{between}<p>three</p></body></html>") == "# One\n\ntwo\n\nthree\n"


def test_a_sign_that_links_to_the_part_around_it_goes(after):
    """Words that do stay: they are the address of a comment."""
    part = "<div id=p><a href='#p'>§</a><p>Part of it, <a href='#p'>12 May</a></p></div>"
    assert after(part) == "Part of it, [12 May](https://site.example.org/a/page.html#p)"


def test_a_reference_that_its_note_links_back_to_is_no_note(after):
    """The number before a note leads back to the text, whose paragraph stays where it is."""
    reference = "<p>It opens.<a class=footnote-anchor id=a1 href='#f1'>1</a></p>"
    number = "<a id=f1 class=footnote-number href='#a1'>1</a>"
    note = f"<div class=footnote>{number}<div class=content><p>In May.</p></div></div>"
    assert after(reference + note) == "It opens.[^1]\n\n[^1]: In May."


def test_a_note_that_stands_in_the_text_is_put_behind_it(after):
    """LaTeXML writes a note, and its number three times, into the sentence."""
    content = "<sup class=ltx_note_mark>1</sup><span class='ltx_tag ltx_tag_note'>1</span>In May."
    note = f"<sup class=ltx_note_mark>1</sup><span class=ltx_note_outer><span class=ltx_note_content>{content}</span></span>"
    assert after(f"<p>It opens<span class=ltx_note>{note}</span> late.</p>") == "It opens[^1] late.\n\n[^1]: In May."


@pytest.mark.parametrize(
    "note",
    [
        "<label for=n></label><input type=checkbox id=n><span class=sidenote>In <i>May</i>.</span>",
        "<label for=n>1</label><input type=checkbox id=n><span class=sidenote><sup>1</sup> In <i>May</i>.</span>",
        "<span class=inline-footnote>1<span class=footnoteContent style='display:none'>In <i>May</i>.</span></span>",
        "<sup><a href='javascript:f()'>1</a></sup><span class=modern-footnotes-footnote__note>In <i>May</i>.</span>",
    ],
)
def test_a_note_beside_a_sentence_is_put_behind_it(after, note):
    """A style sheet shows it in the margin, or a click below the line."""
    assert after(f"<p>It opens{note} late.</p>") == "It opens[^1] late.\n\n[^1]: In *May*."


def test_a_note_beside_a_sentence_that_stands_behind_the_text_too_is_left_out(after):
    """Its number leads to the other one."""
    note = "<sup><a id=r href='#n'>1</a></sup><span class=sidenote>1. In May.</span>"
    end = "<div><sup id=n><a href='#r'>1</a></sup><div><p>In May.</p></div></div>"
    assert after(f"<p>It opens{note} late.</p>{end}") == "It opens[^1] late.\n\n[^1]: In May."


def test_a_mark_of_a_note_that_stands_elsewhere_is_a_reference_alone(after):
    """LaTeXML names the kind of such a mark where the text of a note would stand."""
    mark = "<sup class=ltx_note_mark>2</sup>"
    content = f"{mark}<span class=ltx_note_type>footnotemark: </span><span class='ltx_tag ltx_tag_note'>2</span>"
    note = f"<span class='ltx_note ltx_role_footnotemark'>{mark}<span class=ltx_note_content>{content}</span></span>"
    assert after(f"<p>It opens{note} late.</p>") == "It opens[^2] late."


def test_the_number_of_a_note_of_a_group_has_no_space(after):
    """Wikipedia numbers its notes apart from its references."""
    back = "<span>^ <a href='#r1'><sup>a</sup></a> <a href='#r2'><sup>b</sup></a></span>"
    references = "".join(f"<p>It opens<sup id=r{n}><a href='#n'>[n 3]</a></sup>.</p>" for n in (1, 2))
    assert after(f"{references}<ol><li id=n>{back} In May.</ol>").split() == [
        "It",
        "opens[^n3].",
        "It",
        "opens[^n3].",
        "[^n3]:",
        "In",
        "May.",
    ]


def test_notes_of_one_paragraph_are_parted(after):
    """Each begins behind a line end with the number that the reference leads to, and ends with a sign to go back."""
    references = "<p>It opens.<a href='#a'><sup>1</sup></a> And ends.<a href='#b'><sup>2</sup></a></p>"
    back = "<a href='#' onclick='back()'>↩</a>"
    notes = f"<p><a name=a><sup>1</sup></a> In May. {back}<br><br>\n<a name=b><sup>2</sup></a> In June. {back}</p>"
    text = "\n".join(line.rstrip() for line in after(references + notes).splitlines())
    assert text == "It opens.[^1] And ends.[^2]\n\n[^1]: In May.\n\n[^2]: In June."


@pytest.mark.parametrize(
    ("reference", "note"),
    [
        (
            "<sup id=r1><a href='#n1'>1</a></sup>",
            "<ol><li id=n1><span><b><a href='#r1'>^</a></b></span><div><p>In May.</p></div></ol>",
        ),
        ("<a class=footnote id=r1 href='#n1'><sup>1</sup></a>", "<h5><a id=n1 href='#r1'>(1)</a></h5><p>In May.</p>"),
        ("<span id=r1><a href='#n1'>1</a></span>", "<ol><li id=n1><p>In May. <a href='#r1'>↩</a></p></ol>"),
        ("<a name=r1 href='#n1'><i>1</i></a>", "<p><a name=n1 href='#r1'>1</a> In May.</p>"),
        ("<a href='#n1'>1</a>", "<p id=n1>1. In May.</p>"),
        ("<a href='#n1'>[1]</a>", "<div><a id=n1>1.</a><div>In May.</div></div>"),
        ("<sup><a href='#n1'>1</a></sup>", "<div id=n1><sup>1</sup><p>In May.</p></div>"),
        (
            "<sup id=r1><a href='#n1'>[1]</a></sup>",
            "<ul><li id=n1><span>^ <a href='#r1'>a</a> <a href='#r1'>b</a></span> In May.</ul>",
        ),
    ],
)
def test_a_note_is_known_by_its_link_back_or_its_number(after, reference, note):
    """Whatever a program writes around them; the number and the link back of the note go."""
    text = after(f"<p>It opens.{reference}</p>{note}")
    assert [line.strip() for line in text.splitlines()] == ["It opens.[^1]", "", "[^1]: In May."]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("(<a href='#n1'>1</a>)", "<p id=n1>1. Turn the key.</p>"),
        ("<a id=r1 href='#n1'>1</a>", "<div id=n1><h3>One</h3><p>It was May. <a href='#r1'>1</a></p></div>"),
    ],
)
def test_other_numbers_that_lead_into_the_page_are_links(after, link, target):
    """A step, an equation, a chapter with a link back to the contents are no notes."""
    assert "[1](https://site.example.org/a/page.html#n1)" in after(f"<p>See {link}</p>{target}")


def test_the_brackets_of_a_link_back_go_with_it(after):
    """Docutils writes them beside the link, before the text of the note."""
    label = "<span class=label><span>[</span><a href='#i1'>1</a><span>]</span></span>"
    reference = "<p>It opens<a class=footnote-reference href='#n1' id=i1><span>[</span>1<span>]</span></a>.</p>"
    assert (
        after(f"{reference}<aside class=footnote id=n1>{label}<p>In May.</p></aside>")
        == "It opens[^1].\n\n[^1]: In May."
    )


def test_a_field_that_is_filled_in_with_lines_is_a_listing(after):
    """An example to be run, a citation to be copied; a template of a script, and what one writes oneself, are none."""
    shown = "<textarea spellcheck=false>@book{a,\n  title = {T}\n}</textarea>"
    others = "<textarea>Your words</textarea><textarea>&lt;div&gt;\n{name}</textarea><textarea hidden>a\nb</textarea>"
    assert after(f"<div>{shown}{others}</div>") == "```\n@book{a,\n  title = {T}\n}\n```"


def test_the_name_of_a_site_is_not_the_title_of_its_page(read):
    """A first headline that is a link to another page gives way to the title; one to the page itself stays."""
    title = "<title>How to prune old trees - Garden Forum</title>"
    post = f"<div>{'In late winter, before the buds swell, one takes the dead wood first. ' * 4}</div>"
    site = '<div><h1><a href="https://site.example.org/">Garden Forum</a></h1></div>'
    own = '<div><h1><a href="/a/page.html">Pruning</a></h1></div>'
    assert read(f"{title}{site}{post}").startswith("# How to prune old trees - Garden Forum\n")
    logo = '<div><a href="https://site.example.org/"><h1>Garden Forum</h1></a></div>'
    assert read(f"{title}{logo}{post}").startswith("# How to prune old trees - Garden Forum\n")
    assert read(f"{title}{own}{post}").startswith("# Pruning\n")


@pytest.mark.parametrize("style", ["--menu-display: none", "backface-visibility: hidden"])
def test_a_property_with_a_longer_name_hides_nothing(after, style):
    """Themes write variables, and layers that turn, into the style of the element around all of their text."""
    assert after(f"<div style='{style}'><p>It opens.</p></div>") == "It opens."


def test_a_quotation_begins_behind_an_empty_line(after):
    """Its own empty lines, as of messages, are one each."""
    html = "<div><p>She wrote:</p><blockquote><div>Dear all,</div><div><br></div><div>In May.</div></blockquote></div>"
    assert after(html) == "She wrote:\n\n> Dear all,\n>\n> In May."


def test_spans_that_stand_for_paragraphs_are_paragraphs(after):
    """Mintlify says so in an attribute."""
    assert after("<div><span data-as=p>One.</span><span data-as=p>Two.</span></div>") == "One.\n\nTwo."


def test_the_footer_with_the_notes_of_a_text_is_none_of_the_page(after):
    """Its class has a word that is otherwise one of chrome."""
    assert after("<div class=footnotes-footer><div>1. It was in May.</div></div>") == "1\\. It was in May."


def test_what_a_folded_callout_holds_is_text(after):
    """Obsidian hides it until its title is clicked."""
    title, content = (
        "<div class=callout-title>Is it?</div>",
        "<div class=callout-content style='display: none'><p>Yes.</p></div>",
    )
    assert after(f"<div class='callout is-collapsed'>{title}{content}</div>") == "Is it?\n\nYes."
