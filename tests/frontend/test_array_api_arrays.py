"""Arrays of lamella.array_api: how they are made, dtypes, indices, operators, linear algebra and transforms."""

import copy
import math
import pickle

import lamella
import lamella.array_api as xp
import numpy as np
import pytest
from standard import ALL, COMPLEX, FLOATING, INTEGER, NUMERIC, array, dtype, expect, numbers

# ---- making arrays ----


def test_arange_and_linspace():
    for arguments in ((5,), (1, 7, 2), (7, 1, -2), (3, 0), (0, 3, -1), (0.5, 2), (0, 1, 0.25), (2, 2)):
        expected = np.arange(*arguments)
        expected = expected.astype("float32") if expected.dtype.kind == "f" else expected
        expect(xp.arange(*arguments), expected)
    assert xp.arange(3, dtype=xp.uint8).dtype is xp.uint8
    with pytest.raises(ValueError, match="step"):
        xp.arange(1, 2, 0)
    for number, endpoint in ((0, True), (1, True), (1, False), (5, True), (5, False)):
        expect(
            xp.linspace(-1, 2, number, endpoint=endpoint),
            np.linspace(-1, 2, number, endpoint=endpoint, dtype="float32"),
        )
    expect(xp.linspace(0, 1 + 2j, 3, dtype=xp.complex128), np.linspace(0, 1 + 2j, 3))
    expect(xp.linspace(1j, 1, 2, endpoint=False), np.linspace(1j, 1, 2, endpoint=False, dtype="complex64"))


def test_eye_full_and_meshgrid():
    for rows, columns, k in ((3, None, 0), (2, 4, 1), (4, 2, -1), (2, 2, 5), (2, 2, -5), (0, 3, 0)):
        expect(xp.eye(rows, columns, k=k), np.eye(rows, columns, k=k, dtype="float32"))
    for value, name in ((True, "bool"), (7, "int64"), (1.5, "float32"), (1j, "complex64")):
        expect(xp.full(2, value), np.full(2, value, name))
        expect(xp.full((), value), np.full((), value, name))
    expect(xp.full_like(xp.ones(2, dtype=xp.int8), 7), np.full(2, 7, "int8"))
    expect(xp.full(2, 3.402823466385289e38j), np.full(2, 3.402823466385289e38j, "complex64"))
    expect(xp.full(1, 1e300), np.array([np.inf], "float32"))
    expect(xp.asarray([1.0]) < 1e300, np.array([True]))
    for indexing in ("xy", "ij"):
        a, b, c = np.arange(2), np.arange(3), np.arange(4)
        made = xp.meshgrid(*map(xp.asarray, (a, b, c)), indexing=indexing)
        assert type(made) is tuple
        expect(made, np.meshgrid(a, b, c, indexing=indexing))
    assert xp.meshgrid() == ()
    with pytest.raises(ValueError, match="one dtype"):
        xp.meshgrid(xp.ones(1), xp.arange(1))


@pytest.mark.parametrize("kind", ALL)
def test_of_a_dtype(kind):
    for name, shape in (("ones", 2), ("zeros", (2, 3)), ("ones", ())):
        expect(getattr(xp, name)(shape, dtype=dtype(kind)), getattr(np, name)(shape, dtype=kind))
        expect(getattr(xp, f"{name}_like")(xp.empty(shape), dtype=dtype(kind)), getattr(np, name)(shape, dtype=kind))
    assert xp.empty_like(xp.empty(3, dtype=dtype(kind))).dtype is dtype(kind)
    a = numbers((2, 3), kind)
    expect(xp.asarray(a), a)
    expect(xp.asarray(a.tolist(), dtype=dtype(kind)), a)


