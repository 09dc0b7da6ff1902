"""Derivatives of collectives: finite differences over the inputs of all ranks, of first and second order."""

import lamella
import lamella.distributed as dist
import numpy as np
import pytest
from ranks import run


def gradients(rank, size):
    """L, the sum over ranks of a function of each rank's result, is differentiated by the input of each rank."""
    ops, name = lamella.ops.c10d, dist.group.WORLD.group_name
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal((2 * size, 3)) for _ in range(size)]
    weights = [rng.standard_normal((4 * size * size, 3)) for _ in range(size)]
    calls = {
        "all_reduce": lambda x: ops.all_reduce(x, "sum", name),
        "mean": lambda x: ops.all_reduce(x, "avg", name),
        "in place": lambda x: ops.all_reduce_(x * 1, "sum", name),
        "reduce": lambda x: ops.reduce(x, 1, "sum", name),
        "broadcast": lambda x: ops.broadcast(x, 1, name),
        "all_gather": lambda x: ops.all_gather(x, name),
        "reduce_scatter": lambda x: ops.reduce_scatter(x, "sum", name),
        "reduce_scatter mean": lambda x: ops.reduce_scatter(x, "avg", name),
        "all_to_all": lambda x: ops.all_to_all(x, [], [], name),
        "gather": lambda x: ops.gather(x, 1, name),
        "scatter": lambda x: ops.scatter(x[:2], x if rank == 0 else None, 0, name),
    }

    def loss(call, x):
        y = call(x)
        return (y * y * y * lamella.tensor(weights[rank][: y.shape[0]])).sum()

    def total(call, r, at, step):
        """L with one element of rank r's input moved."""
        own = inputs[rank].copy()
        if rank == r:
            own.reshape(-1)[at] += step
        value = loss(call, lamella.tensor(own)).reshape(1)
        dist.all_reduce(value)
        return value.item()

    for title, call in calls.items():
        x = lamella.tensor(inputs[rank], requires_grad=True)
        (grad,) = lamella.autograd.grad(loss(call, x), x, create_graph=True)
        direction = lamella.tensor(np.random.default_rng(rank).standard_normal(grad.shape))
        (second,) = lamella.autograd.grad((grad * direction).sum(), x)
        h = 1e-4
        for r in range(size):
            for at in (0, 4, 6 * size - 1):
                want = (total(call, r, at, h) - total(call, r, at, -h)) / (2 * h)
                if rank == r:
                    np.testing.assert_allclose(
                        grad.detach().reshape(-1)[at].item(), want, rtol=1e-5, atol=1e-6, err_msg=title
                    )

        # second order: the derivative of the sum over ranks of grad * direction
        def product(step, r=0, at=1, call=call, direction=direction):
            own = inputs[rank].copy()
            if rank == r:
                own.reshape(-1)[at] += step
            y = lamella.tensor(own, requires_grad=True)
            (g,) = lamella.autograd.grad(loss(call, y), y)
            value = (g * direction).sum().reshape(1)
            dist.all_reduce(value)
            return value.item()

        want = (product(h) - product(-h)) / (2 * h)
        if rank == 0:
            np.testing.assert_allclose(second.reshape(-1)[1].item(), want, rtol=1e-5, atol=1e-5, err_msg=title)


@pytest.mark.parametrize("size", [2, 3])
def test_gradients(size, tmp_path):
    run(gradients, tmp_path, size).check()


def refused(rank, size):
    x = lamella.ones(2, requires_grad=True)
    y = lamella.ops.c10d.all_reduce(x, "max", "0")
    try:
        y.sum().backward()
    except NotImplementedError as e:
        assert "reduction 'max' has no derivative" in str(e), str(e)
    else:
        raise AssertionError("no error")
    m = lamella.ones(4, 3, device="meta")
    assert lamella.ops.c10d.all_gather(m, "0").shape == (4 * size, 3)
    assert lamella.ops.c10d.reduce_scatter(m, "sum", "0").shape == (4 // size, 3)


def test_reductions_without_a_derivative(tmp_path):
    run(refused, tmp_path, 2).check()
