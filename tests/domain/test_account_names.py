"""Names of accounts that can be mistaken for each other."""

import pytest

from webdata.domain.account_names import LONGEST_FOLDED, check_account_name, folded_name


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("Acme", "acme"),
        ("Acme", "АСМЕ"),
        ("Straße", "STRASSE"),
        ("Acme", "Ａｃｍｅ"),
        ("Acme", "Acme\N{ZERO WIDTH SPACE}"),
        ("a b", "a\N{NO-BREAK SPACE}b"),
        ("Bill", "BiIl"),
        ("shop 10", "shop lO"),
        ("TABOO", "ΤΑΒΟΟ"),
    ],
)
def test_names_that_look_the_same(name, twin):
    """Case, width, blanks, invisible characters and letters of another script do not make another name."""
    assert folded_name(name) == folded_name(twin)


@pytest.mark.parametrize(("name", "other"), [("shop 1", "shop 2"), ("Müller", "Muller"), ("कि", "कु"), ("東京", "京都")])
def test_names_that_differ(name, other):
    """Names that a reader tells apart stay two names."""
    assert folded_name(name) != folded_name(other)


def test_a_long_name_fits_the_index():
    """A name that folds to many characters is compared by as many as an index takes."""
    assert len(folded_name("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 200)) == LONGEST_FOLDED


@pytest.mark.parametrize("name", ["Асme", "pаypal shop", "Νora", ""])
def test_a_word_of_two_scripts_is_refused(name):
    """A word that mixes scripts with letters that look alike is refused with words, as an empty name is."""
    with pytest.raises(ValueError, match=r"write it in one script|is not empty"):
        check_account_name(name)


@pytest.mark.parametrize("name", ["Яндекс market", "東京 office", "Müller & Söhne", "7-Eleven"])
def test_a_name_may_have_words_of_several_scripts(name):
    """Words of different scripts, and scripts whose letters look different, are names."""
    assert check_account_name(name) == name
