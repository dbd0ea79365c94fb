"""Messages in a pipe: the length of each in eight bytes, and then the message."""

from __future__ import annotations

import struct
from typing import IO

HEAD = struct.Struct("<Q")


def framed(message: bytes) -> bytes:
    """A message as it is written."""
    return HEAD.pack(len(message)) + message


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next message, None at the end of the pipe."""
    head = pipe.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (length,) = HEAD.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None
