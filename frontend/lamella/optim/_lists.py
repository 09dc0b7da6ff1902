"""What the optimizers share: operators over lists, the choice among them, the gathering of state.

An update is written once, over lists. `FOREACH` runs it by ``_foreach_*``; `EACH` by ordinary operators, which autograd
records. Where neither is asked for, one fused operator does the whole update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim.optimizer import Optimizer, _use_grad_for_differentiable, with_grad

Lists = Sequence[list[Any]]
# Lists to gather parameters, gradients and state in.
One = list[Any]
Three = tuple[One, One, One]
Four = tuple[One, One, One, One]
Five = tuple[One, One, One, One, One]
Six = tuple[One, One, One, One, One, One]
# Options that checkpoints of older programs lack, with what they meant then.
SINCE: dict[str, Any] = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}


class _Each:
    """``EACH.mul_(xs, ys)`` is ``x.mul_(y)`` for each; an argument that is no list is the same for all."""

    def __getattr__(self, name: str) -> Any:
        method = getattr(Tensor, name)

        def call(xs: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
            return [method(x, *[a[i] if isinstance(a, list) else a for a in args], **kwargs) for i, x in enumerate(xs)]

        setattr(self, name, call)
        return call


class _Foreach:
    """``FOREACH.mul_(xs, ys)`` is ``_foreach_mul_(xs, ys)``."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(lamella, f"_foreach_{name}")
        setattr(self, name, found)
        return found


EACH: Any = _Each()
FOREACH: Any = _Foreach()


def add_scaled(do: Any, xs: list[Any], ys: list[Any], factor: Any) -> list[Any]:
    """``x + factor y``; the factor is a number, a tensor, or a list of either, one for each."""
    if isinstance(factor, (Tensor, list)):
        return do.add(xs, do.mul(ys, factor))
    return do.add(xs, ys, alpha=factor)


def add_scaled_(do: Any, xs: list[Any], ys: list[Any], factor: Any) -> None:
    """``x += factor y``, as `add_scaled`."""
    if isinstance(factor, (Tensor, list)):
        do.add_(xs, do.mul(ys, factor))
    else:
        do.add_(xs, ys, alpha=factor)


def average_(do: Any, xs: list[Any], ys: list[Any], keep: Any) -> None:
    """The running average ``x = keep x + (1 - keep) y``."""
    do.mul_(xs, keep)
    add_scaled_(do, xs, ys, 1 - keep)


def kept(do: Any, xs: list[Any], differentiable: bool) -> list[Any]:
    """Copies of what a later step overwrites, if backward will need the values as they are now."""
    return do.clone(xs) if differentiable else xs


def number(value: Any) -> Any:
    """A hyperparameter as an operator takes it: a tensor of one element has no dimension."""
    return value.squeeze() if isinstance(value, Tensor) and value.dim() else value


def plain(value: Any) -> Any:
    """A hyperparameter as a fused operator takes it."""
    return value.item() if isinstance(value, Tensor) else value


def parts(lists: Lists) -> list[Lists]:
    """The lists, split so that the parameters of each part have one dtype and one device; complex ones are seen as
    real. The parameters are first; an empty list stays empty, and tensors without dimensions are as they are."""
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


def update(
    fused_operator: Callable[..., None],
    formula: Callable[..., None],
    lists: Lists,
    *,
    foreach: bool | None,
    fused: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    counts: bool = True,
) -> None:
    """Runs one of the ways of an update over the lists.

    Args:
        fused_operator: called with the lists
        formula: called with `EACH` or `FOREACH` and the lists
        capturable: steps may be on a device, where fused operators do not look for them
        counts: the last list has the numbers of steps, which count this one unless it fails
    """
    if not lists[0]:
        return
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable and foreach:
        raise AssertionError("foreach=True has no history, and differentiable=True asks for one; choose one of them")
    if fused is None:
        fused = foreach is None and not differentiable and not (capturable and not lists[0][0].is_cpu)
    for one in parts(lists):
        if counts:
            lamella._foreach_add_(one[-1], 1)
        try:
            if fused:
                fused_operator(*one)
            else:
                formula(FOREACH if foreach else EACH, *one)
        except Exception:
            if counts:
                lamella._foreach_sub_(one[-1], 1)
            raise


class ListOptimizer(Optimizer):
    """An optimizer whose step is one update of lists for each group."""

    _state: tuple[str, ...] = ()  # the state in the order of the update's lists, where it does not depend on options
    _since: dict[str, Any] = {}  # options that checkpoints of older programs lack
    _numbers: tuple[str, ...] = ("step",)  # state without dimensions: float32 on the host, unless capturable

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
                        own[name] = as_number(own[name], p.device if group.get("capturable") else "cpu")

    def _init_group(self, group: Any, params: list[Any], grads: list[Any], *lists: list[Any]) -> bool:
        """Gathers the parameters that have a gradient, with it and their state, which is made where there is none.

        False: none of the parameters is complex, or it does not matter.
        """
        states, found = self.state, []
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = states[p]
            if not state:
                self._init_state(p, state, group)
            params.append(p)
            grads.append(grad)
            found.append(state)
        for name, one in zip(self._state, lists, strict=True):
            one.extend([state[name] for state in found])
        return False

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fills the empty state of a parameter."""
        raise NotImplementedError

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        new: dict[str, Any] = {}
        self._init_state(lamella.empty_like(p.detach() if hasattr(p, "detach") else p, device="meta"), new, group)
        return {name: tuple(value.shape) for name, value in new.items()}

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient; ``closure`` computes the loss and the gradients before."""
        loss = None if closure is None else with_grad(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        raise NotImplementedError


def as_number(value: Any, device: Any = "cpu") -> Any:
    """A float32 tensor without dimensions."""
    if isinstance(value, Tensor):
        return value.to(dtype=lamella.float32, device=device)
    return lamella.tensor(float(value), dtype=lamella.float32, device=device)


def new_step(p: Any, group: dict[str, Any], value: float = 0.0) -> Any:
    """The count of steps: a float32 tensor without dimensions, on the host unless the group is capturable."""
    return lamella.tensor(value, dtype=lamella.float32, device=p.device if group.get("capturable") else "cpu")


def zeros_like(p: Any) -> Any:
    """Zeros in the layout of a parameter, without a history of their own."""
    return lamella.zeros_like(p.detach() if hasattr(p, "detach") else p, memory_format=lamella.preserve_format)
