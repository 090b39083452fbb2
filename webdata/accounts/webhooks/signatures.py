"""Secrets of webhooks, and what they sign (https://www.standardwebhooks.com, "Signature scheme")."""

import secrets
from base64 import b64encode
from collections.abc import Iterable
from datetime import datetime

from standardwebhooks import Webhook as Signer

SECRET_BYTES = 32


def new_secret() -> str:
    """A new random secret of a webhook."""
    return f"whsec_{b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"


def signed_headers(event_id: str, time: datetime, body: str, secrets: Iterable[str]) -> dict[str, str]:
    """The headers of a delivery at this time, with a signature by each of the secrets."""
    signatures = (Signer(secret).sign(event_id, time, body) for secret in secrets)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(time.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
