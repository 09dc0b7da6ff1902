"""Kernels that are C++ functions: arguments and results, shape rules, layers, the catalogue's operators from C++."""

import threading
from pathlib import Path

import lamella
import numpy as np
import pytest
from compiled import STRICT, compile_library, load

ops = lamella.ops
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", autouse=True)
def typed(tmp_path_factory):
    """Loads the operators of typed.cpp, as lamella.ops.typed."""
    load(compile_library(tmp_path_factory, HERE / "typed.cpp", "-DWITH_LAYER", *STRICT))


@pytest.mark.long
def test_every_kind_of_argument_arrives():
    x = lamella.zeros(2, 3)
    text = ops.typed.kinds(
        x, None, [x, x], [None, x], 5, None, 0.5, True, 2, "word", lamella.int16, "cpu", [1, 2], [0.5, 1.5],
        [True, False], lamella.channels_last,
    )  # fmt: skip
    assert text == "[2, 3] none 2 01 5 none 0.5 true 2 word int16 cpu [1, 2] [0.5, 1.5] [true, false] 2 none"
    text = ops.typed.kinds(
        x, x, [], [], -5, 7, 2.0, False, 1.5, "", lamella.bool, "meta", [], [], [], lamella.contiguous_format, [9]
    )
    assert text == "[2, 3] some 0  -5 7 2 false 1.5  bool meta [] [] [] 0 [9]"


def test_every_kind_of_result_comes_back():
    x = lamella.tensor([1.0, 2.0])
    same, n, half, yes, text, ints, tensors, number = ops.typed.results(x)
    assert same is x and (n, half, yes, text, ints, number) == (7, 0.5, True, "text", (1, 2), 1 + 2j)
    assert [t.tolist() for t in tensors] == [[1, 2], [2, 3]]
    with pytest.raises(TypeError, match=r"holed: result 0 .* must be Tensor\[\], got a list with a null tensor"):
        ops.typed.holed(x)
    assert ops.typed.nothing(None) is None and ops.typed.nothing(x) is x


def test_lists_and_dictionaries_of_values():
    names, holes, numbers = ops.typed.values(["N", ""], [1, 2.5, 1j, True], [1, None, 3], {"a": 2, "b": 3.0})
    assert list(names) == ["N", "", "a=2", "b=3", "a is 2"] and list(holes) == [3, None, 1]
    assert list(numbers) == [1, 2.5, 1j, True]
    assert [list(r) for r in ops.typed.values([], [], [], {})] == [[], [], []]
    assert [list(r) for r in ops.typed.values((), (1,), [4, 7], {})] == [[], [7, 4], [1]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "uint8"])
def test_a_kernel_that_writes_into_its_output(dtype):
    x = lamella.arange(6).reshape(2, 3).to(dtype).t()
    expected = (np.arange(6).reshape(2, 3).T * 3).tolist()
    assert ops.typed.scaled(x, 3.0).tolist() == expected
    assert ops.typed.scaled(x, 3.0).stride() == x.stride()
    out = lamella.empty(0, dtype=getattr(lamella, dtype))
    assert ops.typed.scaled(x, 3.0, out=out) is out and out.tolist() == expected
    meta = ops.typed.scaled(x.to("meta"), 3.0)
    assert (meta.shape, meta.dtype, meta.device.type) == (x.shape, x.dtype, "meta")
    y = x.clone()
    assert ops.typed.scaled_(y, 3.0) is y and y.tolist() == expected


def test_a_call_knows_its_callers(ns, opened):
    """A call also has its callers through a composite in C++ under a kernel in Python."""
    mine = opened(lamella.library.Library(ns, "DEF"))
    mine.define("calls(Tensor x) -> str")
    mine.impl("calls", ops.typed.calls, "composite")
    x = lamella.ones(1)
    assert ops.typed.callers(x) == "typed::callers"
    assert ops.typed.calls(x) == "typed::callers < typed::calls"
    assert getattr(ops, ns).calls(x) == f"typed::callers < typed::calls < {ns}::calls"


