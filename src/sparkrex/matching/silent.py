"""What a stream keeps of keys whose rows come no more, as a runner derives it from its query.

`forgets` and `wakes` decide it slot by slot while the stream runs; this says beforehand what they can come to, from the
same facts, for EXPLAIN and for a warning. A query that keeps nothing has state that follows the active keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.warn import warn_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sparkrex.source import Source, Span

_RECORD = 16
"""Bytes of a slot's hash, and of the watermark at which it is due."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """Something that is kept of a silent key for ever: what, why, and what bounds it: one of several remedies.

    `n_rows` are so many rows of the key; None: all rows from the first undecided one on. `record` is the size of the
    numbers that every slot has.
    """

    what: str
    why: str
    remedies: tuple[str, ...]
    record: int
    n_rows: int | None = 0
    span: Span | None = None


def silent_lines(kept: Sequence[Lasting], schema: pa.Schema, keys: Sequence[str], *, has_gap: bool) -> list[str]:
    """The section of EXPLAIN; `schema` is that of the rows that are held back, `keys` its columns with the keys.

    `has_gap`: the setting partition_gap ends every partition where no row comes.
    """
    title = "State of silent keys"
    if not kept:
        return [f"{title}: nothing, once the watermark has decided the key's last row"]
    if has_gap:
        return [f"{title}: nothing, once the watermark is partition_gap behind the key's last row"]
    lines = [f"├─ {one.what}: {one.why}; {_size(one, schema, keys)}" for one in kept]
    return [f"{title}, for ever", *lines, f"└─ to bound it: {_remedies(kept)}"]


def _remedies(kept: Sequence[Lasting]) -> str:
    return "; ".join(dict.fromkeys(remedy for one in kept for remedy in one.remedies))


def _size(one: Lasting, schema: pa.Schema, keys: Sequence[str]) -> str:
    """Bytes of a key before compression, in words."""
    record, has_texts = _width(schema, keys)
    fixed = one.record + _RECORD + record
    if one.n_rows == 0:
        return f"{fixed} bytes a key{', and the texts of keys' if has_texts else ''}"
    row, has_texts = _width(schema, schema.names)
    texts = ", and their texts" if has_texts else ""
    if one.n_rows is None:
        return f"{fixed} bytes a key and {row} for each row{texts}"
    return f"{fixed + one.n_rows * row} bytes a key{texts}"


def _width(schema: pa.Schema, names: Sequence[str]) -> tuple[int, bool]:
    """Bytes of some columns in a row, and whether values of any width come beside."""
    bits, has_texts = 0, False
    for name in names:
        try:
            bits += schema.field(name).type.bit_width
        except ValueError:  # a type without a width: an offset, and the value
            bits, has_texts = bits + 32, True
    return -(-bits // 8), has_texts


def warn_of_lasting(kept: Sequence[Lasting], source: Source) -> None:
    """Warn, once for each query, of what it keeps of silent keys for ever."""
    if not kept:
        return
    parts = ["this query keeps state of every key for ever, also of keys that never come back"]
    for one in kept:
        parts.append(f"{one.what}: {one.why}")
        if one.span is not None:
            parts.append(source.excerpt(one.span))
    parts.append(f"hint: to bound it: {_remedies(kept)}")
    warn_once("\n".join(parts), source.text)
