"""Reverse-mode differentiation of numbers in plain Python: a peer that every engine should be faster than."""

from __future__ import annotations

import math
from collections.abc import Callable


class Value:
    """A number, its gradient, and the numbers that it was computed from."""

    __slots__ = ("backward_step", "data", "grad", "parents")

    def __init__(self, data: float, parents: tuple[Value, ...] = ()) -> None:
        self.data, self.grad, self.parents = data, 0.0, parents
        self.backward_step: Callable[[], None] | None = None

    def __add__(self, other: Value) -> Value:
        out = Value(self.data + other.data, (self, other))

        def step() -> None:
            self.grad += out.grad
            other.grad += out.grad

        out.backward_step = step
        return out

    def __mul__(self, other: Value) -> Value:
        out = Value(self.data * other.data, (self, other))

        def step() -> None:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.backward_step = step
        return out

    def __sub__(self, other: Value) -> Value:
        out = Value(self.data - other.data, (self, other))

        def step() -> None:
            self.grad += out.grad
            other.grad -= out.grad

        out.backward_step = step
        return out

    def tanh(self) -> Value:
        out = Value(math.tanh(self.data), (self,))

        def step() -> None:
            self.grad += (1 - out.data * out.data) * out.grad

        out.backward_step = step
        return out

    def relu(self) -> Value:
        out = Value(max(self.data, 0.0), (self,))

        def step() -> None:
            self.grad += out.grad * (out.data > 0)

        out.backward_step = step
        return out

    def backward(self) -> None:
        order: list[Value] = []
        seen: set[int] = set()
        stack = [(self, False)]
        while stack:
            value, ready = stack.pop()
            if ready:
                order.append(value)
            elif id(value) not in seen:
                seen.add(id(value))
                stack.append((value, True))
                stack.extend((p, False) for p in value.parents)
        self.grad = 1.0
        for value in reversed(order):
            if value.backward_step:
                value.backward_step()
