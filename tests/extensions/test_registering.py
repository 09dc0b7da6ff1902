"""Registrations for an operator: wrong ones are refused, others are replaced and withdrawn in any order."""

import copy
import itertools
import pickle
import subprocess
import sys
import threading

import lamella
import pytest
from lamella import Tensor
from lamella.library import Autocast, Derivative, Library, custom_op, kernels_disabled, opcheck, rules

# ---- derivatives -----------------------------------------------------------------------------------------------------


def test_an_operator_without_that_overload():
    library = lamella.library.Library("aten", "IMPL", "cpu", owner="the test")
    with pytest.raises(
        RuntimeError, match="no operator aten::add; name an overload: .*aten::add.Tensor, aten::add.Scalar"
    ):
        library.impl("add", lambda a, b: a)
    with pytest.raises(RuntimeError, match="no operator aten::nothing; the test must define it first"):
        library.impl("nothing", lambda a: a)
    library.close()


def test_no_derivative_for_what_writes_by_its_hints(ns, opened):
    """A schema from hints names its aliases a0, a1, ..., not by one letter."""

    def scale(x: Tensor, y: Tensor) -> Tensor:
        x.mul_(2)
        return x * y

    op = opened(custom_op(f"{ns}::scale", scale, mutates_args=("x",)))
    with pytest.raises(RuntimeError, match=f"{ns}::scale writes to an argument or returns a view; give a functional"):
        op.register_autograd(lambda ctx, grad: (grad, grad))


@pytest.mark.parametrize(
    "schema", ["(Tensor(long!) x) -> ()", "(Tensor(a|b) x) -> Tensor", "(Tensor(x1) x) -> Tensor(x1)"]
)
def test_no_derivative_for_what_has_aliases(ns, opened, schema):
    lib = opened(Library(ns, "DEF"))
    lib.define("f" + schema)
    with pytest.raises(RuntimeError, match=f"register_autograd: argument 'op': {ns}::f writes to an argument or"):
        lib.register_autograd("f", lambda ctx, grad: grad)


def test_a_kernel_in_python_gets_what_the_call_gave(ns, opened):
    """Keywords and trailing positional arguments that have their defaults are left out."""
    lib = opened(Library(ns, "DEF"))
    lib.define("f(Tensor x, str mode='fast', int[] dims=[1, 2], *, float[] w=[0.5], bool on=True) -> Tensor")
    got = []
    lib.impl("f", lambda *args, **kwargs: got.append((args[1:], kwargs)) or args[0], "composite")
    f, x = getattr(lamella.ops, ns).f, lamella.ones(1)
    for args, kwargs in (((), {}), (("slow",), {}), ((), {"dims": [3]}), ((), {"w": [1.5], "on": False})):
        f(x, *args, **kwargs)
    assert [len(a) for a, _ in got] == [0, 1, 2, 0] and [set(k) for _, k in got] == [set()] * 3 + [{"w", "on"}]


@pytest.mark.needs("autograd")
def test_which_gradients_are_needed_is_said_for_every_argument(ns, opened):
    """needs_input_grad has an entry for each argument, also for those left out or given their default."""
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad * 2, grad if ctx.needs_input_grad[1] else None, None

    schema = "(Tensor x, Tensor? y=None, float s=2.0) -> Tensor"
    op = opened(custom_op(f"{ns}::f", lambda x, y=None, s=2.0: x * s, mutates_args=(), schema=schema))
    op.register_autograd(backward)
    x = lamella.ones(2, requires_grad=True)
    for args in ((x,), (x, None), (x, x.detach(), 2.0), (x.detach(), x)):
        op(*args).sum().backward()
    assert seen == [(True, False, False)] * 3 + [(False, True, False)]


@pytest.mark.needs("autograd")
def test_which_gradients_are_needed_beside_a_list(ns, opened):
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return [grad, None], None, None

    schema = "(Tensor[] xs, Tensor? y=None, float s=2.0) -> Tensor"
    op = opened(custom_op(f"{ns}::f", lambda xs, y=None, s=2.0: xs[0] * s, mutates_args=(), schema=schema))
    op.register_autograd(backward)
    op([lamella.ones(1, requires_grad=True), lamella.ones(1)]).sum().backward()
    assert seen == [([True, False], False, False)]


ONE = "(Tensor x, float s=2.0) -> Tensor"
LISTS = "(Tensor[] xs, float s=2.0) -> Tensor"


