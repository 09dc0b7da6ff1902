"""LBFGS equals scipy.optimize; its states and its errors."""

import copy
import functools

import lamella
import numpy as np
import pytest
from scipy import optimize

pytestmark = pytest.mark.needs("autograd")


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def make(start, **options):
    w = lamella.nn.Parameter(lamella.tensor(start, dtype=lamella.float64))
    optimizer = lamella.optim.LBFGS([w], **options)

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(w)
        loss.backward()
        return loss

    return w, optimizer, closure


@pytest.mark.parametrize("start", [[-1.2, 1.0], [0.5, -1.0, 2.0, 0.1], [2.0] * 10])
def test_rosenbrock_as_scipy(start):
    options = {"max_iter": 200, "max_eval": 400, "tolerance_grad": 1e-9, "tolerance_change": 1e-14}
    w, optimizer, closure = make(start, line_search_fn="strong_wolfe", history_size=10, **options)
    first = optimizer.step(closure)
    found = optimize.minimize(optimize.rosen, start, jac=optimize.rosen_der, method="L-BFGS-B", tol=1e-15)
    assert first.item() == pytest.approx(optimize.rosen(start))
    np.testing.assert_allclose(w.detach().numpy(), found.x, atol=1e-4)
    assert optimize.rosen(w.detach().numpy()) < 1e-12
    assert optimizer.state[w]["func_evals"] < 3 * found.nfev


def test_the_line_search_keeps_the_wolfe_conditions():
    from lamella.optim._wolfe import strong_wolfe

    def line(t, start, slope):
        x = lamella.tensor([start + t * slope], dtype=lamella.float64)
        return float(x**4 / 4 + x.cos()), x**3 - x.sin()

    for start in (-3.0, -0.5, 0.3, 2.0):
        loss, grad = line(0.0, start, 0.0)
        slope = -float(grad)
        at = functools.partial(line, start=start, slope=slope)
        direction = lamella.tensor([slope], dtype=lamella.float64)
        for first in (0.01, 1.0, 30.0):
            value, new, t, used = strong_wolfe(at, first, direction, loss, grad, -slope * slope)
            assert value <= loss - 1e-4 * t * slope * slope and abs(float(new) * slope) <= 0.9 * slope * slope
            assert value == pytest.approx(at(t)[0]) and 1 <= used <= 26


def test_fixed_steps_solve_a_quadratic():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 6))
    a, b = a @ a.T + np.eye(6), rng.standard_normal(6)
    w = [lamella.zeros(2, dtype=lamella.float64, requires_grad=True) for _ in range(3)]
    matrix, vector = lamella.tensor(a), lamella.tensor(b)
    optimizer = lamella.optim.LBFGS(w, lr=0.5, max_iter=300, tolerance_change=0.0)

    def closure():
        optimizer.zero_grad()
        x = lamella.cat(w)
        loss = x @ matrix @ x / 2 - vector @ x
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(lamella.cat(w).detach().numpy(), np.linalg.solve(a, b), rtol=1e-5)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_it_goes_on_from_its_state(search):
    options = {"lr": 1.0 if search else 1e-3, "max_iter": 4, "line_search_fn": search}
    w, optimizer, closure = make([-1.2, 1.0], **options)
    optimizer.step(closure)
    v, other, again = make(w.tolist(), **options)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for _ in range(3):
        optimizer.step(closure), other.step(again)
    assert w.tolist() == v.tolist() and other.state[v]["n_iter"] == optimizer.state[w]["n_iter"]


def test_it_is_bounded():
    calls = []
    w, optimizer, closure = make([-1.2, 1.0], line_search_fn="strong_wolfe", max_iter=100, max_eval=7)
    optimizer.step(lambda: (calls.append(1), closure())[1])
    assert len(calls) <= 9
    with pytest.raises(ValueError, match="parameter groups"):
        lamella.optim.LBFGS([{"params": [w]}, {"params": [lamella.zeros(1)]}])
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        make([1.0, 2.0], line_search_fn="armijo")[1].step(closure)
    before = w.tolist()
    with pytest.raises(ZeroDivisionError):
        optimizer.step(lambda: 1 / 0)
    assert w.tolist() == before


def test_a_parameter_without_gradient_counts_as_zero():
    w, still = lamella.ones(1, requires_grad=True), lamella.ones(2, requires_grad=True)
    optimizer = lamella.optim.LBFGS([w, still])

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert abs(w.item()) < 1e-3 and still.tolist() == [1, 1]