def test_asarray_copies_as_it_is_told():
    x, a = lamella.ones(2), np.ones(2)
    assert type(xp.asarray(x)) is xp.Array
    assert xp.asarray(x, copy=False).data_ptr() == xp.asarray(x).data_ptr() == x.data_ptr()
    assert xp.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert xp.asarray(a).data_ptr() == xp.asarray(a, copy=False).data_ptr() == a.ctypes.data
    assert xp.asarray(a, copy=True).data_ptr() != a.ctypes.data
    for obj, wanted in ((x, {"dtype": xp.float64}), ([1, 2], {}), (3, {}), (a, {"dtype": xp.float32})):
        with pytest.raises(ValueError, match="copy"):
            xp.asarray(obj, copy=False, **wanted)
    with pytest.raises(TypeError, match="complex"):
        xp.asarray(xp.asarray(1j), dtype=xp.float32)
    y = xp.asarray(1.0)
    assert xp.asarray(y) is y and xp.asarray(True).dtype is xp.bool and xp.asarray([1, 2j]).dtype is xp.complex64
    x = lamella.ones(2)
    assert xp.from_dlpack(a).data_ptr() == a.ctypes.data != xp.from_dlpack(a, copy=True).data_ptr()
    assert np.from_dlpack(xp.from_dlpack(x)).ctypes.data == x.data_ptr()


@pytest.mark.needs("autograd")
def test_gradients_go_through():
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    y = xp.asarray(x)
    xp.sum(y * y + xp.sin(y)).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([1, 2]) + np.cos([1, 2]), rtol=1e-6)


# ---- dtypes ----


@pytest.mark.parametrize("kind", ALL)
def test_kinds_and_limits(kind):
    kinds = "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"
    for k in kinds:
        assert xp.isdtype(dtype(kind), k) is np.isdtype(np.dtype(kind), k)
    assert xp.isdtype(dtype(kind), ("bool", "numeric")) and xp.isdtype(dtype(kind), (xp.int8, dtype(kind)))
    if kind in INTEGER:
        made, expected = xp.iinfo(xp.ones(1, dtype=dtype(kind))), np.iinfo(kind)
        assert (made.bits, made.min, made.max) == (expected.bits, expected.min, expected.max)
        assert made.dtype is xp.iinfo(dtype(kind)).dtype is dtype(kind)
    if kind in FLOATING:
        made, expected = xp.finfo(dtype(kind)), np.finfo(kind)
        assert made.dtype is dtype(np.zeros(1, kind).real.dtype.name) and made.bits == expected.bits
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(made, name)) is float and getattr(made, name) == float(getattr(expected, name))
    for bad, error in (("floating", ValueError), (1, TypeError)):
        with pytest.raises(error, match="kind"):
            xp.isdtype(dtype(kind), bad)


def test_astype():
    x = xp.asarray([0, 2])
    assert xp.astype(x, xp.int64, copy=False) is x and xp.astype(x, xp.int64).data_ptr() != x.data_ptr()
    expect(xp.astype(x, xp.bool), np.array([False, True]))
    expect(xp.astype(x, xp.complex64, device=x.device), np.array([0, 2], "complex64"))
    with pytest.raises(TypeError, match=r"real\(x\)"):
        xp.astype(xp.asarray(1j), xp.float64)
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type(1, 2.0)


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices() and type(info.devices()) is tuple
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    x = xp.zeros((1,) * 64)
    assert x.ndim == 64
    defaults = info.default_dtypes(device=x.device)
    assert defaults["real floating"] is xp.asarray(1.0).dtype and defaults["integral"] is xp.asarray(1).dtype
    assert defaults["complex floating"] is xp.asarray(1j).dtype and defaults["indexing"] is xp.argmax(xp.ones(2)).dtype
    assert sorted(info.dtypes()) == sorted(ALL) and sorted(info.dtypes(kind="integral")) == sorted(INTEGER)
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="floating")


# ---- indices and operators ----


def a_slice(generator, length):
    ends = [None, *range(-length - 2, length + 3)]
    steps = (None, 1, 2, -1, -2, -3)
    return slice(generator.choice(ends), generator.choice(ends), generator.choice(steps))