@pytest.mark.needs("autograd")
@pytest.mark.parametrize(
    "schema, returned, error, message",
    [
        (ONE, lambda g: (g, g), RuntimeError, "argument 's' was left at its default; its gradient must be None, got T"),
        (ONE, lambda g: (g, None, g), RuntimeError, "must return one gradient for each of 2 arguments, got 3"),
        (ONE, lambda g: (g, None, g, None), RuntimeError, "must return one gradient for each of 2 arguments, got 4"),
        (ONE, lambda g: (), RuntimeError, "must return one gradient for each of 2 arguments, got 0"),
        (ONE, lambda g: (0.5, None), TypeError, "gradient of argument 'x' must be a Tensor or None, got float"),
        (ONE, lambda g: [g], TypeError, "gradient of argument 'x' must be a Tensor or None, got list"),
        (LISTS, lambda g: ([g], None), RuntimeError, "gradient of argument 'xs' must be a list of 2, got 1"),
        (LISTS, lambda g: (g, None), TypeError, "gradient of argument 'xs' must be a list of 2 or None, got .*Tensor"),
        (LISTS, lambda g: ([g, 3], None), TypeError, r"argument 'xs\[1\]' must be a Tensor or None, got int"),
    ],
)
def test_gradients_that_cannot_be(ns, opened, schema, returned, error, message):
    op = opened(custom_op(f"{ns}::f", lambda x, s=2.0: x[0] * s, mutates_args=(), schema=schema))
    op.register_autograd(lambda ctx, grad: returned(grad))
    x = lamella.ones(2, requires_grad=True)
    with pytest.raises(error, match=rf"^{ns}::f: .*{message}"):
        op([x, x] if schema is LISTS else x).sum().backward()


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("schema", [ONE, LISTS])
@pytest.mark.parametrize("gradient", [0.5, lamella.ones(1)])
def test_a_number_has_no_gradient(ns, opened, schema, gradient):
    op = opened(custom_op(f"{ns}::f", lambda x, s=2.0: x[0] * s, mutates_args=(), schema=schema))
    op.register_autograd(lambda ctx, grad: ([grad, grad] if schema is LISTS else grad, gradient))
    x = lamella.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"^{ns}::f: argument 's' is no tensor; its gradient must be None, got"):
        op([x, x] if schema is LISTS else x, 3.0).sum().backward()


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("type", ["Tensor", "Tensor[]", "Tensor?[]"])
def test_a_tensor_that_was_not_given_has_no_gradient(ns, opened, type):
    schema = f"({type} x, Tensor? b, int[] sizes) -> Tensor"
    op = opened(custom_op(f"{ns}::f", lambda x, b, sizes: x[0] * 1, mutates_args=(), schema=schema))
    gradients = []
    op.register_autograd(lambda ctx, grad: tuple(gradients))
    x, grad = lamella.ones(1, requires_grad=True), lamella.ones(1)
    given = {"Tensor": x, "Tensor[]": [x], "Tensor?[]": [x, None]}[type]
    own = {"Tensor": grad, "Tensor[]": [grad], "Tensor?[]": [grad, None]}[type]
    for wrong, name in [((own, grad, None), "b"), ((own, None, grad), "sizes")]:
        gradients[:] = wrong
        with pytest.raises(RuntimeError, match=f"^{ns}::f: argument '{name}' is no tensor; its gradient must be None"):
            op(given, None, [1]).sum().backward()
    if type == "Tensor?[]":
        gradients[:] = ([grad, grad], None, None)
        with pytest.raises(RuntimeError, match=rf"^{ns}::f: argument 'x\[1\]' is no tensor; its gradient must be None"):
            op(given, None, [1]).sum().backward()
    gradients[:] = (own, None, [])
    op(given, None, []).sum().backward()
    assert x.grad.item() == 1
    gradients[:] = (own, grad * 5, None)
    b = lamella.ones(1, requires_grad=True)
    op(given, b, []).sum().backward()
    assert x.grad.item() == 2 and b.grad.item() == 5


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("schema", [ONE, LISTS])
def test_a_derivative_made_by_hand(ns, opened, schema):
    """The derivative is registered as a rule, without the checks of register_autograd."""
    op = opened(custom_op(f"{ns}::f", lambda x, s=2.0: x[0] * s, mutates_args=(), schema=schema))
    wanted = []
    op.register_rule("autograd", Derivative(lambda ctx, grad: wanted[0](grad)))
    x = lamella.ones(1, requires_grad=True)
    given = [x] if schema is LISTS else x
    wanted[:] = [lambda g: ([g * 5] if schema is LISTS else (g * 5).reshape(1), None)]
    op(given, 3.0).sum().backward()
    assert x.grad.item() == 5
    for wrong, message in [
        (0.5, "gradient of argument '0' must be"),
        ((None,) * 2 + (0.5,), "each of 2 arguments, got 3"),
    ]:
        wanted[:] = [lambda g, wrong=wrong: wrong if isinstance(wrong, tuple) else (wrong, None)]
        with pytest.raises((TypeError, RuntimeError), match=f"^{ns}::f: .*{message}"):
            op(given, 3.0).sum().backward()


