"""lamella.array_api beside numpy, which follows the array API standard, and beside rules of the standard's text."""

import inspect
import itertools
import subprocess
import sys

import lamella
import lamella.array_api as xp
import numpy as np
import pytest
from children import clean_environment
from standard import (
    ALL,
    COMPLEX,
    FLOATING,
    INTEGER,
    KINDS,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    SIGNED,
    array,
    dtype,
    expect,
    numbers,
    values,
)

# ---- names and signatures ----

NAMES = """
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
zeros_like astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo iinfo isdtype result_type abs acos acosh
add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor
ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite
isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum
minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square
sqrt subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot vecdot concat expand_dims flip
moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted
where isin unique_all unique_counts unique_inverse unique_values argsort sort cumulative_prod cumulative_sum max mean
min prod std sum var all any diff e inf nan newaxis pi bool complex64 complex128 float32 float64 int8 int16 int32 int64
uint8 uint16 uint32 uint64 fft linalg __array_namespace_info__ __array_api_version__
""".split()
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn".split()
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose
outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()


def test_the_namespace_has_the_standards_names_and_no_others():
    assert sorted(xp.__all__) == sorted([*NAMES, "Array"]) == sorted(dir(xp))
    assert sorted(xp.fft.__all__) == FFT and sorted(xp.linalg.__all__) == LINALG
    assert all(hasattr(xp, n) for n in NAMES)
    assert xp.__array_api_version__ == "2025.12" and xp.newaxis is None
    assert (xp.e, xp.pi, xp.inf) == (np.e, np.pi, np.inf) and np.isnan(xp.nan)


@pytest.mark.parametrize("name", [n for n in NAMES if inspect.isfunction(getattr(xp, n))])
def test_the_first_argument_has_a_position_and_no_name(name):
    first = next(iter(inspect.signature(getattr(xp, name)).parameters.values()), None)
    free = ("broadcast", "isdtype", "meshgrid", "result_type", "empty", "full", "ones", "zeros", "__array")
    if first is not None and (not name.startswith(free) or name.endswith("_like")):
        assert first.kind is inspect.Parameter.POSITIONAL_ONLY


def test_a_tensor_gives_the_namespace():
    x = lamella.ones(2)
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="api_version.*2019"):
        x.__array_namespace__(api_version="2019.12")
    with pytest.raises(TypeError):
        x.__array_namespace__("2022.12")
    assert x.to_device(x.device) is x
    assert x.to_device("meta").device.type == "meta"


