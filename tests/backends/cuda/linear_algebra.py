"""Linear algebra on device ``cuda`` beyond the sizes of samples, beside numpy: dtypes, batches, layouts, singular
input, streams, threads, graphs.

``python linear_algebra.py [cases...]`` raises the first difference, and exits with 1 if there is any. Without names it
runs all cases. Tests run it on the stand-ins for NVIDIA's libraries, and with the libraries on a GPU.
"""

from __future__ import annotations

import sys
import threading
from itertools import product

import lamella
import numpy as np

la = lamella.linalg
rng = np.random.default_rng(0)
KINDS = ("f4", "f8", "c8", "c16")
# Batches of small matrices have functions of their own; matrices above 32 and above 256 go to other functions.
SIZES = [((), 5), ((3,), 5), ((), 40), ((2, 3), 4), ((0,), 3), ((2,), 0), ((3,), 40), ((2,), 260)]


def squares(most=8):
    """Returns kinds of numbers, batches and orders of square matrices, the large ones for one kind alone."""
    counts = {"f4": most, "c16": min(most, len(SIZES) - 1)}
    return [(kind, *size) for kind in KINDS for size in SIZES[: counts.get(kind, 3)]]


def there(x):
    return lamella.from_numpy(np.ascontiguousarray(x)).to("cuda")


def layouts(x):
    """Returns tensors on the device with the same elements: by rows, by columns, with gaps at an offset. Of large ones
    and of two kinds of numbers only the first is made."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
    wide[..., 1::2] = x
    all_of = [there(x), there(np.swapaxes(x, -1, -2)).mT, there(wide)[..., 1::2]]
    return all_of[: 1 if max(x.shape) > 32 or x.dtype in (np.float64, np.complex64) else 3]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def array(x):
    return x.cpu().numpy() if isinstance(x, lamella.Tensor) else x


def same(got, wanted, scale=1.0):
    """Compares results of factorizations, whose errors grow with the matrices."""
    got, wanted = array(got), np.asarray(array(wanted))
    single = got.dtype in (np.float32, np.complex64)
    size = 1 + max((np.max(np.abs(wanted), initial=0), scale))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=(2e-4 if single else 1e-11) * size)


def same_numbers(got, wanted, scale):
    """Compares eigenvalues, which have no order: each is near one of the others."""
    apart = np.abs(array(got)[..., :, None] - array(wanted)[..., None, :])
    for axis in (-1, -2):
        nearest = apart.min(axis, initial=np.inf) if apart.size else np.zeros(0, apart.dtype)
        same(nearest, np.zeros_like(nearest), scale)


def numbers(kind, *shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind[0] == "c" else x).astype(kind)


def invertible(kind, batch, n):
    return numbers(kind, *batch, n, n) / max(n, 1) ** 0.5 + 2 * np.eye(n, dtype=kind)


def positive(kind, batch, n):
    x = numbers(kind, *batch, n, n)
    return (x @ adjoint(x) / max(n, 1) + np.eye(n)).astype(kind)


def unit(batch, n):
    return np.broadcast_to(np.eye(n), (*batch, n, n))


def in_columns(t):
    return t.numel() == 0 or t.shape[-2] == 1 or t.stride(-2) == 1


def equations():
    """Cholesky's and LU factors, and solutions by them and by triangles."""
    for kind, batch, n in squares():
        a, p, b = invertible(kind, batch, n), positive(kind, batch, n), numbers(kind, *batch, n, 3)
        for x in layouts(p):
            lower, info = la.cholesky_ex(x)
            same(lower, np.linalg.cholesky(p))
            assert info.dtype == lamella.int32 and not info.any() and in_columns(lower)
            same(la.cholesky(x, upper=True), adjoint(np.linalg.cholesky(p)))
        for x in layouts(a):
            factors, pivots, info = la.lu_factor_ex(x)
            assert pivots.dtype == lamella.int32 and not info.any() and in_columns(factors)
            assert n == 0 or 0 in batch or (pivots.min() >= 1 and pivots.max() <= n)
            for left, adjoint_of in product((True, False), (True, False)):
                right = b if left else np.swapaxes(b, -1, -2)
                matrix = adjoint(a) if adjoint_of else a
                for y in layouts(right):
                    got = array(la.lu_solve(factors, pivots, y, left=left, adjoint=adjoint_of))
                    same(matrix @ got if left else got @ matrix, right)
            same(la.solve(x, there(b)), np.linalg.solve(a, b))
            same(la.inv(x), np.linalg.inv(a))
            permutation, lower, upper = la.lu(x)
            same(permutation @ lower @ upper, a)
            for up, left, one in product((True, False), (True, False), (True, False)):
                triangle = (np.triu if up else np.tril)(a)
                triangle = np.where(np.eye(n, dtype=bool), 1, triangle / max(n, 1)) if one else triangle
                right = b if left else np.swapaxes(b, -1, -2)
                given = x / max(n, 1) if one else x
                got = array(la.solve_triangular(given, there(right), upper=up, left=left, unitriangular=one))
                same(triangle @ got if left else got @ triangle, right)
    # more right-hand sides than one call of trsmBatched takes
    triangle, b = np.float32([[[2]], [[4]]]), np.arange(2 * 524281, dtype="f4").reshape(2, 1, -1)
    for left in (True, False):
        right = b if left else np.swapaxes(b, -1, -2)
        same(array(la.solve_triangular(there(triangle), there(right), upper=True, left=left)), right / triangle)


