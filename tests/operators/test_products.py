"""einsum, tensordot and other operators made of products equal numpy's; integer products wrap as numpy's do."""

import lamella
import numpy as np
import pytest
from arrays import INTEGERS, lt_dtype, to_lamella, to_numpy

A = lamella.ops.aten
EQUATIONS = [
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("iij->ij", (3, 3, 2)),
    ("ij->j", (3, 4)),
    ("i,j->ij", (3,), (4,)),
    ("i,i", (5,), (5,)),
    ("ba,ca", (2, 3), (4, 3)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)),
    ("...,...->...", (2, 3), (3,)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("abc,abd,ade->abce", (2, 3, 4), (2, 3, 5), (2, 5, 6)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("aij,b->ab", (2, 3, 4), (5,)),
    ("ij,jk->ik", (2, 1), (2, 3)),
    ("ij,jk->ik", (3, 2), (1, 4)),
    ("bij,bjk->bik", (1, 2, 3), (2, 3, 2)),
    ("ij,jk->ik", (0, 4), (4, 5)),
    ("ij,jk->ik", (2, 0), (0, 5)),
]


def integers(name, shape, seed):
    return np.random.default_rng(seed).integers(0, 9, shape).astype(name)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS])
def test_einsum(equation, shapes, name, composite):
    arrays = [integers(name, s, i) for i, s in enumerate(shapes)]
    with lamella.library.kernels_disabled(["aten::mm", "aten::mv", "aten::dot"] if composite else [], "cpu"):
        result = A.einsum(equation, [to_lamella(a) for a in arrays])
    np.testing.assert_array_equal(to_numpy(result), np.einsum(equation, *arrays))


@pytest.mark.parametrize(
    "equation, shapes, text",
    [
        ("ij", [(2,)], "operand 0 has 2 labels"),
        ("i1", [(2, 3)], "'1' is no label"),
        ("éi", [(2, 3)], "'é' is no label"),
        ("ij->k", [(2, 3)], "label 'k' of the output is in no operand"),
        ("ij->ii", [(2, 3)], "label 'i' appears twice"),
        ("ii", [(2, 3)], "label 'i'"),
        ("......", [(2, 3)], "two ellipses"),
    ],
)
def test_bad_equations(equation, shapes, text):
    with pytest.raises(RuntimeError, match=text):
        A.einsum(equation, [lamella.ones(s) for s in shapes])


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("n, k, m", [(3, 4, 5), (30, 50, 70), (1, 300, 40), (40, 300, 1)])
def test_integers_wrap(name, n, k, m):
    limits = np.iinfo(name)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(limits.min, limits.max, s, dtype=name) for s in ((n, k), (k, m)))
    np.testing.assert_array_equal(to_numpy(to_lamella(x) @ to_lamella(y)), x @ y)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
