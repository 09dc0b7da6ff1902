"""A device that has no kernel at all gets linear algebra from the host by a counted fallback."""

import sys
from pathlib import Path

import lamella
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from heaps import Heap  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def device():
    library = lamella.library.register_backend("bare", type("Bare", (Heap,), {"fallback": True})())
    yield
    library.close()


def matrix():
    a = np.random.default_rng(0).normal(size=(3, 3))
    return a @ a.T + np.eye(3)


CASES = {
    "_linalg_cholesky": (lambda x: lamella.linalg.cholesky(x), np.linalg.cholesky),
    "_linalg_lu": (lambda x: lamella.linalg.inv(x), np.linalg.inv),
    "_linalg_eigh": (lambda x: lamella.linalg.eigvalsh(x), np.linalg.eigvalsh),
    "_linalg_svd": (lambda x: lamella.linalg.svdvals(x), lambda a: np.linalg.svd(a, compute_uv=False)),
}


@pytest.mark.parametrize("operator", CASES)
def test_the_host_computes_and_the_call_is_counted(operator):
    ours, oracle = CASES[operator]
    x = lamella.tensor(matrix()).to("bare")
    lamella.reset_fallback_counts()
    found = ours(x)
    assert found.device.type == "bare"
    np.testing.assert_allclose(found.cpu().numpy(), oracle(matrix()), rtol=1e-10, atol=1e-12)
    assert {c.operator for c in lamella.fallback_counts()} >= {f"aten::{operator}"}


def test_a_singular_matrix_is_an_error_there_too():
    with pytest.raises(lamella.linalg.LinAlgError, match=r"linalg.inv: matrix \(1,\) of the batch is singular"):
        lamella.linalg.inv(lamella.stack([lamella.eye(2), lamella.ones(2, 2)]).to("bare"))


def test_strict_mode_names_the_operator():
    x = lamella.tensor(matrix()).to("bare")
    lamella.set_fallback("error")
    try:
        with pytest.raises(RuntimeError, match="_linalg_cholesky"):
            lamella.linalg.cholesky(x)
    finally:
        lamella.set_fallback("allow")
