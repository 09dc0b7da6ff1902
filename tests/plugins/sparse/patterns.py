"""Sparse tensors for the tests, each with a dense array of numpy of the same elements."""

import contextlib
import os
import re

import lamella
import numpy as np
import pytest

DEVICE = os.environ.get("SPARSE_ON", "cpu")  # the device of the tests of operators
LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc"]


def here(x):
    """Returns a tensor on the device of the tests."""
    return lamella.tensor(x).to(DEVICE)


def layout(name):
    return getattr(lamella, name)


def entries(shape, count, dtype="float64", dense=(), seed=0):
    """Returns indices, some of which are equal, values, and the dense array that they make."""
    rng = np.random.default_rng(seed)
    at = np.stack([rng.integers(0, n, count) for n in shape]) if count else np.zeros((len(shape), 0), np.int64)
    values = rng.standard_normal((count, *dense))
    if "complex" in dtype:
        values = values + 1j * rng.standard_normal((count, *dense))
    values = (values * (4 if "int" in dtype else 1)).astype(dtype)
    array = np.zeros((*shape, *dense), dtype)
    np.add.at(array, tuple(at), values)
    return at, values, array


def made(at, values, shape, name="sparse_coo"):
    """Returns a sparse tensor of a layout."""
    t = lamella.sparse_coo_tensor(here(at), here(values), (*shape, *values.shape[1:]))
    return t if name == "sparse_coo" else t.to_sparse(layout=layout(name))


def matrix(shape=(5, 7), count=12, dtype="float64", name="sparse_coo", seed=0):
    """Returns a sparse matrix of a layout, and its dense array."""
    at, values, array = entries(shape, count, dtype, seed=seed)
    return made(at, values, shape, name), array


def same(got, expected, tolerance=None):
    """Checks a tensor of any layout against an array: shape, dtype and elements."""
    dense = got.to_dense().detach().resolve_conj().cpu().numpy()
    assert tuple(got.shape) == expected.shape and dense.shape == expected.shape
    assert dense.dtype == expected.dtype, (dense.dtype, expected.dtype)
    rough = expected.dtype in (np.float32, np.complex64)
    tolerance = tolerance or (1e-5 if rough else 1e-12)
    np.testing.assert_allclose(dense, expected, rtol=tolerance, atol=tolerance)


@contextlib.contextmanager
def refused(*words, error=RuntimeError):
    """Checks that a block raises an error whose message has the words."""
    with pytest.raises(error) as caught:
        yield
    for word in words:
        assert re.search(re.escape(word), str(caught.value)), str(caught.value)