def test_indices():
    shape, generator = (3, 4, 5), np.random.default_rng(1)
    a = np.arange(60).reshape(shape)
    for _ in range(400):
        key = [
            a_slice(generator, n) if generator.random() < 0.7 else int(generator.integers(-n, n))
            for n in shape[: generator.integers(0, 4)]
        ]
        for extra in (Ellipsis, None):
            if generator.random() < 0.4:
                key.insert(generator.integers(len(key) + 1), extra)
        key = tuple(key) if len(key) != 1 else key[0]
        x, b = xp.asarray(a, copy=True), a.copy()
        expect(x[key], a[key])
        value = generator.integers(0, 9, a[key].shape[1:] if generator.random() < 0.5 else a[key].shape)
        x[key] = xp.asarray(value)
        b[key] = value
        expect(x, b)


def test_masks_and_index_arrays():
    a = np.arange(6).reshape(2, 3)
    x = xp.asarray(a)
    for mask in (a > 2, np.array([True, False]), np.array(True), np.array(False)):
        expect(x[xp.asarray(mask)], a[mask])
    expect(x[xp.asarray([0, -1]), 1], a[[0, -1], 1])
    assert x[xp.zeros((0, 3), dtype=xp.bool)].shape == (0,) and x[xp.zeros(0, dtype=xp.bool)].shape == (0, 3)
    x[xp.zeros((2, 0), dtype=xp.bool)] = 9
    expect(x, a)
    with pytest.raises(IndexError):
        x[xp.ones(3, dtype=xp.bool)]
    with pytest.raises(IndexError, match="negative step"):
        x[::-1, xp.asarray([0])]


def test_operators_of_other_tensors_are_torchs():
    x, scalar = lamella.ones(2, dtype=lamella.int8), lamella.tensor(1, dtype=lamella.int16)
    assert (x + scalar).dtype is lamella.int8 and (x + lamella.ones(2)).dtype is lamella.float32
    assert (xp.asarray(x) + scalar).dtype is (scalar + xp.asarray(x)).dtype is lamella.int16
    assert type(x + xp.asarray(x)) is xp.Array


def test_operators_in_place():
    x = xp.asarray([5.0, 7.0])
    address = x.data_ptr()
    for operate, expected in (
        (lambda x: x.__iadd__(1), [6, 8]),
        (lambda x: x.__isub__(xp.asarray(2.0)), [4, 6]),
        (lambda x: x.__imul__(3), [12, 18]),
        (lambda x: x.__itruediv__(4), [3, 4.5]),
        (lambda x: x.__ifloordiv__(2), [1, 2]),
        (lambda x: x.__ipow__(2), [1, 4]),
        (lambda x: x.__imod__(3), [1, 1]),
    ):
        x = operate(x)
        expect(x, np.array(expected, "float32"))
        assert x.data_ptr() == address
    m = xp.asarray([[1, 2], [3, 4]])
    m @= m
    expect(m, np.array([[7, 10], [15, 22]]))
    bits = xp.asarray([5, 6])
    bits <<= 2
    bits >>= 1
    bits |= 1
    bits &= 9
    bits ^= 3
    expect(bits, ((np.array([5, 6]) << 2 >> 1 | 1) & 9) ^ 3)
    with pytest.raises((ValueError, RuntimeError)):
        x //= xp.ones((2, 2))
    with pytest.raises((ValueError, RuntimeError)):
        x += xp.ones((2, 2))


def test_an_array_is_a_tensor():
    x = xp.asarray([[1.0, 2.0, 3.0]])
    assert isinstance(x, lamella.Tensor) and type(lamella.sin(x)) is xp.Array and x in {x}
    assert x.size == 3 and x.size() == (1, 3) and x.size(1) == 3
    assert repr(x) == "Array([[1., 2., 3.]])"
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(again) is xp.Array
        expect(again, np.array([[1, 2, 3]], "float32"))
    assert float(x[0, 1]) == 2 and complex(x[0, 1]) == 2 and int(xp.asarray(3)) == 3 and bool(xp.asarray(True))
    expect(2 ** xp.asarray([1, 2]), np.array([2, 4]))
    expect(x @ x.mT, np.array([[14]], "float32"))
    expect(x.mT, np.array([[1], [2], [3]], "float32"))


