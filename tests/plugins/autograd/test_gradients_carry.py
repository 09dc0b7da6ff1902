"""The gradient of a tensor gets what the tensor's slots carry, and shares its memory with no other tensor."""

from pathlib import Path

import lamella
import pytest
from compiled import compile_library, load

pytestmark = pytest.mark.needs("autograd")


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory):
    load(compile_library(tmp_path_factory, Path(__file__).parents[1] / "saved.cpp"))


def keep(tensor, value):
    assert lamella._C._load_slot(tensor, "kept", value)
    return tensor


def held(tensor):
    return dict(lamella._C._save_slots(tensor)).get("kept")


FUNCTIONS = {  # in none of them backward reads the leaf, which has the state
    "mul": lambda w: w * 2,
    "sum": lambda w: w.sum(0),
    "linear": lambda w: lamella.nn.functional.linear(lamella.ones(4, 3), w),
    "view": lambda w: w.reshape(-1)[1:],
    "itself": lambda w: w,
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_leaf(function, create_graph):
    w = keep(lamella.ones(2, 3), ["n", 1]).requires_grad_()
    y = FUNCTIONS[function](w)
    y.backward(lamella.ones(y.shape), create_graph=create_graph)
    assert held(w.grad) == ["n", 1]
    assert w.grad is w.grad


@pytest.mark.parametrize("make", [lambda w: w.requires_grad_(), lamella.nn.Parameter])
def test_the_state_may_come_before_and_after_the_flag(make):
    before, after = make(keep(lamella.ones(2), "a")), make(lamella.ones(2))
    keep(after, "b")
    (before + after).sum().backward()
    assert held(before.grad) == "a"
    assert held(after.grad) == "b"


@pytest.mark.parametrize("create_graph", [False, True])
def test_leaves_that_share_an_incoming_gradient_have_gradients_of_their_own(create_graph):
    a, b, c = keep(lamella.ones(3), "a").requires_grad_(), lamella.ones(3, requires_grad=True), lamella.ones(3)
    inner = a + b
    inner.retain_grad()
    keep(inner, "inner")
    (inner + c).backward(c, create_graph=create_graph)
    grads = [a.grad, b.grad, inner.grad]
    assert list(map(held, grads)) == ["a", None, "inner"]
    assert len({grad.data_ptr() for grad in [*grads, c]}) == 4
    with lamella.no_grad():
        a.grad.zero_()
    assert [grad.tolist() for grad in [b.grad, inner.grad, c]] == [[1.0] * 3] * 3


def test_a_sum_of_gradients_keeps_the_state():
    w = keep(lamella.ones(2), 7).requires_grad_()
    for times in (1, 2):
        (w * 3).sum().backward()
        assert held(w.grad) == 7
        assert w.grad.tolist() == [3.0 * times] * 2


def test_a_gradient_that_the_program_sets_stays_as_it_is():
    w = keep(lamella.ones(2), "w").requires_grad_()
    mine = lamella.ones(2)
    w.grad = mine
    assert held(w.grad) is None
    (w * 2).sum().backward()
    assert w.grad is mine


def test_hooks_after_accumulation_read_it():
    w = keep(lamella.ones(2), "w").requires_grad_()
    seen = []
    w.register_post_accumulate_grad_hook(lambda leaf: seen.append(held(leaf.grad)))
    (w * 2).sum().backward()
    assert seen == ["w"]


def test_a_slot_that_refuses_fails_each_reading_until_it_does_not():
    w = keep(lamella.ones(2), "refused").requires_grad_()
    (w * 2).sum().backward()
    for _ in range(2):
        with pytest.raises(ValueError, match="kept: the gradient is refused"):
            _ = w.grad
    keep(w, "taken")
    assert held(w.grad) == "taken"
    assert w.grad.tolist() == [2.0, 2.0]
