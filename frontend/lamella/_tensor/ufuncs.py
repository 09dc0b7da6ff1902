"""Implements numpy's ufuncs on tensors: by the operator of the same meaning if there is one, else by numpy.

In both cases the result is a Tensor, unless the caller passed numpy arrays as ``out``.
"""

from __future__ import annotations

import operator

import numpy as np

from lamella import _C


def matmul(a, b):
    """Computes a matrix product. As in numpy, the dtypes may differ, which the operator refuses."""
    a, b = as_tensor(a), as_tensor(b)
    common = _C._promote(a.dtype, b.dtype)
    return a.to(common) @ b.to(common)


PROTOCOLS = {  # Python's operators, whose operands may be numbers
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "matmul": matmul,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": operator.abs,
    "invert": operator.invert,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
OPERATORS = {  # maps ufuncs to operators of the catalogue, which may lack some
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj_physical",
    "rint": "round",
} | {
    name: name
    for name in (
        "ceil copysign cos cosh deg2rad exp exp2 expm1 floor fmax fmin fmod gcd heaviside hypot isfinite isinf isnan "
        "lcm log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum "
        "nextafter rad2deg reciprocal sign signbit sin sinh sqrt square tan tanh trunc"
    ).split()
}
NUMBERS = (bool, int, float, complex)
PLAIN = np.ndarray.__array_ufunc__
_found: dict = {}  # caches the result of `find` for each ufunc


def tensor_over(array):
    """Makes a tensor over an array's memory, or over a copy if a tensor cannot use that memory."""
    return _C._tensor_from(np.asarray(array), None)[0]


def operand(x):
    """Converts an operand to a tensor or a number; None for an object that only numpy, or its own type, can handle."""
    kind = type(x)
    if kind in NUMBERS or isinstance(x, _C.Tensor):
        return x
    plain = isinstance(x, (np.ndarray, np.generic)) and getattr(kind, "__array_ufunc__", PLAIN) is PLAIN
    if plain or kind in (list, tuple):
        array = np.asarray(x)
        if array.dtype.kind in "biufc" and array.dtype.itemsize <= (16 if array.dtype.kind == "c" else 8):
            number = isinstance(x, np.generic) and not (array.dtype == np.uint64 and array > np.iinfo(np.int64).max)
            return array.item() if number else tensor_over(array)
    return None


def as_tensor(x):
    return x if isinstance(x, _C.Tensor) else tensor_over(x)


def find(ufunc):
    """Returns a function of tensors and numbers with the meaning of a ufunc, or None."""
    if ufunc in _found:
        return _found[ufunc]
    function = PROTOCOLS.get(ufunc.__name__)
    if function is None:
        try:
            packet = _C._packet(f"aten::{OPERATORS[ufunc.__name__]}")
        except (KeyError, AttributeError):
            return None

        def function(*operands):
            return packet(*map(as_tensor, operands))

    _found[ufunc] = function
    return function


def as_array(x):
    """Converts a tensor to an array for numpy; bfloat16, which numpy lacks, to float32."""
    if not isinstance(x, _C.Tensor):
        return x
    return (x.to(_C.float32) if x.dtype is _C.bfloat16 else x).numpy()


def as_result(value, narrow):
    """Converts a result of numpy to a tensor; if ``narrow``, from float32 to bfloat16, the dtype of an operand."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    made = tensor_over(value)
    return made.to(_C.bfloat16) if narrow and made.dtype is _C.float32 else made


def written_by(ufunc, method, inputs, kwargs):
    """Runs a ufunc that writes into tensors. numpy writes into copies, which ``copy_`` writes to the tensors."""
    if method == "at":
        target = inputs[0]
        array = as_array(target).copy() if isinstance(target, _C.Tensor) else target
        ufunc.at(array, *map(as_array, inputs[1:]))
        if array is not target:
            target.copy_(tensor_over(array))
        return None
    outs = kwargs.pop("out")
    copies = tuple(as_array(x).copy() if isinstance(x, _C.Tensor) else x for x in outs)
    result = getattr(ufunc, method)(*map(as_array, inputs), out=copies, **kwargs)
    for out, copy in zip(outs, copies, strict=True):
        if isinstance(out, _C.Tensor):
            out.copy_(tensor_over(copy))
    results = result if isinstance(result, tuple) else (result,)
    given = [as_result(r, False) if out is None else out for out, r in zip(outs, results, strict=True)]
    return tuple(given) if isinstance(result, tuple) else given[0]


def refused_for_state(run, inputs):
    """Returns whether an operator refuses its tensors for what plugins keep on them, such as names that disagree: it
    takes the same tensors without that."""
    if not any(isinstance(x, _C.Tensor) and _C._save_slots(x) for x in inputs):
        return False
    try:
        run(*(operand(as_array(x)) for x in inputs))
    except (RuntimeError, TypeError):
        return False
    return True


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """Implements ``Tensor.__array_ufunc__``.

    >>> import numpy
    >>> numpy.ones(2) + lamella.tensor([1, 2])
    tensor([2., 3.], dtype=lamella.float64)
    """
    refused = None
    if method == "__call__" and not kwargs and (run := find(ufunc)) is not None:
        operands = [operand(x) for x in inputs]
        if all(x is not None for x in operands):
            try:
                return run(*operands)
            except _C.OutOfMemoryError:
                raise
            except (RuntimeError, TypeError) as error:
                if refused_for_state(run, inputs):
                    raise  # numpy would drop the state, and the error with it
                refused = error
    try:
        return by_numpy(ufunc, method, inputs, kwargs)
    except Exception:
        if refused is None:
            raise
    raise refused


def by_numpy(ufunc, method, inputs, kwargs):
    """Runs a ufunc in numpy, since no operator has its meaning or takes these arguments."""
    outs = kwargs.get("out", ())
    for x in (*inputs, *outs):
        own = getattr(type(x), "__array_ufunc__", PLAIN)
        if own is not PLAIN and not isinstance(x, _C.Tensor):
            return NotImplemented  # numpy then calls the `__array_ufunc__` of the type of `x`
    kwargs = {name: as_array(x) for name, x in kwargs.items()}
    if outs or method == "at":
        return written_by(ufunc, method, inputs, kwargs)
    narrow = any(isinstance(x, _C.Tensor) and x.dtype is _C.bfloat16 for x in inputs)
    result = getattr(ufunc, method)(*map(as_array, inputs), **kwargs)
    if isinstance(result, tuple):
        return tuple(as_result(r, narrow) for r in result)
    return as_result(result, narrow)