# ---- linear algebra ----


@pytest.mark.parametrize("kind", NUMERIC)
def test_products(kind):
    def both(*shapes):
        arrays = [numbers(s, kind) for s in shapes]
        return arrays, [xp.asarray(a) for a in arrays]

    for shapes in (
        ((2, 3), (3, 2)),
        ((3,), (3,)),
        ((4, 2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 0), (0, 2)),
        ((4, 1, 2, 3), (2, 3, 2)),
    ):
        (a, b), (x, y) = both(*shapes)
        expect(xp.matmul(x, y), np.matmul(a, b))
    for *shapes, axes in (
        ((2, 3), (3, 2), 1),
        ((3,), (3,), 0),
        ((2, 3), (3, 2), ((0, -1), (1, 0))),
        ((0, 3), (3, 2), 1),
    ):
        (a, b), (x, y) = both(*shapes)
        expect(xp.tensordot(x, y, axes=axes), np.tensordot(a, b, axes=axes))
    for *shapes, axis in (((2, 3), (3,), -1), ((3, 2), (3, 2), 0), ((2, 0), (2, 0), -1), ((4, 1, 3), (2, 3), -1)):
        (a, b), (x, y) = both(*shapes)
        expect(xp.vecdot(x, y, axis=axis), np.vecdot(a, b, axis=axis))
    (a, b), (x, y) = both((2, 1, 3), (4, 3))
    expect(xp.linalg.cross(x, y), np.linalg.cross(a, b))
    (a, b), (x, y) = both((2,), (4,))
    expect(xp.linalg.outer(x, y), np.linalg.outer(a, b))


def test_products_refuse_sizes_that_do_not_meet():
    for call in (
        lambda: xp.vecdot(xp.ones((2, 3)), xp.ones((2, 1))),
        lambda: xp.tensordot(xp.ones((2, 3)), xp.ones((1, 3)), axes=((0,), (0,))),
        lambda: xp.linalg.cross(xp.ones(2), xp.ones(2)),
        lambda: xp.linalg.outer(xp.ones((2, 2)), xp.ones(2)),
        lambda: xp.matrix_transpose(xp.ones(2)),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("kind", FLOATING)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (4, 2), (2, 2, 4)])
def test_linear_algebra(kind, shape):
    a = numbers(shape, kind)
    x, loose = xp.asarray(a), {"rtol": 2e-4, "atol": 2e-4} if kind in ("float32", "complex64") else {"rtol": 1e-9}
    for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        made = xp.linalg.matrix_norm(x, ord=order, keepdims=True)
        expect(made, np.linalg.matrix_norm(a, ord=order, keepdims=True), **loose)
    for order in (0, 1, 2, 3, -1, 2.5, math.inf, -math.inf):
        for axis in (None, 0, (0, 1)):
            with np.errstate(divide="ignore"):
                expected = np.linalg.vector_norm(a, ord=order, axis=axis)
            expect(xp.linalg.vector_norm(x, ord=order, axis=axis), expected, **loose)
    expect(xp.linalg.vector_norm(x, axis=()), np.abs(a))
    expect(xp.linalg.matrix_rank(x, rtol=1e-3), np.linalg.matrix_rank(a, rtol=1e-3))
    expect(xp.linalg.pinv(x, rtol=1e-3), np.linalg.pinv(a, rtol=1e-3), **loose)
    expect(xp.linalg.svdvals(x), np.linalg.svdvals(a), **loose)
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    expect((u * s[..., None, :].to(u.dtype)) @ vh, a, **loose)
    assert xp.linalg.svd(x).U.shape[-1] == shape[-2]
    for mode in ("reduced", "complete"):
        q, r = xp.linalg.qr(x, mode=mode)
        expect(q @ r, a, **loose)
        assert q.shape == np.linalg.qr(a, mode).Q.shape
    with pytest.raises(ValueError, match="mode"):
        xp.linalg.qr(x, mode="r")


