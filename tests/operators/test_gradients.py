"""Backward operators: their results against finite differences of the forward operator in float64; which results they
return; and that threads change no bit. The samples test their values in every dtype and layout."""

import lamella
import numpy as np
import pytest
from arrays import bits

A = lamella.ops.aten


def numbers(*shape, seed=0, dtype="float64"):
    return lamella.tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def positive(*shape, dtype="float64"):
    return abs(numbers(*shape, seed=5, dtype=dtype)) + 0.5


def differences(f, x, g):
    """The gradient of the sum of f(x) * g, by five points."""
    flat, made = x.numpy().copy(), np.empty(x.numpy().size)
    step = 1e-3
    for i in range(made.size):
        sums = []
        for k in (-2, -1, 1, 2):
            moved = flat.copy()
            moved.flat[i] += k * step
            sums.append((f(lamella.tensor(moved)) * g).sum().item())
        made[i] = (sums[0] - 8 * sums[1] + 8 * sums[2] - sums[3]) / (12 * step)
    return made.reshape(flat.shape)


def agree(got, f, x, g):
    np.testing.assert_allclose(got.numpy(), differences(f, x, g), rtol=1e-7, atol=1e-8)


POINTWISE = {
    "tanh": lambda g, x: A.tanh_backward(g, lamella.tanh(x)),
    "sigmoid": lambda g, x: A.sigmoid_backward(g, lamella.sigmoid(x)),
    "relu": lambda g, x: A.threshold_backward(g, x, 0),
    "silu": A.silu_backward,
    "mish": A.mish_backward,
    "log_sigmoid": A._log_sigmoid_backward,
    "_gelu": A._gelu_backward,
    "_gelu_tanh": A._gelu_tanh_backward,
    "softplus": lambda g, x: A.softplus_backward(g, x, 1, 20),
    "elu": lambda g, x: A._elu_backward(g, x, 1, 1, 1),
    "selu": lambda g, x: A._elu_backward(g, x, 1.6732632423543772848, 1.0507009873554804934, 1),
    "celu": lambda g, x: A._elu_backward(g, x, 1, 1, 1),
    "leaky_relu": lambda g, x: A.leaky_relu_backward(g, x, 0.01, False),
    "hardtanh": lambda g, x: A.hardtanh_backward(g, x, -1, 1),
    "relu6": lambda g, x: A.hardtanh_backward(g, x, 0, 6),
    "hardsigmoid": A.hardsigmoid_backward,
    "hardswish": A.hardswish_backward,
    "hardshrink": lambda g, x: A.hardshrink_backward(g, x, 0.5),
    "softshrink": lambda g, x: A.softshrink_backward(g, x, 0.5),
    "softmax": lambda g, x: A._softmax_backward_data(g, lamella.softmax(x, 0), 0, lamella.float64),
    "log_softmax": lambda g, x: A._log_softmax_backward_data(g, lamella.log_softmax(x, 0), 0, lamella.float64),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_functions(name):
    x, g = numbers(40) * 3, numbers(40, seed=1)
    f = getattr(A, name)
    agree(POINTWISE[name](g, x), (lambda x: f(x, 0)) if "softmax" in name else f, x, g)


def test_layer_norm():
    x, w, b, g = numbers(3, 5), numbers(5, seed=1), numbers(5, seed=2), numbers(3, 5, seed=3)
    _, mean, rstd = A.native_layer_norm(x, [5], w, b, 1e-5)
    dx, dw, db = A.native_layer_norm_backward(g, x, [5], mean, rstd, w, b, [True] * 3)
    agree(dx, lambda x: A.layer_norm(x, [5], w, b), x, g)
    agree(dw, lambda w: A.layer_norm(x, [5], w, b), w, g)
    agree(db, lambda b: A.layer_norm(x, [5], w, b), b, g)


def test_rms_norm():
    x, w, g = numbers(3, 5), numbers(5, seed=1), numbers(3, 5, seed=3)
    dx, dw = A._fused_rms_norm_backward(g, x, [5], A._fused_rms_norm(x, [5], w, 0.1)[1], w, [True] * 2)
    agree(dx, lambda x: A.rms_norm(x, [5], w, 0.1), x, g)
    agree(dw, lambda w: A.rms_norm(x, [5], w, 0.1), w, g)


@pytest.mark.parametrize("area", [1, 3])
def test_group_norm(area):
    x, w, b, g = numbers(2, 6, area), numbers(6, seed=1), numbers(6, seed=2), numbers(2, 6, area, seed=3)
    _, mean, rstd = A.native_group_norm(x, w, b, 2, 6, area, 2, 1e-5)
    dx, dw, db = A.native_group_norm_backward(g, x, mean, rstd, w, 2, 6, area, 2, [True] * 3)
    agree(dx, lambda x: A.group_norm(x, 2, w, b), x, g)
    agree(dw, lambda w: A.group_norm(x, 2, w, b), w, g)
    agree(db, lambda b: A.group_norm(x, 2, w, b), b, g)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("shape", [(7, 3), (2, 3, 5)])
def test_batch_norm(shape, train):
    x, w, b, g = numbers(*shape), numbers(3, seed=1), numbers(3, seed=2), numbers(*shape, seed=3)
    running = (None, None) if train else (numbers(3, seed=4), positive(3))

    def norm(x, w, b):
        return A.batch_norm(x, w, b, *running, train, 0.1, 1e-5, False)

    saved = A._batch_norm_train(x, w, b, 1e-5)[1:] if train else (None, None)
    dx, dw, db = A.native_batch_norm_backward(g, x, w, *running, *saved, train, 1e-5, [True] * 3)
    agree(dx, lambda x: norm(x, w, b), x, g)
    agree(dw, lambda w: norm(x, w, b), w, g)
    agree(db, lambda b: norm(x, w, b), b, g)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("kind", range(4))
def test_pair_losses(kind, reduction):
    x, y = numbers(3, 4), numbers(3, 4, seed=1)
    g = numbers(3, 4, seed=2) if reduction == 0 else numbers(seed=2)
    dx = A._pair_loss_backward(g, x, y, kind, 0.7, reduction)
    agree(dx, lambda x: A._pair_loss(x, y, kind, 0.7, reduction), x, g)
    dy = A._pair_loss_backward(g, y, x, kind, 0.7, reduction)
    agree(dy, lambda y: A._pair_loss(x, y, kind, 0.7, reduction), y, g)


@pytest.mark.parametrize("logits", [True, False])
@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 5, 3)])
def test_losses_by_class(shape, reduction, logits):
    x, w = numbers(*shape), positive(5)
    samples = shape[:1] * (len(shape) > 1) + shape[2:]
    y = lamella.tensor(np.random.default_rng(3).integers(0, 5, samples))
    g = numbers(*samples, seed=2) if reduction == 0 else numbers(seed=2)
    agree(
        A._class_loss_backward(g, x, y, w, 1, reduction, logits),
        lambda x: A._class_loss(x, y, w, 1, reduction, logits),
        x,
        g,
    )


