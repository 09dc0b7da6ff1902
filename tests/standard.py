"""Dtypes of the array API standard by kind, numbers of each, and a comparison of its results with numpy's."""

import lamella.array_api as xp
import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGER = SIGNED + UNSIGNED
REAL_FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = REAL_FLOATING + COMPLEX
REAL = INTEGER + REAL_FLOATING
NUMERIC = REAL + COMPLEX
ALL = ("bool", *NUMERIC)
KINDS = (("bool",), INTEGER, FLOATING)  # dtypes promote inside of one of these


def dtype(name):
    return getattr(xp, name)


def array(made):
    return made.resolve_conj().numpy()


def expect(made, expected, **tolerance):
    """Compares dtype, shape and elements; numbers of tuples one by one. Zeros must have the same sign."""
    if isinstance(expected, tuple | list):
        assert len(made) == len(expected)
        for m, e in zip(made, expected, strict=True):
            expect(m, e, **tolerance)
        return
    expected = np.asarray(expected)
    assert type(made) is xp.Array
    assert str(made.dtype).rpartition(".")[2] == expected.dtype.name and tuple(made.shape) == expected.shape
    found = array(made)
    if expected.dtype.kind in "fc":
        rtol = 1e-5 if expected.dtype.name in ("float32", "complex64") else 1e-12
        np.testing.assert_allclose(found, expected, **{"rtol": rtol, "atol": rtol, **tolerance})
    else:
        np.testing.assert_array_equal(found, expected)


def values(name):
    """Returns numbers of a dtype, special ones among them."""
    if name == "bool":
        return np.array([True, False])
    if name in INTEGER:
        limits = np.iinfo(name)
        return np.array([0, 1, 2, 3, 7, limits.max, limits.min], dtype=name)
    if name in REAL_FLOATING:
        return np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3.5, np.inf, -np.inf, np.nan, 20, -20, 1e-3], dtype=name)
    return np.array([complex(a, b) for a in (0.5, -1, 2) for b in (0.25, -3, 1)], dtype=name)


def numbers(shape, name):
    """Returns small numbers of a dtype."""
    generator = np.random.default_rng(len(shape) + sum(shape))
    made = generator.integers(0, 5, shape)
    return (made + 1j * generator.integers(0, 5, shape) if name in COMPLEX else made).astype(name)
