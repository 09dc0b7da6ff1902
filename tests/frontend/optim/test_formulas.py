"""Each optimizer follows its published formula in numpy for 100 steps, in every mode of computation."""

import lamella
import numpy as np
import pytest

pytestmark = pytest.mark.needs("autograd")

SHAPES = [(3, 4), (7,), (2, 1, 3)]
WAYS = [{}, {"foreach": True}, {"foreach": False}, {"differentiable": True}]


def sgd(p, g, s, t, lr, momentum=0.0, dampening=0.0, nesterov=False):
    s["b"] = g if t == 1 else momentum * s["b"] + (1 - dampening) * g
    return p - lr * (g + momentum * s["b"] if nesterov else s["b"])


def adam(p, g, s, t, lr, betas=(0.9, 0.999), eps=1e-8, amsgrad=False):
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    s["top"] = np.maximum(s.get("top", 0), s["v"])
    v = s["top"] if amsgrad else s["v"]
    return p - lr * s["m"] / (1 - betas[0] ** t) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def adagrad(p, g, s, t, lr, lr_decay=0.0, initial_accumulator_value=0.0, eps=1e-10):
    s["sum"] = s.get("sum", initial_accumulator_value) + g * g
    return p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s["sum"]) + eps)


def adadelta(p, g, s, t, lr, rho=0.9, eps=1e-6):
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    move = np.sqrt(s.get("u", 0) + eps) / np.sqrt(s["v"] + eps) * g
    s["u"] = rho * s.get("u", 0) + (1 - rho) * move * move
    return p - lr * move


def adamax(p, g, s, t, lr, betas=(0.9, 0.999), eps=1e-8):
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["u"] = np.maximum(betas[1] * s.get("u", 0), np.abs(g) + eps)
    return p - lr / (1 - betas[0] ** t) * s["m"] / s["u"]


def nadam(p, g, s, t, lr, betas=(0.9, 0.999), eps=1e-8, momentum_decay=4e-3):
    mu, after = (betas[0] * (1 - 0.5 * 0.96 ** (k * momentum_decay)) for k in (t, t + 1))
    s["product"] = s.get("product", 1) * mu
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    m = after * s["m"] / (1 - s["product"] * after) + (1 - mu) * g / (1 - s["product"])
    return p - lr * m / (np.sqrt(s["v"] / (1 - betas[1] ** t)) + eps)


def radam(p, g, s, t, lr, betas=(0.9, 0.999), eps=1e-8):
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    m = s["m"] / (1 - betas[0] ** t)
    limit = 2 / (1 - betas[1]) - 1
    rho = limit - 2 * t * betas[1] ** t / (1 - betas[1] ** t)
    if rho <= 5:
        return p - lr * m
    rectified = np.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
    return p - lr * m * rectified * np.sqrt(1 - betas[1] ** t) / (np.sqrt(s["v"]) + eps)


def asgd(p, g, s, t, lr, lambd=1e-4, alpha=0.75, t0=1e6):
    eta, mu = s.get("eta", lr), s.get("mu", 1)
    p = (1 - lambd * eta) * p - eta * g
    s["ax"] = s.get("ax", 0) + mu * (p - s.get("ax", 0))
    s["eta"], s["mu"] = lr / (1 + lambd * lr * t) ** alpha, 1 / max(1, t - t0)
    return p


