"""What jumps in bytecode: AND and OR, CASE, COALESCE, NULLIF, GREATEST and LEAST.

Operands after a jump are compiled as guarded: they may not be reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.columns.values import BOOL, FLOAT
from sparkrex.evaluate.bytecode import UNTYPED, Operand, boolean
from sparkrex.evaluate.bytecode_arithmetic import compare, converted, wider
from sparkrex.kernels import machine as m

if TYPE_CHECKING:
    from sparkrex.columns.values import Kind
    from sparkrex.evaluate.bytecode import Bytecode
    from sparkrex.evaluate.bytecode_compiler import Compiler
    from sparkrex.scalar.expression import Call, Expression


def connector(compiler: Compiler, node: Call, is_guarded: bool) -> Operand:
    """AND and OR stop at the operand that decides."""
    out = compiler.out
    is_and = node.function == "and"
    result = out.register(BOOL)
    jumps: list[int] = []
    for position, operand in enumerate(node.operands):
        value = boolean(compiler.operand(operand, is_guarded or position > 0))
        if position == 0:
            out.move(result, value)
        else:
            out.emit(m.AND if is_and else m.OR, result.number, result, value)
        if position < len(node.operands) - 1:
            jumps.append(out.jump(m.JUMP_IF_FALSE if is_and else m.JUMP_IF_TRUE, result))
    for jump in jumps:
        out.land(jump)
    return result


def case(compiler: Compiler, node: Call, is_guarded: bool) -> Operand:
    """CASE: operands are pairs of condition and result, and an odd one for ELSE."""
    out = compiler.out
    operands = node.operands
    results = [*operands[1::2]] + ([operands[-1]] if len(operands) % 2 else [])
    kind = _common_kind(compiler, results)
    result = out.register(kind)
    ends: list[int] = []
    for position in range(0, len(operands) - 1, 2):
        condition = boolean(compiler.operand(operands[position], is_guarded or position > 0))
        skip = out.jump(m.JUMP_UNLESS_TRUE, out.in_register(condition))
        out.move(result, converted(out, compiler.operand(operands[position + 1], True), kind))
        ends.append(out.jump(m.JUMP))
        out.land(skip)
    if len(operands) % 2:
        out.move(result, converted(out, compiler.operand(operands[-1], True), kind))
    else:
        out.move(result, Operand(m.NULL, 0, kind))
    for end in ends:
        out.land(end)
    return result


def coalesce(compiler: Compiler, node: Call, is_guarded: bool) -> Operand:
    """The first operand that is not NULL; those after it are not evaluated."""
    out = compiler.out
    kind = _common_kind(compiler, list(node.operands))
    result = out.register(kind)
    ends: list[int] = []
    for position, operand in enumerate(node.operands):
        out.move(result, converted(out, compiler.operand(operand, is_guarded or position > 0), kind))
        ends.append(out.jump(m.JUMP_UNLESS_NULL, result))
    for end in ends:
        out.land(end)
    return result


def _common_kind(compiler: Compiler, expressions: list[Expression]) -> Kind:
    """The kind all of them can have. They are compiled once to learn it, and that code is thrown away."""
    n_code, n_registers = len(compiler.out.code), compiler.out.n_registers
    kinds = [compiler.operand(expression, True).kind for expression in expressions]
    del compiler.out.code[n_code:]
    compiler.out.n_registers = n_registers
    kind = kinds[0]
    for other in kinds[1:]:
        kind = wider(kind, other)
    return BOOL if kind == UNTYPED else kind


def nullif(out: Bytecode, operands: list[Operand]) -> Operand:
    """The first operand, NULL if it equals the second."""
    equal = compare(out, m.EQ_I, operands, swapped=False)
    result = out.register(operands[0].kind)
    out.move(result, operands[0])
    jump = out.jump(m.JUMP_UNLESS_TRUE, equal)
    out.move(result, Operand(m.NULL, 0, result.kind))
    out.land(jump)
    return result


def extreme(out: Bytecode, name: str, operands: list[Operand]) -> Operand:
    """GREATEST and LEAST: of the operands that are not NULL, or strictly, where one NULL makes the result NULL."""
    kind = operands[0].kind
    for operand in operands[1:]:
        kind = wider(kind, operand.kind)
    operands = [converted(out, operand, kind) for operand in operands]
    result = out.register(kind)
    out.move(result, operands[0])
    is_strict = name.endswith("_strict")
    less = m.LT_F if kind == FLOAT else m.LT_I
    ends: list[int] = []
    for operand in operands[1:]:
        pair = (result, operand) if name.startswith("greatest") else (operand, result)
        better = out.result(less, BOOL, *pair)
        if is_strict:
            # One NULL decides; the comparison with it is NULL and stays so.
            skip = out.jump(m.JUMP_UNLESS_TRUE, out.is_null(better))
            out.move(result, Operand(m.NULL, 0, kind))
            ends.append(out.jump(m.JUMP))
            out.land(skip)
            keep = out.jump(m.JUMP_UNLESS_TRUE, better)
            out.move(result, operand)
            out.land(keep)
            continue
        take = out.jump(m.JUMP_IF_TRUE, out.is_null(result))
        keep = out.jump(m.JUMP_UNLESS_TRUE, better)
        out.land(take)
        out.move(result, operand)
        out.land(keep)
    for end in ends:
        out.land(end)
    return result
