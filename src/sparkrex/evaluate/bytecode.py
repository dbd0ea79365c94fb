"""Bytecode of context conditions: instructions of `kernels.machine`, and how they are written one by one.

`bytecode_compiler` compiles expressions to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.columns.values import BOOL, FLOAT, Kind
from sparkrex.evaluate.records import Records
from sparkrex.kernels import machine as m

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Source, Span

UNTYPED = Kind("null")
"""The kind of a NULL that nobody gave one."""


class CannotCompileError(Exception):
    """The condition is outside the engine's language; says why, and where if a part of it is to blame.

    `subject` is what the reason is said of, if it does not say that itself.
    """

    span: Span | None = None

    def __init__(self, reason: str, subject: Expression | None = None) -> None:
        super().__init__(reason if subject is None else f"{subject} {reason}")
        self.reason = reason
        self.subject = subject

    def said_of(self, source: Source) -> str:
        """The reason, with the subject as it stands in the query: on Spark it is a column that the user never named."""
        span = None if self.subject is None else self.subject.span
        return str(self) if span is None else f"{' '.join(source.text[span.start : span.end].split())} {self.reason}"


@dataclass(frozen=True, slots=True)
class Operand:
    """Where a value is (`kernels.machine`), and its kind."""

    mode: int
    number: int
    kind: Kind
    target: int = 0


def boolean(operand: Operand) -> Operand:
    """The operand, which must be a truth value."""
    if operand.kind not in (BOOL, UNTYPED):
        raise CannotCompileError(f"a condition of type {operand.kind.name}")
    return operand


_NOTHING = Operand(m.NOTHING, 0, UNTYPED)


@dataclass(slots=True)
class Bytecode:
    """The compiled conditions of a query.

    `ranges` has the first and last instruction of every variable with a context condition. `string_constants` are the
    places in `int_constants` that hold the number of a string literal: its code depends on the batch.
    """

    code: list[tuple[int, ...]] = field(default_factory=list)
    int_constants: list[int] = field(default_factory=list)
    string_constants: list[int] = field(default_factory=list)
    float_constants: list[float] = field(default_factory=list)
    targets: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    int_columns: list[Expression] = field(default_factory=list)
    float_columns: list[Expression] = field(default_factory=list)
    records: Records = field(default_factory=Records)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    n_registers: int = 1

    def register(self, kind: Kind) -> Operand:
        """A register for a value."""
        self.n_registers += 1
        return Operand(m.REGISTER, self.n_registers - 1, kind)

    def emit(self, operation: int, to: int, a: Operand, b: Operand = _NOTHING, c: int = 0) -> None:
        """Write an instruction; `c` is what its operation makes of it."""
        self.code.append((operation, to, a.mode, a.number, a.target, b.mode, b.number, b.target, c))

    def result(self, operation: int, kind: Kind, a: Operand, b: Operand = _NOTHING, c: int = 0) -> Operand:
        """The result of an instruction, in a register of its own."""
        to = self.register(kind)
        self.emit(operation, to.number, a, b, c)
        return to

    def move(self, to: Operand, value: Operand) -> None:
        """Put a value into a register of its kind."""
        self.emit(m.MOVE_F if to.kind == FLOAT else m.MOVE_I, to.number, value)

    def jump(self, operation: int, tested: Operand = _NOTHING) -> int:
        """A jump that `land` completes; it tests a register."""
        self.emit(operation, 0, tested)
        return len(self.code) - 1

    def land(self, jump: int) -> None:
        """Let a jump go to the next instruction."""
        line = self.code[jump]
        self.code[jump] = (*line[:6], len(self.code), *line[7:])

    def in_register(self, operand: Operand) -> Operand:
        """Jumps test registers only."""
        if operand.mode == m.REGISTER:
            return operand
        to = self.register(operand.kind)
        self.move(to, operand)
        return to

    def is_null(self, operand: Operand) -> Operand:
        """Whether a value is NULL, in a register."""
        return self.result(m.IS_NULL_F if operand.kind == FLOAT else m.IS_NULL_I, BOOL, operand)

    def constant(self, value: object, kind: Kind) -> Operand:
        """A value that is the same for every row."""
        if value is None:
            return Operand(m.NULL, 0, kind)
        if kind == FLOAT:
            self.float_constants.append(float(value))  # type: ignore[arg-type]  # of kind float
            return Operand(m.CONSTANT, len(self.float_constants) - 1, kind)
        number = int(value)  # type: ignore[call-overload]  # every other kind is an integer
        if not -(2**63) <= number < 2**63:
            raise CannotCompileError("a number beyond 64 bits")
        self.int_constants.append(number)
        return Operand(m.CONSTANT, len(self.int_constants) - 1, kind)
