"""Operators that return lists: one node has a result for each tensor of the list; some may get no gradient."""

from pathlib import Path

import lamella
import numpy as np
import pytest
from compiled import compile_library
from lamella.autograd import gradcheck, gradgradcheck
from lamella.library import Library

HERE = Path(__file__).resolve().parent

grad = lamella.autograd.grad


def numbers(*shape, dtype=np.float64):
    a = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return lamella.tensor(a * (1 + 0.5j) if np.iscomplexobj(a) else a, requires_grad=True)


def nodes(*tensors):
    """Returns all nodes of the graph of these tensors."""
    met, stack = [], [t.grad_fn for t in tensors]
    while stack:
        n = stack.pop()
        if n is not None and n not in met:
            met.append(n)
            stack += [m for m, _ in n.next_functions]
    return met


SPLITTERS = {
    "unbind": lambda x: x.unbind(1),
    "split": lambda x: x.split(3, 1),
    "split by sizes": lambda x: x.split([1, 0, 4, 2], -1),
    "split_with_sizes": lambda x: x.split_with_sizes((3, 4), 1),
    "chunk": lambda x: x.chunk(3, 1),
    "tensor_split": lambda x: x.tensor_split(3, -1),
    "tensor_split at indices": lambda x: x.tensor_split([2, 2, -1, 9], 1),
    "hsplit": lambda x: x.hsplit(7),
    "hsplit at indices": lambda x: x.hsplit([1, 5]),
    "vsplit": lambda x: x.vsplit(2),
    "iteration": list,
}


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_pieces_are_results_of_one_node(name, dtype):
    split = SPLITTERS[name]
    x = numbers(2, 7, dtype=dtype)
    pieces = split(x)
    assert len({p.grad_fn for p in pieces}) == 1 and len(nodes(*pieces)) == 2
    for i, p in enumerate(pieces):
        assert (p * 2).grad_fn.next_functions[0] == (pieces[0].grad_fn, i)
    assert gradcheck(lambda x: tuple(split(x)), (x,))
    assert gradgradcheck(lambda x: tuple(p * p for p in split(x)), (x,))


@pytest.mark.parametrize("name", SPLITTERS)
def test_some_pieces_get_a_gradient(name):
    split = SPLITTERS[name]
    x = numbers(2, 7)
    for wanted in ([0], [1], [-1], [0, -1], slice(1, None)):
        pieces = np.arange(len(split(x)))[wanted]
        marks = lamella.zeros(2, 7, dtype=lamella.float64)
        for i in pieces:
            split(marks)[i].add_(int(i) + 1)
        parts = split(x)
        (g,) = grad(sum((int(i) + 1) * parts[i].sum() for i in pieces), x)
        assert g.tolist() == marks.tolist()


def test_pieces_that_overlap_are_slices():
    x = numbers(5)
    pieces = x.tensor_split([3, 1])
    assert [p.tolist() for p in pieces] == [[1, 2, 3], [], [2, 3, 4, 5]]
    sum(p.sum() for p in pieces).backward()
    assert x.grad.tolist() == [1, 2, 2, 1, 1]


@pytest.mark.parametrize("shape, split", [((0, 3), lambda x: x.chunk(2)), ((3, 0), lambda x: x.unbind(0)),
                                          ((0,), lambda x: x.split(2)), ((2, 0), lambda x: x.split(1, 0))])  # fmt: skip
def test_empty_pieces(shape, split):
    x = lamella.ones(shape, requires_grad=True)
    split(x)[-1].sum().backward()
    assert x.grad.shape == shape
    assert lamella.ones(0, 3, requires_grad=True).unbind(0) == ()


def test_one_dimension_of_many():
    x = lamella.ones(70000, requires_grad=True)
    pieces = x.unbind(0)
    assert (pieces[69999] * 2).grad_fn.next_functions == ((pieces[0].grad_fn, 69999),)
    seen = []
    pieces[66000].register_hook(lambda g: seen.append(g.item()))
    pieces[66001].retain_grad()
    (pieces[66000] * 3 + pieces[66001] * 4 + pieces[464] * 5).backward()
    assert seen == [3] and pieces[66001].grad.item() == 4
    wanted = np.zeros(70000)
    wanted[[66000, 66001, 464]] = 3, 4, 5
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


def test_a_graph_over_pieces_stays_small():
    """Backward of n pieces records a few nodes, not n; with n, a second backward would take n² steps."""
    x = numbers(50, 3)
    (g,) = grad(sum((r * r).sum() for r in x), x, create_graph=True)
    stacked = [n for n in nodes(g) if n.name() in ("StackBackward0", "UnbindBackward0")]
    assert len(stacked) == 2
    assert not [n for n in nodes(g) if n.name() in ("SelectBackward0", "UnsqueezeBackward0", "NarrowBackward0")]
    (y,) = grad(g.sum(), x)
    assert y.tolist() == [[2] * 3] * 50
    joined = lamella.cat([x[:20], x[20:]])
    (g,) = grad((joined**3).sum(), x, create_graph=True)
    assert not [n for n in nodes(g) if n.name() == "NarrowBackward0"]
    assert grad(g.sum(), x)[0].tolist() == (6 * x.detach()).tolist()


