"""What the first bytes of TLS tell of a client (ClientHello, RFC 8446, 4.1.2)."""

from collections.abc import Iterator

HANDSHAKE = 0x16
RECORD_HEAD = 5
CIPHERS_AT = RECORD_HEAD + 4 + 2 + 32
"""Behind the heads of the record and the message, the version and the random bytes."""
MOST = RECORD_HEAD + 2**14
"""Bytes of the longest record."""


def whole(data: bytes) -> bool:
    """Whether data begins with a whole record, or with something that is none."""
    if not data or data[0] != HANDSHAKE:
        return bool(data)
    return len(data) >= RECORD_HEAD and len(data) >= min(RECORD_HEAD + int.from_bytes(data[3:5]), MOST)


def is_browsers(hello: bytes) -> bool:
    """Whether a ClientHello is that of Chrome, Safari or one of their kin.

    They alone send GREASE: values that mean nothing, among both the ciphers and the extensions (RFC 8701).
    """
    try:
        ciphers, rest = _vector(hello, CIPHERS_AT + 1 + hello[CIPHERS_AT], 2)
        _, rest = _vector(hello, rest, 1)
        extensions, _ = _vector(hello, rest, 2)
        return _has_grease(_pairs(ciphers)) and _has_grease(_kinds(extensions))
    except IndexError:
        return False


def _vector(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """The bytes behind a length of so many bytes, and where they end."""
    start = at + size
    end = start + int.from_bytes(data[at:start])
    if end > len(data):
        raise IndexError
    return data[start:end], end


def _pairs(data: bytes) -> Iterator[int]:
    return (int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))


def _kinds(extensions: bytes) -> Iterator[int]:
    at = 0
    while at < len(extensions):
        yield int.from_bytes(extensions[at : at + 2])
        _, at = _vector(extensions, at + 2, 2)


def _has_grease(values: Iterator[int]) -> bool:
    return any(value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF for value in values)
