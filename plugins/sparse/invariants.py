"""The switch of the checks of new sparse tensors' indices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import making


class check_sparse_tensor_invariants:
    """Switches the checks of indices on or off, for a block, for a function, or by `enable` and `disable`.

    They are on unless switched off, which saves a pass over the indices. Kernels check the indices that they follow in
    either case, so that bad ones give an error or a wrong result, and not a crash.

    >>> with lamella.sparse.check_sparse_tensor_invariants(False):
    ...     lamella.sparse.check_sparse_tensor_invariants.is_enabled()
    False
    >>> lamella.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    def __init__(self, enable: bool = True):
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """True if the indices of new sparse tensors are checked."""
        return making.checks[-1]

    @staticmethod
    def enable() -> None:
        """Switches the checks on."""
        making.checks[-1] = True

    @staticmethod
    def disable() -> None:
        """Switches the checks off."""
        making.checks[-1] = False

    def __enter__(self) -> None:
        making.checks.append(self.state)

    def __exit__(self, *_: Any) -> None:
        making.checks.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked
