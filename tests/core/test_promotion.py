"""The dtype of a result: the whole promotion table, and the category rule for numbers and zero-dim tensors."""

import lamella
import numpy as np
import pytest
from arrays import BOOL, COMPLEX, DTYPES, FLOATS, INTEGERS, SIGNED, all_pairs, class_of, lt_dtype

# The array API standard's table (section "Type promotion rules"), in its order. The names: b bool, u/i integers,
# f floats, c complex, with their bits; "-": the standard defines no result.
STANDARD = """
     b  u8  u16 u32 u64 i8  i16 i32 i64 f32 f64 c64 c128
b    b  -   -   -   -   -   -   -   -   -   -   -   -
u8   -  u8  u16 u32 u64 i16 i16 i32 i64 -   -   -   -
u16  -  u16 u16 u32 u64 i32 i32 i32 i64 -   -   -   -
u32  -  u32 u32 u32 u64 i64 i64 i64 i64 -   -   -   -
u64  -  u64 u64 u64 u64 -   -   -   -   -   -   -   -
i8   -  i16 i32 i64 -   i8  i16 i32 i64 -   -   -   -
i16  -  i16 i32 i64 -   i16 i16 i32 i64 -   -   -   -
i32  -  i32 i32 i64 -   i32 i32 i32 i64 -   -   -   -
i64  -  i64 i64 i64 -   i64 i64 i64 i64 -   -   -   -
f32  -  -   -   -   -   -   -   -   -   f32 f64 c64 c128
f64  -  -   -   -   -   -   -   -   -   f64 f64 c128 c128
c64  -  -   -   -   -   -   -   -   -   c64 c128 c64 c128
c128 -  -   -   -   -   -   -   -   -   c128 c128 c128 c128
"""
NAMES = {
    "b": "bool",
    **{f"{k[0]}{b}": f"{k}{b}" for k in ("uint", "int") for b in (8, 16, 32, 64)},
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}


def read(table):
    head, *rows = [line.split() for line in table.strip().splitlines()]
    return {
        (NAMES[row[0]], NAMES[column]): NAMES[cell]
        for row in rows
        for column, cell in zip(head, row[1:], strict=True)
        if cell != "-"
    }


STANDARD = read(STANDARD)
# Rows of torch's own table (torch.promote_types) for float16 and bfloat16, which the standard does not have.
HALVES = {
    frozenset(["float16"]): "float16",
    frozenset(["bfloat16"]): "bfloat16",
    frozenset(["float16", "bfloat16"]): "float32",
    frozenset(["float16", "float32"]): "float32",
    frozenset(["bfloat16", "float32"]): "float32",
    frozenset(["float16", "float64"]): "float64",
    frozenset(["bfloat16", "float64"]): "float64",
    frozenset(["float16", "complex64"]): "complex64",
    frozenset(["bfloat16", "complex64"]): "complex64",
    frozenset(["float16", "complex128"]): "complex128",
    frozenset(["bfloat16", "complex128"]): "complex128",
}


def promoted(a, b):
    """Returns the name of the dtype to which two dtypes promote; None if no dtype holds both."""
    if (a, b) in STANDARD:
        return STANDARD[a, b]
    if frozenset((a, b)) in HALVES:
        return HALVES[frozenset((a, b))]
    if class_of(a) != class_of(b):  # torch: the dtype of the higher category, unchanged
        return max(a, b, key=class_of)
    assert {a, b} & {"uint64"} and {a, b} & set(SIGNED)
    return None


def zeros(name, *shape):
    return lamella.empty(shape, dtype=lt_dtype(name), device="meta")


def test_the_table_covers_every_pair():
    assert len(DTYPES) == 15 and len(all_pairs(DTYPES)) == 225
    refused = [p for p in all_pairs(DTYPES) if promoted(*p) is None]
    assert sorted(refused) == sorted([("uint64", s) for s in SIGNED] + [(s, "uint64") for s in SIGNED])


@pytest.mark.parametrize("a, b", [p for p in all_pairs(INTEGERS) if p in STANDARD])
def test_the_table_agrees_with_numpy_on_integers(a, b):
    assert np.result_type(a, b) == np.dtype(STANDARD[a, b])


@pytest.mark.parametrize("a, b", all_pairs(DTYPES))
def test_promote_types(a, b):
    want = promoted(a, b)
    if want is None:
        with pytest.raises(RuntimeError, match=f"promote_types: .*{a} and {b}"):
            lamella.promote_types(lt_dtype(a), lt_dtype(b))
        return
    assert lamella.promote_types(lt_dtype(a), lt_dtype(b)) is lt_dtype(want)


@pytest.mark.parametrize("a, b", all_pairs(DTYPES))
@pytest.mark.parametrize("shape", [(2,), ()], ids=["dim", "zero-dim"])
def test_operators_promote_tensors_of_one_rank(a, b, shape):
    x, y = zeros(a, *shape), zeros(b, *shape)
    want = promoted(a, b)
    if want is None:
        with pytest.raises(RuntimeError, match=rf"mul: .*{a} and {b}.*\.to\("):
            x * y
        return
    assert (x * y).dtype is lt_dtype(want)
    assert lamella.where(zeros("bool"), x, y).dtype is lt_dtype(want)
    assert (x == y).dtype is lamella.bool


def with_zero_dim(dim, zero):
    """Returns the dtype by torch.result_type's rule: a zero-dim tensor counts only if its category is higher."""
    if class_of(zero) <= class_of(dim):
        return dim
    if class_of(dim) == 2:  # floating with complex gives the complex dtype of that precision
        return "complex128" if dim == "float64" else "complex64"
    return zero


@pytest.mark.parametrize("dim, zero", all_pairs(DTYPES))
def test_zero_dim_tensors(dim, zero):
    want = lt_dtype(with_zero_dim(dim, zero))
    assert (zeros(dim, 3) * zeros(zero)).dtype is want
    assert (zeros(zero) * zeros(dim, 3)).dtype is want


def with_number(dtype, number, default="float32"):
    """Returns the dtype for a tensor with a Python number: the number counts as the default dtype of its category."""
    category = {bool: 0, int: 1, float: 2, complex: 3}[type(number)]
    if category <= class_of(dtype):
        return dtype
    if category == 1:
        return "int64"
    if category == 2:
        return default
    floating = dtype if class_of(dtype) == 2 else default
    return "complex128" if floating == "float64" else "complex64"


NUMBERS = [True, 3, 2.5, 1 + 2j]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2,), ()], ids=["dim", "zero-dim"])
@pytest.mark.parametrize("default", ["float32", "float64", "float16"])
def test_numbers(dtype, number, shape, default):
    lamella.set_default_dtype(lt_dtype(default))
    want = lt_dtype(with_number(dtype, number, default))
    x = zeros(dtype, *shape)
    assert (x * number).dtype is want
    assert (number * x).dtype is want


@pytest.mark.parametrize("number", NUMBERS[1:])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_are_numbers(dtype, number):
    scalar = {int: np.int8, float: np.float64, complex: np.complex64}[type(number)](number)
    assert (zeros(dtype, 2) * scalar).dtype is lt_dtype(with_number(dtype, number))


@pytest.mark.parametrize("dtype", BOOL + INTEGERS)
@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sqrt"])
def test_integers_become_the_default_float(dtype, default, name):
    lamella.set_default_dtype(lt_dtype(default))
    assert getattr(lamella, name)(zeros(dtype, 2)).dtype is lt_dtype(default)


@pytest.mark.parametrize("a, b", all_pairs(BOOL + INTEGERS))
def test_true_division_of_integers(a, b):
    if promoted(a, b) is None:
        with pytest.raises(RuntimeError, match="div: "):
            zeros(a, 2) / zeros(b, 2)
        return
    assert (zeros(a, 2) / zeros(b, 2)).dtype is lamella.float32


@pytest.mark.parametrize("a, b", all_pairs(DTYPES))
def test_result_type_of_tensors(a, b):
    if promoted(a, b) is not None:
        x, y = (lamella.zeros(2, dtype=lt_dtype(n)) for n in (a, b))
        assert lamella.result_type(x, y) is lt_dtype(promoted(a, b))
    assert lamella.result_type(zeros(a, 2), zeros(b)) is lt_dtype(with_zero_dim(a, b))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_result_type_with_numbers(dtype, number):
    x = lamella.zeros(2, dtype=lt_dtype(dtype))
    assert lamella.result_type(x, number) is lt_dtype(with_number(dtype, number))
    assert lamella.result_type(number, x) is lt_dtype(with_number(dtype, number))


def test_result_type_of_two_numbers():
    assert lamella.result_type(1, 2.5) is lamella.float32
    assert lamella.result_type(1, 2) is lamella.int64
    assert lamella.result_type(True, 2) is lamella.int64
    assert lamella.result_type(1.0, 1j) is lamella.complex64


@pytest.mark.parametrize("x, y", [("int8", "int64"), ("float32", "int32"), ("bfloat16", "float16"), ("uint8", "int8")])
def test_values_after_promotion(x, y):
    """The values are computed in the promoted dtype."""
    a, b = (
        lamella.tensor([100, 3], dtype=lt_dtype(x)),
        lamella.tensor([100, -3 if y != "uint8" else 3], dtype=lt_dtype(y)),
    )
    assert (a * b).tolist() == [10000, -9]
    assert (a + b).tolist() == [200, 0]


@pytest.mark.parametrize("to, source", all_pairs(DTYPES))
def test_in_place_keeps_the_dtype_or_refuses(to, source):
    """A result of a higher category does not fit; one of the same or a lower category is converted."""
    x, y = zeros(to, 2), zeros(source, 2)
    if promoted(to, source) is None or class_of(source) > class_of(to):
        with pytest.raises(RuntimeError, match="mul_: "):
            x.mul_(y)
        return
    assert x.mul_(y) is x and x.dtype is lt_dtype(to)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_mean_and_sum_keep_floats(dtype):
    assert zeros(dtype, 2).sum().dtype is lt_dtype(dtype)
    assert zeros(dtype, 2).mean().dtype is lt_dtype(dtype)


@pytest.mark.parametrize("dtype", BOOL + INTEGERS)
def test_sum_of_integers_is_int64(dtype):
    assert zeros(dtype, 2).sum().dtype is lamella.int64
    assert zeros(dtype, 2, 3).sum(1).dtype is lamella.int64
