"""The chunked transfer coding of requests (RFC 9112 7.1), refused as soon as it is wrong."""

import re
from collections.abc import Callable

from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError

LINE_END = re.compile(rb"\r\n|\r.|\n", re.DOTALL)
LONGEST_CHUNK = 2**60
"""Bytes of a chunk that no client sends: none of a body's other bounds is larger."""


class ChunkedBody(_ChunkedTransferDecoder):
    """Twisted's decoder, which refuses a line that ends without CR instead of waiting for another end of it.

    `on_size` is called with the size of each chunk before any of its data is read; it returns whether to read on.
    """

    def __init__(
        self, on_data: Callable[[bytes], None], on_end: Callable[[bytes], None], on_size: Callable[[int], bool]
    ) -> None:
        super().__init__(on_data, on_end)
        self._on_size = on_size

    def _dataReceived_CHUNK_LENGTH(self) -> bool:
        self._check_line_end()
        if not super()._dataReceived_CHUNK_LENGTH():
            return False
        if self.length >= LONGEST_CHUNK:
            raise _MalformedChunkedDataError("a chunk is longer than any")
        return self._on_size(self.length)

    def _dataReceived_TRAILER(self) -> bool:
        self._check_line_end()
        return super()._dataReceived_TRAILER()

    def _check_line_end(self) -> None:
        end = LINE_END.search(self._buffer, self._start)
        if end and end[0] != b"\r\n":
            raise _MalformedChunkedDataError("a line does not end by CR and LF")