def test_nothing_but_ignored_targets_have_no_gradient():
    x, y, one = numbers(3, 4), lamella.tensor([-100, -100, -100]), lamella.tensor(1.0)
    for logits in (True, False):
        assert A._class_loss_backward(one, x, y, None, -100, 1, logits).abs().sum().item() == 0


def test_embedding():
    table, index, g = numbers(4, 3), lamella.tensor([[1, 3], [1, 0]]), numbers(2, 2, 3, seed=1)
    agree(A.embedding_dense_backward(g, index, 4, -1, False), lambda t: lamella.embedding(t, index), table, g)


def test_dropout():
    x, g = numbers(1000), numbers(1000, seed=1)
    y, mask = lamella.native_dropout(x, 0.2, True)
    assert mask.dtype == lamella.bool and bits(y) == bits(A.native_dropout_backward(x, mask, 1.25))
    agree(A.native_dropout_backward(g, mask, 1.25), lambda x: A.native_dropout_backward(x, mask, 1.25), x, g)


# ---- results ---------------------------------------------------------------------------------------------------------


def layer_norm_backward(mask, weight=True, device=None):
    x = numbers(3, 4).to(device) if device else numbers(3, 4)
    w = lamella.ones(4, dtype=lamella.float64, device=device) if weight else None
    ones = lamella.ones(3, 1, dtype=lamella.float64, device=device)
    return A.native_layer_norm_backward(x, x, [4], ones, ones, w, w, mask)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("mask", [[True, False, True], [False, True, False], [False, False, False]])
