"""Forms of consent pages."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages.consent import Form, form

URL = "https://consent.example.com/m?continue=x"
SAVE = "https://consent.google.com/save"

GOOGLE = """
<form action="https://consent.google.com/save" method="POST"><input type="hidden" name="gl" value="DE">
<input type="hidden" name="set_eom" value="false"><input type="submit" value="Alle akzeptieren"></form>
<form action="https://consent.google.com/save" method="POST"><input type="hidden" name="gl" value="DE">
<input type="hidden" name="set_eom" value="true"><input type="submit" value="Alle ablehnen"></form>
"""


def test_googles_form_that_refuses_is_chosen():
    """The form is recognised by its hidden field, in any language."""
    assert form(GOOGLE.encode(), URL) == Form(SAVE, "POST", {"gl": "DE", "set_eom": "true"})


@pytest.mark.parametrize(
    ("buttons", "pressed"),
    [
        ('<button name="a" value="1">Accept all</button><button name="r" value="2">Reject all</button>', {"r": "2"}),
        ('<button name="a" value="1">Tout accepter</button><button name="r">Tout refuser</button>', {"r": ""}),
        ('<button aria-label="Alle ablehnen"></button><button>Zustimmen</button>', {}),
    ],
)
def test_a_button_that_refuses_has_priority(buttons, pressed):
    """Buttons of other sites are recognised by their text; the fields include the pressed button."""
    page = f'<form action="/choose?x=1" method="post"><input type="hidden" name="t" value="k">{buttons}</form>'
    assert form(page.encode(), URL) == Form("https://consent.example.com/choose?x=1", "POST", {"t": "k", **pressed})


def test_a_form_without_a_method_is_a_get_request():
    """Without an action it is sent to its own page."""
    assert form(b"<form><button>I agree</button></form>", URL) == Form(URL, "GET", {})


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<p>Before you continue</p>",
        b'<form action="/search"><input name="q"><button>Search</button></form>',
        b'<form action="javascript:go()"><button>Accept</button></form>',
        b'<form action="http://[::1"><button>Accept</button></form>',
        b'<h1>Over 18?</h1><form method="post"><button name="over18" value="yes">continue</button></form>',
    ],
)
def test_other_forms_are_not_sent(page):
    """Searches, pages without forms, forms for scripts or invalid addresses, and age checks have no submission."""
    assert form(page, URL) is None


@pytest.mark.timed
@pytest.mark.parametrize(
    "shape",
    [
        "<form><button name=a>Accept</button></form>",
        "<form action=https://a.example/>" + "<button name=a>Accept</button>" * 20 + "<input name=b>" * 20,
        "<form><object>",
        "<div><form><input name=a>",
    ],
)
def test_the_time_grows_with_the_size_of_the_page(shape):
    """Any number of forms, buttons and fields is read in one walk."""
    form(GOOGLE.encode(), URL)

    def seconds(size):
        began = process_time()
        form((shape * (size // len(shape))).encode(), URL)
        return process_time() - began

    small, large = (min(seconds(size) for _ in range(2)) for size in (50_000, 200_000))
    assert large < 8 * max(small, 0.02)


def test_a_page_larger_than_any_consent_page_has_no_form():
    """Its tree is not made."""
    assert form(GOOGLE.encode() + b"<p>" * 100_000, URL) is None


@given(st.text(max_size=30))
def test_any_address_is_accepted(action):
    """Any address of a form gives an http or https address or None."""
    found = form(f'<form action="{action}"><button>reject</button></form>'.encode("utf-8", "replace"), URL)
    assert found is None or found.url.startswith(("http://", "https://"))


@given(st.binary(max_size=300))
def test_any_bytes_are_accepted(body):
    """Any bytes give a form or None."""
    assert form(b"<form><button>reject</button>" + body, URL) is not None
    form(body, URL)
