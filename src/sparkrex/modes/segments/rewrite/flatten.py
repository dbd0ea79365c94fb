"""Flattening: a Both in a Both, an Either in an Either and a Concat in a Concat become parts of the outer one.

Proof. And and Or are associative: a segment matches all (one) of A, (B, C) iff all (one) of A, B, C; the inner node's
windows hold for the same segment, so in an And they are the outer node's, in an Or each inner part's. For Concat let
the inner node start at row p: so does its first part, and it ends where its last part does; hence the junctions of
the inner node with its neighbours are those of its first and last part, and all kinds of junctions are kept. An inner
Concat with windows stays: they bound a stretch that the outer node does not have. Bindings are those of the leaves.

A repetition of exactly one time is its part. A node of one part is that part. Of equal options one is enough: they
have the same segments with the same bindings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.lengths import with_windows
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Repeat
from sparkrex.modes.segments.planner.references import with_parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical


def flatten(node: Logical) -> Logical | None:
    """Make the parts of a node inside one of the same kind parts of the outer node.

        (A & (B & C)[2..5 rows])[..4 rows]
        -> (A & B & C)[2..4 rows]
        (A = (B > C))
        -> (A = B > C)
        (A | (B | C)[2..5 rows])
        -> (A | B[2..5 rows] | C[2..5 rows])
        (A = (B > C)[..3 rows])
        -> stays
    """
    flat = _flat(node)
    return None if flat is node else flat


def _flat(node: Logical) -> Logical:
    node = with_parts(node, _flat)
    match node:
        case Both(parts=(only,)) | Either(parts=(only,)) | Concat(parts=(only,)):
            return with_windows(only, *node.windows)
        case Repeat(part=part, minimum=1, maximum=1):
            return with_windows(part, *node.windows)
        case Both(parts=inside) if any(isinstance(part, Both) for part in inside):
            windows = [window for part in inside if isinstance(part, Both) for window in part.windows]
            together = tuple(one for part in inside for one in (part.parts if isinstance(part, Both) else (part,)))
            return with_windows(Both(together, windows=node.windows), *windows)
        case Either(parts=inside) if any(isinstance(part, Either) for part in inside):
            options = tuple(
                option
                for part in inside
                for option in (
                    [with_windows(one, *part.windows) for one in part.parts] if isinstance(part, Either) else [part]
                )
            )
            return Either(options, windows=node.windows)
        case Either(parts=inside) if len(set(inside)) < len(inside):
            return Either(tuple(dict.fromkeys(inside)), windows=node.windows)
        case Concat(parts=inside) if any(map(_is_inner, inside)):
            return flat_chain(node)
    return node


def _is_inner(part: Logical) -> bool:
    return isinstance(part, Concat) and not part.windows


def flat_chain(node: Concat) -> Concat:
    """The concatenation with the parts of those inside it that have no window of their own."""
    inside: list[Logical] = []
    shares: list[bool] = []
    for place, part in enumerate(node.parts):
        if isinstance(part, Concat) and not part.windows:
            inside += part.parts
            shares += part.shares
        else:
            inside.append(part)
        shares += node.shares[place : place + 1]
    return Concat(tuple(inside), tuple(shares), windows=node.windows)
