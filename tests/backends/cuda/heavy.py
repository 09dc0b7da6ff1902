"""The heavier kernels of device ``cuda`` beyond the sizes of samples: many blocks and tiles, elements for one place.

``python heavy.py [cases...]`` compares each case with numpy, prints the differences and the hash of all results, which
must not depend on the order in which threads run. Without names it runs all cases, or with LAMELLA_SWEEP=turn those of
today. Tests run it on the stand-in for ``cuda``, and on a GPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import sys
import threading
from pathlib import Path

import lamella
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from shares import share  # noqa: E402

DEVICE = "cuda"
rng = np.random.default_rng(0)
hashed = hashlib.sha256()


def there(x, dtype=None):
    made = lamella.from_numpy(np.ascontiguousarray(x)).to(DEVICE)
    return made if dtype is None else made.to(dtype)


def check(got, wanted, rtol=2e-5, atol=2e-5):
    """Compares a result with numpy's and adds its bytes to the hash."""
    got = got.detach().cpu()
    hashed.update((got.to(lamella.float32) if got.dtype == lamella.bfloat16 else got).numpy().tobytes())
    np.testing.assert_allclose(
        got.to(lamella.float64).numpy() if got.is_floating_point() else got.numpy(), wanted, rtol, atol
    )


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def products():
    """Products of several tiles, with every layout of the operands, and with every kind of added operand."""
    a, b, c = normal(70, 37), normal(37, 90), normal(90)
    wanted = a.astype(np.float64) @ b
    for x in (there(a), there(a.T.copy()).t(), there(np.repeat(a, 2, 1))[:, ::2]):
        for y in (there(b), there(b.T.copy()).t()):
            check(x @ y, wanted)
            check(lamella.addmm(there(c), x, y, beta=0.5, alpha=2), 2 * wanted + 0.5 * c)
    out = lamella.zeros(90, 70, device=DEVICE).t()
    check(lamella.mm(there(a), there(b), out=out), wanted)
    check(lamella.nn.functional.linear(there(a), there(b.T.copy()), there(c)), wanted + c)
    check(lamella.baddbmm(there(normal(0, 1, 1)).sum(0), there(a[None]), there(b[None])), wanted[None])
    check(there(a) @ there(b[:, 0].copy()), wanted[:, 0])
    check(there(a, lamella.float64) @ there(b, lamella.float64), wanted, 1e-12, 1e-12)
    check(there(a, lamella.bfloat16) @ there(b, lamella.bfloat16), wanted, 0.03, 0.2)
    check(there(a, lamella.float16) @ there(b, lamella.float16), wanted, 0.005, 0.02)
    z = a[:, :9] + 1j * a[:, 9:18]
    check_complex(there(z) @ there(z.T.copy()), z.astype(complex) @ z.T)
    whole = rng.integers(-9, 9, (66, 70))
    check(there(whole) @ there(whole.T.copy()), whole @ whole.T)
    small = whole.astype(np.int8)
    check(there(small) @ there(small.T.copy()), small @ small.T)


def check_complex(got, wanted):
    check(lamella.view_as_real(got), np.stack([wanted.real, wanted.imag], -1))


def blas():
    """Products with cuBLAS: those of `products`, all of whose floats it computes, and biases by cuBLASLt."""
    library = ctypes.CDLL("libcublas.so.13")
    products()
    assert library.standin_blas_calls() >= 17, library.standin_blas_calls()
    biases()
    calls = ctypes.CDLL("libcublasLt.so.13").standin_blaslt_calls
    before = calls()
    byte_products()
    assert calls() >= before + 16, calls() - before  # of 20 and 70 rows


