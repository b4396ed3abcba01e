"""Vector instructions for the compiled solver of support vector machines.

Loops over reductions are left scalar by the compiler unless rounding may change, so
they are written as vectors here. Each lane rounds as a scalar does: what comes out is
the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from cvst.evaluation.svm.compiled._state import LANES

__all__ = [
    "address",
    "best_gain",
    "compiled",
    "doubles",
    "fused",
    "integers",
    "larger",
    "move_fused_first",
    "move_fused_second",
    "move_plain",
    "singles",
    "top_of_sum",
]

# Python's own error model would check each division for zero.
compiled = njit(nogil=True, error_model="numpy")

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
SINGLES = ir.VectorType(ir.FloatType(), LANES)
POINTER = types.CPointer(types.float64)
ROW = types.CPointer(types.float32)
# Bounds, targets and curvatures that might overflow are kept out (see ``_fits`` and
# ``_machines``), so nothing here is ever NaN; the sign of zero never matters.
ORDERED = ("nnan", "nsz")


@intrinsic
def address(context: Any, array: Any) -> Any:
    """Return a pointer to the first value of an array; the caller keeps it alive."""
    del context

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return target.make_array(signature.args[0])(target, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _pointer_to(kind: Any) -> Any:
    """Return a function that turns the address of an array into a pointer."""

    @intrinsic
    def pointer(context: Any, number: Any) -> Any:
        del context, number

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = target.get_value_type(signature.return_type)
            return builder.inttoptr(arguments[0], kind)

        return types.CPointer(kind)(types.intp), generate

    return pointer


doubles = _pointer_to(types.float64)
singles = _pointer_to(types.float32)
integers = _pointer_to(types.intp)


@intrinsic
def fused(context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once."""
    del context, a, b, c

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del target, signature
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def larger(context: Any, a: Any, b: Any) -> Any:
    """Return the larger one of two values."""
    del context, a, b

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del target, signature
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 2)
        function = cgutils.get_or_insert_function(
            builder.module, kind, "llvm.maxnum.f64"
        )
        return builder.call(function, arguments, fastmath=ORDERED)

    return types.float64(types.float64, types.float64), generate


def _mover(combine: Callable[..., Any]) -> Any:
    """Return a function that moves one vector of slopes, and returns their top."""

    @intrinsic
    def move(
        context: Any, slope: Any, up: Any, rows: Any, at: Any, i: Any, j: Any,
        step_i: Any, step_j: Any,
    ) -> Any:  # fmt: skip
        """Add ``rows[i] * step_i + rows[j] * step_j``; return the top of up - slope."""
        del context, slope, up, rows, at, i, j, step_i, step_j

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del target, signature
            slope, up, rows, at, i, j, step_i, step_j = arguments
            # libsvm adds the two products first, and the slope last.
            place = _place(builder, slope, at, VECTOR)
            moved = builder.fadd(
                builder.load(place, align=8),
                combine(
                    builder,
                    _load(builder, rows, i),
                    _spread(builder, step_i),
                    _load(builder, rows, j),
                    _spread(builder, step_j),
                ),
            )
            builder.store(moved, place, align=8)
            return _top(builder, builder.fsub(_load(builder, up, at), moved))

        signature = types.float64(
            POINTER, POINTER, POINTER, types.intp, types.intp, types.intp,
            types.float64, types.float64,
        )  # fmt: skip
        return signature, generate

    return move


def _plain(builder: Any, a: Any, x: Any, b: Any, y: Any) -> Any:
    return builder.fadd(builder.fmul(a, x), builder.fmul(b, y))


def _fused_first(builder: Any, a: Any, x: Any, b: Any, y: Any) -> Any:
    return _fma(builder, a, x, builder.fmul(b, y))


def _fused_second(builder: Any, a: Any, x: Any, b: Any, y: Any) -> Any:
    return _fma(builder, b, y, builder.fmul(a, x))


# A compiler may round both products, or only one of the two.
move_plain = _mover(_plain)
move_fused_first = _mover(_fused_first)
move_fused_second = _mover(_fused_second)


@intrinsic
def best_gain(
    context: Any, slope: Any, low: Any, scales: Any, at: Any, row: Any, top: Any
) -> Any:
    """Return the largest of ``(top + slope) * scale`` where the slope may fall."""
    del context, slope, low, scales, at, row, top

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del target, signature
        slope, low, scales, at, row, top = arguments
        # The root of libsvm's gain: it puts positive gaps in the same order, without a
        # division in each lane.
        allowed = builder.fadd(_load(builder, slope, at), _load(builder, low, at))
        gaps = builder.fadd(_spread(builder, top), allowed)
        return _top(builder, builder.fmul(gaps, _load_singles(builder, scales, row)))

    signature = types.float64(
        POINTER, POINTER, ROW, types.intp, types.intp, types.float64
    )
    return signature, generate


@intrinsic
def top_of_sum(context: Any, slope: Any, low: Any, at: Any) -> Any:
    """Return the largest of ``slope + low`` in one vector."""
    del context, slope, low, at

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del target, signature
        slope, low, at = arguments
        return _top(
            builder, builder.fadd(_load(builder, slope, at), _load(builder, low, at))
        )

    return types.float64(POINTER, POINTER, types.intp), generate


def _place(builder: Any, pointer: Any, index: Any, kind: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), kind.as_pointer())


def _load(builder: Any, pointer: Any, index: Any) -> Any:
    # Rows start anywhere, so no more than a double's alignment may be promised.
    return builder.load(_place(builder, pointer, index, VECTOR), align=8)


def _load_singles(builder: Any, pointer: Any, index: Any) -> Any:
    """Load values of single precision, and turn them into doubles."""
    values = builder.load(_place(builder, pointer, index, SINGLES), align=4)
    return builder.fpext(values, VECTOR)


def _spread(builder: Any, value: Any) -> Any:
    """Return a vector with the same value in all lanes."""
    whole = ir.IntType(32)
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(whole, 0))
    lanes = ir.Constant(ir.VectorType(whole, LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, lanes)


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
    name = f"llvm.fma.v{LANES}f64"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [a, b, c])


def _top(builder: Any, values: Any) -> Any:
    kind = ir.FunctionType(ir.DoubleType(), [VECTOR])
    name = f"llvm.vector.reduce.fmax.v{LANES}f64"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [values], fastmath=ORDERED)
