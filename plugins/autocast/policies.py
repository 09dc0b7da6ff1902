"""The policies of operators: how to read them, and the rules that Python registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella import ops
from lamella.library import Autocast


def find_policy(op: str) -> str:
    """Returns the policy of an operator, as ``docs/autocast.md`` describes it; an empty text if it has none.

    Raises:
        RuntimeError: there is no such operator

    >>> lamella.amp.find_policy("mm"), lamella.amp.find_policy("exp"), lamella.amp.find_policy("add.Tensor")
    ('lower', 'host: keep; widest', '')
    """
    return ops.autocast.find_policy(op if "::" in op else f"aten::{op}")


def serve(rule: Any) -> Callable[[], None] | None:
    """Gives an operator the policy of a rule that Python registered; returns the function that withdraws it."""
    if rule.kind != "python":  # the library follows those of C and C++
        return None
    text = rule.payload
    if isinstance(text, Autocast):
        text = f"{text.device_type}: {str(text.cast_inputs).removeprefix('lamella.')}"
    if not isinstance(text, str):
        raise TypeError(f"autocast: the policy of {rule.op} must be a str, got {type(text).__name__}")
    number = ops.autocast.add_rule(rule.op, text)
    return lambda: ops.autocast.withdraw_rule(number)
