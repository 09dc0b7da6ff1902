"""What is registered for an operator: refused where it cannot be right, replaced and taken back in any order."""

import itertools

import pytest
from lattis import Tensor
from lattis.library import Library, custom_op

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
