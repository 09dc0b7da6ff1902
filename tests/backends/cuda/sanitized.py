"""Runs each file of kernels once, with small sizes, for compute-sanitizer on a machine with a GPU.

``compute-sanitizer --tool memcheck python sanitized.py [words...]`` runs the parts whose names hold a word, or all.
``python sanitized.py planted`` writes past the end of memory by a kernel of CuPy's, which the tool must report.
"""

from __future__ import annotations

import sys

import lamella
from lamella import nn
from lamella.nn import functional as F

DEVICE = "cuda"


def rand(*shape, dtype=lamella.float32, grad=True):
    made = lamella.rand(*shape, device=DEVICE).to(dtype)
    return made.requires_grad_() if grad and made.is_floating_point() else made


def pointwise():
    x, y = rand(33, 7), rand(7, 33).t()
    ((x * y).exp() + x.to(lamella.bfloat16)).float().sum().backward()
    lamella.where(x > 0.5, x, y), x.detach()[1:, ::2].clone(), lamella.arange(100, device=DEVICE) // 7
    lamella.cat([x.detach()[:5], y.detach()], 0).fill_(2)


def reductions():
    for x in (rand(5, 3001), rand(3001, 5), rand(700, 64), rand(70000)):
        (x.sum() + x.mean(-1).sum() + x.amax(0).sum() + x.logsumexp(0).sum()).backward()
        x.argmax(0), x.var(0), (x > 0.5).any(), x.prod(0), x.norm()


def scans():
    for x in (rand(5, 3001), rand(1500, 3)):
        x.cumsum(0).sum().backward()
        x.cumsum(1), x.detach().cummax(0), x.detach().logcumsumexp(1)


def sorts():
    for n in (7, 600, 3000, 9000):
        x = rand(2, n, grad=False)
        x.sort(1), x.topk(3), (x * 100).long().unique(), x.median(), lamella.randperm(n, device=DEVICE)


def rows():
    for n in (7, 600, 13001):
        x, target = rand(3, n), lamella.arange(3, device=DEVICE)
        F.cross_entropy(x, target).backward()
        F.softmax(x, 1).square().sum().backward()
        F.softmax(x.t(), 0).sum().backward()


def norms():
    for layer, x in (
        (nn.LayerNorm(300), rand(17, 300)),
        (nn.LayerNorm(5000), rand(3, 5000)),
        (nn.GroupNorm(2, 6), rand(3, 6, 9)),
        (nn.BatchNorm2d(3), rand(5, 3, 20, 31)),
        (nn.RMSNorm(65), rand(9, 65)),
    ):
        layer.to(DEVICE)(x).square().sum().backward()


def attention():
    for dtype in (lamella.float32, lamella.bfloat16):
        for width in (32, 72):
            shapes = (1, 2, 70, width), (1, 2, 130, width), (1, 2, 130, 32)
            q, k, v = (rand(*shape, dtype=dtype) for shape in shapes)
            F.scaled_dot_product_attention(q, k, v, is_causal=True).float().sum().backward()
            mask = rand(70, 130, grad=False) < 0.7
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask).float().sum().backward()
            F.scaled_dot_product_attention(q, k, v, dropout_p=0.3).float().sum().backward()
    wide = [rand(1, 2, n, 160, dtype=lamella.bfloat16) for n in (70, 130, 130)]
    F.scaled_dot_product_attention(*wide).float().sum().backward()
    plain = [rand(1, 2, n, 9) for n in (70, 130, 130)]
    added = rand(70, 130)
    F.scaled_dot_product_attention(*plain, attn_mask=added, dropout_p=0.3).sum().backward()


def convolutions():
    for dtype in (lamella.float32, lamella.bfloat16):
        x, w = rand(2, 4, 19, 21, dtype=dtype), rand(6, 2, 3, 2, dtype=dtype)
        F.conv2d(x, w, stride=(2, 1), padding=1, dilation=(1, 2), groups=2).float().sum().backward()
        F.conv_transpose2d(x, rand(4, 3, 3, 3, dtype=dtype), stride=2).float().sum().backward()


