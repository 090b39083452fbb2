"""JSON-LD, right and faulty."""

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._url.json_ld import items, values
from webdata.pages._url.markdown import tree

ONE = [{"@type": "A", "n": "//x, }"}]


@pytest.mark.parametrize(
    "block",
    [
        '{"@type": "A", "n": "//x, }"}',
        '\ufeff {"@type": "A", "n": "//x, }"} ;',
        '<!-- {"@type": "A", "n": "//x, }"} -->',
        '<!-- an item -->\n{"@type": "A", "n": "//x, }"}',
        '<!-- an item --> <!-- {"@type": "A", "n": "//x, }"} -->',
        '//<![CDATA[\n{"@type": "A", "n": "//x, }"}\n//]]>',
        '/*<![CDATA[*/{"@type": "A", "n": "//x, }"}/*]]>*/',
        '{"@type": "A", /* a, } */ "n": "//x, }",}',
        '{"@type": "A", // the name\n "n": "//x, }" , /* end */ }',
        "{&quot;@type&quot;: &quot;A&quot;, &quot;n&quot;: &quot;//x, }&quot;}",
    ],
)
def test_common_faults_are_mended(block):
    """Comments, wrappers, commas without a value behind them, entities: what is in texts stays."""
    assert values(block) == ONE


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": 1},\n{"b": 2},', [{"a": 1}, {"b": 2}]),
        ('{"a": "x\ty\nz"}', [{"a": "x\ty\nz"}]),
        ('{"a": "it\\\'s \\d"}', [{"a": "it's d"}]),
        ('{"a": "<!-- b --> ]]>",}', [{"a": "<!-- b --> ]]>"}]),
        ('{"a": "it\\x27s \\x"}', [{"a": "it's x"}]),
        ('{"a": NaN, "b": -Infinity}', [{"a": None, "b": None}]),
        ('{"a": "\\ud800"}', [{"a": "?"}]),
        ("", []),
        (" \n", []),
    ],
)
def test_values_that_json_has_not_are_read(block, expected):
    """Several roots, line ends in texts, unknown escapes, numbers that are none, halves of characters."""
    assert values(block) == expected


@pytest.mark.parametrize(
    "block", ["{", "no json", "{'a': 1}", '"text"x', '{"a": 1} and more', "[" * 5000, "[" * 250 + "]" * 250]
)
def test_what_cannot_be_read_is_an_error(block):
    """It is never half of a block."""
    with pytest.raises(ValueError, match=r"\w"):
        values(block)


def test_items_of_a_graph_are_items():
    """Each item of a `@graph` or a list is one; blocks that cannot be read are counted."""
    blocks = ['{"@graph": [{"a": 1}, {"b": 2}]}', '[{"c": 3}, [{"d": 4}]]', "{", "{}", '[false, "x", null, 1]']
    blocks.append('{"@graph": {"e": 5}}')
    script = "".join(f'<script type="Application/LD+JSON; charset=utf-8">{block}</script>' for block in blocks)
    assert items(tree(f"<p>x{script}")) == ([{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}, {"e": 5}], 1)


@given(st.text('{}[]",:/*\\ \n#ab1-', max_size=60) | st.text())
def test_any_block_is_read_or_refused(block):
    """The only error is ValueError, and what is read can be written as JSON."""
    try:
        found = values(block)
    except ValueError:
        return
    orjson.dumps(found)


@pytest.mark.parametrize("unit", ["/*", '{"a":', '"\\', "<!--", "<!-- -", ",", "[", '"', "//", "&quot;", "/**/"])
def test_hostile_blocks_take_little_time(unit):
    """The work grows with the length of a block, not with its square."""

    def seconds(count):
        began = time.thread_time()
        with pytest.raises(ValueError, match=r"\w"):
            values("{" + unit * count)
        return time.thread_time() - began

    assert seconds(100_000) < 40 * max(seconds(10_000), 0.002)
