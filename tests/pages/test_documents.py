"""Documents whose readers come with extras."""

import sys

import pytest

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._documents import document_text
from webdata.runtime.wire.kinds import OFFICE, PDF


@pytest.mark.parametrize(("name", "library", "media"), [("pdf", "pypdfium2", PDF), ("office", "anydoc", min(OFFICE))])
def test_a_document_without_its_extra_is_refused(monkeypatch, name, library, media):
    """A document that nothing installed can read is refused with the extra that reads it."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnsupportedContentError, match=rf"pip install 'webdata\[{name}\]'$"):
        document_text(b"", media, "http://example.com/a", None)
