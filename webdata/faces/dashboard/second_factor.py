"""The second factor: codes of an app that change with time (RFC 6238), and recovery codes in their place."""

import hmac
import secrets
from datetime import datetime

import segno
from markupsafe import Markup
from pyotp import TOTP, random_base32

from webdata.accounts.access.api_keys import digest

ISSUER = "webdata"
STEPS_AROUND = 1
"""How many steps the clock of a phone may differ."""
CODES = 10
CODE_BYTES = 8


def new_totp_secret() -> str:
    """A random secret, in base32."""
    return random_base32()


def matching_step(secret: str, code: str, now: datetime) -> int | None:
    """The time step whose code this is, now or just around; None for a wrong code."""
    totp = TOTP(secret)
    step = int(now.timestamp()) // totp.interval
    around = range(step - STEPS_AROUND, step + STEPS_AROUND + 1)
    matching = [one for one in around if hmac.compare_digest(totp.generate_otp(one).encode(), code.encode())]
    return matching[-1] if matching else None


def normalized_code(text: str) -> str:
    """A code as people type it, without blanks and dashes."""
    return "".join(text.replace("-", "").split()).lower()[:64]


def new_recovery_codes() -> tuple[list[str], frozenset[str]]:
    """Random codes as they are shown, once, and their digests."""
    codes = [secrets.token_hex(CODE_BYTES) for _ in range(CODES)]
    shown = ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]
    return shown, frozenset(map(digest, codes))


def provisioning_uri(secret: str, name: str) -> str:
    """What an app reads from the QR code."""
    return TOTP(secret).provisioning_uri(name=name, issuer_name=ISSUER)


def qr_code(text: str) -> Markup:
    """A QR code as SVG, dark on light in every theme, since cameras expect that."""
    return Markup(segno.make(text, error="m").svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True))  # noqa: S704  # made here
