"""Helpers for tests of programs that use Lamella: ``assert_close`` with tolerances for each dtype, and ``make_tensor``.

Values are compared by numpy, so that a wrong operator cannot hide its own errors.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lamella
from lamella import Tensor
from lamella._devices import host

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


def __dir__():
    return __all__


TOLERANCES = {  # rtol, atol; other dtypes must be equal
    lamella.float16: (1e-3, 1e-5),
    lamella.bfloat16: (1.6e-2, 1e-5),
    lamella.float32: (1.3e-6, 1e-5),
    lamella.float64: (1e-7, 1e-7),
    lamella.complex64: (1.3e-6, 1e-5),
    lamella.complex128: (1e-7, 1e-7),
}
DTYPE_OF = {bool: lamella.bool, int: lamella.int64, float: lamella.float64, complex: lamella.complex128}


@dataclass
class Rules:
    """The options of assert_close."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_stride: bool

    def tolerances(self, *dtypes):
        """Returns the given rtol and atol, or the largest of those of the dtypes."""
        if self.rtol is not None:
            return self.rtol, self.atol
        pairs = [TOLERANCES.get(d, (0.0, 0.0)) for d in dtypes]
        return max(r for r, _ in pairs), max(a for _, a in pairs)


class Different(Exception):
    """Raised by `compare` for two different inputs; ``path`` has their keys in the containers around them."""

    def __init__(self, text, error=AssertionError):
        super().__init__(text)
        self.text, self.error, self.path = text, error, []

    def message(self):
        where = "".join(f"[{key!r}]" for key in reversed(self.path))
        return self.text + (f"\n\nThe failure occurred for item {where}" if where else "")


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere, and shape, device and dtype agree.

    The inputs are tensors, numpy arrays, numbers, None, or sequences and mappings of these. Tensors on meta have no
    values to compare. The default rtol and atol depend on the dtype: 1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for
    float64, 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16; those of complex64 and complex128 are those of
    their parts. Elements of all other dtypes must be equal.

    Args:
        allow_subclasses: whether a tensor may be compared with one of a subclass
        rtol: the relative tolerance; must be given together with ``atol``
        atol: the absolute tolerance; must be given together with ``rtol``
        equal_nan: whether NaN is close to NaN
        check_device: whether devices must agree; else both are compared on the host
        check_dtype: whether dtypes must agree; else both are promoted
        check_layout: accepted for programs for torch; there is only one layout
        check_stride: whether strides must agree
        msg: the message of the failure, or a function that returns it, given the default message

    Raises:
        AssertionError: they differ
        TypeError: the types of the inputs cannot be compared
        ValueError: only one of ``rtol`` and ``atol`` is given

    >>> lamella.testing.assert_close(lamella.tensor([1.0, 2.0]), lamella.tensor([1.0, 2.000001]))
    >>> lamella.testing.assert_close(lamella.tensor([1, 2]), lamella.tensor([1, 3]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not equal!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 1 at index (1,)
    Greatest relative difference: 0.3333333333333333 at index (1,)
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"assert_close: 'rtol' and 'atol' are given together or not at all, but there is no {missing}")
    rules = Rules(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    try:
        compare(actual, expected, rules)
        return
    except Different as difference:
        text, error = difference.message(), difference.error
    if error is AssertionError and msg is not None:
        text = msg(text) if callable(msg) else msg
    raise error(text)


OLDER = {  # rtol, atol of assert_allclose; those of other dtypes are assert_close's
    lamella.float16: (1e-3, 1e-3),
    lamella.float32: (1e-4, 1e-5),
    lamella.float64: (1e-5, 1e-8),
}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Raises unless two tensors are close, as `assert_close` does, which took its place.

    It takes what ``lamella.tensor`` takes, dtypes need not agree, NaN is close to NaN, and the default tolerances are
    wider: 1e-3 and 1e-3 for float16, 1e-4 and 1e-5 for float32, 1e-5 and 1e-8 for float64.

    Raises:
        AssertionError: they differ
        ValueError: only one of ``rtol`` and ``atol`` is given

    >>> lamella.testing.assert_allclose(lamella.tensor([1.0, 2.0]), [1.0, 2.0001])
    """
    __tracebackhide__ = True
    warnings.warn("assert_allclose is deprecated; use lamella.testing.assert_close", FutureWarning, stacklevel=2)
    a = actual if isinstance(actual, Tensor) else lamella.tensor(actual)
    b = expected if isinstance(expected, Tensor) else lamella.tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        pairs = [OLDER.get(t.dtype) or TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(r for r, _ in pairs), max(t for _, t in pairs)
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def compare(actual, expected, rules):
    """Compares two objects by the function for their kind. Raises `Different` if they differ."""
    pair = (actual, expected)
    if actual is None or expected is None:
        if actual is not expected:
            raise Different(f"None mismatch: {actual} is not {expected}")
    elif all(isinstance(x, (bool, np.bool_)) for x in pair):
        if bool(actual) is not bool(expected):
            raise Different(f"Booleans mismatch: {actual} is not {expected}")
    elif all(isinstance(x, (numbers.Number, np.number)) for x in pair):
        compare_numbers(actual, expected, rules)
    elif all(isinstance(x, (Tensor, np.ndarray)) for x in pair) and related(actual, expected, rules):
        compare_tensors(*map(as_tensor, pair), rules)
    elif all(isinstance(x, Sequence) and not isinstance(x, (str, bytes)) for x in pair):
        if len(actual) != len(expected):
            raise Different(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        compare_items(((i, a, e) for i, (a, e) in enumerate(zip(actual, expected, strict=True))), rules)
    elif all(isinstance(x, Mapping) for x in pair):
        compare_mappings(actual, expected, rules)
    else:
        kinds = f"{type(actual).__qualname__} and {type(expected).__qualname__}"
        raise Different(f"assert_close: {kinds} are not compared with each other", TypeError)


def related(actual, expected, rules):
    if not rules.allow_subclasses:
        return type(actual) is type(expected)
    return isinstance(actual, type(expected)) or isinstance(expected, type(actual))


def as_tensor(x):
    return x if isinstance(x, Tensor) else lamella.tensor(x)


def compare_items(items, rules):
    for key, actual, expected in items:
        try:
            compare(actual, expected, rules)
        except Different as difference:
            difference.path.append(key)
            raise


def compare_mappings(actual, expected, rules):
    missing, extra = set(expected) - set(actual), set(actual) - set(expected)
    if missing or extra:
        text = "The keys of the mappings do not match:"
        text += f"\nMissing keys in the actual mapping: {sorted(missing, key=str)}" if missing else ""
        text += f"\nAdditional keys in the actual mapping: {sorted(extra, key=str)}" if extra else ""
        raise Different(text)
    compare_items(((key, actual[key], expected[key]) for key in expected), rules)


def compare_numbers(actual, expected, rules):
    plain = [x.item() if isinstance(x, np.generic) else x for x in (actual, expected)]
    if rules.check_dtype and type(plain[0]) is not type(plain[1]):
        raise Different(f"The types do not match: {type(plain[0])} != {type(plain[1])}.")
    tolerances = rules.tolerances(*(DTYPE_OF.get(type(x)) for x in plain))
    compare_values(np.asarray(plain[0]), np.asarray(plain[1]), tolerances, rules.equal_nan)


def compare_tensors(actual, expected, rules):
    checks = {
        "shape": True,
        "device": rules.check_device,
        "dtype": rules.check_dtype,
        "stride": rules.check_stride,
    }
    for name, checked in checks.items():
        ours, theirs = (x.stride() if name == "stride" else getattr(x, name) for x in (actual, expected))
        if checked and ours != theirs:
            raise Different(f"The values for attribute '{name}' do not match: {ours} != {theirs}.")
    if "meta" in (actual.device.type, expected.device.type):
        return
    tolerances = rules.tolerances(actual.dtype, expected.dtype)
    if actual.dtype is not expected.dtype:
        common = lamella.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    compare_values(as_array(actual), as_array(expected), tolerances, rules.equal_nan)


def as_array(tensor):
    host = tensor.detach().cpu()
    lacking = host.is_floating_point() and host.dtype not in (lamella.float16, lamella.float32, lamella.float64)
    return (host.to(lamella.float32) if lacking else host).numpy()


def widened(array):
    """Converts an array to the widest complex or float dtype, which holds all 64-bit integers exactly."""
    return array.astype({"c": np.clongdouble, "f": np.longdouble}.get(array.dtype.kind, np.longdouble))


def compare_values(actual, expected, tolerances, equal_nan):
    rtol, atol = tolerances
    a, e = widened(actual), widened(expected)
    with np.errstate(all="ignore"):
        difference = np.abs(a - e)
        close = (a == e) | (np.isfinite(difference) & (difference <= atol + rtol * np.abs(e)))
        if equal_nan:
            close |= np.isnan(a) & np.isnan(e)
        if close.all():
            return
        relative = difference / np.abs(e)
    exact = rtol == atol == 0
    if actual.ndim == 0:
        text = f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        text += f"Expected {expected.item()} but got {actual.item()}."
    else:
        wrong = close.size - int(close.sum())
        text = f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
        text += f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})"
    whole = actual.dtype.kind in "biu"
    for name, values, tolerance in (("absolute", difference, atol), ("relative", relative, rtol)):
        text += "\n" + greatest(name, np.where(close, 0, values), whole and name == "absolute")
        text += "" if exact else f" (up to {tolerance} allowed)"
    raise Different(text)


def greatest(name, values, whole):
    """Returns a line of text with the largest of the differences."""
    index = tuple(int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
    value = int(values[index]) if whole else float(values[index])
    return f"Greatest {name} difference: {value} at index {index}" if index else f"{name.title()} difference: {value}"


def make_tensor(
    *shape: int | Sequence[int],
    dtype: lamella.dtype,
    device: lamella.device | str,
    low: float | None = None,
    high: float | None = None,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Tensor:
    """Makes a tensor of random numbers, uniform in ``[low, high)``, from the default generator.

    Args:
        shape: sizes, or one sequence of them
        dtype: any; without limits, floats and complex are from [-9, 9), integers from [-9, 10) or [0, 10), bool both
        device: the device of the tensor
        low: the lower limit
        high: the upper limit, which is excluded
        noncontiguous: makes the tensor a view of every other element of a larger one, if it has more than one element
        exclude_zero: replaces zeros by the smallest positive normal number of a float or complex dtype, or by 1

    Raises:
        ValueError: ``low`` is not below ``high``, or a limit is NaN or beyond the dtype

    >>> t = lamella.testing.make_tensor(2, 3, dtype=lamella.uint8, device="cpu")
    >>> t.shape, bool(t.max() < 10)
    (lamella.Size([2, 3]), True)
    """
    sizes: Any = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = limits(dtype, low, high)
    array = uniform(sizes, low, high)
    if dtype.is_complex:
        array = array + 1j * uniform(sizes, low, high)
    elif not dtype.is_floating_point:
        array = np.floor(array).astype(str(dtype).rpartition(".")[2])
    array = as_array(lamella.tensor(array, dtype=dtype))
    if dtype.is_floating_point:  # rounding to a narrow dtype may reach the upper limit
        array = np.where(array >= high, low, array)
    if exclude_zero:
        least = lamella.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        array = np.where(array == 0, least, array)
    made = lamella.tensor(array, dtype=dtype).to(device)
    if noncontiguous and made.numel() > 1:
        wide = lamella.empty((*sizes[:-1], 2 * sizes[-1]), dtype=dtype, device=device)
        made = wide[..., ::2].copy_(made)
    return made


def limits(dtype, low, high):
    """Returns the limits for random numbers of a dtype: the given ones, checked, or the defaults."""
    if dtype is lamella.bool:
        usual, ends = (0, 2), (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        usual, ends = (-9, 9), (lamella.finfo(dtype).min, lamella.finfo(dtype).max)
    else:
        least, most = lamella.iinfo(dtype).min, lamella.iinfo(dtype).max
        usual, ends = (max(-9, least), 10), (least, most + 1)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high) or not ends[0] <= low < high <= ends[1]:
        raise ValueError(f"make_tensor: expected {ends[0]} <= low < high <= {ends[1]}, got low={low} and high={high}")
    return low, high


def uniform(sizes, low, high):
    """Draws float64 numbers from the default generator, uniform between the limits."""
    return lamella.rand(sizes, dtype=lamella.float64, device=host()).numpy() * (high - low) + low