def test_the_module_is_not_loaded_before_its_first_use():
    program = """
import sys, lamella
assert not [n for n in sys.modules if n.startswith("lamella.array_api.")]
lamella.ones(2) + 1
assert not [n for n in sys.modules if n.startswith("lamella.array_api.")]
print(lamella.array_api.__array_namespace_info__().default_dtypes()["integral"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean_environment(), capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "lamella.int64\n", done.stderr


# ---- elementwise functions ----

UNARY = {
    "abs negative positive square isfinite isinf isnan conj real": NUMERIC,
    "ceil floor trunc": REAL,
    "round sign": REAL,
    "imag": COMPLEX,
    "bitwise_invert": ("bool", *INTEGER),
    "logical_not": ("bool",),
    "signbit": REAL_FLOATING,
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2": FLOATING,
    "reciprocal sin sinh sqrt tan tanh": FLOATING,
}
BINARY = {
    "add subtract multiply equal not_equal": NUMERIC,
    "pow": FLOATING,
    "greater greater_equal less less_equal maximum minimum": REAL,
    "bitwise_and bitwise_or bitwise_xor": ("bool", *INTEGER),
    "atan2 copysign hypot logaddexp nextafter": REAL_FLOATING,
    "divide": FLOATING,
    "logical_and logical_or logical_xor": ("bool",),
}


def cases(table):
    return [(name, kind) for names, kinds in table.items() for name in names.split() for kind in kinds]


@pytest.mark.parametrize("name, kind", cases(UNARY))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_functions(name, kind):
    x = values(kind)
    expect(getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x))
    assert type(getattr(xp, name)(lamella.from_numpy(x))) is lamella.Tensor


@pytest.mark.parametrize("name, kind", cases(BINARY))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_binary_functions(name, kind):
    x = values(kind)
    a, b = x[:, None], x
    expect(getattr(xp, name)(xp.asarray(a.copy()), xp.asarray(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("kind", INTEGER)
def test_powers_divisions_and_shifts_of_integers(kind):
    x, limits = values(kind), np.iinfo(kind)
    for power in (0, 1, 3):
        expect(xp.pow(xp.asarray(x), power), np.power(x, np.array(power, kind)))
    for divisor in {1, 2, 3, limits.max} | ({-1, -3} if limits.min else set()):
        d = np.array(divisor, kind)
        if divisor != -1:  # the smallest number has no negative
            expect(xp.floor_divide(xp.asarray(x), divisor), np.floor_divide(x, d))
        expect(xp.remainder(xp.asarray(x), divisor), np.remainder(x, d))
    for places in (0, 1, 7, 8, 31, 63, 64, 100):
        d = np.array(places, kind)
        expect(xp.bitwise_left_shift(xp.asarray(x), places), np.left_shift(x, d))
        expect(xp.bitwise_right_shift(xp.asarray(x), places), np.right_shift(x, d))


@pytest.mark.parametrize("kind", REAL_FLOATING)
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floor_divide_and_remainder_have_the_standards_special_values(kind, inside):
    """They are numpy's, except that the standard divides infinities, and by infinities, as `/` does."""
    x = values(kind)
    a, b = (v.ravel() for v in np.meshgrid(x, x))
    divided = np.where(np.isinf(a) | np.isinf(b), a / b, np.floor_divide(a, b))
    rest = np.remainder(a, b)
    first, second = xp.asarray(a.copy()), xp.asarray(b.copy())
    if inside:
        quotient, remainder = xp.floor_divide(first, second), xp.remainder(first, second)
    else:
        quotient, remainder = first // second, first % second
    for made, expected in ((quotient, divided), (remainder, rest)):
        expect(made, expected)
        there = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(array(made))[there], np.signbit(expected)[there])
    again, left = xp.asarray(first, copy=True), xp.asarray(first, copy=True)
    again //= second
    left %= second
    expect(again, divided)
    expect(left, rest)
    np.testing.assert_array_equal(np.signbit(array(left))[~np.isnan(rest)], np.signbit(rest)[~np.isnan(rest)])


@pytest.mark.parametrize("kind", COMPLEX)
def test_sign_and_round_of_complex_numbers(kind):
    x = np.array([3 + 4j, -2.5, 0, 0.5j, 1.5 - 2.5j], dtype=kind)
    expect(xp.sign(xp.asarray(x)), np.sign(x))
    expect(xp.round(xp.asarray(x)), np.round(x))


@pytest.mark.parametrize("kind", COMPLEX)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_infinite_complex_numbers(kind):
    parts = (0.5, -0.0, np.inf, -np.inf, np.nan)
    a = np.array([complex(x, y) for x in parts for y in parts], dtype=kind)
    first, second = xp.asarray(a[:, None].copy()), xp.asarray(a)
    expect(first + second, a[:, None] + a)
    expect(second - first, a - a[:, None])
    again = xp.asarray(xp.broadcast_to(first, (25, 25)), copy=True)
    again += second
    expect(again, a[:, None] + a)
    again = xp.asarray(second, copy=True)
    again -= xp.conj(second)
    expect(again, a - np.conj(a))