# ---- disabled kernels ------------------------------------------------------------------------------------------------


def switchable(ns, opened):
    op = opened(custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))
    op.register_kernel("cpu", lambda x: x + 10)
    return op, lambda: op(lamella.zeros(1)).item() == 10


def test_a_block_leaves_the_kernel_as_it_was(ns, opened):
    op, enabled = switchable(ns, opened)
    with op.set_kernel_enabled("cpu", True):
        assert enabled()
    assert enabled()
    with op.set_kernel_enabled("CPU"):
        assert enabled()
    assert enabled()


@pytest.mark.parametrize("blocks", list(itertools.product([True, False], repeat=4)))
def test_blocks_in_each_other(ns, opened, blocks):
    op, enabled = switchable(ns, opened)

    def enter(blocks, before):
        assert enabled() == before
        if blocks:
            with op.set_kernel_enabled("cpu", blocks[0]):
                enter(blocks[1:], blocks[0])
        assert enabled() == before

    enter(blocks, True)


def test_blocks_beside_each_other(ns, opened):
    op, enabled = switchable(ns, opened)
    off, on = op.set_kernel_enabled("cpu", False), op.set_kernel_enabled("cpu", True)
    off.__enter__()
    on.__enter__()
    assert enabled()
    off.__exit__(None, None, None)
    assert enabled()
    on.__exit__(None, None, None)
    assert enabled()


def test_a_switch_is_its_owners(ns, opened):
    """A library's disabling lasts until its handle is withdrawn or the library is closed, whatever others enable."""
    op, enabled = switchable(ns, opened)
    lib = opened(Library(ns, "FRAGMENT", "cpu"))
    first, second = lib.disable_kernel(op), lib.disable_kernel(f"{ns}::f")
    with op.set_kernel_enabled("cpu", False), op.set_kernel_enabled("cpu", True), kernels_disabled(op, "cpu"):
        assert not enabled()
    lib.withdraw(first)
    assert not enabled()
    lib.withdraw(second)
    assert enabled()
    lib.disable_kernel(op)
    assert not enabled()
    lib.close()
    assert enabled()


def test_a_kernel_registered_while_passed_over_serves_afterwards(ns, opened):
    op, enabled = switchable(ns, opened)
    with op.set_kernel_enabled("cpu", False):
        assert not enabled()
        op.register_kernel("cpu", lambda x: x + 20)
    assert op(lamella.zeros(1)).item() == 20


# ---- registrations that replace earlier ones -------------------------------------------------------------------------


@pytest.fixture
def op(ns, opened):
    return opened(custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))


def test_a_refused_replacement_leaves_the_earlier_one(op):
    def backward(ctx, grad):
        return grad

    op.register_autograd(backward)
    op.register_autocast("cpu", lamella.bfloat16)
    for refused in (
        lambda: op.register_autograd(backward, setup_context=3),
        lambda: op.register_autocast("cpu", "bfloat16"),
        lambda: op.register_vmap(3),
        lambda: op.register_kernel("cpu", 3),
    ):
        with pytest.raises(TypeError, match="argument"):
            refused()
    assert [r.payload for r in rules(op, "autocast")] == [Autocast("cpu", lamella.bfloat16)]
    assert rules(op, "autograd")[0].payload.backward is backward and op(lamella.ones(1)).item() == 2


def test_what_was_removed_elsewhere_can_be_registered_again(op):
    for _ in range(2):
        op.register_autograd(lambda ctx, grad: grad)
        op.register_rule("shout", "louder")
        op.register_kernel("cpu", lambda x: x + 10)
        for rule in rules(op):
            rule.remove()
        op._library.withdraw(op._registered["cpu"])
    assert rules(op) == [] and op(lamella.ones(1)).item() == 2


def test_spellings_of_a_device_are_one(op):
    op.register_autocast("cpu", lamella.bfloat16)
    op.register_autocast("CPU", lamella.float64)
    op.register_autocast("meta", lamella.float32)
    assert [r.payload for r in rules(op)] == [Autocast("cpu", lamella.float64), Autocast("meta", lamella.float32)]