def test_no_grad():
    with lamella.no_grad():
        assert not any(p.requires_grad for p in numbers(3).unbind(0))
    assert not any(p.requires_grad for p in lamella.ones(3))
    x = numbers(3)
    with lamella.no_grad():
        v = x.unbind(0)[1]
        v.add_(1)
    assert x.tolist() == [1, 3, 3]


# ---- pieces are views ------------------------------------------------------------------------------------------------


def test_a_piece_is_written():
    x, w = numbers(2, 3), lamella.tensor(3.0, dtype=lamella.float64, requires_grad=True)
    y = x * 1
    first, second = y.unbind(0)
    first.mul_(w)
    assert y.grad_fn.name() == "CopySlices" and first.grad_fn.name() == "AsStridedBackward0"
    assert second.tolist() == [4, 5, 6]
    (y.sum() + 10 * first.sum() + 100 * second.sum()).backward()
    assert x.grad.tolist() == [[33] * 3, [101] * 3] and w.grad.item() == 11 * 6


def test_the_base_is_written():
    x = numbers(4)
    y = x * 1
    left, right = y.split(2)
    kept = left * 1
    y.mul_(5)
    (left.sum() + right.prod() + kept.sum()).backward()
    assert x.grad.tolist() == [6, 6, 100, 75]


def test_a_piece_of_a_leaf_is_not_written():
    for piece in numbers(2, 2):
        with pytest.raises(RuntimeError, match="a view of a leaf"):
            piece.add_(1)


def test_only_the_factor_requires_grad():
    x, w = lamella.ones(2, 2), lamella.ones(2, requires_grad=True)
    a, b = x.unbind(1)
    b.mul_(w * 3)
    assert x.requires_grad and a.requires_grad and x.tolist() == [[1, 3], [1, 3]]
    x.sum().backward()
    assert w.grad.tolist() == [3, 3]


# ---- hooks and errors ------------------------------------------------------------------------------------------------


def test_hooks_on_pieces():
    x = numbers(3)
    pieces = (x * 1).unbind(0)
    pieces[1].register_hook(lambda g: g * 10)
    pieces[2].retain_grad()
    came = []
    pieces[0].grad_fn.register_prehook(lambda grads: came.append([g if g is None else g.item() for g in grads]))
    (pieces[1] * 2 + pieces[2] * 3).backward()
    assert came == [[None, 20, 3]]
    assert x.grad.tolist() == [0, 20, 3] and pieces[2].grad.item() == 3
    assert grad(numbers(2).unbind(0)[0] * 2, x, allow_unused=True) == (None,)
    a, b = numbers(2).unbind(0)
    assert [g.item() for g in grad(a * 3 + b * 4, [a, b])] == [3, 4]


def test_anomaly_mode():
    x = lamella.zeros(2, requires_grad=True)
    with lamella.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan") as error:
        a, b = x.unbind(0)  # recorded here
        (a.sqrt() * 0 + b).backward()
    assert "SqrtBackward0" in str(error.value) or "MulBackward0" in str(error.value)


def test_twice():
    x = numbers(2)
    a, _ = x.unbind(0)
    for _ in range(2):
        (a * 2).backward()
    assert x.grad.tolist() == [4, 0]


def test_a_list_of_arguments_is_guarded():
    x, index = numbers(3), lamella.tensor([0, 2])
    y = x[index]
    index.add_(-1)
    with pytest.raises(RuntimeError, match="an argument of shape .* is at version 1; expected version 0"):
        y.sum().backward()


# ---- operators of another library ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lots(tmp_path_factory):
    """Loads the operators of lists.cpp."""
    lamella._C._load_plugin(str(compile_library(tmp_path_factory, HERE / "lists.cpp")))
    return lamella.ops.lots


def test_a_formula_where_gradients_are_missing(lots):
    x = numbers(2)
    powers = lots.powers(x, 4)
    assert {p.grad_fn.name() for p in powers} == {"PowersBackward0"}
    (g,) = grad((powers[1] + 2 * powers[3]).sum(), x, create_graph=True)
    assert g.tolist() == [2 + 8, 4 + 64]
    assert grad(g.sum(), x)[0].tolist() == [2 + 24, 2 + 96]
    assert gradcheck(lambda x: lots.powers(x, 3), (x,)) and gradgradcheck(lambda x: lots.powers(x, 3)[1:], (x,))