def test_a_gradient_that_is_not_asked_for_is_none(mask, device):
    assert [r is not None for r in layer_norm_backward(mask, device=device)] == mask


def test_so_is_that_of_an_absent_weight():
    assert [r is not None for r in layer_norm_backward([True] * 3, weight=False)] == [True, False, False]


def test_and_by_composites():
    with lamella.library.kernels_disabled(["aten::native_layer_norm_backward"], "cpu"):
        assert [r is not None for r in layer_norm_backward([False, True, False])] == [False, True, False]


def test_a_layer_in_python_hands_them_on():
    layer = lamella.library.register_layer("handing_on", lambda call, *args, **kwargs: call(*args, **kwargs))
    try:
        with layer.on():
            dx, dw, db = layer_norm_backward([True, False, True])
    finally:
        layer.remove()
    assert dw is None and dx.shape == (3, 4) and db.shape == (4,)


def test_a_kernel_in_python_gives_what_the_rule_says():
    lib = lamella.library.Library("aten", "IMPL")
    lib.impl("native_layer_norm_backward", lambda g, x, *rest: (x.clone(), None, None), "cpu")
    try:
        assert layer_norm_backward([True, False, False])[1:] == (None, None)
        with pytest.raises(TypeError, match="must return a Tensor"):
            layer_norm_backward([True, True, False])
    finally:
        lib.close()


# ---- threads ---------------------------------------------------------------------------------------------------------

f32 = "float32"
LARGE = {
    "softmax": lambda: A._softmax_backward_data(numbers(300, 700), numbers(300, 700, seed=1), 1, lamella.float32),
    "layer_norm": lambda: A.native_layer_norm_backward(
        numbers(3000, 70, dtype=f32), numbers(3000, 70, seed=1, dtype=f32), [70], numbers(3000, 1, dtype=f32),
        positive(3000, 1, dtype=f32), numbers(70, dtype=f32), numbers(70, dtype=f32), [True] * 3,
    ),
    "group_norm": lambda: A.native_group_norm_backward(
        numbers(400, 500), numbers(400, 500, seed=1), numbers(400, 5), positive(400, 5), numbers(500), 400, 500, 1, 5,
        [True] * 3,
    ),
    "batch_norm": lambda: A.native_batch_norm_backward(
        numbers(5000, 40, dtype=f32), numbers(5000, 40, seed=1, dtype=f32), None, None, None, numbers(40, dtype=f32),
        positive(40, dtype=f32), True, 0.1, [True, False, True],
    ),
    "class_loss": lambda: A._class_loss_backward(
        numbers(), numbers(30000, 5), lamella.arange(30000) % 5, positive(5), 1, 1, True
    ),
    "pair_loss": lambda: A._pair_loss_backward(numbers(), numbers(200000), numbers(200000, seed=1), 0, 0.0, 1),
    "embedding": lambda: A.embedding_dense_backward(numbers(20000, 10), lamella.arange(20000) % 50, 50, 3, True),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_values_do_not_depend_on_threads(name):
    found = []
    before = lamella.get_num_threads()
    try:
        for threads in (1, 2, 3):
            lamella.set_num_threads(threads)
            made = LARGE[name]()
            found.append([bits(r) for r in (made if isinstance(made, tuple) else (made,)) if r is not None])
    finally:
        lamella.set_num_threads(before)
    assert found[0] == found[1] == found[2]
