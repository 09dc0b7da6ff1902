"""A line search for the strong Wolfe conditions: Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class _Point(NamedTuple):
    """A length ``t`` on the line, with the loss, the gradient and the slope along the line at that point."""

    t: float
    loss: float
    grad: Any
    slope: float


def cubic_minimum(a: Any, b: Any, bounds: tuple[float, float] | None = None) -> float:
    """Returns the length within the bounds at which the cubic through two points with their slopes is least; formula
    3.59."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    if a.t == b.t:
        return (low + high) / 2
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = square**0.5
    bottom = b.slope - a.slope + 2 * d2
    if bottom == 0:
        return (low + high) / 2
    return min(max(b.t - (b.t - a.t) * ((b.slope + d2 - d1) / bottom), low), high)


def strong_wolfe(
    at: Callable[[float], tuple[float, Any]],
    t: float,
    direction: Any,
    loss: float,
    grad: Any,
    slope: float,
    tolerance_change: float = 1e-9,
    most: int = 25,
    c1: float = 1e-4,
    c2: float = 0.9,
) -> tuple[float, Any, float, int]:
    """Searches along a line; returns the loss, the gradient, the length and the number of evaluations, which is at most
    about ``most``. ``at(t)`` returns the loss and the gradient at a length."""
    widest = float(direction.abs().max())

    def evaluate(t: float) -> _Point:
        value, g = at(t)
        return _Point(t, value, g, float(g.dot(direction)))

    def rises(point: _Point) -> bool:
        return point.loss > loss + c1 * point.t * slope

    origin = _Point(0.0, loss, grad, slope)
    before, now = origin, evaluate(t)
    tries = 0
    while tries < most:
        if rises(now) or (tries > 1 and now.loss >= before.loss):
            break
        if abs(now.slope) <= -c2 * slope:
            return now.loss, now.grad, now.t, tries + 1
        if now.slope >= 0:
            break
        bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
        t = cubic_minimum(before, now, bounds)
        before, now = now, evaluate(t)
        tries += 1
    else:
        before = origin
    low, high = (before, now) if before.loss <= now.loss else (now, before)
    stuck = False
    while tries < most and abs(high.t - low.t) * widest >= tolerance_change:
        left, right = min(low.t, high.t), max(low.t, high.t)
        t = cubic_minimum(low, high)
        edge = 0.1 * (right - left)
        if min(right - t, t - left) < edge:
            if stuck or t >= right or t <= left:
                t = right - edge if abs(t - right) < abs(t - left) else left + edge
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = evaluate(t)
        tries += 1
        if rises(new) or new.loss >= low.loss:
            high = new
            if high.loss < low.loss:
                low, high = high, low
            continue
        if abs(new.slope) <= -c2 * slope:
            low = new
            break
        if new.slope * (high.t - low.t) >= 0:
            high = low
        low = new
    return low.loss, low.grad, low.t, tries + 1