@pytest.mark.parametrize("kind", FLOATING)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_square_matrices(kind, shape):
    a = numbers(shape, kind) + 5 * np.eye(3, dtype=kind)
    x, loose = xp.asarray(a), {"rtol": 2e-4, "atol": 2e-4} if kind in ("float32", "complex64") else {"rtol": 1e-9}
    for name in ("det", "inv", "slogdet"):
        expect(getattr(xp.linalg, name)(x), getattr(np.linalg, name)(a), **loose)
    for right in ((3,), (3, 2), (2, 3, 3), (1, 3, 1)):
        b = numbers(right, kind)
        expect(xp.linalg.solve(x, xp.asarray(b)), np.linalg.solve(a, b), **loose)
    for power in (0, 1, 2, -2):
        expect(xp.linalg.matrix_power(x, power), np.linalg.matrix_power(a, power), **loose)
    hermitian = a + np.conj(np.swapaxes(a, -1, -2))
    h = xp.asarray(hermitian)
    expect(xp.linalg.eigvalsh(h), np.linalg.eigvalsh(hermitian), **loose)
    found = xp.linalg.eigh(h)
    expect(
        h @ found.eigenvectors, array(found.eigenvectors) * array(found.eigenvalues)[..., None, :], rtol=1e-3, atol=1e-3
    )
    found = xp.linalg.eig(x)
    product = a @ array(found.eigenvectors)
    expect(found.eigenvectors * found.eigenvalues[..., None, :], product, rtol=1e-3, atol=1e-3)
    assert xp.linalg.eigvals(x).dtype is found.eigenvalues.dtype
    positive = a @ np.conj(np.swapaxes(a, -1, -2))
    for upper in (False, True):
        made = xp.linalg.cholesky(xp.asarray(positive), upper=upper)
        expect(made, np.linalg.cholesky(positive, upper=upper), **loose)


def test_solve_takes_a_stack_of_matrices_that_torch_takes_for_vectors():
    a, b = numbers((3, 3, 3), "float64") + 5 * np.eye(3), numbers((3, 3), "float64")
    expect(xp.linalg.solve(xp.asarray(a), xp.asarray(b)), np.linalg.solve(a, b))


# ---- Fourier transforms ----


@pytest.mark.parametrize("kind", FLOATING)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms(kind, name):
    a = numbers((4, 6), kind)
    x = xp.asarray(a)
    function = getattr(xp.fft, name)
    if kind in COMPLEX and name in ("rfft", "ihfft"):
        with pytest.raises(TypeError, match=f"{name}.*real floating"):
            function(x)
        return
    for keywords in ({}, {"n": 5}, {"n": 8, "axis": 0, "norm": "ortho"}, {"norm": "forward"}):
        expect(function(x, **keywords), getattr(np.fft, name)(a, **keywords))
    if name in ("hfft", "ihfft"):
        return
    for keywords in ({}, {"axes": (0,)}, {"s": (3, 5), "axes": (1, 0)}, {"norm": "ortho"}):
        expect(getattr(xp.fft, f"{name}n")(x, **keywords), getattr(np.fft, f"{name}n")(a, **keywords))


def test_frequencies_and_shifts():
    for n in (1, 4, 5):
        expect(xp.fft.fftfreq(n, d=0.5, dtype=xp.float64), np.fft.fftfreq(n, 0.5))
        expect(xp.fft.rfftfreq(n), np.fft.rfftfreq(n).astype("float32"))
    a = numbers((2, 3), "float32")
    for axes in (None, 0, (1, 0)):
        expect(xp.fft.fftshift(xp.asarray(a), axes=axes), np.fft.fftshift(a, axes=axes))
        expect(xp.fft.ifftshift(xp.asarray(a), axes=axes), np.fft.ifftshift(a, axes=axes))
    with pytest.raises(TypeError, match="real floating"):
        xp.fft.fftfreq(4, dtype=xp.complex64)
    with pytest.raises(TypeError, match="floating"):
        xp.fft.fft(xp.asarray([1, 2]))
