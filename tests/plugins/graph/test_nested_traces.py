"""Traces within traces, which use values of the outer one."""

import lamella
import pytest


@pytest.mark.parametrize("inner", [lambda y, a: y + a, lambda y, a: a + y, lambda y, a: (a * 2).add_(y)])
def test_an_inner_trace_keeps_values_of_the_outer_one_as_constants(inner):
    made = []

    def outer(a):
        made.append(lamella.jit.trace(lambda y: inner(y, a), lamella.ones(2), check_trace=False))
        return inner(lamella.ones(2), a)

    f = lamella.jit.trace(outer, lamella.tensor([3.0, 4.0]), check_trace=False)
    a, y = lamella.tensor([5.0, 6.0]), lamella.tensor([1.0, 2.0])
    assert f(a).tolist() == inner(lamella.ones(2), a).tolist()
    assert made[0](y).tolist() == inner(y, lamella.tensor([3.0, 4.0])).tolist()


def test_a_value_of_a_trace_that_has_ended():
    kept = []
    lamella.jit.trace(lambda x: kept.append(x) or x + 1, lamella.ones(2), check_trace=False)
    with pytest.raises(RuntimeError, match="stands for a value of a trace that has ended"):
        lamella.jit.trace(lambda y: y + kept[0], lamella.ones(2))
