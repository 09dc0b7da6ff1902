"""Formulas of the optimizers' updates from the papers, and the results of operators over lists."""

from __future__ import annotations

from functools import partial

import lamella
import numpy as np

from oracles.base import entries


def lerp(x, y, by):
    return x + (y - x) * by


def sgd(p, g, s, t, o):
    if o["momentum"]:
        s[0] = g if o["is_first_step"] else o["momentum"] * s[0] + (1 - o["dampening"]) * g
        g = g + o["momentum"] * s[0] if o["nesterov"] else s[0]
    return p - o["lr"] * g


def adam(p, g, s, t, o):
    s[0], s[1] = lerp(s[0], g, 1 - o["beta1"]), o["beta2"] * s[1] + (1 - o["beta2"]) * g * g
    if o["amsgrad"]:
        s[2] = np.maximum(s[2], s[1])
    mean, spread = s[0] / (1 - o["beta1"] ** t), (s[2] if o["amsgrad"] else s[1]) / (1 - o["beta2"] ** t)
    return p - o["lr"] * mean / (np.sqrt(spread) + o["eps"])


def adagrad(p, g, s, t, o):
    s[0] = s[0] + g * g
    return p - o["lr"] / (1 + (t - 1) * o["lr_decay"]) * g / (np.sqrt(s[0]) + o["eps"])


def adadelta(p, g, s, t, o):
    s[0] = o["rho"] * s[0] + (1 - o["rho"]) * g * g
    delta = np.sqrt(s[1] + o["eps"]) / np.sqrt(s[0] + o["eps"]) * g
    s[1] = o["rho"] * s[1] + (1 - o["rho"]) * delta * delta
    return p - o["lr"] * delta


def adamax(p, g, s, t, o):
    s[0], s[1] = lerp(s[0], g, 1 - o["beta1"]), np.maximum(o["beta2"] * s[1], np.abs(g) + o["eps"])
    return p - o["lr"] / (1 - o["beta1"] ** t) * s[0] / s[1]


def nadam(p, g, s, t, o):
    now, after = (o["beta1"] * (1 - 0.5 * 0.96 ** (k * o["momentum_decay"])) for k in (t, t + 1))
    s[2] = s[2] * now
    s[0], s[1] = lerp(s[0], g, 1 - o["beta1"]), o["beta2"] * s[1] + (1 - o["beta2"]) * g * g
    size = np.sqrt(s[1] / (1 - o["beta2"] ** t)) + o["eps"]
    return p - o["lr"] * (1 - now) / (1 - s[2]) * g / size - o["lr"] * after / (1 - s[2] * after) * s[0] / size


def radam(p, g, s, t, o):
    s[0], s[1] = lerp(s[0], g, 1 - o["beta1"]), o["beta2"] * s[1] + (1 - o["beta2"]) * g * g
    mean, left = s[0] / (1 - o["beta1"] ** t), 1 - o["beta2"] ** t
    most = 2 / (1 - o["beta2"]) - 1
    now = most - 2 * t * o["beta2"] ** t / left
    if now <= 5:
        return p - o["lr"] * mean
    trust = np.sqrt((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now))
    return p - o["lr"] * mean * trust * np.sqrt(left) / (np.sqrt(s[1]) + o["eps"])


def asgd(p, g, s, t, o):
    p = p * (1 - o["lambd"] * s[2]) - s[2] * g
    s[0] = p if s[1] == 1 else lerp(s[0], p, s[1])
    s[1], s[2] = 1 / max(1, t - o["t0"]), o["lr"] / (1 + o["lambd"] * o["lr"] * t) ** o["alpha"]
    return p


def rprop(p, g, s, t, o):
    turn = np.sign(g * s[0])
    factor = np.where(turn > 0, o["etaplus"], np.where(turn < 0, o["etaminus"], 1))
    s[1] = np.clip(s[1] * factor, o["step_size_min"], o["step_size_max"])
    s[0] = np.where(turn < 0, 0, g)
    return p - np.sign(s[0]) * s[1]


def rmsprop(p, g, s, t, o):
    s[0] = o["alpha"] * s[0] + (1 - o["alpha"]) * g * g
    spread = s[0]
    if o["centered"]:
        s[1] = lerp(s[1], g, 1 - o["alpha"])
        spread = s[0] - s[1] ** 2
    step = g / (np.sqrt(spread) + o["eps"])
    if o["momentum"]:
        s[2] = o["momentum"] * s[2] + step
    return p - o["lr"] * (s[2] if o["momentum"] else step)


FORMULAS = dict(
    sgd=sgd, adam=adam, adamw=adam, adagrad=adagrad, adadelta=adadelta, adamax=adamax, nadam=nadam, radam=radam,
    asgd=asgd, rprop=rprop, rmsprop=rmsprop,
)  # fmt: skip


def step(name, p, g, s, t, o):
    """Returns the new parameter; changes the state `s` in place. Decay and direction are the same for all."""
    g, decay = -g if o["maximize"] else g, o.get("weight_decay", 0)
    if name == "adamw" or o.get("decoupled_weight_decay"):
        p = p * (1 - o["lr"] * decay)
    else:
        g = g + decay * p
    return FORMULAS[name](p, g, s, t, o)


UPDATES = {made["operator"]: made for made in lamella._C._updates()}


def updated(operator, params, grads, *lists, grad_scale=None, found_inf=None, **options):
    """Returns all lists that an update writes, one after the other."""
    made, name = UPDATES[operator], operator.removeprefix("_fused_").removesuffix("_")
    o = {k: start for k, start, *_ in made["options"]} | {k: float(v) for k, v in options.items()}
    state = lists[: len(made["state"])]
    results = [[], [], *([] for _ in state)]
    for i, p in enumerate(params):
        g = grads[i] if grad_scale is None else grads[i] / grad_scale
        own = [one[i] if one else None for one in state]
        t = float(lists[len(state)][i].item()) if made["counts"] else 1
        results[0].append(step(name, p, g, own, t, o))
        results[1].append(g)
        for one, value in zip(results[2:], own, strict=True):
            one += [] if value is None else [value]
    return [x for one in results for x in one]


entries(
    **{operator: partial(updated, operator) for operator in UPDATES},
    _foreach_norm=lambda xs, order=2, dtype=None: [np.linalg.norm(x.ravel(), order) for x in xs],
    _foreach_powsum=lambda xs, order=2, dtype=None: [(np.abs(x) ** order).sum() for x in xs],
)