def rprop(p, g, s, t, lr, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    sign = np.sign(g * s.get("g", 0 * g))
    size = s.get("size", lr) * np.where(sign > 0, etas[1], np.where(sign < 0, etas[0], 1))
    s["size"] = np.clip(size, *step_sizes)
    s["g"] = np.where(sign < 0, 0, g)
    return p - np.sign(s["g"]) * s["size"]


def rmsprop(p, g, s, t, lr, alpha=0.99, eps=1e-8, momentum=0.0, centered=False):
    s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    s["m"] = alpha * s.get("m", 0) + (1 - alpha) * g
    v = s["v"] - s["m"] ** 2 if centered else s["v"]
    s["b"] = momentum * s.get("b", 0) + g / (np.sqrt(v) + eps)
    return p - lr * s["b"]


def adafactor(p, g, s, t, lr, d=1.0):
    keep = 1 - t**-0.8
    alpha = max(1e-3, np.sqrt(np.mean(s["before"] ** 2))) * min(lr, 1 / np.sqrt(t))
    least = np.finfo(p.dtype).eps
    if g.ndim > 1:
        s["r"] = keep * s.get("r", 0) + (1 - keep) * np.mean(g * g, -1, keepdims=True)
        s["c"] = keep * s.get("c", 0) + (1 - keep) * np.mean(g * g, -2, keepdims=True)
        v = s["r"] @ s["c"] / np.maximum(s["r"].mean(-2, keepdims=True), least)
    else:
        v = s["v"] = keep * s.get("v", 0) + (1 - keep) * g * g
    u = g / np.maximum(np.sqrt(v), least)
    return p - alpha * u / max(1, np.sqrt(np.mean(u * u)) / d)


CASES = [
    ("SGD", sgd, {"lr": 0.05}),
    ("SGD", sgd, {"lr": 0.05, "momentum": 0.9, "dampening": 0.2}),
    ("SGD", sgd, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("Adam", adam, {"lr": 0.05}),
    ("Adam", adam, {"lr": 0.05, "betas": (0.5, 0.9), "eps": 1e-3, "amsgrad": True}),
    ("Adagrad", adagrad, {"lr": 0.1, "lr_decay": 0.01, "initial_accumulator_value": 0.1}),
    ("Adadelta", adadelta, {"lr": 1.0, "rho": 0.8}),
    ("Adamax", adamax, {"lr": 0.05}),
    ("NAdam", nadam, {"lr": 0.05}),
    ("RAdam", radam, {"lr": 0.05}),
    ("ASGD", asgd, {"lr": 0.05, "lambd": 0.01, "t0": 20}),
    ("Rprop", rprop, {"lr": 0.05}),
    ("RMSprop", rmsprop, {"lr": 0.01}),
    ("RMSprop", rmsprop, {"lr": 0.01, "momentum": 0.9, "centered": True}),
    ("Adafactor", adafactor, {"lr": 0.05}),
]


def train(name, options, dtype, steps, weight_decay=0.0, maximize=False, leaf=True):
    """Returns parameters after steps by noisy gradients of a quadratic function."""
    rng = np.random.default_rng(3)
    params = [lamella.nn.Parameter(lamella.tensor(rng.standard_normal(s)).to(dtype)) for s in SHAPES]
    if not leaf:
        params = [p.detach().clone() for p in params]
    more = {"weight_decay": weight_decay} if weight_decay else {}
    optimizer = getattr(lamella.optim, name)(params, **options, **more, maximize=maximize)
    for _ in range(steps):
        for p in params:
            p.grad = p.detach() + lamella.tensor(rng.standard_normal(tuple(p.shape))).to(dtype)
        optimizer.step()
    return optimizer, params


def expect(formula, options, steps, weight_decay=0.0, maximize=False, decoupled=False):
    rng = np.random.default_rng(3)
    params = [rng.standard_normal(s) for s in SHAPES]
    states = [{} for _ in params]
    for t in range(1, steps + 1):
        for i, p in enumerate(params):
            g = (p + rng.standard_normal(p.shape)) * (-1 if maximize else 1)
            states[i]["before"] = p
            if decoupled:
                p = p * (1 - options["lr"] * weight_decay)
            else:
                g = g + weight_decay * p
            params[i] = formula(p, g, states[i], t, **options)
    return params


def close(params, expected, tolerance=1e-6):
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), e, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name, formula, options", CASES, ids=lambda x: str(x) if isinstance(x, str) else None)
def test_a_hundred_steps(name, formula, options, way):
    if name == "Adafactor" and "differentiable" in way:
        with pytest.raises(TypeError, match="differentiable"):
            lamella.optim.Adafactor([lamella.zeros(1)], **way)
        return
    _, params = train(name, options | way, lamella.float64, 100, leaf="differentiable" not in way)
    close(params, expect(formula, options, 100))


@pytest.mark.parametrize("way", WAYS[:3], ids=str)
@pytest.mark.parametrize("name, formula, options", CASES, ids=lambda x: str(x) if isinstance(x, str) else None)
def test_weight_decay_and_maximize(name, formula, options, way):
    if name == "Rprop":
        with pytest.raises(TypeError, match="weight_decay"):
            lamella.optim.Rprop([lamella.zeros(1)], weight_decay=0.1)
        return
    _, params = train(name, options | way, lamella.float64, 20, 0.1, True)
    close(params, expect(formula, options, 20, 0.1, True, name == "Adafactor"))


@pytest.mark.parametrize("name, formula", [("AdamW", adam), ("NAdam", nadam), ("RAdam", radam)])
@pytest.mark.parametrize("way", WAYS[:3], ids=str)
def test_decoupled_weight_decay(name, formula, way):
    more = {} if name == "AdamW" else {"decoupled_weight_decay": True}
    _, params = train(name, {"lr": 0.05} | more | way, lamella.float64, 50, 0.1)
    close(params, expect(formula, {"lr": 0.05}, 50, 0.1, decoupled=True))


@pytest.mark.parametrize("name, formula, options", CASES, ids=lambda x: str(x) if isinstance(x, str) else None)
def test_float32_and_its_step_count(name, formula, options):
    optimizer, params = train(name, options, lamella.float32, 20)
    if name not in ("Rprop", "Adadelta"):  # rounding may turn a sign, or exceed a step as small as eps
        close(params, expect(formula, options, 20), 1e-3)
    for state in optimizer.state.values():
        if name != "SGD":
            assert state["step"].dtype is lamella.float32 and state["step"].shape == () and state["step"].item() == 20


def test_complex_parameters_are_pairs_of_real_ones():
    rng = np.random.default_rng(0)
    start, grad = rng.standard_normal((2, 5, 2))
    for name in ("SGD", "Adam", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "RMSprop"):
        z = lamella.view_as_complex(lamella.tensor(start)).clone()
        x = lamella.tensor(start)
        both = [getattr(lamella.optim, name)([p], lr=0.1) for p in (z, x)]
        for _ in range(3):
            z.grad, x.grad = lamella.view_as_complex(lamella.tensor(grad)), lamella.tensor(grad)
            for optimizer in both:
                optimizer.step()
        np.testing.assert_allclose(lamella.view_as_real(z).numpy(), x.numpy(), err_msg=name)


def test_dtypes_may_be_mixed_and_parameters_without_gradient_stay():
    a, b, c = lamella.ones(2), lamella.ones(3, dtype=lamella.float64), lamella.ones(1)
    for name in ("SGD", "Adam", "RMSprop"):
        optimizer = getattr(lamella.optim, name)([a, b, c], lr=0.1)
        a.grad, b.grad, c.grad = lamella.ones_like(a), lamella.ones_like(b), None
        optimizer.step()
        assert c.item() == 1 and c not in optimizer.state and a[0] < 1 and b[0] < 1
        np.testing.assert_allclose(a[0].item(), b[0].item(), rtol=1e-6)


def test_a_momentum_that_begins_late():
    a, b = lamella.zeros(1), lamella.zeros(1)
    optimizer = lamella.optim.SGD([a, b], lr=1.0, momentum=0.5)
    a.grad = lamella.ones(1)
    optimizer.step()
    b.grad = lamella.ones(1)
    optimizer.step()
    assert (a.item(), b.item()) == (-2.5, -1.0)


def test_muon_makes_steps_orthogonal():
    rng = np.random.default_rng(0)
    for shape in ((4, 9), (9, 4)):
        w = lamella.zeros(*shape)
        w.grad = lamella.tensor(rng.standard_normal(shape)).float()
        lamella.optim.Muon([w], lr=1.0, weight_decay=0.0).step()
        values = np.linalg.svd(w.numpy() / np.sqrt(max(1, shape[0] / shape[1])), compute_uv=False)
        assert values.min() > 0.3 and values.max() < 1.5
