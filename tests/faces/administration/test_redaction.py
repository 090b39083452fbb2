"""Pages for public issues say nothing of what was searched for."""

import json

from webdata.faces.administration.redaction import redacted_page


def test_a_page_keeps_its_structure_and_no_text():
    """Elements, classes and ids stay; texts, addresses, scripts and comments do not."""
    page = (
        '<html><body class="serp b2xYz9"><!-- secret --><script>var secret = 1</script><h1 id="top">Secret 42é</h1>'
        '<a href="https://secret.example/?q=secret" class="result" data-q="secret">secret</a>secret'
        '<input name="q" value="secret" broken secret" 1secret="a"></body></html>'
    )
    found = redacted_page(page.encode())
    assert "secret" not in found.lower()
    assert '<h1 id="top">xxxxxx 99x</h1>' in found
    assert 'class="result"' in found
    assert "b2xYz9" not in found


def test_json_keeps_its_keys():
    """Keys that are names stay, values do not."""
    found = redacted_page(b'{"title": "Secret", "n": 12, "ok": true, "a@b.example": [null, "x9"]}')
    assert json.loads(found) == {"title": "xxxxxx", "n": 9, "ok": True, "x@x.xxxxxxx": [None, "x9"]}


def test_what_is_no_page_is_told_by_its_length():
    """Bytes without a structure are left out."""
    assert redacted_page(b"") == "0 bytes that are no HTML"
    assert redacted_page(b"{secret") == "7 bytes that are no JSON"
    assert redacted_page(b"[" * 100_000) == "100000 bytes that are no JSON"