def pools():
    x = rand(2, 3, 13, 15)
    (F.max_pool2d(x, 3, 2, 1).sum() + F.avg_pool2d(x, 2).sum() + F.adaptive_avg_pool2d(x, 4).sum()).backward()
    F.interpolate(x, scale_factor=2, mode="bilinear").sum().backward()


def indexing():
    x, at = rand(50, 7), lamella.arange(400, device=DEVICE) % 50
    (x[at].sum() + x.index_select(0, at).sum() + F.embedding(at, x).sum() + x.gather(0, at[:7, None]).sum()).backward()
    y = x.detach().clone()
    y.index_add_(0, at, rand(400, 7, grad=False))
    y.scatter_add_(0, at[:, None].expand(400, 7).contiguous(), rand(400, 7, grad=False))
    y[y > 0.5], (y > 0.5).nonzero(), y.masked_fill_(y > 1, 0)
    y.index_put_([at], y[0]), y.scatter_(0, at[:7, None], 1.0)


def random():
    x = rand(1003)
    F.dropout(x, 0.3).sum().backward()
    lamella.randn(777, device=DEVICE), lamella.randint(9, (55,), device=DEVICE), x.detach().bernoulli()
    x.detach()[:50].multinomial(9)


def products():
    for dtype in (lamella.float32, lamella.bfloat16, lamella.float64, lamella.int32, lamella.complex64):
        a, b = rand(70, 37, grad=False).to(dtype), rand(90, 37, grad=False).to(dtype).t()
        a @ b, a @ b[:, 0], lamella.bmm(a[None], b[None])  # by cuBLAS, if it is there
    lamella.ops.aten.mm(rand(37, 5, grad=False).t()[:, ::2], rand(19, 5, grad=False))


def updates():
    for name in ("SGD", "AdamW"):
        w = [rand(*shape).detach().requires_grad_() for shape in ((3, 5), (4099,), (17, 3))]
        optimizer = getattr(lamella.optim, name)(w, lr=0.01)
        for _ in range(2):
            for p in w:
                p.grad = lamella.ones_like(p)
            optimizer.step()


def factorizations():
    """The kernels beside cuSOLVER's calls, if it is there."""
    rand(1)  # the operators of `cuda` come with the device
    if not lamella.ops.cuda._cusolver_version():
        return
    la = lamella.linalg
    for dtype in (lamella.float32, lamella.complex64):
        a = rand(3, 7, 5, dtype=dtype, grad=False)
        p = a @ a.mH + lamella.eye(7, dtype=dtype, device=DEVICE)
        for matrix in (p, p[0]):
            la.solve(matrix, matrix), la.solve(matrix, matrix, left=False), la.cholesky(matrix), la.eigh(matrix)
            la.lu_factor(matrix, pivot=False), la.ldl_solve(*la.ldl_factor(matrix + matrix.mT), matrix)
        for matrix in (a, a[0], a.mT):
            la.qr(matrix, "complete"), la.svd(matrix), la.lstsq(matrix, matrix, driver="gels")


def planted():
    import cupy

    kernel = cupy.RawKernel('extern "C" __global__ void wrong(float* x) { x[(1 << 20) + threadIdx.x] = 1; }', "wrong")
    with cupy.cuda.using_allocator(None):  # without a pool the memory ends where the array does
        kernel((1,), (32,), (cupy.zeros(8, "float32"),))
        cupy.cuda.Device().synchronize()


PARTS = [
    *(pointwise, reductions, scans, sorts, rows, norms, attention, convolutions, pools, indexing, random, products),
    *(updates, factorizations),
]


def main(words: list[str]) -> None:
    if words == ["planted"]:
        return planted()
    for part in PARTS:
        if not words or any(word in part.__name__ for word in words):
            part()
            lamella.cuda.synchronize()
            print(part.__name__, flush=True)
    counted = [c.operator for c in lamella.fallback_counts()]
    assert not counted, counted


if __name__ == "__main__":
    main(sys.argv[1:])
