"""A body as it comes, unpacked, and never more of it than is sane."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from ..failures import Source

__all__ = ["MAX_BODY", "unpacked"]

MAX_BODY = 64 * 1024 * 1024
_PIECE = 1024 * 1024


def unpacked(
    chunks: Iterable[bytes], encoding: str, source: Source, limit: int = MAX_BODY
) -> Iterator[bytes]:
    """Yield the body with gzip taken off; more than ``limit`` bytes of it is a `ReplyError`."""
    encoding = encoding.strip().lower()
    if encoding in ("gzip", "x-gzip"):
        chunks = _gunzipped(chunks, source)
    elif encoding not in ("", "identity"):
        raise source.unusable(f"the reply is packed as {encoding!r}, which was not asked for")
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise source.unusable(f"the reply is longer than {limit >> 20} MiB")
        yield chunk


def _gunzipped(chunks: Iterable[bytes], source: Source) -> Iterator[bytes]:
    """Unpack piece by piece, so that a small body which unpacks to a huge one is noticed early."""
    packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        for chunk in chunks:
            rest = chunk
            piece = b""
            while rest or len(piece) == _PIECE:
                if packed.eof:
                    packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
                piece = packed.decompress(rest, _PIECE)
                rest = packed.unconsumed_tail or packed.unused_data
                if piece:
                    yield piece
    except zlib.error as exc:
        raise source.unusable(f"the reply is broken gzip: {exc}") from None
