"""Recognises browsers by the first message of TLS (ClientHello, RFC 8446, 4.1.2)."""

from collections.abc import Iterator

HANDSHAKE = 0x16
RECORD_HEAD = 5
SESSION_ID_AT = RECORD_HEAD + 4 + 2 + 32
"""The offset behind the heads of record and message, the version and the random bytes."""
MAX_RECORD = RECORD_HEAD + 2**14
"""Bytes of the longest record."""


def is_complete(data: bytes) -> bool:
    """Whether data begins with a complete record, or with something that is no handshake."""
    if not data or data[0] != HANDSHAKE:
        return bool(data)
    return len(data) >= RECORD_HEAD and len(data) >= min(RECORD_HEAD + int.from_bytes(data[3:5]), MAX_RECORD)


def is_browser(hello: bytes) -> bool:
    """Whether a ClientHello is that of Chrome, Safari or a browser built on them.

    Only they send GREASE, reserved values among both the ciphers and the extensions (RFC 8701).
    """
    try:
        ciphers, end = _vector(hello, SESSION_ID_AT + 1 + hello[SESSION_ID_AT], 2)
        _, end = _vector(hello, end, 1)
        extensions, _ = _vector(hello, end, 2)
        cipher_ids = (int.from_bytes(ciphers[at : at + 2]) for at in range(0, len(ciphers), 2))
        return _has_grease(cipher_ids) and _has_grease(_extension_ids(extensions))
    except IndexError:
        return False


def _vector(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """The vector whose length stands in `size` bytes at an offset, and the offset behind it. Raises IndexError."""
    start = at + size
    end = start + int.from_bytes(data[at:start])
    if end > len(data):
        raise IndexError
    return data[start:end], end


def _extension_ids(extensions: bytes) -> Iterator[int]:
    at = 0
    while at < len(extensions):
        yield int.from_bytes(extensions[at : at + 2])
        _, at = _vector(extensions, at + 2, 2)


def _has_grease(values: Iterator[int]) -> bool:
    return any(value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF for value in values)