@pytest.fixture
def threads_alternate_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_call_finds_a_kernel_and_a_rule_at_any_time(op, threads_alternate_often):
    """Threads call while kernels and rules are replaced."""
    x, stop, wrong = lamella.zeros(1), threading.Event(), []

    def call():
        while not stop.is_set():
            if (found := op(x).item()) not in (10, 20) or not rules(op, "shout"):
                wrong.append(found)

    op.register_kernel("cpu", lambda x: x + 10)
    op.register_rule("shout", 0)
    threads = [threading.Thread(target=call) for _ in range(3)]
    for t in threads:
        t.start()
    for i in range(400):
        op.register_kernel("cpu", lambda x, by=10 + i % 2 * 10: x + by)
        op.register_rule("shout", i)
    stop.set()
    for t in threads:
        t.join()
    assert wrong == [] and len(rules(op, "shout")) == 1


# ---- pickle and copy -------------------------------------------------------------------------------------------------

ROUNDS = [copy.copy, copy.deepcopy, *(lambda o, p=p: pickle.loads(pickle.dumps(o, p)) for p in range(2, 6))]


@pytest.mark.parametrize("again", ROUNDS)
def test_operators_are_kept_by_their_name(ns, opened, again):
    op = opened(custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))
    overload = opened(custom_op(f"{ns}::f.b", lambda x: x, mutates_args=(), schema="(Tensor x, int n) -> Tensor"))
    space = getattr(lamella.ops, ns)
    for o in (op, overload, space.f, lamella.add, lamella.ops.aten.add, lamella.Tensor.add_, lamella.Tensor.real.fget):
        assert again(o) is o
    assert again({"ops": [op, space.f]}) == {"ops": [op, space.f]}
    assert again(space).f is space.f


def test_an_operator_that_is_not_there_is_not_unpickled(ns):
    op = custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    kept = [pickle.dumps(op), pickle.dumps(getattr(lamella.ops, ns).f)]
    op.close()
    for data in (*kept, kept[0].replace(ns.encode(), b"x" * len(ns))):
        with pytest.raises(AttributeError, match="lamella has no operator .*::f; import the module that defines it"):
            pickle.loads(data)


def test_another_process_finds_its_own(ns, opened, tmp_path):
    program = f"""
import lamella, pickle, sys
op = lamella.library.custom_op("{ns}::f", lambda x: x + 5, mutates_args=(), schema="(Tensor x) -> Tensor")
for data in pickle.load(open(sys.argv[1], "rb")):
    print(pickle.loads(data)(lamella.ones(1)).item())
"""
    op = opened(custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))
    path = tmp_path / "kept"
    path.write_bytes(pickle.dumps([pickle.dumps(o) for o in (op, getattr(lamella.ops, ns).f, lamella.neg)]))
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["6.0", "6.0", "-1.0"], done.stderr


def test_a_namespace_has_no_dunder_names(ns):
    space = getattr(lamella.ops, ns)
    assert not hasattr(space, "__wrapped__") and not hasattr(space, "__array__")


def test_one_overload_is_a_callable_of_its_own():
    """custom_op returns, and opcheck checks, exactly the overload of that name."""

    @custom_op("ours::one.a", mutates_args=())
    def a(x: lamella.Tensor, n: int) -> lamella.Tensor:
        return x + n

    @custom_op("ours::one.b", mutates_args=())
    def b(x: lamella.Tensor, n: float) -> lamella.Tensor:
        return x * n * 100

    x, ops = lamella.ones(1), lamella.ops.ours.one
    assert a(x, 2).tolist() == ops.a(x, 2).tolist() == [3]
    assert b(x, 2).tolist() == ops.b(x, 2).tolist() == [200]
    assert ops(x, 2.5).tolist() == [250]
    checks = ("test_schema", "test_layers")
    assert opcheck(b, (x, 2), test_utils=checks) == opcheck(ops.b, (x, 2), test_utils=checks)
    with pytest.raises(TypeError, match=r"ours::one\.a: .*int"):
        a(x, 2.5)
    with pytest.raises(AttributeError):
        ops.c  # noqa: B018
    again = pickle.loads(pickle.dumps(ops.b))
    assert again is ops.b and again.__name__ == "ours::one.b"
    kept = ops.a
    a.close()
    assert b(x, 2).tolist() == [200] and not hasattr(ops, "a")
    with pytest.raises(AttributeError, match=r"lamella has no operator ours::one\.a"):
        kept(x, 2)
    b.close()


def test_the_overload_without_a_name_is_the_default():
    assert lamella.add.Tensor(lamella.ones(1), lamella.ones(1)).tolist() == [2]
    relu = lamella.ops.aten.relu.default
    assert relu(lamella.tensor([-1.0])).tolist() == [0] and pickle.loads(pickle.dumps(relu)) is relu
    assert not hasattr(lamella.relu, "nonesuch") and not hasattr(relu, "default")
