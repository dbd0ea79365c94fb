"""The register machine for conditions: every operation and operand, against Python with None for NULL."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sparkrex.kernels import machine as m
from sparkrex.kernels.path import FIRST_OF_SET

if TYPE_CHECKING:
    from collections.abc import Callable

LOW, HIGH = -(2**63), 2**63 - 1
INTEGERS: list[int | None] = [None, LOW, LOW + 1, -7, -1, 0, 1, 2, 7, HIGH]
TRUTHS: list[int | None] = [None, 0, 1]
DOUBLES: list[float | None] = [None, -math.inf, -2.5, -0.0, 0.0, 1.0, 2.5, 1e308, math.inf, math.nan]


@dataclass
class Machine:
    """Four registers, a row of columns and a record; `run` calls the kernel, the one place that knows its arguments."""

    ints: list[int | None] = field(default_factory=lambda: [None] * 4)
    floats: list[float | None] = field(default_factory=lambda: [None] * 4)
    int_constants: list[int] = field(default_factory=list)
    float_constants: list[float] = field(default_factory=list)
    record_ints: list[int] = field(default_factory=lambda: [-1, 0])
    record_floats: list[float] = field(default_factory=lambda: [0.0, 0.0])
    reads: list[list[int]] = field(default_factory=list)
    shift: int = 0

    def run(self, *code: list[int]) -> int:
        """The result; registers are as the code leaves them."""
        table = np.array([row + [0] * (9 - len(row)) for row in code], np.int64).reshape(-1, 9)
        nulls = np.array([a is None and b is None for a, b in zip(self.ints, self.floats, strict=True)], np.uint8)
        ints = np.array([value or 0 for value in self.ints], np.int64)
        floats = np.array([value or 0.0 if value != 0 else value for value in self.floats], np.float64)
        # Column 0 has no NULL, column 1 one in row 2. Where a target has no row: -5, and NULL.
        columns = m.ReadColumns(
            np.array([[10, 11, 12, 13], [20, 21, 99, 23]]), np.array([[0, 0, 0, 0], [0, 0, 1, 0]], np.uint8),
            np.array([0, 1], np.uint8),
            np.array([[1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 9.9, 2.3]]),
            np.array([[0, 0, 0, 0], [0, 0, 1, 0]], np.uint8), np.array([0, 1], np.uint8),
        )
        machine = m.Machine(
            table, np.array([[FIRST_OF_SET, 0, self.shift, 0]]), np.array(self.reads, np.int64).reshape(-1, 3),
            np.array(self.int_constants, np.int64), np.array(self.float_constants, np.float64), np.array([-5, 0]),
            np.array([0, 1], np.uint8), np.array([-0.5, 0.0]), np.array([0, 1], np.uint8), ints, floats, nulls,
            np.array([70, 71]),
        )
        labels = np.array([0, 2, 2, 0], np.int16)
        place = (2, 0, 0, 4, 33)  # the row under test is row 2 of 4, in match 33 that starts at row 0
        result = m.holds(
            0, len(code), machine, columns, np.array([self.record_ints]), np.array([self.record_floats]), 0, labels,
            place,
        )
        self.ints = [None if null else int(value) for value, null in zip(ints, nulls, strict=True)]
        self.floats = [None if null else float(value) for value, null in zip(floats, nulls, strict=True)]
        return int(result)


def of_registers(operation: int, to: int = 0) -> list[int]:
    return [operation, to, m.REGISTER, 1, 0, m.REGISTER, 2, 0]


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def ordered(x: float) -> tuple[bool, float]:
    """NaN is above every number and equal to itself."""
    return (True, 0.0) if math.isnan(x) else (False, x)


CHECKED: dict[int, Callable[[int, int], int]] = {
    m.ADD_I: lambda x, y: x + y, m.SUB_I: lambda x, y: x - y, m.MUL_I: lambda x, y: x * y, m.DIV_I: truncated,
    m.MOD_I: lambda x, y: x - truncated(x, y) * y,
}
COMPARED: dict[int, Callable[[Any, Any], bool]] = {
    m.EQ_I: lambda x, y: x == y, m.NE_I: lambda x, y: x != y, m.LT_I: lambda x, y: x < y, m.LE_I: lambda x, y: x <= y,
}


@pytest.mark.parametrize("operation", CHECKED)
def test_integers_are_exact_or_refused(operation: int) -> None:
    for x, y in product(INTEGERS, repeat=2):
        machine = Machine(ints=[None, x, y, None])
        result = machine.run(of_registers(operation))
        if x is None or y is None:
            assert (result, machine.ints[0]) == (1, None)
        elif operation in (m.DIV_I, m.MOD_I) and y == 0:
            assert result == m.DIVISION_BY_ZERO
        elif result == m.OVERFLOW:
            value = CHECKED[operation](x, y)
            # The smallest integer itself counts as overflow of a product, and so does its remainder by -1.
            assert not LOW < value <= HIGH or (operation == m.MOD_I and (x, y) == (LOW, -1)), (x, y)
        else:
            assert (result, machine.ints[0]) == (1, CHECKED[operation](x, y)), (x, y)


@pytest.mark.parametrize("operation", COMPARED)
def test_comparisons(operation: int) -> None:
    for x, y in product(INTEGERS, repeat=2):
        machine = Machine(ints=[None, x, y, None])
        expected = None if x is None or y is None else int(COMPARED[operation](x, y))
        assert machine.run(of_registers(operation)) == 1
        assert machine.ints[0] == expected, (x, y)
        assert Machine(ints=[None, x, y, None]).run(of_registers(operation, m.TEST)) == (expected or 0)
    of_doubles = {m.EQ_I: m.EQ_F, m.NE_I: m.NE_F, m.LT_I: m.LT_F, m.LE_I: m.LE_F}[operation]
    for u, v in product(DOUBLES, repeat=2):
        machine = Machine(floats=[None, u, v, None])
        expected = None if u is None or v is None else int(COMPARED[operation](ordered(u), ordered(v)))
        assert machine.run(of_registers(of_doubles)) == 1
        assert machine.ints[0] == expected, (u, v)
        assert Machine(floats=[None, u, v, None]).run(of_registers(of_doubles, m.TEST)) == (expected or 0)


def test_distinct_and_is_null_are_never_null() -> None:
    for x, y in product(INTEGERS, repeat=2):
        machine = Machine(ints=[None, x, y, None])
        machine.run(of_registers(m.DISTINCT_I))
        assert machine.ints[0] == (x != y)
        machine.run(of_registers(m.IS_NULL_I, 3))
        assert machine.ints[3] == (x is None)
    for u, v in product(DOUBLES, repeat=2):
        machine = Machine(floats=[None, u, v, None])
        machine.run(of_registers(m.DISTINCT_F))
        both = u is not None and v is not None
        assert machine.ints[0] == (ordered(u) != ordered(v) if both else u is not v), (u, v)  # type: ignore[arg-type]
        machine.run(of_registers(m.IS_NULL_F, 3))
        assert machine.ints[3] == (u is None)


def test_three_valued_logic() -> None:
    for x, y in product(TRUTHS, repeat=2):
        expected = {
            m.AND: 0 if 0 in (x, y) else None if None in (x, y) else 1,
            m.OR: 1 if 1 in (x, y) else None if None in (x, y) else 0,
            m.NOT: None if x is None else 1 - x, m.IS_TRUE: int(x == 1), m.IS_FALSE: int(x == 0), m.MOVE_I: x,
        }
        for operation, value in expected.items():
            machine = Machine(ints=[None, x, y, None])
            assert machine.run(of_registers(operation)) == 1
            assert machine.ints[0] == value, (operation, x, y)


def test_negated_and_absolute_integers() -> None:
    for x in INTEGERS:
        for operation, value in {m.NEG_I: None if x is None else -x, m.ABS_I: None if x is None else abs(x)}.items():
            machine = Machine(ints=[None, x, 0, None])
            if x == LOW:
                assert machine.run(of_registers(operation)) == m.OVERFLOW
            else:
                assert (machine.run(of_registers(operation)), machine.ints[0]) == (1, value)


@pytest.mark.parametrize("operation", [m.MOVE_F, m.ADD_F, m.SUB_F, m.MUL_F, m.DIV_F, m.MOD_F, m.NEG_F, m.ABS_F])
def test_doubles(operation: int) -> None:
    for u, v in product(DOUBLES, repeat=2):
        with np.errstate(all="ignore"):
            x, y = np.float64(u or 0.0 if u != 0 else u), np.float64(v or 0.0 if v != 0 else v)
            expected = {
                m.MOVE_F: x, m.ADD_F: x + y, m.SUB_F: x - y, m.MUL_F: x * y, m.DIV_F: x / y, m.MOD_F: np.fmod(x, y),
                m.NEG_F: -x, m.ABS_F: abs(x),
            }[operation]
        machine = Machine(floats=[None, u, v, None])
        assert machine.run(of_registers(operation)) == 1
        if u is None or v is None:
            assert machine.floats[0] is None
        else:
            assert machine.floats[0] == pytest.approx(float(expected), rel=0, nan_ok=True), (u, v)
        if operation in (m.DIV_F, m.MOD_F) and v == 0 and u is not None:
            # The ninth number says that division by zero is an error.
            assert Machine(floats=[None, u, v, None]).run([*of_registers(operation), 1]) == m.DIVISION_BY_ZERO


def test_an_integer_becomes_a_double() -> None:
    for x in INTEGERS:
        machine = Machine(ints=[None, x, 0, None])
        machine.run(of_registers(m.TO_F))
        assert machine.floats[0] == (None if x is None else float(x))


def test_jumps() -> None:
    taken: dict[int, Callable[[int | None], bool]] = {
        m.JUMP: lambda x: True, m.JUMP_IF_FALSE: lambda x: x == 0, m.JUMP_IF_TRUE: lambda x: x == 1,
        m.JUMP_UNLESS_TRUE: lambda x: x != 1, m.JUMP_UNLESS_NULL: lambda x: x is not None,
    }
    for operation, jumps in taken.items():
        for x in TRUTHS:
            # Over an assignment of 5.
            machine = Machine(ints=[0, x, None, None], int_constants=[5])
            assert machine.run([operation, 0, 0, 1, 0, 0, 2], [m.MOVE_I, 0, m.CONSTANT, 0]) == 1
            assert machine.ints[0] == (0 if jumps(x) else 5), (operation, x)


def test_where_operands_are() -> None:
    def fetched(mode: int, number: int = 0, **given: Any) -> tuple[int | None, float | None]:
        whole, real = Machine(**given), Machine(**given)
        whole.run([m.MOVE_I, 0, mode, number])
        # The second operand of MOVE_F must not be NULL.
        real.run([m.MOVE_F, 0, mode, number, 0, m.NOTHING])
        return whole.ints[0], real.floats[0]

    assert fetched(m.COLUMN, 0) == (12, 1.2)
    assert fetched(m.COLUMN, 1) == (None, None)
    assert fetched(m.CONSTANT, 1, int_constants=[1, 2], float_constants=[0.5, 0.25]) == (2, 0.25)
    assert fetched(m.NULL) == (None, None)
    assert fetched(m.MATCH_NUMBER)[0] == 33
    # Targets: the first row of a set, as the record has it.
    assert fetched(m.TARGET, 0, record_ints=[1, 0]) == (11, 1.1)
    assert fetched(m.TARGET, 1, record_ints=[2, 0]) == (None, None)
    assert fetched(m.TARGET, 0, record_ints=[-1, 0]) == (-5, -0.5)
    assert fetched(m.TARGET, 1, record_ints=[-1, 0]) == (None, None)
    assert fetched(m.TARGET, 0, record_ints=[1, 0], shift=-3) == (-5, -0.5)
    # Classifiers: the variable of a mapped row as a code.
    assert [fetched(m.CLASSIFIER, record_ints=[row, 0])[0] for row in (0, 1, -1)] == [70, 71, None]
    assert fetched(m.CLASSIFIER, record_ints=[1, 0], shift=2)[0] is None  # not mapped yet


def test_what_aggregates_make_of_a_record() -> None:
    # Three values of sum 12 and squared distances 6; the record of none; of one.
    for n, expected in {3: (12.5 / 3, 3.0, 2.0), 0: (None, None, None), 1: (12.5, None, 6.0)}.items():
        def read(kind: int, n: int = n) -> Machine:
            machine = Machine(record_ints=[n, 12], record_floats=[12.5, 6.0], reads=[[kind, 0, 0]])
            is_whole = kind in (m.READ_COUNT, m.READ_INT)
            machine.run([m.MOVE_I if is_whole else m.MOVE_F, 0, m.AGGREGATE, 0, 0, m.NOTHING])
            return machine

        average, of_sample, of_all = expected
        assert read(m.READ_COUNT).ints[0] == n
        assert read(m.READ_INT).ints[0] == (12 if n else None)
        assert read(m.READ_FLOAT).floats[0] == (12.5 if n else None)
        assert read(m.READ_INT_AVERAGE).floats[0] == (12 / n if n else None)
        assert read(m.READ_AVERAGE).floats[0] == average
        assert read(m.READ_VAR_SAMP).floats[0] == of_sample
        assert read(m.READ_VAR_POP).floats[0] == of_all
        assert read(m.READ_STDDEV_SAMP).floats[0] == (None if of_sample is None else math.sqrt(of_sample))
        assert read(m.READ_STDDEV_POP).floats[0] == (None if of_all is None else math.sqrt(of_all))


def test_a_test_that_fails_ends_the_condition() -> None:
    code = [[m.LT_I, m.TEST, m.CONSTANT, 0, 0, m.CONSTANT, 1], [m.DIV_I, 0, m.CONSTANT, 0, 0, m.CONSTANT, 2]]
    assert Machine(int_constants=[2, 1, 0]).run(*code) == 0  # and nothing is divided by zero
    assert Machine(int_constants=[1, 2, 0]).run(*code) == m.DIVISION_BY_ZERO
    assert Machine().run() == 1
