"""Checks of options. Each optimizer class has a table of checks, which its defaults and every group must pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import float_info
from typing import Any

import lamella
from lamella._C import Tensor

Check = Callable[[Any], None]
Table = Mapping[str, Check]


def bounded(what: str, low: float = 0.0, below: float | None = None) -> Check:
    """Makes a check that raises ValueError unless ``low <= value < below``; it rejects NaN."""

    def check(value: Any) -> None:
        if not (low <= value and (below is None or value < below)):
            bound = f"{low:g} or more" if below is None else f"at least {low:g} and less than {below:g}"
            raise ValueError(f"Invalid {what}: {value}; it must be {bound}")

    return check


def within(what: str, low: float, high: float) -> Check:
    """Makes a check that raises ValueError unless ``low <= value <= high``."""

    def check(value: Any) -> None:
        if not low <= value <= high:
            raise ValueError(f"Invalid {what}: {value}; it must be in [{low:g}, {high:g}]")

    return check


def any_number(what: str) -> Check:
    """Makes a check that raises ValueError for NaN."""

    def check(value: Any) -> None:
        if value != value:
            raise ValueError(f"Invalid {what}: {value}; it must be a number")

    return check


def none_or(check: Check) -> Check:
    """Makes a check that accepts None, and applies ``check`` to any other value."""
    return lambda value: None if value is None else check(value)


def one_of(text: str, *values: Any) -> Check:
    """Makes a check that raises ValueError unless the value is in ``values``; ``{}`` in the text is the value."""

    def check(value: Any) -> None:
        if value not in values:
            raise ValueError(text.format(value))

    return check


_rate = bounded("learning rate")


def learning_rate(lr: Any) -> None:
    """Raises ValueError unless the learning rate is a number of 0 or more, or a tensor of one such element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, got shape {tuple(lr.shape)}")
    _rate(lr)


def ranged(what: str, low: float, high: float, is_open: bool) -> Check:
    """Makes the check of an update's option: at least `low`, at most `high`, or below `high` if `is_open`. The largest
    float stands for no bound."""
    if low == -float_info.max:
        return any_number(what)
    if high == float_info.max:
        return bounded(what, low)
    return bounded(what, low, high) if is_open else within(what, low, high)


def betas(one: Check, other: Check) -> Check:
    """Makes a check of a pair of numbers, or of tensors of one element, from a check for each."""

    def check(values: Any) -> None:
        if len(values) != 2:
            raise ValueError(f"betas must be two numbers, got {values}")
        for i, (value, each) in enumerate(zip(values, (one, other), strict=True)):
            if isinstance(value, Tensor) and value.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element, got shape {tuple(value.shape)}")
            each(value)

    return check


def etas(values: Any) -> None:
    """Raises ValueError unless the first value is in (0, 1) and the second above 1."""
    if not 0.0 < values[0] < 1.0 < values[1]:
        raise ValueError(f"Invalid eta values: {values[0]}, {values[1]}; they must be in (0, 1) and above 1")


def step_sizes(values: Any) -> None:
    """Raises ValueError unless ``0 <= values[0] <= values[1]``."""
    if not 0.0 <= values[0] <= values[1]:
        raise ValueError(f"Invalid step sizes: {values[0]}, {values[1]}; they must be 0 or more, the smallest first")


def pass_table(who: str, table: Table, options: Mapping[str, Any], required: Any) -> None:
    """Runs the checks of a table over the options of a group. Errors begin with ``who`` and the option's name."""
    for name, check in table.items():
        value = options.get(name, required)
        if value is required:
            continue
        try:
            check(value)
        except ValueError as error:
            raise ValueError(f"{who}: argument '{name}': {error}") from None
        except (TypeError, IndexError, RuntimeError) as error:
            kind = lamella.typename(value)
            raise TypeError(f"{who}: argument '{name}': Invalid {name}: {value!r} of type {kind}: {error}") from error


def ways(options: Mapping[str, Any]) -> None:
    """Raises RuntimeError for ``fused=True`` together with ``differentiable=True`` or ``foreach=True``."""
    if options.get("fused") and options.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`; leave one of them out")
    if options.get("fused") and options.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
