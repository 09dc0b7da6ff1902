"""What is registered for an operator: refused where it cannot be right, replaced and taken back in any order."""

import itertools

import lattis
import pytest
from lattis import Tensor
from lattis.library import Library, custom_op, set_kernel_enabled

count = itertools.count()


@pytest.fixture
def ns():
    return f"registering{next(count)}"


@pytest.fixture
def opened():
    """Keeps what a test opens, and closes it."""
    made = []
    yield lambda o: made.append(o) or o
    for o in reversed(made):
        o.close()


# ---- derivatives -----------------------------------------------------------------------------------------------------


def test_no_derivative_for_what_writes_by_its_hints(ns, opened):
    """A schema from hints names its aliases a0, a1, ... rather than by one letter."""

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


# ---- kernels that are passed over ------------------------------------------------------------------------------------


def switchable(ns, opened):
    op = opened(custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))
    op.register_kernel("cpu", lambda x: x + 10)
    return op, lambda: op(lattis.zeros(1)).item() == 10


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
    set_kernel_enabled(op, "cpu", False)
    set_kernel_enabled(op, "cpu", False)
    enter(blocks, False)
    set_kernel_enabled(op, "cpu", True)
    assert not enabled()
    set_kernel_enabled(op, "cpu", True)
    enter(blocks, True)


def test_enabling_what_is_enabled_counts_for_nothing(ns, opened):
    op, enabled = switchable(ns, opened)
    set_kernel_enabled(op, "cpu", True)
    set_kernel_enabled(op, "cpu", True)
    with op.set_kernel_enabled("cpu", False):
        assert not enabled()
        op.register_kernel("cpu", lambda x: x + 20)
    assert op(lattis.zeros(1)).item() == 20