def test_a_formula_that_saves_its_results(lots):
    x = numbers(2)
    parts = lots.saved_powers(x, 3)
    (g,) = grad(sum(p.sum() for p in parts), x, create_graph=True)
    assert g.tolist() == [3, 2 + 4 + 8]
    # The derivative of that sum with respect to each result is one, so the gradient is the same again.
    assert grad(g.sum(), x)[0].tolist() == [3, 2 + 4 + 8]
    parts = lots.saved_powers(x, 3)
    parts[1].add_(1)
    with pytest.raises(RuntimeError, match="SavedPowersBackward0.*its result of shape .2. is at version 1"):
        sum(p.sum() for p in parts).backward()
    parts = lots.saved_powers(x, 3)
    total = sum(p.sum() for p in parts)
    total.backward()
    with pytest.raises(RuntimeError, match="second time"):
        total.backward()


def test_saved_lists_pass_through_hooks(lots):
    x, seen = numbers(2), []

    def pack(t):
        seen.append(t.tolist())
        return t.tolist()

    with lamella.autograd.graph.saved_tensors_hooks(pack, lamella.tensor):
        parts = lots.saved_powers(x, 2)
    assert seen == [[1, 2], [1, 4]]
    (g,) = grad(parts[0].sum(), x, retain_graph=True, create_graph=True)
    assert g.tolist() == [1, 2]


def test_a_list_between_tensors(lots):
    x = numbers(2)
    first, (exp, whole), last = lots.mixed(x)
    assert not whole.requires_grad and whole.dtype == lamella.int64
    assert [(t * 1).grad_fn.next_functions[0][1] for t in (first, exp, last)] == [0, 1, 3]
    assert grad(first.sum(), x, retain_graph=True)[0].tolist() == [2, 2]
    assert grad((3 * last).sum(), x, retain_graph=True)[0].tolist() == [3, 3]
    assert grad(exp.sum(), x, allow_unused=True) == (None,)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda lots, x: lots.unnamed(x, 2), "'grad' is no argument, result or gradient"),
        (lambda lots, x: lots.two_lists([x], [x]), "several lists have formulas"),
        (lambda lots, x: lots.lists_out(x), "the operator returns several lists"),
        (lambda lots, x: lots.two_formulas(x), "'self' has two formulas"),
        (lambda lots, x: lots.long_list(x), "its lists have more than 64 integers"),
        (lambda lots, x: lots.many_constants(x), "more than 256 constants"),
        (lambda lots, x: lots.many_operands(x), "takes more than 32 arguments"),
        (lambda lots, x: lots.conj_list(x, 2), "conj.. takes a tensor"),
    ],
)
def test_formulas_that_need_too_much_are_refused(lots, call, words):
    with pytest.raises(ValueError, match=f"lots::.*is wrong: .*{words}"):
        call(lots, numbers(2))


def test_a_formula_that_gives_too_few(lots):
    a, b = numbers(2), numbers(2)
    with pytest.raises(RuntimeError, match="JoinBackward0: its formula gave 1 gradients for 2 tensors"):
        lots.join([a, b]).sum().backward()


@pytest.fixture
def lib():
    made = Library("listed", "DEF", owner="the test")
    yield made
    made.close()


def test_a_derivative_from_python(lib):
    lib.define("parts(Tensor self, int n) -> Tensor[]")
    lib.impl("parts", lambda x, n: [x.detach() * (i + 1) for i in range(n)], "composite")
    came = []

    def backward(ctx, grads):
        came.append([g if g is None else g.tolist() for g in grads])
        return sum((i + 1) * g for i, g in enumerate(grads)), None

    lib.register_autograd("parts", backward)
    x = numbers(2)
    parts = lamella.ops.listed.parts(x, 3)
    assert isinstance(parts, tuple) and len({p.grad_fn for p in parts}) == 1
    (parts[0] * 5 + parts[2]).sum().backward()
    assert came == [[[5, 5], [0, 0], [1, 1]]] and x.grad.tolist() == [8, 8]
    assert gradcheck(lambda x: lamella.ops.listed.parts(x, 2), (x,))
    assert gradgradcheck(lambda x: [p**2 for p in lamella.ops.listed.parts(x, 2)], (x,))


def test_a_derivative_from_python_with_a_list_between(lib):
    lib.define("mix(Tensor self) -> (Tensor, Tensor[])")
    lib.impl("mix", lambda x: (x.detach() * 2, [x.detach() * 3, x.detach() * 4]), "composite")

    def backward(ctx, g, grads):
        return 2 * g + 3 * grads[0] + 4 * grads[1]

    lib.register_autograd("mix", backward, setup_context=lambda ctx, inputs, output: None)
    x = numbers(2)
    first, (second, third) = lamella.ops.listed.mix(x)
    (first + 10 * second + 100 * third).sum().backward()
    assert x.grad.tolist() == [432, 432]


def test_no_derivative(lib):
    lib.define("bare(Tensor self) -> Tensor[]")
    lib.impl("bare", lambda x: [x * 1, x * 2], "cpu")
    a, b = lamella.ops.listed.bare(numbers(2))
    assert a.requires_grad and b.requires_grad
    with pytest.raises(NotImplementedError, match="listed::bare: there is no derivative"):
        b.sum().backward()
