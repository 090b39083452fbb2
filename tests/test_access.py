"""Keys, and who may call."""

import re

import pytest

from webdata.access import Access, check_shape, digest, new_key, new_secret
from webdata.errors import UnauthorizedError
from webdata.stores.memory import MemoryKeys


class CountingKeys(MemoryKeys):
    """Counts the look-ups."""

    def __init__(self):
        super().__init__()
        self.finds = 0

    def find(self, digest):
        self.finds += 1
        return super().find(digest)


@pytest.fixture
def keys():
    return CountingKeys()


@pytest.fixture
def access(keys):
    return Access(keys)


def refusal(access, headers) -> str:
    with pytest.raises(UnauthorizedError) as caught:
        access.authenticate(headers.get)
    return str(caught.value)


@pytest.mark.parametrize(("test", "prefix"), [(True, "wd_test_"), (False, "wd_live_")])
def test_new_secret(test, prefix):
    """A secret says its kind, is 49 base62 digits long, and no two are alike."""
    secrets = {new_secret(test=test) for _ in range(50)}

    assert len(secrets) == 50
    assert all(re.fullmatch(prefix + "[0-9A-Za-z]{49}", secret) for secret in secrets)


def test_padding(monkeypatch):
    """A small number is padded, so that every secret has the same length."""
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"\0" * (count - 1) + b"\x3e")

    assert new_secret(test=True).startswith("wd_test_" + "0" * 41 + "10")


def test_largest_number(monkeypatch):
    """The largest 32 bytes fit into 43 digits."""
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"\xff" * count)
    secret = new_secret(test=False)

    check_shape(secret)
    assert len(secret) == 57


def test_known_checksum():
    """The checksum is the CRC-32 of what stands before it, so keys stay valid from release to release."""
    check_shape("wd_test_" + "0" * 43 + "06Dbrk")


def test_new_key():
    """A new key knows its kind and the digest of its secret, but not the secret."""
    key, secret = new_key("for tests", test=True)

    assert (key.name, key.test, key.digest) == ("for tests", True, digest(secret))
    assert key.id.startswith("key_")
    assert key.created.utcoffset().total_seconds() == 0
    assert secret not in repr(key)


@pytest.mark.parametrize("test", [True, False])
def test_authenticate(access, keys, test):
    """A secret opens as the key that it was made with."""
    key, secret = new_key("mine", test=test)
    keys.add(key)

    assert key == access.authenticate({"X-Api-Key": secret}.get)


def test_first_header_wins(access, keys):
    """Of several headers the first in the order X-Api-Key, api-key, x-apikey, apikey decides, right or wrong."""
    names = ["X-Api-Key", "api-key", "x-apikey", "apikey"]
    made = [new_key(name, test=True) for name in names]
    for key, _ in made:
        keys.add(key)
    headers = {name: secret for name, (_, secret) in zip(names, made, strict=True)}
    for name in names:
        assert name == access.authenticate(headers.get).name
        assert "malformed" in refusal(access, {**headers, name: "wrong"})
        del headers[name]


def test_missing(access, keys):
    """Without a key the message says where one goes and where one comes from."""
    assert refusal(access, {}) == (
        "The API key is missing. Send a key in the X-Api-Key header; "
        "whoever runs this service makes one with `webdata keys create`."
    )
    assert keys.finds == 0


@pytest.mark.parametrize(
    "secret",
    ["", " ", "wd_live_", "wd_prod_" + "0" * 49, "wd_test_" + "0" * 48, "wd_test_" + "0" * 50, "ключ", "\ud800"],
)
def test_malformed(access, keys, secret):
    """What cannot be a key is told from an unknown one without a look-up."""
    assert refusal(access, {"X-Api-Key": secret}).startswith("The API key is malformed")
    assert keys.finds == 0


def test_mistyped(access, keys):
    """One wrong character anywhere, or two that changed places, are told without a look-up and not repeated."""
    key, secret = new_key("mine", test=True)
    keys.add(key)
    places = range(len("wd_test_"), len(secret))
    wrong = [secret[:at] + ("a" if secret[at] != "a" else "b") + secret[at + 1 :] for at in places]
    swapped = [secret[:at] + secret[at + 1] + secret[at] + secret[at + 2 :] for at in places[:-1]]
    other_kind = secret.replace("wd_test_", "wd_live_")
    for typed in {*wrong, *swapped, other_kind} - {secret}:
        message = refusal(access, {"X-Api-Key": typed})
        assert message.startswith("The API key is mistyped")
        assert typed not in message
    assert keys.finds == 0


def test_unknown(access):
    """A well-formed key that nobody keeps does not open, and is not repeated."""
    secret = new_secret(test=True)
    message = refusal(access, {"X-Api-Key": secret})

    assert message.startswith("This API key is not known here")
    assert secret not in message


def test_revoked(access, keys):
    """A removed key does not open from the next call on."""
    key, secret = new_key("mine", test=True)
    keys.add(key)
    access.authenticate({"apikey": secret}.get)
    keys.remove(key.id)

    assert "not known here" in refusal(access, {"apikey": secret})
