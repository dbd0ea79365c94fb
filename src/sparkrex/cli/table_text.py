"""A result as aligned text: whole, or what fits a terminal.

On a terminal a table has at most 40 rows, the first and the last ones, and no line wraps: the widest columns are cut
first, and columns in the middle are left out if there are too many. The line under the table says how many rows there
are, and what is not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.cli.cells import CUT, cells_of, padded, shortened, visible, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

_GAP = "  "
_NARROWEST = 6
"""Columns of a terminal that a column of the table keeps where it has to be cut."""
_ROWS_SHOWN = 40
_ROWS_AT_ONCE = 10_000


def whole_text(table: pa.Table) -> Iterator[str]:
    """All rows under a line of names, some at a time, columns aligned by the first 10,000 rows."""
    if not table.num_columns:
        return
    rights = numeric_columns(table)
    widths: list[int] = []
    for begin in range(0, max(table.num_rows, 1), _ROWS_AT_ONCE):
        names, cells = _cells(table.slice(begin, _ROWS_AT_ONCE))
        rows: list[Sequence[str]] = list(zip(*cells, strict=True))
        if not widths:
            widths = [max(map(width_of, [name, *column])) for name, column in zip(names, cells, strict=True)]
            rows.insert(0, names)
        yield aligned_lines(rows, widths, rights)


def fitted_text(table: pa.Table, n_columns: int, way_out: str = "--output PATH or a pipe gets all") -> str:
    """What fits a terminal of so many columns, and a line with the number of rows; `way_out` says how to see more."""
    n_rows = table.num_rows
    told = f"{n_rows:,} row{'' if n_rows == 1 else 's'}"
    if not table.num_columns:
        return f"{told}\n"
    is_cut = n_rows > _ROWS_SHOWN
    half = _ROWS_SHOWN // 2
    names, cells = _cells(_ends(table, half) if is_cut else table)
    widths = [max(map(width_of, [name, *column])) for name, column in zip(names, cells, strict=True)]
    kept = _columns_kept(widths, n_columns)
    capped = _capped([widths[place] for place in kept], n_columns - (len(_GAP) + 1) * (len(kept) < len(widths)))
    rights = numeric_columns(table)
    shown_names, shown_rights = [names[place] for place in kept], [rights[place] for place in kept]
    shown = [[shortened(cell, width) for cell in cells[place]] for place, width in zip(kept, capped, strict=True)]
    header = [shortened(name, width) for name, width in zip(shown_names, capped, strict=True)]
    if len(kept) < len(widths):
        middle = (len(kept) + 1) // 2
        header.insert(middle, CUT)
        shown.insert(middle, [CUT] * len(shown[0]))
        capped.insert(middle, 1)
        shown_rights.insert(middle, False)
        told += f", {len(kept)} of {len(widths)} columns shown"
    rows = list(zip(*shown, strict=True))
    rule = ["-" * width for width in capped]
    if is_cut:
        rows.insert(half, tuple(CUT for _ in header))
        told += f", the first and last {half} shown"
    if len(kept) < len(widths) or is_cut:
        told += f"; {way_out}"
    return aligned_lines([header, rule, *rows], capped, shown_rights) + f"{told}\n"


def _ends(table: pa.Table, n_rows: int) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([table.slice(0, n_rows), table.slice(table.num_rows - n_rows)])


def _cells(table: pa.Table) -> tuple[list[str], list[list[str]]]:
    return [visible(name) for name in table.column_names], [cells_of(column) for column in table.columns]


def numeric_columns(table: pa.Table) -> list[bool]:
    """Which columns stand at the right."""
    import pyarrow as pa

    return [
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        for kind in table.schema.types
    ]


def _columns_kept(widths: Sequence[int], n_columns: int) -> list[int]:
    """Places of the columns that are shown: all if they can be cut so far, else some of both ends."""
    least = [min(width, _NARROWEST) for width in widths]
    if _total(least) <= n_columns:
        return list(range(len(widths)))
    room = n_columns - 1 - len(_GAP)  # the mark for those left out
    left, right = 0, len(widths)
    while left < right:
        place = left if left <= len(widths) - right else right - 1
        room -= least[place] + (len(_GAP) if left or right < len(widths) else 0)
        if room < 0:
            break
        left, right = (left + 1, right) if place == left else (left, place)
    return [*range(max(left, 1)), *range(max(right, 1), len(widths))]


def _capped(widths: Sequence[int], n_columns: int) -> list[int]:
    """The widths with the largest ones cut, all to one, so that a line fits; none below what it needs to be read."""
    cap = max(widths)
    while cap > _NARROWEST and _total([min(width, cap) for width in widths]) > n_columns:
        cap -= 1
    spare = n_columns - _total([min(width, cap) for width in widths])
    capped = []
    for width in widths:  # what rounding left over
        more = 1 if width > cap and spare > 0 else 0
        spare -= more
        capped.append(min(width, cap) + more)
    return capped


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def aligned_lines(rows: Sequence[Sequence[str]], widths: Sequence[int], rights: Sequence[bool]) -> str:
    """Rows of cells as lines, numbers at the right of their columns."""
    return "".join(
        _GAP.join(
            padded(text, width, is_right=right) for text, width, right in zip(row, widths, rights, strict=True)
        ).rstrip() + "\n"
        for row in rows
    )