@pytest.mark.parametrize("kind", COMPLEX)
def test_infinite_complex_arguments(kind):
    """The results are those of the standard's text."""
    inf, nan = np.inf, np.nan
    for name, argument, real, imag in (
        ("expm1", complex(inf, 0), inf, 0),
        ("expm1", complex(-inf, inf), -1, 0),
        ("expm1", complex(inf, inf), inf, nan),
        ("expm1", complex(-inf, nan), -1, 0),
        ("expm1", complex(inf, nan), inf, nan),
        ("expm1", complex(nan, 0), nan, 0),
        ("expm1", complex(1, inf), nan, nan),
        ("tanh", complex(inf, 2), 1, 0),
        ("tanh", complex(inf, nan), 1, 0),
        ("tanh", complex(1, inf), nan, nan),
        ("expm1", complex(-0.0, 0), 0, 0),
    ):
        made = complex(getattr(xp, name)(xp.asarray(argument, dtype=dtype(kind))))
        np.testing.assert_array_equal([abs(made.real), abs(made.imag)], [abs(real), abs(imag)], f"{name}({argument})")
        assert np.isnan(made.real) or np.signbit(made.real) == np.signbit(real)
    made = complex(xp.tanh(xp.asarray(complex(np.inf, 2), dtype=dtype(kind))))
    assert not np.signbit(made.imag)


def test_clip():
    x = xp.asarray([1, 5, 9], dtype=xp.int8)
    expect(xp.clip(x, 2, 6), np.array([2, 5, 6], "int8"))
    expect(xp.clip(x, max=xp.asarray([0, 7, 300], dtype=xp.int16)), np.array([0, 5, 9], "int8"))
    expect(xp.clip(x, -1000, 1000), np.array([1, 5, 9], "int8"))
    expect(xp.clip(x, xp.asarray([[2], [6]], dtype=xp.int8)), np.array([[2, 5, 9], [6, 6, 9]], "int8"))
    expect(xp.clip(xp.asarray([1.0, xp.nan]), 2), np.array([2, np.nan], "float32"))
    assert xp.clip(x) is not x
    with pytest.raises(TypeError, match="clip.*float"):
        xp.clip(x, 1.5)
    with pytest.raises(TypeError, match="clip.*float32"):
        xp.clip(x, xp.asarray(1.0))
    with pytest.raises(TypeError, match="clip.*'max'.*list"):
        xp.clip(x, 1, [2])


# ---- promotion ----


def meet(a, b):
    """Returns the dtype in which two meet, by numpy, or None if the standard has no entry in its table."""
    if not any(a in kind and b in kind for kind in KINDS) or (a != b and "uint64" in (a, b) and {a, b} & set(SIGNED)):
        return None
    return np.result_type(a, b).name


@pytest.mark.parametrize("a", ALL)
def test_promotion(a):
    for b, first, second in itertools.product(ALL, ((), (2,)), ((), (2,))):
        x, y, name = xp.ones(first, dtype=dtype(a)), xp.ones(second, dtype=dtype(b)), meet(a, b)
        if name is None:
            for call in (xp.equal, xp.result_type, lambda x, y: xp.concat([x[None], y[None]]), lambda x, y: x == y):
                with pytest.raises(TypeError, match="does not promote"):
                    call(x, y)
            with pytest.raises(TypeError):
                xp.where(xp.asarray(True), x, y)
            assert not xp.can_cast(dtype(a), dtype(b))
            continue
        assert xp.result_type(dtype(a), y) is xp.result_type(x, y) is dtype(name)
        assert xp.can_cast(x, dtype(b)) is (name == b)
        assert xp.where(xp.asarray(True), x, y).dtype is dtype(name)
        if a != "bool":
            for made in (x + y, x * y, x - y, xp.add(x, y)):
                assert made.dtype is dtype(name) and made.shape == (first or second)
            if first or not second:
                z = xp.asarray(x, copy=True)
                if name == a:
                    z += y
                    assert z.dtype is dtype(a) and bool(xp.all(z == 2))
                else:
                    with pytest.raises(TypeError, match="keeps its dtype"):
                        z += y


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("scalar", [True, 2, 2.5, 1 + 2j])
def test_python_scalars(kind, scalar):
    x = xp.ones(2, dtype=dtype(kind))
    rank = (bool, int, float, complex).index(type(scalar))
    fits = rank == 0 if kind == "bool" else rank == 1 if kind in INTEGER else rank > 0
    if not fits:
        for call in (lambda: xp.equal(x, scalar), lambda: scalar == x, lambda: xp.result_type(x, scalar)):
            with pytest.raises(TypeError, match=f"Python {type(scalar).__name__}"):
                call()
        return
    name = kind if rank < 3 else {"float32": "complex64", "float64": "complex128"}.get(kind, kind)
    assert xp.result_type(scalar, x) is dtype(name)
    if kind != "bool":
        ones = np.ones(2, kind)
        for made, expected in (
            (x + scalar, ones + scalar),
            (scalar - x, scalar - ones),
            (xp.multiply(scalar, x), scalar * ones),
        ):
            expect(made, expected.astype(name))


