"""Arguments of the plugin's own operators that name places outside of a tensor."""

import lamella
import numpy as np
import pytest
from lamella.plugins.sparse.library import operators

ZERO = lamella.zeros(3, 1, dtype=lamella.int64)


def test_more_dimensions_than_a_tensor_has():
    with pytest.raises(RuntimeError, match="argument 'size': a tensor has at most 64 dimensions, got 100"):
        operators().coalesced(lamella.zeros(100, 2, dtype=lamella.int64), lamella.ones(2), [1] * 100)


def test_negative_sizes():
    with pytest.raises(RuntimeError, match="argument 'size': must not have negative numbers"):
        operators().coalesced(lamella.zeros(1, 2, dtype=lamella.int64), lamella.ones(2), [-5])


def test_a_size_for_each_dimension():
    with pytest.raises(RuntimeError, match="argument 'size': has 1 dimensions, and 'places' name 3"):
        operators().lookup(ZERO, ZERO, [2])


def test_gradients_without_sparse_dimensions():
    v = lamella.ones(2, 3, requires_grad=True)
    sparse = lamella.sparse_coo_tensor(lamella.zeros(0, 2, dtype=lamella.int64), v, (3,))
    (sparse.to_dense() * lamella.tensor([1.0, 2.0, 3.0])).sum().backward()
    np.testing.assert_array_equal(v.grad.numpy(), [[1, 2, 3], [1, 2, 3]])


def test_fractions_do_not_scale_integers():
    a = lamella.tensor([1, 2]).to_sparse()
    for other in (a, lamella.tensor([1, 2]).to_sparse(), lamella.tensor([1, 2])):
        with pytest.raises(RuntimeError, match="argument 'alpha': expected an integer"):
            a.add(other, alpha=0.5)


def test_a_narrow_copy_of_too_many():
    with pytest.raises(RuntimeError, match="out of range"):
        lamella.narrow_copy(lamella.ones(3).to_sparse(), 0, 1, 2**63 - 1)


def test_products_without_elements():
    found = lamella.ones(2, 3, 0) @ lamella.zeros(0, 4).to_sparse()
    assert found.shape == (2, 3, 4) and not found.any()
