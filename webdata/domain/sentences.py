"""Reasons as people read them."""


def sentence(reason: str) -> str:
    """A reason, such as an error's text, with a capital letter and a full stop; nothing stays nothing."""
    return reason and f"{reason[:1].upper()}{reason[1:].removesuffix('.')}."
