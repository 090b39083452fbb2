"""Signatures of webhooks."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from webdata.accounts.webhooks.signatures import new_secret, signed_headers

BODY = '{"type":"webhook.test","data":{"name":"Café – 東京"}}'


def test_the_published_vector_is_signed_alike():
    """The test vector of the specification's libraries has the same signature here."""
    headers = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        datetime.fromtimestamp(1614265330, UTC),
        '{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_both_secrets_verify_after_a_rotation():
    """The library's own verifier accepts each of two secrets, and no third one, another body or an old time."""
    old, new, other = new_secret(), new_secret(), new_secret()
    now = datetime.now(UTC)
    headers = signed_headers("msg_1", now, BODY, (new, old))
    for secret in (old, new):
        assert Verifier(secret).verify(BODY, headers)["data"]["name"] == "Café – 東京"
    stale = signed_headers("msg_1", now - timedelta(minutes=6), BODY, (new,))
    for secret, body, given in ((other, BODY, headers), (new, BODY + " ", headers), (new, BODY, stale)):
        with pytest.raises(WebhookVerificationError):
            Verifier(secret).verify(body, given)


def test_a_secret_has_the_length_of_the_specification():
    """A secret is 24 to 64 random bytes in base64 after `whsec_`, another one each time."""
    secret = new_secret()
    assert 24 <= len(b64decode(secret.removeprefix("whsec_"))) <= 64
    assert secret != new_secret()
