"""Backward operators: the results that they return, and that threads change no bit. The samples test their values in
every dtype and layout, and plugins/autograd/test_derivatives.py tests them against finite differences."""

import lamella
import pytest
from arrays import bits, numbers

A = lamella.ops.aten


def positive(*shape, dtype="float64"):
    return abs(numbers(*shape, seed=5, dtype=dtype)) + 0.5


def test_nothing_but_ignored_targets_have_no_gradient():
    x, y, one = numbers(3, 4), lamella.tensor([-100, -100, -100]), lamella.tensor(1.0)
    for logits in (True, False):
        assert A._class_loss_backward(one, x, y, None, -100, 1, logits).abs().sum().item() == 0


def test_dropout():
    x = numbers(1000)
    y, mask = lamella.native_dropout(x, 0.2, True)
    assert mask.dtype == lamella.bool and bits(y) == bits(A.native_dropout_backward(x, mask, 1.25))


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
    for threads in (1, 2, 3):
        lamella.set_num_threads(threads)
        made = LARGE[name]()
        found.append([bits(r) for r in (made if isinstance(made, tuple) else (made,)) if r is not None])
    assert found[0] == found[1] == found[2]