def biases():
    """The sums of a product and a vector that cuBLASLt computes, and its searches for algorithms."""
    F, library = lamella.nn.functional, ctypes.CDLL("libcublasLt.so.13")
    calls, searches = library.standin_blaslt_calls, library.standin_blaslt_searches

    def counted(count, wanted, call, limit=2e-5):
        """Checks that `call` runs `count` products by cuBLASLt, and that its repetition needs no further search."""
        before = calls()
        check(call(), wanted, limit, limit)
        assert calls() == before + count, (calls() - before, count)
        found = searches()
        check(call(), wanted, limit, limit)
        assert searches() == found and calls() == before + 2 * count

    a, b, c = normal(70, 24), normal(24, 40), normal(40)
    product = a.astype(np.float64) @ b
    limits = {lamella.float32: 2e-5, lamella.float64: 1e-12, lamella.float16: 0.02, lamella.bfloat16: 0.2}
    for dtype, limit in limits.items():
        x, y, v = there(a, dtype), there(b, dtype), there(c, dtype)
        wide = np.repeat(a, 2, 0), np.repeat(b, 3, 1)  # leading sizes beyond the sizes that they lead
        for left in (x, x.t().contiguous().t(), there(wide[0], dtype)[::2], there(np.repeat(a, 2, 1), dtype)[:, ::2]):
            for right in (y, y.t().contiguous().t(), there(wide[1], dtype)[:, :40] * 0 + y):
                counted(1, product + c, lambda: lamella.addmm(v, left, right), limit)  # noqa: B023
        counted(1, product + c, lambda: F.linear(x, y.t(), v), limit)  # noqa: B023
        counted(1, product + c, lambda: F.linear(x, y.t().contiguous(), v), limit)  # noqa: B023
        whole = there(np.zeros((70, 50)), dtype)
        counted(1, product + c, lambda: lamella.addmm(v, x, y, out=whole[:, 8:48]), limit)  # noqa: B023
        assert not whole[:, :8].any() and not whole[:, 48:].any()
    # One row, more dimensions, and a matrix of one row that broadcasts.
    x, y, v = there(a), there(b), there(c)
    counted(1, product[:1] + c, lambda: F.linear(x[:1], y.t(), v))
    counted(1, product[0] + c, lambda: F.linear(x[0], y.t(), v))
    counted(1, (product + c).reshape(7, 10, 40), lambda: F.linear(x.reshape(7, 10, 24), y.t(), v))
    counted(1, product + c, lambda: lamella.addmm(v[None], x, y))
    # Addresses of all alignments: the algorithm must fit the alignment of the search. A bias needs 16 bytes.
    for dtype, limit in limits.items():
        for shift in (1, 2, 4, 8):
            flat = lamella.zeros(70 * 24 + 8, dtype=dtype, device=DEVICE)
            odd = flat[shift : shift + 70 * 24].view(70, 24).copy_(there(a))
            room = lamella.zeros(70 * 40 + 8, dtype=dtype, device=DEVICE)
            out = room[shift : shift + 70 * 40].view(70, 40)
            counted(1, product + c, lambda: lamella.addmm(there(c, dtype), odd, there(b, dtype), out=out), limit)  # noqa: B023
            long = lamella.zeros(48, dtype=dtype, device=DEVICE)
            moved = long[shift : shift + 40].copy_(there(c))
            aligned = shift * moved.element_size() % 16 == 0
            counted(aligned, product + c, lambda: lamella.addmm(moved, there(a, dtype), there(b, dtype)), limit)  # noqa: B023
    # cuBLAS computes the rest: other numbers, vectors with gaps or of one number, columns, matrices, the output itself,
    # outputs in columns, one column, a depth of one, complex numbers.
    counted(0, 2 * product + c, lambda: lamella.addmm(v, x, y, alpha=2))
    counted(0, product + 0.5 * c, lambda: lamella.addmm(v, x, y, beta=0.5))
    counted(0, product, lambda: lamella.addmm(v, x, y, beta=0))
    counted(0, product + c, lambda: lamella.addmm(there(np.repeat(c, 2))[::2], x, y))
    counted(0, product + c[0], lambda: lamella.addmm(v[:1], x, y))
    counted(0, product + c[0], lambda: F.linear(x, y.t(), v[:1].expand(40)))
    counted(0, product + a[:, :1], lambda: lamella.addmm(x[:, :1], x, y))
    counted(0, product + product, lambda: lamella.addmm(there(product, lamella.float32), x, y))
    own = there(product[:1], lamella.float32)
    check(own.addmm_(x[:1], y), 2 * product[:1])
    counted(0, product + c, lambda: lamella.addmm(v, x, y, out=lamella.empty(40, 70, device=DEVICE).t()))
    counted(0, product[:, :1] + c[0], lambda: F.linear(x, y[:, :1].t(), v[:1]))
    counted(0, np.outer(a[:, 0], b[0]) + c, lambda: lamella.addmm(v, x[:, :1], y[:1]))
    counted(0, np.stack([product + c] * 2), lambda: lamella.baddbmm(v, x.expand(2, 70, 24), y.expand(2, 24, 40)))
    z = lamella.addmm(v.to(lamella.complex64), x.to(lamella.complex64), y.to(lamella.complex64))
    check_complex(z, product + c + 0j)
    # A problem that cuBLASLt refuses is searched for once, and is computed all the same.
    for depth in (13, 17, 19):
        counted(0, a[:, :depth].astype(np.float64) @ b[:depth] + c, lambda: lamella.addmm(v, x[:, :depth], y[:depth]))  # noqa: B023
    assert library.standin_blaslt_refusals() == 1
    # Threads share plans, and have biases of their own.
    found, right = searches(), []

    def repeat(shift):
        added = there(c + shift)
        errors = [np.abs(lamella.addmm(added, x, y).cpu().numpy() - product - c - shift).max() for _ in range(20)]
        right.append(max(errors) < 1e-3)

    threads = [threading.Thread(target=repeat, args=(100 * i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 3 and searches() == found, (right, searches() - found)
    # A plan is made while a graph is captured. The graph's replays read the bias anew.
    graph, before = lamella.cuda.CUDAGraph(), calls()
    with lamella.cuda.graph(graph):
        captured = lamella.addmm(v, x[:31], y)
    assert calls() == before + 1
    v.mul_(2)
    for _ in range(2):
        graph.replay()
    check(captured, product[:31] + 2 * c)
    v.div_(2)
    # The context of a tensor's device is made current, whatever context the thread has used before.
    other = there(a).to("cuda:1")
    out = lamella.empty(70, 40, device=DEVICE)
    for _ in range(2):
        check((other @ other.t()).cpu(), a.astype(np.float64) @ a.T, 1e-4, 1e-4)
        lamella.addmm(v, x, y, out=out)
        check(out, product + c)
    # TF32 has plans of its own.
    switch = lamella.backends.cuda.matmul
    switch.allow_tf32 = True
    error = np.abs(lamella.addmm(v, x, y).cpu().numpy() - product - c).max()
    switch.allow_tf32 = False
    assert 1e-4 < error < 1e-1, error
    counted(1, product + c, lambda: lamella.addmm(v, x, y))


def sorts():
    """Rows longer than shared memory holds: many blocks a pass, several rows, NaN and zeros of both signs."""
    x = rng.integers(-900, 900, (3, 5000)).astype(np.float32)
    x[:, ::7] = np.nan
    x[:, ::11] = -0.0
    for descending in (False, True):
        values, indices = lamella.sort(there(x), dim=1, descending=descending)
        key = np.where(np.isnan(x), np.inf, x) * (-1 if descending else 1)
        order = np.argsort(key, axis=1, kind="stable")
        check(indices, order)
        check(values, np.take_along_axis(x, order, 1))
    whole = rng.integers(-(2**62), 2**62, 4100)
    check(lamella.sort(there(whole)).indices, np.argsort(whole, kind="stable"))
    check(lamella.topk(there(x[:, 1:2]), 2, dim=0).values.isnan().logical_not(), np.ones((2, 1), bool))
    distinct = rng.permutation(6000).astype(np.float64)
    check(lamella.topk(there(distinct), 5).indices, np.argsort(-distinct)[:5])


def selections():
    """The first elements of long rows, with equals, NaN and zeros of both signs: one block a row, several, columns."""
    for shape, dim, kept in (((2, 2500), 1, 7), ((10_000,), 0, 300), ((4000, 2), 0, 1), ((2100,), 0, 1030)):
        x = rng.integers(-90, 90, shape).astype(np.float32)
        for dtype in (
            lamella.float32,
            lamella.bfloat16,
            lamella.float64,
            lamella.int64,
            lamella.int8,
            lamella.bool,
        ):
            y = x.copy()
            if dtype.is_floating_point:
                y.reshape(-1)[::37], y.reshape(-1)[::11] = np.nan, -0.0
                y.reshape(-1)[5::501] = np.inf
            else:
                y = abs(y) if dtype == lamella.bool else y * (2.0**40 if dtype == lamella.int64 else 1)
            given = there(y, dtype)
            y = given.cpu().to(lamella.float64).numpy()
            for largest in (True, False):
                values, indices = lamella.topk(given, kept, dim=dim, largest=largest)
                order = np.lexsort(
                    (np.where(np.isnan(y), 0, y) * (-1 if largest else 1), np.isnan(y) != largest), axis=dim
                )
                order = order.take(np.arange(kept), dim)
                check(indices, order)
                check(values.to(lamella.float64), np.take_along_axis(y, order, dim), 0, 0)


def meeting():
    """Several elements for one place: sums are in order, over pieces and blocks; of assignments the last one stays."""
    x, at = normal(1500, 3), rng.integers(0, 5, 1500)
    at[:400] = 4
    wanted = np.zeros((5, 3))
    np.add.at(wanted, at, x.astype(np.float64))
    zeros = lambda *shape: lamella.zeros(*shape, device=DEVICE)  # noqa: E731
    check(zeros(5, 3).index_add_(0, there(at), there(x)), wanted, atol=1e-3)
    wide = np.broadcast_to(at[:, None], (1500, 3)).copy()
    check(zeros(5, 3).scatter_add_(0, there(wide), there(x)), wanted, atol=1e-3)
    check(zeros(5, 3).index_put_([there(at)], there(x), accumulate=True), wanted, atol=1e-3)
    last = np.zeros((5, 3), np.float32)
    last[at] = x
    check(zeros(5, 3).scatter_(0, there(wide), there(x)), last, 0, 0)
    check(zeros(5, 3).index_put_([there(at)], there(x)), last, 0, 0)
    check(zeros(5, 3).index_copy_(0, there(at), there(x)), last, 0, 0)
    largest = np.full((5, 3), -np.inf)
    np.maximum.at(largest, at, x)
    check(zeros(5, 3).sub_(9).scatter_reduce_(0, there(wide), there(x), "amax"), largest)
    whole = rng.integers(0, 100, (1500, 3))
    sums = np.zeros((5, 3), np.int64)
    np.add.at(sums, at, whole)
    check(lamella.zeros(5, 3, dtype=lamella.int64, device=DEVICE).index_add_(0, there(at), there(whole)), sums)
    check(
        lamella.zeros(5, 3, dtype=lamella.int8, device=DEVICE).index_add_(0, there(at), there(whole.astype(np.int8))),
        sums.astype(np.int8),
    )
    weight = there(normal(5, 3)).requires_grad_()
    lamella.nn.functional.embedding(there(at), weight, padding_idx=2).backward(there(x))
    wanted[2] = 0
    check(weight.grad, wanted, atol=1e-3)
    strided = zeros(3, 5).t()
    check(strided.index_add_(0, there(at), there(x))[0], np.add.reduce(x[at == 0].astype(np.float64)), atol=1e-3)


def nonzeros():
    x = rng.random((50, 3, 41)) < 0.3
    check(there(x).nonzero(), np.argwhere(x))
    y = normal(50, 3, 41)
    check(there(y)[there(x)], y[x], 0, 0)


def rows():
    """Rows that shared memory does not hold, and short rows."""
    for n in (13001, 13000, 600, 7):
        x, w = normal(3, n), normal(n)
        e = np.exp(x - x.max(1, keepdims=True).astype(np.float64))
        p = e / e.sum(1, keepdims=True)
        check(lamella.softmax(there(x), 1), p)
        check(lamella.log_softmax(there(x), 1), np.log(p))
        d = x - x.mean(1, keepdims=True, dtype=np.float64)
        scale = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
        check(lamella.layer_norm(there(x), [n], there(w), there(w)), d * scale * w + w, atol=1e-4)
        target = rng.integers(0, n, 3)
        logits = there(x).requires_grad_()
        loss = lamella.nn.functional.cross_entropy(logits, there(target))
        check(loss, -np.log(p[np.arange(3), target]).mean())
        loss.backward()
        p[np.arange(3), target] -= 1
        check(logits.grad, p / 3)
    for n in (4096, 4088, 600, 77):  # several rows a block, and a mean that is large beside the spread
        x = normal(1100, n) if n == 77 else normal(70, n) + np.float32(1e4)
        d = x - x.mean(1, keepdims=True, dtype=np.float64)
        wanted = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
        check(lamella.layer_norm(there(x), [n]), wanted, atol=1e-4 if n == 77 else 3e-3)
        for dtype, limit in ((lamella.bfloat16, 0.01), (lamella.float16, 0.002)):
            short = there(x - 1e4 if n > 77 else x, dtype)
            y = short.cpu().to(lamella.float64).numpy()
            d = y - y.mean(1, keepdims=True)
            wanted = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
            check(lamella.layer_norm(short, [n]), wanted, limit, limit)
            w = there(normal(n + 1), dtype)
            at_w = w.cpu().to(lamella.float64).numpy()[1:]
            check(lamella.layer_norm(short, [n], w[1:], w[1:]), wanted * at_w + at_w, limit, 2 * limit)
            check(lamella.softmax(short, 1).sum(1), np.ones(len(y)), 0.02)
    x = normal(40, 300)
    given = there(x).requires_grad_()
    norm = lamella.nn.LayerNorm(300, device=DEVICE)
    g = normal(40, 300)
    norm(given).backward(there(g))
    d = x - x.mean(1, keepdims=True, dtype=np.float64)
    scale = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    n = d * scale
    check(given.grad, scale * (g - g.mean(1, keepdims=True) - n * (g * n).mean(1, keepdims=True)), atol=1e-4)
    check(norm.weight.grad, (g * n).sum(0), atol=1e-4)
    check(norm.bias.grad, g.sum(0), atol=1e-4)


def weights():
    """Weight gradients of norms over many rows: packs of every width, whole steps of a block and a rest, parts."""
    cases = (
        (1100, 264, lamella.bfloat16, 0.01),
        (70, 36, lamella.float16, 0.002),
        (300, 77, lamella.bfloat16, 0.01),
        (2100, 132, lamella.float32, 1e-5),
        (90, 257, lamella.float32, 1e-5),
        (40, 66, lamella.float64, 1e-12),
        (5, 9, lamella.float64, 1e-12),
    )
    for rows_of, length, dtype, limit in cases:
        for apart in (0, 1):  # at an odd address packs are narrower
            flat, more = there(normal(rows_of * length + 1), dtype), there(normal(rows_of * length + 1), dtype)
            x, g = (t[apart : apart + rows_of * length].reshape(rows_of, length) for t in (flat, more))
            w, b = there(normal(length), dtype).requires_grad_(), there(normal(length), dtype).requires_grad_()
            lamella.layer_norm(x, [length], w, b).backward(g)
            xs, gs = (t.cpu().to(lamella.float64).numpy() for t in (x, g))
            d = xs - xs.mean(1, keepdims=True)
            n = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
            high = limit * rows_of**0.5
            check(w.grad, (gs * n).sum(0), limit, high)
            check(b.grad, gs.sum(0), limit, high)
            w.grad = None
            lamella.rms_norm(x, [length], w, 1e-5).backward(g)
            check(w.grad, (gs * xs / np.sqrt((xs * xs).mean(1, keepdims=True) + 1e-5)).sum(0), limit, high)
    x, g = normal(50, 40), normal(50, 40)
    w, b = there(normal(40)), there(normal(40))
    out = lamella.ops.aten.native_layer_norm_backward
    d = x - x.mean(1, keepdims=True, dtype=np.float64)
    scale = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    mean = there(x.mean(1, keepdims=True).astype(np.float32))
    for mask in ((False, True, False), (False, False, True), (False, True, True)):
        got = out(there(g), there(x), [40], mean, there(scale.astype(np.float32)), w, b, mask)
        if mask[1]:
            check(got[1], (g * d * scale).sum(0), atol=1e-4)
        if mask[2]:
            check(got[2], g.sum(0, dtype=np.float64), atol=1e-4)


def columns():
    """Reductions of columns that are cut into parts: packs and single elements, one dimension and two, equals."""
    for shape, dims in (((700, 264), 0), ((700, 77), 0), ((9, 150, 5, 40), (0, 2)), ((9, 150, 5, 41), (0, 2))):
        x = rng.integers(-30, 30, shape)
        for dtype in (lamella.float32, lamella.bfloat16, lamella.float64, lamella.int8, lamella.int64):
            given = there(x, dtype)
            check(given.sum(dims, dtype=lamella.float64 if dtype.is_floating_point else None), x.sum(dims))
            check(given.amax(dims), x.max(dims))
            check((given == 3).any(dims), (x == 3).any(dims))
            check(lamella.count_nonzero(given, dims), np.count_nonzero(x, dims))
            if dtype.is_floating_point:
                check(given.to(lamella.float32).var(dims), x.var(dims, ddof=1))
        if dims == 0:
            check(there(x).argmax(0), x.argmax(0))
            check(there(x, lamella.float32).argmin(0), x.argmin(0))
            odd = lambda t: t.reshape(-1)[1 : 1 + 600 * shape[1]].reshape(600, -1)  # noqa: B023, E731
            check(odd(there(x, lamella.float32)).sum(0), odd(x).sum(0))
    y = normal(1300, 130)
    check(there(y).sum(0), y.sum(0, dtype=np.float64), atol=1e-3)
    check(there(y, lamella.complex64).sum(0).real, y.sum(0, dtype=np.float64), atol=1e-3)
    check(there(y, lamella.float64).std(0), y.astype(np.float64).std(0, ddof=1), 1e-12)


def short_floats():
    """gelu of every number of 16 bits, in units in the last place of the result, also where it is not finite."""
    for dtype, digits, least in ((lamella.bfloat16, 8, -133), (lamella.float16, 11, -24)):
        x = lamella.from_numpy(np.arange(2**16, dtype=np.uint16).view(np.int16)).view(dtype)
        got = lamella.nn.functional.gelu(x.to(DEVICE)).cpu().to(lamella.float64).numpy()
        x = x.to(lamella.float64).numpy()
        with np.errstate(invalid="ignore"):
            true = x * 0.5 * np.array([math.erfc(v * -(0.5**0.5)) for v in x])
        np.testing.assert_array_equal(np.isnan(got), np.isnan(true))
        finite = np.isfinite(true)
        unit = 2.0 ** np.maximum(np.frexp(true[finite])[1] - digits, least)
        hashed.update(got[finite].tobytes())
        worst = np.abs((got[finite] - true[finite]) / unit).max()
        assert worst < 0.51, worst
        assert (got[x == np.inf] == np.inf).all()
    wide = there(normal(4100))
    check(
        lamella.nn.functional.gelu(wide), [v * 0.5 * math.erfc(-v * 0.5**0.5) for v in wide.cpu().tolist()], 1e-6, 1e-8
    )


def pools():
    """Largest elements of windows and their places, compared with the cpu's: equals, NaN, windows beyond the image."""
    F = lamella.nn.functional
    x = rng.integers(-5, 5, (3, 5, 33, 38)).astype(np.float32)
    x[:, 1] = -np.inf
    x[:, 2, ::5, ::3] = np.nan
    x[:, 3] = np.where(rng.random((33, 38)) < 0.5, 0.0, -0.0)
    windows = (
        dict(kernel_size=3, stride=2, padding=1),
        dict(kernel_size=3, stride=1),
        dict(kernel_size=2),
        dict(kernel_size=2, stride=3, padding=1, ceil_mode=True),
        dict(kernel_size=3, dilation=2, padding=1),
        dict(kernel_size=(2, 3), stride=(1, 2), padding=(1, 0)),
    )
    for dtype in (lamella.float32, lamella.bfloat16, lamella.float16, lamella.float64, lamella.int32, lamella.uint8):
        clean = x if dtype.is_floating_point else np.nan_to_num(x, neginf=0) + 5
        host = lamella.tensor(clean).to(dtype)
        for window in windows:
            for given in (host, host[..., 1:]):
                got = F.max_pool2d(given.to(DEVICE), return_indices=True, **window)
                wanted = F.max_pool2d(given, return_indices=True, **window)
                for a, b in zip(got, wanted, strict=True):
                    check(a, (b.to(lamella.float64) if b.is_floating_point() else b).numpy(), 0, 0)


def batches():
    """A batch norm whose channels are cut into parts."""
    x = normal(5, 3, 60, 61) + 3
    norm = lamella.nn.BatchNorm2d(3, device=DEVICE)
    given, g = there(x).requires_grad_(), normal(*x.shape)
    out = norm(given)
    mean, var = x.mean((0, 2, 3), dtype=np.float64), x.astype(np.float64).var((0, 2, 3))
    n = (x - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None]
    check(out, n, atol=1e-4)
    check(norm.running_mean, 0.1 * mean)
    check(norm.running_var, 0.9 + 0.1 * x.astype(np.float64).var((0, 2, 3), ddof=1))
    out.backward(there(g))
    check(norm.weight.grad, (g * n).sum((0, 2, 3)), atol=2e-2)
    each = lambda v: v.mean((0, 2, 3))[:, None, None]  # noqa: E731
    check(given.grad, (g - each(g) - n * each(g * n)) / np.sqrt(var + 1e-5)[:, None, None], atol=1e-4)


def convolutions():
    """Convolutions of several tiles; a weight's gradient whose sums are cut into parts; groups, strides and gaps."""
    x, w = normal(2, 4, 33, 40), normal(6, 2, 3, 2)
    given, weight = there(x).requires_grad_(), there(w).requires_grad_()
    options = dict(stride=(2, 1), padding=(2, 1), dilation=(1, 2), groups=2)
    out = lamella.nn.functional.conv2d(given, weight, there(normal(6)) * 0, **options)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (2, 2), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, :, :, ::2]
    groups = seen.reshape(2, 2, 2, *seen.shape[2:])
    wanted = np.einsum("ngchwab,gocab->ngohw", groups, w.reshape(2, 3, 2, 3, 2)).reshape(out.shape)
    check(out, wanted, atol=1e-4)
    g = normal(*out.shape)
    out.backward(there(g))
    by_group = g.reshape(2, 2, 3, *g.shape[2:])
    check(weight.grad, np.einsum("ngchwab,ngohw->gocab", groups, by_group).reshape(w.shape), atol=2e-3)
    back = np.zeros_like(padded).reshape(2, 2, 2, *padded.shape[2:])
    spread = np.einsum("gocab,ngohw->ngchwab", w.reshape(2, 3, 2, 3, 2), by_group)
    high, wide = g.shape[2:]
    for a in range(3):
        for b in range(2):
            back[..., a : a + 2 * high : 2, 2 * b : 2 * b + wide] += spread[..., a, b]
    check(given.grad, back.reshape(padded.shape)[:, :, 2:-2, 1:-1], atol=1e-4)


def against_cpu(call, *arrays, dtype=lamella.float32, limit=1e-4, last=False):
    """Compares a convolution and its gradients with the cpu's in float64; the device's tensors are of `dtype`."""
    layout = dict(memory_format=lamella.channels_last) if last else {}
    given = [there(x, dtype).contiguous(**layout).requires_grad_() for x in arrays[:2]]
    more = [there(x, dtype).requires_grad_() for x in arrays[2:]]
    host = [t.detach().cpu().to(lamella.float64).requires_grad_() for t in given + more]
    out, wanted = call(*given, *more), call(*host)
    g = there(normal(*out.shape), dtype)
    out.backward(g)
    wanted.backward(g.cpu().to(lamella.float64))
    assert out.is_contiguous(**layout) and given[0].grad.is_contiguous(**layout)
    for got, true in zip([out, *(t.grad for t in given + more)], [wanted, *(t.grad for t in host)], strict=True):
        check(got, true.detach().numpy(), limit, limit * max(1, float(true.detach().abs().max())))


def dnn():
    """Convolutions with cuDNN: the problems that it computes, the plans that are kept, and the switches."""
    F, cudnn, library = lamella.nn.functional, lamella.backends.cudnn, ctypes.CDLL("libcudnn.so.9")
    convolutions()
    assert library.standin_dnn_calls() == 3 and cudnn.version() == 90000 and cudnn.is_available()
    x, w, b = normal(2, 4, 9, 8), normal(6, 2, 3, 2), normal(6)
    two = dict(stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)
    calls = lambda: library.standin_dnn_calls()  # noqa: E731
    before = calls()
    for dtype, limit in (
        (lamella.float32, 1e-5),
        (lamella.float64, 1e-12),
        (lamella.float16, 3e-3),
        (lamella.bfloat16, 2e-2),
    ):
        for last in (False, True):
            against_cpu(lambda *t: F.conv2d(*t, **two), x, w, b, dtype=dtype, limit=limit, last=last)
            assert library.standin_dnn_channels_last() == last
    one = dict(stride=2, padding=1, dilation=2, groups=2)
    against_cpu(lambda *t: F.conv1d(*t, **one), x[:, :, 0], w[:, :, 0], b)
    x3, w3 = normal(2, 4, 5, 6, 4), normal(6, 2, 3, 2, 1)
    against_cpu(lambda *t: F.conv3d(*t, stride=(1, 2, 1), padding=(1, 0, 2), dilation=(2, 1, 1), groups=2), x3, w3, b)
    against_cpu(lambda *t: F.conv_transpose2d(*t, stride=2, padding=1, output_padding=1), x, normal(4, 3, 3, 3), b[:3])
    against_cpu(lambda *t: F.conv2d(*t, padding="same"), x, normal(3, 4, 2, 2), b[:3])
    against_cpu(lambda *t: F.conv2d(*t, groups=4), x, normal(8, 1, 3, 3))
    assert calls() == before + 3 * 13, calls()
    # Operands with other strides, also at odd addresses, are copied.
    wide = there(normal(2, 4, 9, 17))
    for odd in (wide[..., ::2], wide[..., 1:], wide.transpose(2, 3), wide[:, :, :, :1].expand(2, 4, 9, 8), wide[1:]):
        check(
            F.conv2d(odd, there(w), groups=2), F.conv2d(odd.cpu().double(), there(w).cpu().double(), groups=2).numpy()
        )
    # A plan is made once, and threads share it.
    searches, before = library.standin_dnn_searches(), calls()
    for _ in range(3):
        against_cpu(lambda *t: F.conv2d(*t, **two), x, w, b)
    assert library.standin_dnn_searches() == searches and calls() == before + 9
    # A problem that cuDNN refuses, at the search or when it runs, is computed without it, and not searched for again.
    for refused in (dict(stride=7), dict(dilation=5, padding=5)):
        for _ in range(2):
            searches = library.standin_dnn_searches()
            against_cpu(lambda *t: F.conv2d(*t, groups=2, **refused), x, w, b)  # noqa: B023
    assert library.standin_dnn_searches() == searches and calls() == before + 9
    plans = lamella.ops.cuda._cudnn_plans()
    assert plans.count("refused: cudnnGetConvolution") == 3 and plans.count("bytes refused") == 6, plans
    whole = rng.integers(-9, 9, (1, 2, 5, 5))
    check(
        F.conv2d(there(whole), there(whole[:, :, :2, :2].copy())),
        F.conv2d(lamella.tensor(whole), lamella.tensor(whole[:, :, :2, :2].copy())).numpy(),
    )
    # The switches.
    assert library.standin_dnn_algorithm() == 0
    with cudnn.flags(deterministic=True):
        against_cpu(lambda *t: F.conv2d(*t, **two), x, w, b)
        assert library.standin_dnn_algorithm() == 1
    lamella.use_deterministic_algorithms(True)
    against_cpu(lambda *t: F.conv2d(*t), x, w3[:, :, 0].repeat(2, 1), b)
    assert library.standin_dnn_algorithm() == 1 and not cudnn.deterministic
    lamella.use_deterministic_algorithms(False)
    exact = F.conv2d(there(x), there(w), groups=2)
    assert library.standin_dnn_algorithm() == 0
    before = calls()
    with cudnn.flags(enabled=False):
        check(F.conv2d(there(x), there(w), groups=2), exact.cpu().numpy())
    assert calls() == before and cudnn.enabled
    cudnn.allow_tf32 = True
    error = (F.conv2d(there(x), there(w), groups=2) - exact).abs().max().item()
    assert 1e-6 < error < 1e-2, error
    # A captured convolution, whose plan and work space are made during the capture.
    given, weight = there(x), there(w)
    with cudnn.flags(deterministic=True):
        graph = lamella.cuda.CUDAGraph()
        with lamella.cuda.graph(graph):
            captured = F.conv2d(given, weight, stride=2, groups=2)
        given.mul_(2)
        for _ in range(2):
            graph.replay()
        check(captured, 2 * F.conv2d(there(x), there(w), stride=2, groups=2).cpu().numpy(), 1e-2, 1e-2)


def attention(dtype, limit, heads, sizes, how, scale=None):
    """Compares values and all gradients of attention with numpy's. `how` is "masked", "added", "causal" or "whole";
    sizes are those of queries, keys, and the widths of keys and values. The added mask hides keys by the lowest number
    of float32: the first tile, the keys that a bool mask hides, and all keys but one of the first query."""
    queries, keys, width, value_width = sizes
    q, k, v = (normal(1, h, *s) for h, s in ((heads, (queries, width)), (1, (keys, width)), (1, (keys, value_width))))
    mask = rng.random((queries, keys)) < 0.7
    if how == "added":
        mask[:, :64] = mask[0] = False
        mask[0, -1] = True
    given = [there(x, dtype).requires_grad_() for x in (q, k, v)]
    added = there(np.where(mask, np.float32(0), np.finfo(np.float32).min))
    more = {"masked": dict(attn_mask=there(mask)), "added": dict(attn_mask=added), "causal": dict(is_causal=True)}
    more = more.get(how, {})
    out = lamella.nn.functional.scaled_dot_product_attention(*given, enable_gqa=True, scale=scale, **more)
    sees = {"causal": np.tri(queries, keys, dtype=bool), "whole": np.ones_like(mask)}.get(how, mask)
    q, k, v = (x.detach().cpu().to(lamella.float64).numpy() for x in given)
    scale = width**-0.5 if scale is None else scale
    s = np.where(sees, q @ k.swapaxes(2, 3) * scale, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    check(out, p @ v, limit, limit)
    g = there(normal(*out.shape), dtype)
    out.backward(g)
    g = g.cpu().to(lamella.float64).numpy()
    d = p * (g @ v.swapaxes(2, 3) - (g * (p @ v)).sum(-1, keepdims=True)) * scale
    check(given[0].grad, d @ k, limit, limit)
    check(given[1].grad, (d.swapaxes(2, 3) @ q).sum(1, keepdims=True), limit, 3 * limit)
    check(given[2].grad, (p.swapaxes(2, 3) @ g).sum(1, keepdims=True), limit, 3 * limit)


def attentions():
    """Several tiles of queries and keys, heads that share keys, masks and causal attention, with all gradients."""
    by_warps = ((lamella.bfloat16, 0.06), (70, 130, 48, 32)), ((lamella.float16, 0.01), (70, 100, 72, 88))
    for (dtype, limit), sizes in by_warps:  # widths of up to 64, and beyond
        for how in ("masked", "added", "causal", "whole"):
            attention(dtype, limit, 2 if how == "causal" else 1, sizes, how)
    attention(lamella.float16, 0.01, 1, (150, 40, 64, 64), "whole", scale=-0.1)
    for how in ("masked", "causal"):
        attention(lamella.bfloat16, 0.06, 1, (70, 100, 136, 160), how)  # two kernels for gradients of keys and values
    attention(lamella.bfloat16, 0.06, 1, (5, 3, 12, 20), "causal")  # rows that cannot be read 16 bytes at a time


def wide_attentions():
    """The same for float32, by split numbers and without the matrix instruction, and for float64."""
    for width, how in ((48, "causal"), (56, "added"), (72, "masked"), (128, "whole")):
        attention(lamella.float32, 2e-5, 2, (70, 130, width, 32), how)
    for dtype, sizes in ((lamella.float32, (70, 130, 9, 30)), (lamella.float64, (70, 70, 72, 32))):
        attention(dtype, 1e-4 if dtype == lamella.float32 else 1e-12, 2, sizes, "causal")


def long_sums():
    """Errors of float32 sums do not add up over many tiles. All scores are 0, so that the result is a mean."""
    v = 1 + rng.random((1, 1, 512, 8)).astype(np.float32)
    q, k = lamella.zeros(1, 1, 1, 8, device=DEVICE), there(normal(1, 1, 512, 8))
    exact = v.mean(2, keepdims=True, dtype=np.float64)
    check(lamella.nn.functional.scaled_dot_product_attention(q, k, there(v)), exact, 1e-6, 0)


def dropouts():
    """Attention with dropout takes the same words as on the cpu, forward and backward, in kernels of each kind."""
    attend = lamella.ops.aten._attention_dropout
    for dtype, limit, width, masked in (
        (lamella.float32, 2e-5, 64, True),
        (lamella.float32, 2e-5, 72, False),
        (lamella.float32, 2e-5, 10, False),
        (lamella.float64, 1e-12, 8, True),
        (lamella.bfloat16, 0.08, 32, False),
        (lamella.float16, 0.01, 96, True),
    ):
        given = [normal(1, h, n, width) for h, n in ((2, 70), (1, 131), (1, 131))]
        mask, g, results = rng.random((70, 131)) < 0.8, normal(1, 2, 70, width), []
        for device in (DEVICE, "cpu"):
            lamella.manual_seed(5)
            lamella.rand(3, device=device)  # attention draws from a later place
            q, k, v = (lamella.tensor(x, dtype=dtype, device=device).requires_grad_() for x in given)
            hidden = lamella.tensor(mask, device=device) if masked else None
            out, sums, words = attend(q, k, v, hidden, not masked, 0.2, 0.3)
            out.backward(lamella.tensor(g, dtype=dtype, device=device))
            results.append([out, sums, q.grad, k.grad, v.grad])
            assert words.tolist() == [5, 4], words
        for got, wanted in zip(*results, strict=True):
            check(got, wanted.detach().to(lamella.float64).numpy(), limit, limit)
    q = there(normal(1, 1, 5, 8))
    assert (attend(q, q, q, None, False, 1.0, 1.0)[0] == 0).all()
    for dtype, limit, shape in (  # gradients of masks, which broadcast over tiles and heads
        (lamella.float32, 1e-4, (70, 131)),
        (lamella.float32, 1e-4, (1, 1, 131)),
        (lamella.bfloat16, 0.08, (2, 70, 1)),
    ):
        given, added, g, results = [normal(1, 2, n, 8) for n in (70, 131, 131)], normal(*shape), normal(1, 2, 70, 8), []
        for device in (DEVICE, "cpu"):
            lamella.manual_seed(5)
            q, k, v, g_there = (lamella.tensor(x, dtype=dtype, device=device) for x in (*given, g))
            mask = lamella.tensor(added, device=device).requires_grad_()
            attend(q, k, v, mask, shape[0] == 1, 0.2, 0.3)[0].backward(g_there)
            results.append(mask.grad)
        check(results[0], results[1].to(lamella.float64).numpy(), limit, limit)


def updates():
    """Updates of more tensors than a launch takes, of two dtypes, with ends that no pack covers, against the cpu's."""
    shapes = [(3, 5), (), (4099,), (0,), (17, 3)] * 14
    first = [normal(*s) for s in shapes]
    gradients = [normal(*s) for s in shapes]
    for name in ("SGD", "AdamW", "RAdam", "NAdam", "ASGD"):
        results = []
        for device in (DEVICE, "cpu"):
            kinds = [lamella.bfloat16 if i % 9 == 0 else lamella.float32 for i in range(len(shapes))]
            w = [lamella.tensor(x, dtype=t).to(device).requires_grad_() for x, t in zip(first, kinds, strict=True)]
            optimizer = getattr(lamella.optim, name)(w, lr=0.01)
            for _ in range(2):
                for p, g in zip(w, gradients, strict=True):
                    p.grad = lamella.tensor(g, dtype=p.dtype).to(device)
                optimizer.step()
            results.append([p.detach() for p in w])
        for got, wanted in zip(*results, strict=True):
            limit = 0.02 if got.dtype == lamella.bfloat16 else 1e-5
            check(got, wanted.to(lamella.float64).numpy(), limit, limit)


def faults():
    """Indices that are out of range are errors of the next wait, once, and touch nothing else."""
    x = there(np.arange(12.0).reshape(3, 4))
    bad = there(np.array([0, 3]))
    for work in (
        lambda: x.index_select(0, bad),
        lambda: x[bad],
        lambda: lamella.embedding(x, bad),
        lambda: x.index_add_(0, bad, x[:2] * 0),
        lambda: x.index_put_([bad], x[:2] * 0 + x[:2]),
    ):
        try:
            work()
            lamella.cuda.synchronize()
        except IndexError as error:
            assert "3 is out of range" in str(error), error
        else:
            raise AssertionError("no error")
        lamella.cuda.synchronize()
    check(x[1:], np.arange(4.0, 12).reshape(2, 4))


def codes_of(x, scale, zero, low, high):
    """Integers by numpy: x / scale, rounded to float32 and then to an integer, plus the zero point, within a range."""
    near = np.rint(np.float32(x) / np.float32(scale)).astype(np.float64)
    return np.where(np.isnan(near), low, np.clip(np.nan_to_num(near, posinf=1e30, neginf=-1e30) + zero, low, high))


def quantizations():
    """Scales of a tensor, of channels and of groups, in packs and beside them, rows by their range, four bits."""
    ops, kinds = (
        lamella.ops.aten,
        {lamella.uint8: (0, 255), lamella.int8: (-128, 127), lamella.int32: (-(2**31), 2**31 - 1)},
    )
    for dtype, (low, high) in kinds.items():
        for numel, n, inner, first in (
            (1 << 16, 1, 7, 3),
            (9999, 1, 1, 0),
            (4096, 64, 64, 0),
            (6000, 5, 24, 8),
            (700, 9, 3, 5),
        ):
            x = normal(numel) * 30
            x[:4] = np.inf, -np.inf, np.nan, 0.5
            scale = np.abs(normal(n)) + np.float32(0.1)
            zero = rng.integers(-9, 90, n).astype(np.int32)
            zero[0] = 2**31 - 1 if dtype == lamella.int32 else zero[0]
            at = (first + np.arange(numel)) // inner % n
            numbers = there(scale if n > 1 else scale[0]), there(zero if n > 1 else zero[0])
            wanted = codes_of(x, scale[at], zero[at].astype(np.float64), low, high).astype(np.int64)
            got = ops._quantize(there(x), *numbers, inner, low, high, dtype, first)
            check(got, wanted, 0, 0)
            values = ((wanted - zero[at]).astype(np.float32) * scale[at]).astype(np.float32)
            check(ops._dequantize(got, *numbers, inner, lamella.float32, first), values, 0, 0)
            check(ops._quantize(there(x), numbers[0], None, inner, low, high, dtype, first),
                  codes_of(x, scale[at], 0, low, high), 0, 0)  # fmt: skip
            half = there(x).to(lamella.bfloat16)
            wanted = codes_of(half.float().cpu().numpy(), scale[at], zero[at].astype(np.float64), low, high)
            check(ops._quantize(half, *numbers, inner, low, high, dtype, first), wanted, 0, 0)

    for rows, width in ((70, 64), (3, 5000), (9, 33), (2, 20000)):
        x = normal(rows, width)
        x[0], x[1, 3] = 0, np.nan
        for symmetric, low, high in ((False, 0, 127), (True, -127, 127), (False, -128, 127)):
            least, most = np.minimum(x.min(1), 0), np.maximum(x.max(1), 0)
            steps = np.float32(high - low)
            chosen = np.maximum(-least, most) / (steps / 2) if symmetric else (most - least) / steps
            good = chosen > 0
            scale = np.where(good, chosen, np.float32(1)).astype(np.float32)
            zero = np.full(rows, (low + high + 1) >> 1 if symmetric else np.clip(0, low, high))
            if not symmetric:
                zero = np.where(good, np.clip(low - np.rint(np.where(good, least, 0) / scale), low, high), zero)
            got = ops._quantize_rows(there(x), low, high, lamella.int8, symmetric)
            check(got[0], codes_of(x, scale[:, None], zero[:, None], low, high), 0, 0)
            check(got[1], scale, 0, 0)
            check(got[2], zero, 0, 0)
    for numel in (1, 7, 5000):
        bits = rng.integers(-8, 8, numel).astype(np.int8)
        packed = ops._pack_nibbles(there(bits))
        pairs = np.append(bits, 0)[: (numel + 1) // 2 * 2].astype(np.uint8) & 15
        check(packed, pairs[::2] | pairs[1::2] << 4, 0, 0)
        check(ops._unpack_nibbles(packed, [numel], lamella.int8), bits, 0, 0)
        check(ops._unpack_nibbles(packed, [numel], lamella.uint8), bits.astype(np.uint8) & 15, 0, 0)


def byte_products():
    """Linear layers of integers, of few rows and of many, by each length of a load, and of floats by integers."""
    ops = lamella.ops.aten
    for rows, columns, depth in ((1, 40, 64), (3, 17, 37), (20, 24, 48), (70, 32, 100), (33, 9, 128), (18, 40, 6)):
        w = rng.integers(-128, 128, (columns, depth)).astype(np.int8)
        zero = rng.integers(-100, 100, rows).astype(np.int32)
        by, scale, bias = np.abs(normal(rows)), np.abs(normal(columns)), normal(columns)
        for kind, low, high in ((np.uint8, 0, 256), (np.int8, -128, 128)):
            x = rng.integers(low, high, (rows, depth)).astype(kind)
            sums = x.astype(np.int64) @ w.T.astype(np.int64)
            check(ops._int_linear(there(x), there(w)), sums, 0, 0)
            check(ops._int_mm(there(x), there(w.T)), sums, 0, 0)
            check(ops._int_mm(there(x), there(w).t()), sums, 0, 0)
            moved = sums - zero[:, None].astype(np.int64) * w.sum(1, dtype=np.int64)
            check(ops._int_linear(there(x), there(w), there(zero)), moved, 0, 0)
            check(
                ops._int_linear(there(x), there(w), there(zero[0])),
                sums - int(zero[0]) * w.sum(1, dtype=np.int64),
                0,
                0,
            )
            wanted = moved.astype(np.float32) * (by[:, None] * scale)
            given = there(zero), there(by), there(scale)
            row_sums = there(w.sum(1, dtype=np.int32))
            check(ops._int_linear(there(x), there(w), *given, None, row_sums), wanted, 0, 0)
            check(ops._int_linear(there(x), there(w), *given, there(bias)), wanted + bias, 0, 0)
            check(ops._int_linear(there(x)[:, None], there(w), None, None, there(scale[0])),
                  (sums.astype(np.float32) * scale[0])[:, None], 0, 0)  # fmt: skip
    deep = there(np.full((20, 1 << 18), -128, np.int8))  # sums beyond int32 wrap
    check(ops._int_linear(deep, deep[:8]), np.zeros((20, 8)), 0, 0)
    large = there(np.where(np.arange(64) == 7, np.float32(3e38), 1)[None])
    few_codes = np.tile(np.array([[1, -2]], np.int8), (3, 32))
    for codes in (there(few_codes), ops._pack_nibbles(there(few_codes)).view(3, 32)):
        check(
            ops._weight_linear(large, codes, there(np.full((3, 1), 0.25, np.float32))), np.full((1, 3), -1.5e38), 1e-6
        )
    limits = {lamella.float32: 2e-5, lamella.float16: 0.02, lamella.bfloat16: 0.1}
    for rows, columns, depth, groups in (
        (1, 40, 512, 1),
        (3, 17, 64, 4),
        (9, 20, 96, 3),
        (40, 33, 64, 2),
        (2, 5, 36, 6),
    ):
        w = rng.integers(-8, 8, (columns, depth)).astype(np.int8)
        scale, x, bias = np.abs(normal(columns, groups)) + np.float32(0.1), normal(rows, depth), normal(columns)
        values = w.reshape(columns, groups, -1) * scale[:, :, None].astype(np.float64)
        wanted = x @ values.reshape(columns, depth).T
        nibbles = ops._pack_nibbles(there(w)).view(columns, depth // 2)
        for dtype, limit in limits.items():
            for codes in (there(w), nibbles):
                a, b = there(x, dtype), there(bias, dtype)
                check(ops._weight_linear(a, codes, there(scale)), wanted, limit, limit * depth**0.5)
                check(
                    ops._weight_linear(a[:, None], codes, there(scale), b),
                    (wanted + bias)[:, None],
                    limit,
                    limit * depth**0.5,
                )


CASES = [products, sorts, selections, meeting, nonzeros, rows, weights, columns, short_floats, pools, batches]
CASES += [convolutions, attentions, wide_attentions, long_sums, dropouts, updates, faults]
CASES += [quantizations, byte_products]

if __name__ == "__main__":
    lamella.backends.cudnn.allow_tf32 = False
    named = {case.__name__: case for case in (*CASES, blas, dnn)}
    for name in sys.argv[1:] or share([case.__name__ for case in CASES]):
        named[name]()
    counted = [c.operator for c in lamella.fallback_counts()]
    assert not counted, counted
    print("hash", hashed.hexdigest())
