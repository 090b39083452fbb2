"""Responses that are sent while their bodies come, compressed as their callers accept it."""

import asyncio
import logging
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol

from webdata.domain.errors import WebdataError
from webdata.faces.api.compression import GZIP, VARY, coding_for
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import begin
from webdata.runtime.server.streams import ResponseStream
from webdata.runtime.wire.zstandard import zstd

logger = logging.getLogger(__name__)
CODINGS = ("zstd", "gzip")
LARGE_PIECE = 32 * 1024
"""Bytes from which a piece is compressed by a thread."""


class Encoder(Protocol):
    """Compresses a body piece by piece."""

    def compress(self, data: bytes, /) -> bytes:
        """What can be sent after this piece, which may be nothing."""
        ...

    def flush(self) -> bytes:
        """The last bytes of the body."""
        ...


async def stream(incoming: Incoming, status: int, headers: Mapping[str, str], pieces: AsyncGenerator[bytes]) -> None:
    """Send a response as fast as its caller reads it. One that cannot be completed is broken off."""
    if incoming.gone:
        return
    coding = coding_for(incoming.header("accept-encoding"), CODINGS)
    vary = ", ".join(name for name in (VARY["vary"], headers.get("vary")) if name)
    encoded = {"content-encoding": coding} if coding else {}
    response = begin(incoming.request, incoming.id, status, "OK", (), {**headers, **encoded, "vary": vary})
    encoder = _encoder(coding)
    try:
        if incoming.method != "HEAD":
            async with aclosing(pieces):
                await _send(incoming, response, encoder, pieces)
    except WebdataError as error:
        logger.warning("%s was broken off: %s", incoming.id, error)
        _break_off(incoming, response)
    except Exception:  # the caller sees that the end is missing
        logger.exception("%s was broken off", incoming.id)
        _break_off(incoming, response)
    else:
        if not incoming.gone:
            response.finish()


async def _send(
    incoming: Incoming, response: ResponseStream, encoder: Encoder | None, pieces: AsyncGenerator[bytes]
) -> None:
    async for piece in pieces:
        if incoming.gone:
            return
        await response.write(await _compressed(encoder, piece))
    if encoder:
        await response.write(encoder.flush())


def _break_off(incoming: Incoming, response: ResponseStream) -> None:
    if not incoming.gone:
        response.break_off()


def _encoder(coding: str | None) -> Encoder | None:
    if coding == "zstd":
        return zstd.ZstdCompressor(level=3)
    return zlib.compressobj(level=4, wbits=GZIP) if coding else None


async def _compressed(encoder: Encoder | None, piece: bytes) -> bytes:
    if encoder is None:
        return piece
    if len(piece) < LARGE_PIECE:
        return encoder.compress(piece)
    return await asyncio.to_thread(encoder.compress, piece)