def test_what_is_no_operand():
    x = xp.ones(2)
    for call in (lambda: xp.add(1, 2), lambda: xp.add(x, [1, 2]), lambda: xp.sin([1.0]), lambda: xp.sum((1, 2))):
        with pytest.raises(TypeError, match="must be a tensor"):
            call()
    for call in (
        lambda: x & x,
        lambda: xp.sin(xp.asarray(1)),
        lambda: xp.mean(xp.asarray([1])),
        lambda: -xp.asarray(True),
    ):
        with pytest.raises((TypeError, RuntimeError)):
            call()
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"


# ---- reductions, orders, shapes ----

SHAPES = [(3,), (2, 3), (), (0,), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions(kind, shape):
    a = numbers(shape, kind)
    x, some = xp.asarray(a), 0 not in shape
    names = ["all", "any"] + (["sum", "prod"] if kind != "bool" else [])
    names += (["max", "min"] if kind in REAL else []) if some else []
    names += (["mean", "std", "var"] if kind in FLOATING else []) if some else []
    axes = [None, (), tuple(range(len(shape)))[-2:], *((0, -1) if shape else ())]
    for name, axis, keepdims in itertools.product(names, axes, (False, True)):
        made = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
        expect(made, getattr(np, name)(a, axis=axis, keepdims=keepdims))
    for axis, keepdims in itertools.product([a for a in axes if a != ()], (False, True)):
        expect(xp.count_nonzero(x, axis=axis, keepdims=keepdims), np.count_nonzero(a, axis=axis, keepdims=keepdims))
        if kind in REAL and some and not isinstance(axis, tuple):
            for name in ("argmax", "argmin"):
                made = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
                expect(made, getattr(np, name)(a, axis=axis, keepdims=keepdims))
        if kind in REAL_FLOATING and some:
            for name, correction in itertools.product(("std", "var"), (1, 0.5)):
                if a.ndim and a[..., :1].size < a.size:
                    made = getattr(xp, name)(x, axis=axis, keepdims=keepdims, correction=correction)
                    expect(made, getattr(np, name)(a, axis=axis, keepdims=keepdims, ddof=correction))


def test_reductions_of_named_dtypes_and_wrong_axes():
    x = xp.asarray([200, 100], dtype=xp.uint8)
    assert xp.sum(x, dtype=xp.uint8).dtype is xp.uint8 and int(xp.sum(x)) == 300
    assert xp.prod(x, dtype=xp.float32).dtype is xp.float32 and int(xp.prod(x)) == 20000
    assert xp.cumulative_sum(x, dtype=xp.int16).dtype is xp.int16
    with pytest.raises(IndexError, match="axis.*-1 to 0"):
        xp.sum(x, axis=1)
    with pytest.raises(ValueError, match="twice"):
        xp.sum(xp.ones((2, 2)), axis=(0, -2))
    with pytest.raises(ValueError, match="axis.*needed"):
        xp.cumulative_sum(xp.ones((2, 2)))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s])