def symmetric():
    """LDLᵀ factors of matrices that need pivots of two rows, and solutions by them."""
    for kind, batch, n in squares(most=7):
        a = numbers(kind, *batch, n, n)
        a = a + np.swapaxes(a, -1, -2)
        if n > 1:
            a[..., 0, 0] = a[..., 1, 1] = 0
        b = numbers(kind, *batch, n, 3)
        for x in layouts(a):
            factors, pivots, info = la.ldl_factor_ex(x)
            assert pivots.dtype == lamella.int32 and not info.any() and in_columns(factors)
            same(factors.triu(1), np.zeros_like(a), 0)
            for y in layouts(b):
                same(a @ array(la.ldl_solve(factors, pivots, y)), b, 100)
        if 0 not in batch and n > 1:
            wrong = lamella.full((*batch, n), -1, dtype=lamella.int32, device="cuda")
            wrong[..., 0] = 0
            la.ldl_solve(factors, wrong, there(b))
            raises(RuntimeError, "pairs of their negatives, got 0", lamella.cuda.synchronize)


def orthogonal():
    """QR factors, their reflectors, and least squares."""
    for kind, batch, (m, n) in product(KINDS, ((), (3,), (0,)), ((5, 3), (3, 5), (4, 4), (40, 35), (300, 4), (3, 0))):
        a = numbers(kind, *batch, m, n)
        for x in layouts(a):
            for mode, inner in (("reduced", min(m, n)), ("complete", m)):
                q, r = la.qr(x, mode)
                same(q @ r, a)
                same(q.mH @ q, unit(batch, inner))
                same(r, np.triu(array(r)), 0)
                assert in_columns(q) and in_columns(r)
            same(la.qr(x, "r")[1], r if m <= n else r[..., : min(m, n), :])
            factors, scales = lamella.geqrf(x)
            same(factors.triu()[..., : min(m, n), :], r[..., : min(m, n), :])
            if m >= n:
                same(la.householder_product(factors, scales), q[..., :n])
            for turn, left in product((False, True), (False, True)):
                other = numbers(kind, *batch, m, 2) if left else numbers(kind, *batch, 2, m)
                factor = adjoint(array(q)) if turn else array(q)
                got = lamella.ormqr(factors, scales, there(other), left, turn)
                same(got, factor @ other if left else other @ factor)
            b = numbers(kind, *batch, m, 2)
            got = la.lstsq(x, there(b), driver="gels").solution
            wanted = np.zeros((*batch, n, 2), kind)
            for at in np.ndindex(*batch):
                wanted[at] = np.linalg.lstsq(a[at], b[at], rcond=None)[0]
            same(got, wanted, 100)


def spectra():
    """Eigenvalues and singular values, with and without vectors."""
    for kind, batch, n in squares():
        a, p = numbers(kind, *batch, n, n), positive(kind, batch, n)
        for x, side in product(layouts(p), "LU"):
            other = lamella.triu(x) if side == "U" else lamella.tril(x)  # the other triangle is not read
            values, vectors = la.eigh(other, side)
            same(p @ array(vectors), array(vectors) * array(values)[..., None, :])
            same(vectors.mH @ vectors, unit(batch, n))
            same(values, np.linalg.eigvalsh(p))
            same(la.eigvalsh(other, side), np.linalg.eigvalsh(p))
        x = there(a)
        values, vectors = la.eig(x)
        same(a @ array(vectors), array(vectors) * array(values)[..., None, :], n)
        same(np.linalg.norm(array(vectors), axis=-2), np.ones((*batch, n)))
        same_numbers(la.eigvals(x), values, 20 * n)
    many = positive("f4", (40000,), 2)  # more than one call takes
    same(la.eigvalsh(there(many)), np.linalg.eigvalsh(many))
    shapes = ((5, 3), (3, 5), (4, 4), (1, 3), (40, 35), (35, 40), (0, 3), (3, 0))
    for kind, batch, (m, n), full, driver in product(KINDS, ((), (3,)), shapes, (0, 1), (None, "gesvd", "gesvdj")):
        a, k = numbers(kind, *batch, m, n), min(m, n)
        for x in layouts(a)[: 1 if driver else 3]:
            u, s, vh = la.svd(x, full_matrices=bool(full), driver=driver)
            same((array(u)[..., :k] * array(s)[..., None, :]) @ array(vh)[..., :k, :], a)
            same(u.mH @ u, unit(batch, m if full else k))
            same(vh @ vh.mH, unit(batch, n if full else k))
            assert in_columns(u) and in_columns(vh)
            if k:
                same(s, np.linalg.svd(a, compute_uv=False))
            same(la.svdvals(x, driver=driver), s)


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no error: {words}")