@pytest.mark.parametrize("n, k, m", [(2, 3, 4), (30, 50, 70)])
def test_complex(name, n, k, m):
    rng = np.random.default_rng(0)
    x, y = ((rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(name) for s in ((n, k), (k, m)))
    bound = 8 * k * np.finfo(name).eps
    np.testing.assert_allclose(to_numpy(to_lamella(x) @ to_lamella(y)), x @ y, rtol=bound, atol=bound)
    left = to_lamella(np.ascontiguousarray(x.T)).t()
    bias = y[0].copy()
    linear = A.linear(left, to_lamella(np.ascontiguousarray(y.T)), to_lamella(bias))
    np.testing.assert_allclose(to_numpy(linear), x @ y + bias, rtol=bound, atol=bound)


@pytest.mark.parametrize("composite", [False, True])
def test_what_is_written_over_products(composite):
    x, y, v, w = (integers("float64", s, i) for i, s in enumerate([(3, 4), (4, 5), (4,), (3,)]))
    a, b, p, q = (to_lamella(t) for t in (x, y, v, w))
    names = ["aten::mm", "aten::mv", "aten::dot", "aten::linear"]
    with lamella.library.kernels_disabled(names if composite else [], "cpu"):
        results = {
            "mv": (a.mv(p), x @ v),
            "dot": (lamella.dot(p, p), v @ v),
            "vdot": (lamella.vdot(p, p), v @ v),
            "inner": (lamella.inner(a, p), np.inner(x, v)),
            "outer": (lamella.outer(q, p), np.outer(w, v)),
            "addmm": (
                lamella.addmm(lamella.ones(5, dtype=lamella.float64), a, b, beta=2, alpha=0.5),
                2 + 0.5 * (x @ y),
            ),
            "addmv": (lamella.addmv(q, a, p), w + x @ v),
            "addr": (lamella.addr(a, q, p, alpha=3), x + 3 * np.outer(w, v)),
            "baddbmm": (lamella.baddbmm(a[None, :, :1], a[None], b[None]), (x[:, :1] + x @ y)[None]),
            "linear": (A.linear(a, b.t(), b[0]), x @ y + y[0]),
            "linear of a vector": (A.linear(p, b.t()), v @ y),
            "linear with one row": (A.linear(a, p), x @ v),
            "tensordot": (A.tensordot(a, b, [1], [0]), np.tensordot(x, y, 1)),
            "tensordot of none": (A.tensordot(p, q, 0), np.tensordot(v, w, 0)),
            "kron": (lamella.kron(a, b), np.kron(x, y)),
            "kron of ranks": (lamella.kron(p, a), np.kron(v, x)),
        }
    for name, (result, expected) in results.items():
        np.testing.assert_array_equal(to_numpy(result), expected, err_msg=name)


def test_nothing_is_read_with_beta_0():
    nan = lamella.full((2, 2), float("nan"))
    assert lamella.addmm(nan, lamella.ones(2, 3), lamella.ones(3, 2), beta=0).tolist() == [[3.0, 3.0]] * 2
    nan.addmm_(lamella.ones(2, 3), lamella.ones(3, 2), beta=0)
    assert nan.tolist() == [[3.0, 3.0]] * 2


@pytest.mark.parametrize("name", ["float32", "float64", "int32", "complex64"])
@pytest.mark.parametrize("shape", [(300, 350), (350,), (300, 1), ()])
def test_what_is_added_lies_anyhow(shape, name):
    x, y, z = (
        np.random.default_rng(i).integers(-9, 9, s).astype(name) for i, s in enumerate([(300, 40), (40, 350), shape])
    )
    expected = 2 * z - 3 * (x @ y)
    for self in (
        to_lamella(z),
        to_lamella(np.array(z, order="F")),
        to_lamella(np.repeat(z, 2, -1))[..., ::2] if shape else to_lamella(z),
    ):
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            np.testing.assert_array_equal(
                to_numpy(lamella.addmm(self, to_lamella(x), to_lamella(y), beta=2, alpha=-3)), expected
            )
            columns = lamella.empty(350, 300, dtype=self.dtype).t()
            lamella.addmm(self, to_lamella(x), to_lamella(y), beta=2, alpha=-3, out=columns)
            np.testing.assert_array_equal(to_numpy(columns), expected)


def test_infinity_is_not_multiplied_by_beta_0():
    x = lamella.full((2, 2), float("inf"))
    assert lamella.addmm(x, x, lamella.ones(2, 2), beta=0, alpha=2).tolist() == [[float("inf")] * 2] * 2


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_floating_factors_of_integers_lose_their_fraction(dtype, composite):
    x, y = integers(dtype, (3, 4), 0), integers(dtype, (4, 5), 1)
    a, b, one = to_lamella(x), to_lamella(y), lamella.ones(5, dtype=getattr(lamella, dtype))
    with lamella.library.kernels_disabled(["aten::addmm", "aten::baddbmm", "aten::mm"] if composite else [], "cpu"):
        for result in (
            lamella.addmm(one, a, b, beta=2.5, alpha=3.75),
            lamella.baddbmm(one, a[None], b[None], beta=2.5, alpha=3.75)[0],
            lamella.addbmm(one, a[None], b[None], beta=2.5, alpha=3.75),
        ):
            np.testing.assert_array_equal(to_numpy(result), (2 + 3 * (x @ y)).astype(dtype))
    with pytest.raises(RuntimeError, match="addr: argument 'alpha': must be an integer beside dtype"):
        lamella.addr(a, a[:, 0], b[0, :4], alpha=2.5)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 400)), rng.standard_normal((400, 350))
    small, results = to_lamella(rng.standard_normal((280, 280)).astype("float32")), []
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        a, b = to_lamella(x), to_lamella(y)
        flat = a.reshape(-1)
        results.append(
            [
                to_numpy(r).tobytes()
                for r in (a @ b, a @ b[:, 0], a[0] @ b, lamella.dot(flat, flat), small @ small, small[:190] @ small)
            ]
        )
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_once(name):
    x, y = (to_lamella(integers("float32", s, 1)).to(lt_dtype(name)) for s in ((20, 30), (30, 10)))
    wide = (x.to(lamella.float32) @ y.to(lamella.float32)).to(x.dtype)
    assert (x @ y).to(lamella.float32).tolist() == wide.to(lamella.float32).tolist()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda one: lamella.dot(one(2, 3), one(2)), "dot: argument 'self': expected 1 dimension,"),
        (lambda one: A.tensordot(one(2, 3), one(2), [0, 1], [0]), "tensordot: argument 'dims_other'"),
    ],
)
def test_what_does_not_fit(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(lamella.ones)
