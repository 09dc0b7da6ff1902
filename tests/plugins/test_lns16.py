"""lns16.cpp, a dtype of another package: casts, printing, promotion, a pointwise kernel, pickles, withdrawal."""

from pathlib import Path

import pytest
from children import Guest
from compiled import compile_library

SETUP = """
    import ctypes, copy, math, pickle
    import lamella, tiny_lns
    lamella.plugins.status()
    lns16 = lamella.library.find_dtype("lns16")

    def number(x):  # what two bytes leave of a number, worked out apart
        return math.copysign(2.0 ** (round(math.log2(abs(x)) * 512) / 512), x) if x else 0.0
    def close(found, expected):
        flat = lambda v: [y for x in v for y in flat(x)] if isinstance(v, list) else [v]
        found, expected = flat(found), flat(expected)
        return len(found) == len(expected) and all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(found, expected))
    def refused(kind, words, call):
        with fails(kind, words):
            call()
    xs = [0.0, 1.0, -1.0, 3.3, -1e-3, 123.4]
    x = lamella.tensor(xs)
    t = x.to(lns16)
"""


@pytest.fixture
def lns(host, packages, tmp_path_factory):
    library = compile_library(tmp_path_factory, Path(__file__).with_name("lns16.cpp"))
    packages(
        "lns",
        f"""
        import ctypes
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            ctx.load_library({str(library)!r})

        def products():
            f = ctypes.CDLL({str(library)!r}).lns16_products
            f.restype = ctypes.c_int64
            return f()
        """,
    )
    return host


def run(host, code):
    return host.run(SETUP + code)


def test_casts_printing_and_what_a_tensor_tells(lns):
    run(
        lns,
        """
    assert t.dtype is lns16 and repr(lns16) == "lamella.lns16" and lamella.library.find_dtype("lns16") is lns16
    assert (lns16.itemsize, lns16.is_floating_point, lns16.is_signed, t.element_size()) == (2, True, True, 2)
    assert close(t.tolist(), [number(v) for v in xs]) and close(t.double().tolist(), [number(v) for v in xs])
    assert repr(lamella.tensor([1.0, -2.0]).to(lns16)) == "tensor([ 1., -2.], dtype=lamella.lns16)"
    assert lamella.full((2,), 4.0, dtype="lns16").tolist() == [4, 4]
    assert lamella.zeros(2, dtype=lns16).tolist() == [0, 0]
    assert close([t[3].item()], [number(3.3)])
    assert math.isnan(lamella.tensor(math.nan).to(lns16).item()) and lamella.tensor(1e30).to(lns16).item() < 5e9
    table = lamella.rand(3, 4, 5).add_(1)
    packed = table.to(lns16).transpose(0, 2)[1:, ::2]
    assert packed.dtype is lns16
    assert close(packed.clone().tolist(), packed.float().tolist()) and packed.contiguous().is_contiguous()
    assert lamella.cat([t, t]).tolist() == t.tolist() * 2
    assert copy.deepcopy(t).tolist() == t.tolist() and t.to(lamella.float8_e5m2).float().tolist()[1] == 1
    # No other program knows these bytes.
    refused(TypeError, "numpy has no lns16", t.numpy)
    refused(BufferError, "DLPack has no type for elements of dtype lns16", lambda: lamella.from_dlpack(t))
    refused(ValueError, "no dtype 'nonesuch' is registered", lambda: lamella.library.find_dtype("nonesuch"))
    """,
    )


def test_promotion_and_the_kernel_of_its_own(lns):
    run(
        lns,
        """
    together = lamella.promote_types
    assert together(lns16, lamella.int64) is lns16 is together(lamella.bool, lns16)
    assert together(lns16, lamella.float32) is lamella.float32 and together(lamella.float64, lns16) is lamella.float64
    assert together(lns16, lamella.complex64) is lamella.complex64
    refused(RuntimeError, "no dtype holds both", lambda: together(lns16, lamella.float16))
    a, b = lamella.rand(4, 5).add_(0.5), lamella.rand(5).add_(0.5)
    p, q = a.to(lns16), b.to(lns16)
    before = tiny_lns.products()
    product = p * q
    assert product.dtype is lns16 and product.shape == (4, 5) and tiny_lns.products() == before + 20
    expected = [[number(u) * number(v) for v, u in zip(b.tolist(), row)] for row in a.tolist()]
    assert close(product.tolist(), expected)  # sums of logarithms: exact, as no number is near the ends
    out = lamella.empty(4, 5, dtype=lns16)
    assert lamella.mul(p, q, out=out) is out and out.tolist() == product.tolist()
    same = p.clone()
    assert same.mul_(q) is same and same.tolist() == product.tolist()
    turned = p.t() * q[:4]
    assert close(turned.tolist(), [[x * y for x, y in zip(c, q[:4].tolist())] for c in p.t().tolist()])
    assert (p * 2).dtype is lns16 and close((p * 2).tolist(), [[2 * v for v in row] for row in p.tolist()])
    whole = lamella.arange(5)
    assert (q * whole).dtype is lns16
    # Beside a dtype that it promotes to, that one's kernels compute.
    before = tiny_lns.products()
    for found, expected in ((p * b, p.float() * b), (b + p, b + p.float()), (p < b, p.float() < b)):
        assert found.dtype is expected.dtype and found.tolist() == expected.tolist()
    assert tiny_lns.products() == before
    same = p.clone()
    assert same.add_(b).dtype is lns16 and same.tolist() == (p.float() + b).to(lns16).tolist()
    assert lamella.exp(b, out=lamella.empty(5, dtype=lns16)).tolist() == b.exp().to(lns16).tolist()
    # What it has no kernel for is an error, and leaves everything as it was.
    for call in (lambda: p + q, lambda: p.sum(), lambda: p.add_(q), lambda: p == q, lambda: p.exp()):
        refused(NotImplementedError, "has dtype lns16, for which 'cpu' has no kernel", call)
    assert p.tolist() == a.to(lns16).tolist()
    assert (p.float() + q.float()).to(lns16).dtype is lns16
    kernel = lamella.library.get_kernel("aten::mul.Tensor", "lns16")
    assert kernel(p, q).tolist() == product.tolist()
    refused(NotImplementedError, "mul", lambda: kernel(a, b))  # it is for its dtype
    with lamella.library.kernels_disabled("aten::mul.Tensor", "lns16"):
        refused(NotImplementedError, "has dtype lns16", lambda: p * q)
    assert (p * q).tolist() == product.tolist()
    """,
    )


def test_gradients_pass_the_casts(lns):
    run(
        lns,
        """
    leaf = lamella.rand(3).add_(1).requires_grad_()
    narrow = leaf.to(lns16)
    assert narrow.requires_grad
    (narrow * narrow.detach()).float().sum().backward()
    assert leaf.grad.dtype is lamella.float32 and close(leaf.grad.tolist(), narrow.tolist())
    """,
    )


def test_pickles_name_it(lns, tmp_path):
    file = tmp_path / "t.pickle"
    run(
        lns,
        f"""
    assert pickle.loads(pickle.dumps(lns16)) is lns16 and b"eval" not in pickle.dumps(t)
    with open({str(file)!r}, "wb") as f:
        pickle.dump(t, f)
    with open({str(file)!r}, "rb") as f:
        assert pickle.load(f).tolist() == t.tolist()
    """,
    )
    Guest(lns.python, lns.folder).run(f"""
        import pickle
        import lamella
        with fails(ValueError, "no dtype 'lns16' is registered; import the package that brings it"):
            pickle.load(open({str(file)!r}, "rb"))
    """)