def test_an_output_that_the_rule_leaves_out():
    x = lamella.tensor([1.0, 2.0])
    assert [t.tolist() for t in ops.typed.twofold(x, True)] == [[2, 4], [-1, -2]]
    twice, negative = ops.typed.twofold(x, False)
    assert twice.tolist() == [2, 4] and negative is None
    with pytest.raises(ValueError, match=r"^typed::twofold: argument 'self': an odd|^twofold: argument 'self': an odd"):
        ops.typed.twofold(lamella.ones(3), True)


@pytest.mark.parametrize("name", ["grown", "grown_into"])
def test_a_kernel_from_before_an_argument(name):
    x, f = lamella.tensor([1.0, 2.0]), getattr(ops.typed, name)
    assert f(x, 3).tolist() == f(x, 3, exact=False).tolist() == [3, 6]
    with pytest.raises(NotImplementedError, match=f"typed::{name}: the kernel of .*before the argument 'exact'.*True"):
        f(x, 3, exact=True)
    assert name == "grown" or str(f(x.to("meta"), 3).device) == "meta"
    assert f(x, 3).tolist() == [3, 6]


def test_an_output_from_before_an_argument():
    x, out = lamella.tensor([1.0, 2.0]), lamella.zeros(2)
    assert ops.typed.grown_into(x, 3, exact=False, out=out) is out and out.tolist() == [3, 6]


def test_a_tensor_of_its_own_takes_the_place_of_what_the_shape_rule_made():
    x = lamella.tensor([1, 2])
    assert ops.typed.moved(x, 3).tolist() == [4, 5]
    out = lamella.zeros(2, dtype=lamella.int64)
    assert ops.typed.moved(x, 3, out=out) is out and out.tolist() == [4, 5]
    assert ops.typed.moved_(x, 1) is x and x.tolist() == [2, 3]


def test_several_outputs():
    head, tail = ops.typed.parts(lamella.tensor([1.5, 2.5]))
    assert (head.tolist(), tail.tolist(), tail.dtype) == ([1.5], [3, 5], lamella.float64)


def test_writing_without_a_shape_rule_is_an_error():
    with pytest.raises(NotImplementedError, match=r"nothing has allocated them: .* shape rule \(m\.infer\)"):
        ops.typed.unruled(lamella.zeros(1))


def test_accessor_and_check():
    x = lamella.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.typed.diagonal_sum(x).item() == ops.typed.diagonal_sum(x.t()).item() == 5
    with pytest.raises(ValueError, match=r"must be square, got \[3\]"):
        ops.typed.diagonal_sum(lamella.zeros(3))


def test_the_catalogue_in_cpp_is_the_catalogue():
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
    z = (x + y * 2 - 1) / (2 + np.abs(x))
    z = (z + np.maximum(x, y)) * 3
    z = z.T - x.T.sum(0, keepdims=True) * (x > y)
    z = z + 0.5 * z[0]
    expected = np.concatenate([z.max(1), z.argmax(1), np.sort(z, 0)[0]]) + np.linalg.norm(x) + x.mean()
    got = ops.typed.methods(lamella.tensor(x), lamella.tensor(y))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5)


def test_tensors_over_ones_own_memory_and_factories():
    blob, turned, numbers, longs, bools, halves, shorts, deleted = ops.typed.made()
    assert blob.tolist() == [[0, 1, 2], [3, 4, 5]] and turned.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (numbers.tolist(), numbers.dtype) == ([0.25, 4], lamella.float64)
    assert (bools.tolist(), halves.tolist(), shorts.tolist()) == ([[1, 1]], [2.5] * 2, [0, 1, 2])
    assert (longs.dtype, shorts.dtype, deleted.item()) == (lamella.int64, lamella.int16, 0)
    blob[0, 0] = 7
    assert ops.typed.made()[0][0, 0].item() == 7  # made() returns tensors over the same C++ memory
    blob[0, 0] = 0
    del numbers
    assert ops.typed.made()[-1].item() >= 1