@pytest.mark.parametrize("axis", [0, -1])
def test_along_an_axis(kind, shape, axis):
    a = numbers(shape, kind)
    x, n = xp.asarray(a), shape[axis]
    if kind != "bool":
        for name, initial in itertools.product(("cumulative_sum", "cumulative_prod"), (False, True)):
            expected = getattr(np, name)(a, axis=axis, include_initial=initial)
            expect(getattr(xp, name)(x, axis=axis, include_initial=initial), expected)
        expect(xp.diff(x, axis=axis, prepend=x, n=2), np.diff(a, axis=axis, prepend=a, n=2))
    if kind in REAL:
        expect(xp.sort(x, axis=axis), np.sort(a, axis=axis))
        expect(xp.argsort(x, axis=axis), np.argsort(a, axis=axis, stable=True))
        expect(xp.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis=axis), axis))
        backwards = n - 1 - np.flip(np.argsort(np.flip(a, axis), axis=axis, stable=True), axis)
        expect(xp.argsort(x, axis=axis, descending=True), backwards)
    indices = np.arange(-n, n)
    expect(xp.take(x, xp.asarray(indices), axis=axis), np.take(a, indices, axis=axis))
    for width in ("int64", "int8", "uint16"):
        order = np.argsort(a, axis=axis).astype(width)
        expect(xp.take_along_axis(x, xp.asarray(order), axis=axis), np.take_along_axis(a, order, axis=axis))
    for name in ("concat", "stack"):
        expect(getattr(xp, name)([x, x], axis=axis), getattr(np, name)([a, a], axis=axis))
    expect(xp.unstack(x, axis=axis), np.unstack(a, axis=axis))
    expect(xp.flip(x, axis=axis), np.flip(a, axis=axis))
    expect(xp.roll(x, 2, axis=axis), np.roll(a, 2, axis=axis))
    expect(xp.repeat(x, 2, axis=axis), np.repeat(a, 2, axis=axis))
    counts = np.arange(n, dtype="int32") % 3
    expect(xp.repeat(x, xp.asarray(counts), axis=axis), np.repeat(a, counts, axis=axis))
    expect(xp.moveaxis(x, 0, axis), np.moveaxis(a, 0, axis))
    expect(xp.nonzero(x), np.nonzero(a))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(kind, shape):
    a = numbers(shape, kind)
    x = xp.asarray(a)
    expect(xp.flip(x), np.flip(a))
    expect(xp.roll(x, 1), np.roll(a, 1))
    expect(xp.repeat(x, 2), np.repeat(a, 2))
    expect(xp.tile(x, (2, 1, 2, 1)), np.tile(a, (2, 1, 2, 1)))
    expect(xp.tile(x, ()), np.tile(a, ()))
    expect(xp.expand_dims(x, (0, -1)), np.expand_dims(a, (0, -1)))
    expect(xp.squeeze(xp.expand_dims(x, (0, -1)), (0, -1)), a)
    expect(xp.broadcast_to(x, (2, *shape)), np.broadcast_to(a, (2, *shape)))
    expect(xp.permute_dims(x, tuple(range(len(shape)))[::-1]), np.transpose(a))
    expect(xp.reshape(x, (-1,) if a.size else (0,)), a.reshape(-1))
    expect(
        xp.broadcast_arrays(x, xp.ones((2, *shape))), (np.broadcast_to(a, (2, *shape)), np.ones((2, *shape), "float32"))
    )
    if len(shape) > 1:
        expect(xp.matrix_transpose(x), np.matrix_transpose(a))
        for k in (-5, -1, 0, 1, 9):
            expect(xp.tril(x, k=k), np.tril(a, k))
            expect(xp.triu(x, k=k), np.triu(a, k))
            expect(xp.linalg.diagonal(x, offset=k), np.linalg.diagonal(a, offset=k))
            if kind != "bool":
                expect(xp.linalg.trace(x, offset=k), np.linalg.trace(a, offset=k))