def failures():
    """Singular and indefinite matrices, and infinities: `info` of each matrix of a batch, and errors."""
    for count, kind in product((1, 3), KINDS):
        a = np.stack([invertible(kind, (), 4)] * count)
        a[-1, :, 2] = 0
        info = array(la.lu_factor_ex(there(a)).info)
        assert info.tolist() == [0] * (count - 1) + [3], info
        raises(la.LinAlgError, "linalg_inv", lambda: la.inv(there(a)))  # noqa: B023
        raises(la.LinAlgError, "linalg_solve", lambda: la.solve(there(a), there(a)))  # noqa: B023
        raises(la.LinAlgError, "linalg_lstsq", lambda: la.lstsq(there(a), there(a), driver="gels"))  # noqa: B023
        p = np.stack([positive(kind, (), 4)] * count)
        p[-1, 2, 2] = -1
        info = array(la.cholesky_ex(there(p)).info)
        assert info.tolist() == [0] * (count - 1) + [3], info
        raises(la.LinAlgError, "linalg_cholesky", lambda: la.cholesky(there(p)))  # noqa: B023
        q = np.stack([positive(kind, (), 4)] * count)
        q[-1, 1, 1] = np.nan
        info = array(la.cholesky_ex(there(q)).info)
        assert info.tolist() == [0] * (count - 1) + [2], info
        p[-1, 3, 1] = np.nan
        for function in ("_linalg_eigh", "_linalg_eig", "_linalg_svd"):
            given = {"_linalg_eigh": ("L", True), "_linalg_eig": (True,), "_linalg_svd": (False, True)}[function]
            *results, info = getattr(lamella.ops.aten, function)(there(p), *given)
            assert info.tolist() == [0] * (count - 1) + [-1], (function, info)
            for r in results:
                assert np.isnan(array(r)[-1]).all() and np.isfinite(array(r)[:-1]).all(), (function, r)
        for function in (la.eigh, la.eig, la.svd):
            raises(la.LinAlgError, "NaN", lambda: function(there(p)))  # noqa: B023
        same(la.eigvalsh(there(p), "U")[..., 0] * 0, np.zeros(count))  # the NaN is in the other triangle
        wrong = lamella.full((count, 4), 9, dtype=lamella.int32, device="cuda")
        la.lu_solve(there(a), wrong, there(a))
        raises(RuntimeError, "expected rows from 1 to 4, got 9", lamella.cuda.synchronize)
    raises(RuntimeError, "'gesvd' or 'gesvdj'", lambda: la.svd(there(np.eye(3)), driver="gesvda"))


def streams():
    """Calls come behind the work of their stream, also on other streams and threads."""
    a, b, p = invertible("f8", (3,), 5), numbers("f8", 3, 5, 2), positive("f8", (), 40)
    wanted = np.linalg.solve(a, b), np.linalg.cholesky(p), np.linalg.eigvalsh(p), np.linalg.svd(p)[1]
    x, y, z = there(a), there(b), there(p)

    def work(delay):
        lamella.ops.cuda.delay(x, delay)
        m, q = x * 1, z * 1
        made = lamella.linalg.solve_ex(m, y * 1).result, la.cholesky_ex(q).L, la.eigvalsh(q), la.svdvals(q)
        m.zero_(), q.zero_()
        return made

    def check(made):
        for got, right in zip(made, wanted, strict=True):
            same(got, right)

    check(work(1))
    faults = []

    def on_stream():
        try:
            with lamella.cuda.stream(lamella.cuda.Stream()):
                check(work(20000))
        except BaseException as error:
            faults.append(error)

    lamella.cuda.synchronize()
    for _ in range(2):
        threads = [threading.Thread(target=on_stream) for _ in range(3)]
        for t in threads:
            t.start()
        on_stream()
        for t in threads:
            t.join()
    if faults:
        raise faults[0]


def captures():
    """A graph replays factors and solutions for new inputs."""
    a, p, b = invertible("f4", (3,), 5), positive("f4", (3,), 5), numbers("f4", 3, 5, 2)
    x, y, z = there(a), there(p), there(b)
    one = there(p[0])

    def work():
        lower, single = la.cholesky_ex(y).L, la.cholesky_ex(one).L
        solved = la.solve_triangular(lower, z, upper=False)
        return lower, single, solved, *la.lu_factor_ex(x)[:2]

    work()
    lamella.cuda.synchronize()
    graph = lamella.cuda.CUDAGraph()
    with lamella.cuda.graph(graph):
        made = work()
    for factor in (1, 4):
        x.copy_(there(a * factor)), y.copy_(there(p * factor)), one.copy_(there(p[0] * factor))
        graph.replay()
        lower = np.linalg.cholesky(p * factor)
        same(made[0], lower), same(made[1], lower[0]), same(made[2], np.linalg.solve(lower, b))
        same(a * factor @ array(la.lu_solve(made[3], made[4], z)), b)


CASES = [equations, symmetric, orthogonal, spectra, failures, streams, captures]

if __name__ == "__main__":
    named = {case.__name__: case for case in CASES}
    for name in sys.argv[1:] or named:
        named[name]()
