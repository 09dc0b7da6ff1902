"""The two-layer network of a talk about torch, with gradients by hand and by autograd, on equal data for all peers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

BATCH, INPUTS, HIDDEN, OUTPUTS, ITERATIONS, RATE = 64, 1000, 100, 10, 500, 1e-6


def data() -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(0)
    shapes = (BATCH, INPUTS), (BATCH, OUTPUTS), (INPUTS, HIDDEN), (HIDDEN, OUTPUTS)
    return tuple(random.standard_normal(s).astype(np.float32) for s in shapes)


def with_tensors(framework: ModuleType, arrays: tuple[np.ndarray, ...]) -> tuple[Any, Any]:
    """Trains with gradients written by hand; the same code for torch and for lamella."""
    x, y, w1, w2 = (framework.from_numpy(a.copy()) for a in arrays)
    for _ in range(ITERATIONS):
        h = x.mm(w1)
        h_relu = h.clamp(min=0)
        y_pred = h_relu.mm(w2)
        loss = (y_pred - y).pow(2).sum()
        grad_y_pred = 2.0 * (y_pred - y)
        grad_w2 = h_relu.t().mm(grad_y_pred)
        grad_h_relu = grad_y_pred.mm(w2.t())
        grad_h = grad_h_relu.clone()
        grad_h[h < 0] = 0
        grad_w1 = x.t().mm(grad_h)
        w1 -= RATE * grad_w1
        w2 -= RATE * grad_w2
    return loss, w2


def with_autograd(framework: ModuleType, arrays: tuple[np.ndarray, ...]) -> tuple[Any, Any]:
    """Trains the same network with gradients by backward."""
    x, y, w1, w2 = (framework.from_numpy(a.copy()) for a in arrays)
    w1.requires_grad_()
    w2.requires_grad_()
    for _ in range(ITERATIONS):
        y_pred = x.mm(w1).clamp(min=0).mm(w2)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with framework.no_grad():
            w1 -= RATE * w1.grad
            w2 -= RATE * w2.grad
            w1.grad = None
            w2.grad = None
    return loss, w2


def with_numpy(arrays: tuple[np.ndarray, ...]) -> tuple[Any, Any]:
    x, y, w1, w2 = (a.copy() for a in arrays)
    for _ in range(ITERATIONS):
        h = x.dot(w1)
        h_relu = np.maximum(h, 0)
        y_pred = h_relu.dot(w2)
        loss = np.square(y_pred - y).sum()
        grad_y_pred = 2.0 * (y_pred - y)
        grad_w2 = h_relu.T.dot(grad_y_pred)
        grad_h_relu = grad_y_pred.dot(w2.T)
        grad_h = grad_h_relu.copy()
        grad_h[h < 0] = 0
        grad_w1 = x.T.dot(grad_h)
        w1 -= RATE * grad_w1
        w2 -= RATE * grad_w2
    return loss, w2