def test_a_function_object_keeps_its_state():
    first = ops.typed.count(2)
    assert ops.typed.count(3) == first + 3


def test_written_arguments_and_generators():
    x = lamella.tensor([1.0])
    version = x._version
    assert ops.typed.grow_(x) is x and x.item() == 2 and x._version > version
    draws = [ops.typed.draw(x, lamella.Generator().manual_seed(3)).item() for _ in range(2)]
    assert draws[0] == draws[1] == lamella.rand(1, generator=lamella.Generator().manual_seed(3)).item()


def test_operators_by_name_and_kernels_against_the_c_table():
    x = lamella.tensor([1.0])
    assert ops.typed.scaled_by_name(x).item() == 4
    assert ops.typed.raw(x) is x


def test_layers_have_typed_kernels_categories_and_a_fallback():
    x = lamella.eye(2)
    try:
        before = ops.typed.watch(True)
        assert ops.typed.watched(x).tolist() == x.tolist()
        assert ops.typed.passed() - before == 1 + 100  # 1 by the operator's kernel, 100 by the fallback for `passed`
        lamella.mm(x, x)
        assert ops.typed.passed() - before == 1 + 100 + 10 + 100
        assert [r.tolist() for r in ops.typed.both(x)] == [(x + 1).tolist(), (x + 2).tolist()]
    finally:
        ops.typed.watch(False)


def test_it_is_safe_on_several_threads():
    x = lamella.arange(5000.0)
    expected = (np.arange(5000.0) * 2).tolist()
    wrong = []

    def work():
        for _ in range(20):
            if ops.typed.scaled(x, 2.0).tolist() != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


@pytest.mark.needs("autograd")
class TestGradients:
    def test_a_derivative_beside_the_operator(self):
        x = lamella.tensor([1.0, 2.0], requires_grad=True)
        ops.typed.scaled(x, 3.0).sum().backward()
        assert x.grad.tolist() == [3, 3]

    def test_a_function(self):
        x = lamella.tensor([1.0, -2.0], dtype=lamella.float64, requires_grad=True)
        kept = lamella.ones(2, dtype=lamella.float64, requires_grad=True)
        y, sign, same = ops.typed.cubed(x, 2, kept)
        assert y.tolist() == [2, -16] and "CubedBackward" in str(y.grad_fn)
        assert sign.tolist() == [1, -1] and not sign.requires_grad and same is not kept and same.requires_grad
        (y.sum() + same.sum()).backward()
        assert x.grad.tolist() == [6, 24] and kept.grad.tolist() == [1, 1]

    def test_twice_through_a_function(self):
        x = lamella.tensor([0.5, -1.5], dtype=lamella.float64, requires_grad=True)
        run = lambda t: ops.typed.cubed(t, 2, lamella.zeros(1))[0]  # noqa: E731
        assert lamella.autograd.gradcheck(run, (x,)) and lamella.autograd.gradgradcheck(run, (x,))

    def test_saved_tensors_are_guarded(self):
        x = lamella.tensor([1.0], requires_grad=True)
        copy = x.clone()
        y = ops.typed.cubed(copy, 1, lamella.zeros(1))[0]
        copy.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        y = ops.typed.cubed(x, 1, lamella.zeros(1))[0]
        y.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()

    def test_a_dirty_argument(self):
        x = lamella.tensor([4.0], requires_grad=True)
        y = x.clone()
        assert ops.typed.halved(y) is y
        (y * y).sum().backward()
        assert x.grad.tolist() == [2]

    def test_nothing_is_recorded_where_nobody_asks(self):
        y, _, kept = ops.typed.cubed(lamella.ones(2), 1, lamella.ones(1))
        assert not y.requires_grad
        x = lamella.ones(2, requires_grad=True)
        with lamella.no_grad():
            assert not ops.typed.cubed(x, 1, lamella.ones(1))[0].requires_grad

    def test_backward_from_cpp(self):
        assert ops.typed.backward(lamella.tensor([1.0, 3.0])).tolist() == [2, 6]
