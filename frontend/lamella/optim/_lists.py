"""Shared parts of the optimizers: lists split by dtype and device, new state, and the loop over groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import lamella
from lamella import _C
from lamella._C import Tensor
from lamella._devices import host
from lamella.optim.optimizer import Optimizer, _use_grad_for_differentiable, with_grad

Lists = Sequence[list[Any]]


def plain(value: Any) -> Any:
    """Returns a hyperparameter, a number or a tensor of one element, as a number."""
    return value.item() if isinstance(value, Tensor) else value


@contextmanager
def by_values() -> Iterator[None]:
    """Turns off, in a block or a function, the layers that are off while backward computes: the formulas of a step are
    about values, so that they combine dimensions whose names differ."""
    include, exclude = _C._thread_layers()
    _C._set_thread_layers(include, exclude | _C._layers_not_in_backward())
    try:
        yield
    finally:
        _C._set_thread_layers(include, exclude)


def parts(lists: Lists) -> list[Lists]:
    """Splits lists, the first of which has the parameters, so that the parameters of each part have one dtype and one
    device. Complex tensors are replaced by views as real ones; an empty list stays empty."""
    params = lists[0]
    kinds = {p.dtype for p in params}
    if len(kinds) == 1 and len({p.device for p in params}) == 1:
        return [_real(lists)] if kinds.pop().is_complex else [lists]
    places: dict[Any, list[int]] = {}
    for i, p in enumerate(params):
        places.setdefault((p.device, p.dtype), []).append(i)
    found: list[Lists] = []
    for (_, dtype), at in places.items():
        some = [[one[i] for i in at] if one else [] for one in lists]
        found.append(_real(some) if dtype.is_complex else some)
    return found


def _real(lists: Lists) -> Lists:
    def real(t: Any) -> Any:
        return lamella.view_as_real(t) if isinstance(t, Tensor) and t.dtype.is_complex else t

    return [list(map(real, one)) for one in lists]


class ListOptimizer(Optimizer):
    """An optimizer whose step is one update of lists for each group."""

    _since: dict[str, Any] = {}  # defaults of options that older checkpoints do not have
    _numbers: tuple[str, ...] = ("step",)  # keys of state that are float32 scalars, on the host unless capturable

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for key, value in self._since.items():
                group.setdefault(key, value)
            for p in group["params"]:
                own = self.state.get(p)
                if not isinstance(own, dict):
                    continue
                for name in self._numbers:
                    if name in own:
                        own[name] = as_number(own[name], _device_of_step(p, group))

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fills the empty state of a parameter."""
        raise NotImplementedError

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        new: dict[str, Any] = {}
        self._init_state(lamella.empty_like(p.detach() if hasattr(p, "detach") else p, device="meta"), new, group)
        return {name: tuple(value.shape) for name, value in new.items()}

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Calls ``closure``, if given, then updates every parameter with a gradient; returns the closure's result."""
        loss = None if closure is None else with_grad(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        raise NotImplementedError


def _device_of_step(p: Any, group: dict[str, Any]) -> Any:
    return p.device if group.get("capturable") else host()


def as_number(value: Any, device: Any) -> Any:
    """Returns a number or a tensor as a float32 tensor; a number becomes a tensor without dimensions."""
    if isinstance(value, Tensor):
        return value.to(dtype=lamella.float32, device=device)
    return lamella.tensor(float(value), dtype=lamella.float32, device=device)


def new_step(p: Any, group: dict[str, Any], value: float = 0.0) -> Any:
    """Makes a count of steps, or another number of the state: a float32 tensor without dimensions, on the host unless
    the group is capturable."""
    given = value.detach().clone() if isinstance(value, Tensor) else value
    return as_number(given, _device_of_step(p, group))


def zeros_like(p: Any) -> Any:
    """Returns zeros with the shape and strides of a parameter, detached from its history."""
    return lamella.zeros_like(p.detach() if hasattr(p, "detach") else p, memory_format=lamella.preserve_format)