def test_concat_joins_dtypes_and_shapes():
    expect(xp.concat([xp.ones(2), xp.ones((1, 2))], axis=None), np.ones(4, "float32"))
    assert xp.stack([xp.ones(1, dtype=xp.int8), xp.ones(1, dtype=xp.int16)]).dtype is xp.int16
    with pytest.raises(ValueError, match="concat.*empty"):
        xp.concat([])


def test_broadcast_shapes():
    for shapes in ([], [(2, 1), (3,)], [(), (0,)], [(1, 0), (4, 1)]):
        assert xp.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    assert xp.broadcast_shapes((None, 1), (3,), (1, None)) == (None, 3)
    with pytest.raises(ValueError, match="do not broadcast"):
        xp.broadcast_shapes((2,), (3,))


def test_reshape_copies_as_it_is_told():
    x = xp.reshape(xp.arange(6), (2, 3))
    assert xp.reshape(x, (6,), copy=False).data_ptr() == x.data_ptr()
    assert xp.reshape(x, (6,)).data_ptr() == x.data_ptr() != xp.reshape(x, (6,), copy=True).data_ptr()
    with pytest.raises(ValueError, match="copy"):
        xp.reshape(x.mT, (6,), copy=False)
    with pytest.raises(ValueError, match="size 1"):
        xp.squeeze(x, 0)


# ---- sets and searches ----


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("shape", SHAPES)
def test_sets(kind, shape):
    a = numbers(shape, kind)
    x = xp.asarray(a)
    expect(xp.unique_all(x), np.unique_all(a))
    expect(xp.unique_counts(x), np.unique_counts(a))
    expect(xp.unique_inverse(x), np.unique_inverse(a))
    expect(xp.unique_values(x), np.unique(a))
    for invert, other in itertools.product((False, True), (a.ravel()[:2], a.ravel()[:0])):
        expect(xp.isin(x, xp.asarray(other.copy()), invert=invert), np.isin(a, other, invert=invert))


def test_every_nan_is_distinct_and_zeros_are_equal():
    found = xp.unique_all(xp.asarray([xp.nan, 0.0, 1.0, -0.0, xp.nan]))
    assert found.counts.tolist() == [2, 1, 1, 1] and found.values.tolist()[:2] == [0, 1]
    assert found.indices.tolist() == [1, 2, 0, 4] and found.inverse_indices.tolist() == [2, 0, 1, 0, 3]
    numbers = xp.asarray([complex(-0.0, 5), complex(0.0, 3), complex(-0.0, 3), complex(0, xp.nan)])
    assert xp.unique_counts(numbers).counts.tolist() == [2, 1, 1]


@pytest.mark.parametrize("kind", REAL)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(kind, side):
    a, b = np.array([1, 2, 2, 4], kind), np.array([[0, 2], [3, 9]], kind)
    expect(xp.searchsorted(xp.asarray(a), xp.asarray(b), side=side), np.searchsorted(a, b, side=side))
    shuffled = a[[2, 0, 3, 1]]
    order = np.argsort(shuffled, stable=True)
    made = xp.searchsorted(xp.asarray(shuffled), 2, side=side, sorter=xp.asarray(order))
    expect(made, np.searchsorted(shuffled, 2, side=side, sorter=order))


def test_where_and_nonzero():
    condition = xp.asarray([True, False])
    expect(xp.where(condition, 1, 2), np.array([1, 2]))
    expect(xp.where(condition, xp.asarray([1.0, 2.0]), 0), np.array([1, 0], "float32"))
    with pytest.raises(TypeError, match="where.*condition"):
        xp.where(xp.asarray([1, 0]), 1, 2)
    with pytest.raises(ValueError, match="at least one dimension"):
        xp.nonzero(xp.asarray(1))
