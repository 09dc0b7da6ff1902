"""Operators of other packages: derivatives in C++ and in Python, missing and wrong ones, and another device."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import lamella
import pytest
from arrays import leaf
from compiled import compile_library
from lamella.library import Library, register_autograd
from threads import in_threads

HERE = Path(__file__).resolve().parent

grad = lamella.autograd.grad


# ---- compiled --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Loads the operators of derivatives.cpp."""
    library = compile_library(tmp_path_factory, HERE / "derivatives.cpp")
    lamella._C._load_plugin(str(library))
    return ctypes.PyDLL(str(library))


def test_a_formula(compiled):
    x = leaf()
    y = lamella.ops.kin.twice(x)
    assert y.grad_fn.name() == "TwiceBackward0"
    (g,) = grad((y * y).sum(), x, create_graph=True)
    assert g.tolist() == [8, 16] and grad(g.sum(), x)[0].tolist() == [8, 8]


def test_functions(compiled):
    x, w = leaf(), leaf(3.0, 4.0)
    y = lamella.ops.kin.product(x, w)
    y.sum().backward()
    assert x.grad.tolist() == [3, 4] and w.grad.tolist() == [1, 2]
    assert y.grad_fn.name() == "ProductBackward0"
    (g,) = grad(lamella.ops.kin.product(x, w).sum(), x, create_graph=True)
    assert grad(g.sum(), w)[0].tolist() == [1, 1]
    y = lamella.ops.kin.product(x, w).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="ProductBackward0.*second time"):
        y.backward()
    h = x * 1
    y = lamella.ops.kin.product(h, w).sum()
    h.add_(1)
    with pytest.raises(RuntimeError, match="ProductBackward0.*modified by an inplace operation"):
        y.backward()


def test_functions_in_place(compiled):
    x, w = leaf(), leaf(3.0, 4.0)
    y = x * 1
    assert not lamella.ops.kin.product(lamella.ones(2), lamella.ones(2)).requires_grad
    v = y[:1]
    v.mul_(lamella.ops.kin.product(w, w)[:1])
    y.sum().backward()
    assert x.grad.tolist() == [9, 1] and w.grad.tolist() == [6, 0]


def test_none(compiled):
    x = leaf()
    y = lamella.ops.kin.bare(x)
    assert y.requires_grad and y.tolist() == [2, 4]
    with pytest.raises(NotImplementedError, match="kin::bare: there is no derivative of it"):
        y.sum().backward()
    with lamella.no_grad():
        assert not lamella.ops.kin.bare(x).requires_grad


@pytest.mark.parametrize(
    "op, words",
    [
        ("misspelt", ["gard * 2", "gard"]),
        ("unfinished", ["mul(grad,"]),
        ("nobody", ["other: grad", "other"]),
        ("stranger_still", ["no_such_operator"]),
    ],
)
def test_a_wrong_formula_says_what_is_wrong_and_the_operator_works(compiled, op, words):
    f = getattr(lamella.ops.kin, op)
    assert f(lamella.ones(2)).tolist() == [2, 2]
    with lamella.no_grad():
        assert f(leaf()).tolist() == [2, 4]
    with pytest.raises(ValueError) as error:
        f(leaf())
    for word in (f"kin::{op}", "is wrong", *words):
        assert word in str(error.value)
    assert f(lamella.ones(2)).tolist() == [2, 2]


def test_a_node_of_another_graph_can_be_asked_about(compiled):
    x, other = leaf(), leaf() * 2
    with lamella.no_grad():
        lamella.ops.kin.watch(other)
    assert grad(lamella.ops.kin.asking(x).sum(), x)[0].tolist() == [1, 1]
    assert compiled.kin_answered() == 1


# ---- the state of the thread -----------------------------------------------------------------------------------------


class Looking(lamella.autograd.Function):
    look: Callable[[str], None]

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Looking.look("Function")
        return g * 2


def test_backward_has_the_thread_state_of_who_calls_it(compiled):
    seen = {}

    def look(what):
        seen.setdefault(what, set()).add((compiled.kin_marked(), lamella.is_grad_enabled()))

    def part(x):
        if running:
            seen.setdefault("checkpoint", set()).add(compiled.kin_marked())
        return (x * x).tanh()

    def twice():
        (first,) = grad(y, x, create_graph=True)
        first.register_hook(lambda g: look("second"))
        first.sum().backward()

    Looking.look = staticmethod(look)
    running = False
    compiled.kin_mark(1)
    x = leaf()
    x.register_hook(lambda g: look("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: look("accumulated"))
    h = lamella.autograd.checkpoint.checkpoint(part, Looking.apply(x), use_reentrant=False)
    h.register_hook(lambda g: look("result"))
    h.grad_fn.register_prehook(lambda g: look("before"))
    h.grad_fn.register_hook(lambda made, came: look("after"))
    with lamella.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: look("saved") or t):
        y = (h * h).sum()
    running = True

    def in_a_thread(mark, run):
        def work():
            compiled.kin_mark(mark)
            run()

        seen.clear()
        in_threads(work)
        assert compiled.kin_marked() == 1
        assert seen.pop("checkpoint") == {mark}
        return seen

    places = {"leaf", "result", "before", "after", "saved", "Function", "accumulated"}
    found = in_a_thread(2, lambda: y.backward(retain_graph=True))
    assert found == dict.fromkeys(places, {(2, False)})
    found = in_a_thread(3, twice)
    assert found.pop("second") == found.pop("accumulated") == {(3, False)}
    assert set(found) == places - {"accumulated"}
    for where, states in found.items():  # the first run makes a graph; only the second unpacks saved tensors
        assert states == {(3, True)} | ({(3, False)} if where != "saved" else set()), where


# ---- from Python -----------------------------------------------------------------------------------------------------


@pytest.fixture
def lib():
    made = Library("folk", "DEF", owner="the test")
    made.define("cube(Tensor self) -> Tensor")
    made.impl("cube", lambda x: x.detach() * x.detach() * x.detach(), "composite")
    yield made
    made.close()


def cube_backward(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 3 * x * x


def cube_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def test_a_derivative_from_python(lib):
    lib.register_autograd("cube", cube_backward, setup_context=cube_setup)
    x = leaf()
    y = lamella.ops.folk.cube(x)
    assert y.tolist() == [1, 8] and "Cube" in y.grad_fn.name()
    (g,) = grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [3, 12] and grad(g.sum(), x)[0].tolist() == [6, 12]


def test_a_derivative_may_come_late_and_go(lib):
    x = leaf()
    lamella.ops.folk.cube(x)
    rule = register_autograd("folk::cube", cube_backward, setup_context=cube_setup)
    assert grad(lamella.ops.folk.cube(x).sum(), x)[0].tolist() == [3, 12]
    rule.remove()
    assert lamella.ops.folk.cube(x).tolist() == [1, 8]


@pytest.mark.parametrize("schema, wrap", [("Tensor by", lambda t: t), ("Tensor[] by", lambda t: [t])])
def test_keyword_only_tensors_have_no_gradient(lib, schema, wrap):
    lib.define(f"scaled(Tensor self, *, {schema}) -> Tensor")
    lib.impl("scaled", lambda x, *, by: x.detach() * (by[0] if isinstance(by, list) else by).detach(), "composite")
    lib.register_autograd("scaled", lambda ctx, g: g * 3)
    x, by = leaf(), leaf(3.0, 3.0)
    lamella.ops.folk.scaled(x, by=wrap(by.detach())).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(NotImplementedError, match="folk::scaled: argument 'by' is keyword-only.*detach"):
        lamella.ops.folk.scaled(x, by=wrap(by))


def test_which_inputs_need_a_gradient_and_what_is_left_out(lib):
    lib.define("several(Tensor self, Tensor?[] more, int n=1, Tensor? last=None) -> Tensor")
    lib.impl("several", lambda x, more, *_: x.detach() * more[1].detach(), "composite")
    needed = []

    def backward(ctx, g):
        needed.append(ctx.needs_input_grad)
        return g, [None, g * 5], None, None

    lib.register_autograd("several", backward)
    x, w = leaf(), leaf()
    lamella.ops.folk.several(x, [None, w]).sum().backward()
    lamella.ops.folk.several(x.detach(), [None, w], 2).sum().backward()
    lamella.ops.folk.several(x, [None, w.detach()], 1, w).sum().backward()
    assert needed == [
        (True, [False, True], False, False),
        (False, [False, True], False, False),
        (True, [False, False], False, True),
    ]
    assert x.grad.tolist() == [2, 2] and w.grad.tolist() == [10, 10]


@pytest.mark.parametrize("more", ["int[] more=[1, 2]", "Tensor[]? more=None"])
def test_setup_context_gets_what_the_call_left_at_its_default(lib, more):
    lib.define(f"called(Tensor self, float by=2.0, {more}, *, float plus=0.5, bool? flip=None) -> Tensor")
    lib.impl("called", lambda x, by=2.0, more=None, *, plus=0.5, flip=None: x.detach() * by + plus, "composite")
    seen = []

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        seen.append((*inputs[1:], keyword_only_inputs))
        ctx.by = inputs[1]

    lib.register_autograd("called", lambda ctx, g: g * ctx.by, setup_context=setup_context)
    x = leaf()
    called = lamella.ops.folk.called
    (called(x) + called(x, flip=True)).sum().backward()
    default = [1, 2] if "int" in more else None
    assert [list(s[1]) if s[1] else s[1] for s in seen] == [default] * 2
    assert [(s[0], s[2]) for s in seen] == [
        (2.0, {"plus": 0.5, "flip": None}),
        (2.0, {"plus": 0.5, "flip": True}),
    ]
    assert x.grad.tolist() == [4, 4]


def test_errors_of_a_derivative_from_python(lib):
    def fails(ctx, *grads):
        raise KeyError("mine")

    with pytest.raises(RuntimeError, match="no operator|there is no"):
        register_autograd("folk::nothing", cube_backward)
    rule = lib.register_autograd("cube", fails)
    with pytest.raises(KeyError, match="mine"):
        lamella.ops.folk.cube(leaf()).sum().backward()
    rule.remove()
    lib.register_autograd("cube", lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="folk::cube: its backward must return one gradient for each of 1 arguments"):
        lamella.ops.folk.cube(leaf()).sum().backward()


def test_registered_before_and_without_the_plugin(host):
    program = """
        import lamella
        from lamella.library import Library
        lib = Library("folk", "FRAGMENT")
        lib.define("twice(Tensor self) -> Tensor")
        lib.impl("twice", lambda x: x.detach() * 2, "composite")
        lib.register_autograd("twice", lambda ctx, g: g * 2)
        x = lamella.ones(2)
        print(lamella.ops.folk.twice(x).tolist())
        {rest}
    """
    with_it = "x.requires_grad_(); y = lamella.ops.folk.twice(x); y.sum().backward(); print(x.grad.tolist())"
    assert host.run(program.replace("{rest}", with_it)) == "[2.0, 2.0]\n[2.0, 2.0]\n"
    assert host.run(program.replace("{rest}", ""), LAMELLA_PLUGINS="cpu") == "[2.0, 2.0]\n"


def test_without_the_plugin_its_names_say_so(host):
    host.run(
        """
        import lamella
        x = lamella.ones(2)
        assert lamella.add(x, 1).tolist() == [2, 2] and x[0].item() == 1
        for use in (
            lambda: lamella.no_grad,
            lambda: lamella.autograd,
            lambda: x.backward,
            lambda: x.requires_grad,
            lambda: x.grad,
            lambda: lamella.ones(2, requires_grad=True),
            lambda: lamella.tensor([1.0], requires_grad=True),
        ):
            with fails((AttributeError, TypeError), "is brought by plugin", "denied"):
                use()
        """,
        LAMELLA_PLUGINS="cpu",
    )


# ---- another device --------------------------------------------------------------------------------------------------


def test_everything_works_on_a_device_that_knows_nothing_of_it(guest):
    out = guest.run("""
        import lamella

        def losses(device):
            x = lamella.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], device=device, requires_grad=True)
            w = lamella.tensor([[1.0, -2.0], [0.5, 0.1], [-1.0, 3.0]], device=device, requires_grad=True)
            h = (x @ w).tanh()
            h = h + x.sum(1, keepdim=True).exp()
            h[0].mul_(w[0])
            h[lamella.tensor([False, True], device=device)] = 2 * w[1]
            y = lamella.cat([h, h.relu() * 2]).view(-1)[1:].softmax(0).log().mean()
            (g,) = lamella.autograd.grad(y, w, create_graph=True)
            (y + (g * g).sum()).backward()
            return [t.to("cpu") for t in (y.detach(), x.grad, w.grad, g.detach())], x, w

        (wanted, _, _), (got, x, w) = losses("cpu"), losses("bank")
        assert x.grad.device.type == w.grad.device.type == "bank"
        for a, b in zip(got, wanted, strict=True):
            assert lamella.allclose(a, b, rtol=1e-4, atol=1e-5), (a, b)

        # across devices
        a = lamella.ones(3, requires_grad=True)
        (a.to("bank") * 2).to("bank:1").sum().backward()
        assert a.grad.tolist() == [2, 2, 2] and a.grad.device.type == "cpu"
        p = lamella.ones(3, device="bank", requires_grad=True)
        p.register_hook(lambda g: g * 2)
        with lamella.autograd.graph.save_on_cpu():
            y = (p * p).cpu().sum()
        y.backward()
        with lamella.no_grad():
            p.sub_(p.grad, alpha=0.25)
        print(p.to("cpu").tolist())
    """)
    assert out == "[0.0, 0.0, 0.0]\n"
