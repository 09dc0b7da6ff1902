"""The base of optimizers whose step is one operator: an update, which a struct of ``<lamella/updates.h>`` describes.

`lamella._C._updates` returns the structs as data: the options with their defaults and ranges, and the lists of state
with their initial values. The classes add only names, signatures and documentation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import lamella
from lamella._C import Tensor
from lamella.optim import _options
from lamella.optim._lists import ListOptimizer, Lists, by_values, new_step, parts, plain, zeros_like
from lamella.optim._sparse import any_sparse, is_sparse

OWN: Any = ...  # in the signature of a class: stands for the default of the update's option
# Maps an option of classes that is a pair to the two options of the update.
PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}


class Update:
    """An update: its operator, its options and its state.

    Attributes:
        state: for each list: its key in an optimizer's state, whether it holds numbers, the initial value or the option
            that has it, and an option without which the list does not exist
        options: names and defaults, in the operator's order
        checks: a check for each option, by the names in groups
    """

    def __init__(self, made: dict[str, Any]) -> None:
        self.operator = made["operator"]
        self.counts: bool = made["counts"]
        self.state: list[tuple[str, bool, float | str, str | None]] = made["state"]
        self.options: dict[str, Any] = {name: start for name, start, *_ in made["options"]}
        self.tensors = [name for name, _, tensor, *_ in made["options"] if tensor]
        self.pairs = {name: two for name, two in PAIRS.items() if two[0] in self.options}
        paired = {"is_first_step", *(one for two in self.pairs.values() for one in two)}
        self.alone = [name for name in self.options if name not in paired]  # options that have the same name in groups
        numbers = [row for row in made["options"] if row[1] is not False]
        self.checks = {name: _options.ranged(words, *limits) for name, _, _, words, *limits in numbers}
        for name, (one, other) in self.pairs.items():
            self.checks[name] = _options.betas(self.checks.pop(one), self.checks.pop(other))
        if "lr" in self.options:
            self.checks["lr"] = _options.learning_rate
        packet = getattr(lamella, self.operator)
        self.calls = [getattr(packet, name) for name in ("default", "tensor_lr", "tensors")[: made["overloads"]]]
        self.composites: list[Any] = []

    def call(self, overload: int, whole: bool) -> Callable[..., None]:
        """Returns an overload of the operator; with `whole` its composite, which computes by operators over whole
        tensors even if the device has a kernel."""
        if not whole:
            return self.calls[overload]
        if not self.composites:
            self.composites = [lamella._C._get_kernel(op, "composite") for op in self.calls]
        return self.composites[overload]

    def options_of(self, group: dict[str, Any]) -> dict[str, Any]:
        """Returns the operator's options, taken from those of a group."""
        found = {name: group[name] for name in self.alone}
        for name, (one, other) in self.pairs.items():
            found[one], found[other] = group[name]
        return found

    def overload_of(self, options: dict[str, Any]) -> int:
        """Returns the number of the overload for these options: 0 without tensors, 1 if only ``lr`` is one, else 2.
        Removes the dimensions of tensors."""
        found = 0
        for name in self.tensors:
            value = options[name]
            if isinstance(value, Tensor):
                found = max(found, 1 if name == "lr" else 2)
                options[name] = value.squeeze() if value.dim() else value
        if found == 2:
            for name in self.tensors:
                options[name] = lamella.as_tensor(options[name], dtype=lamella.float64)
        return found


@cache
def updates() -> dict[str, Update]:
    """Returns all updates by the names of their operators."""
    return {made["operator"]: Update(made) for made in lamella._C._updates()}


def run(
    update: Update, lists: Lists, group: dict[str, Any], scaling: dict[str, Any], steps: bool, first: bool | None = None
) -> None:
    """Runs an update over lists: by the device's kernel, or by operators over whole tensors if the options require it.

    Args:
        lists: parameters, gradients, state, and with `steps` the counts of steps, which are incremented unless the
            update fails or `found_inf` is 1
        scaling: a dict that may have `grad_scale` and `found_inf`, set by a gradient scaler
        first: the option `is_first_step`, if the update has it
    """
    if not lists[0]:
        return
    foreach, fused, differentiable = group["foreach"], group.get("fused"), group.get("differentiable")
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable and foreach:
        raise AssertionError("foreach=True is not recorded by autograd, but differentiable=True is; choose one of them")
    whole = bool(not fused and (fused is not None or foreach is not None or differentiable))
    options = update.options_of(group)
    call = update.call(update.overload_of(options), whole)
    if first is not None:
        options["is_first_step"] = first
    found_inf = scaling.get("found_inf")
    if found_inf is not None:
        options["found_inf"] = found_inf
    if scaling.get("grad_scale") is not None:
        options["grad_scale"] = scaling["grad_scale"]
    with by_values() if whole else nullcontext():
        for one in parts(lists):
            if not steps:
                call(*one, **options)
                continue
            counts = one[-1]
            lamella._foreach_add_(counts, 1)
            try:
                call(*(one if update.counts else one[:-1]), **options)
            except Exception:
                lamella._foreach_sub_(counts, 1)
                raise
            if found_inf is not None:
                lamella._foreach_sub_(counts, [found_inf] * len(counts))


class UpdateOptimizer(ListOptimizer):
    """The base of a class whose step is one update, as in ``class Adam(UpdateOptimizer, update="_fused_adam_")``.

    A default `OWN` in the class's signature is replaced by that of the update's option. `_checks` adds to its checks.
    """

    _rule: Update
    _steps = True  # whether the state counts the steps

    def __init_subclass__(cls, update: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if not update:
            return
        cls._rule = rule = updates()[update]
        cls._checks = {**rule.checks, **cls.__dict__.get("_checks", {})}
        cls._numbers = ("step", *[key for key, number, *_ in rule.state if number])
        own = rule.options | {name: tuple(map(rule.options.get, two)) for name, two in rule.pairs.items()}
        init: Any = cls.__init__
        parameters = inspect.signature(init).parameters.values()
        filled = {
            p.name: own[p.name] if p.default is OWN else p.default for p in parameters if p.default is not p.empty
        }
        init.__defaults__ = tuple(
            filled[p.name] for p in parameters if p.name in filled and p.kind is not p.KEYWORD_ONLY
        )
        init.__kwdefaults__ = {p.name: filled[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
        cls._since = {k: v for k, v in filled.items() if v is None or v is False} | cls.__dict__.get("_since", {})

    def __init__(self, params: Any, given: dict[str, Any]) -> None:
        """Takes ``given``, the ``locals()`` of the class's ``__init__``, as the defaults of groups."""
        super().__init__(params, {k: v for k, v in given.items() if k not in ("self", "params", "__class__")})
        if given.get("fused"):
            self._step_supports_amp_scaling = True

    def _check_options(self, options: dict[str, Any]) -> None:
        super()._check_options(options)
        _options.ways(options)

    def _gather(self, group: dict[str, Any]) -> list[list[Any]]:
        """Returns the lists for the parameters that have a gradient; makes their state if it is missing."""
        states, params, grads, found = self.state, [], [], []
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
        lists = [params, grads]
        for key, _, _, condition in self._rule.state:
            lists.append([state[key] for state in found] if condition is None or group[condition] else [])
        if self._steps:
            lists.append([state["step"] for state in found])
        return lists

    def _init_state(self, p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if self._steps:
            state["step"] = new_step(p, group)
        for key, number, start, condition in self._rule.state:
            if condition is not None and not group[condition]:
                continue
            value = plain(group[start]) if isinstance(start, str) else start
            state[key] = new_step(p, group, value) if number else _filled(p, value)

    @classmethod
    def _operator(cls, group: dict[str, Any]) -> Update:
        """Returns the update for the options of a group."""
        return cls._rule

    @classmethod
    def _run(cls, lists: list[Any], group: dict[str, Any], scaling: dict[str, Any]) -> bool:
        """Makes one step over lists; returns whether it has put new state into the lists."""
        run(cls._operator(group), lists, group, scaling, cls._steps)
        return False

    def _update(self, group: dict[str, Any]) -> None:
        lists = self._gather(group)
        self._run(self._apart(lists, group) if any_sparse(lists[1]) else lists, group, self.__dict__)

    def _apart(self, lists: list[list[Any]], group: dict[str, Any]) -> list[list[Any]]:
        """Makes the steps of the parameters with sparse gradients; returns the lists of the others."""
        params, grads = lists[:2]
        for p, grad in zip(params, grads, strict=True):
            if is_sparse(grad):
                self._sparse_step(p, grad, group)
        rest = [i for i, grad in enumerate(grads) if not is_sparse(grad)]
        return [[one[i] for i in rest] if one else one for one in lists]

    def _sparse_step(self, p: Any, grad: Any, group: dict[str, Any]) -> None:
        name = type(self).__name__
        raise RuntimeError(f"{name} does not support sparse gradients; use SparseAdam, SGD or Adagrad")


def _filled(p: Any, value: float) -> Any:
    """Returns a parameter's state filled with one value; for a complex parameter both parts have the value."""
    if not value:
        return zeros_like(p)
    return lamella.full_like(p.detach(), complex(value, value) if p.is_complex() else value)


def function(cls: type[UpdateOptimizer], flags: str, lists: str = "") -> Callable[..., None]:
    """Makes a function, named after a class, that makes one step of the class over lists.

    Args:
        flags: the names of its arguments between the lists and the options, in order
        lists: the names of its lists, if they differ from the operator's
    """
    rule, between, one = cls._rule, flags.split(), inspect.Parameter
    names = [a["name"] for a in lamella._C._describe(rule.calls[0])["args"] if not a["keyword_only"]]
    names = lists.split() or ["params", *names[1 : 2 + len(rule.state)], "state_steps"]
    none = ("foreach", "fused", "grad_scale", "found_inf")
    last = [name for name in rule.options if name not in between and name != "is_first_step"]
    parameters = [one(name, one.POSITIONAL_OR_KEYWORD) for name in names]
    parameters += [one(k, one.POSITIONAL_OR_KEYWORD, default=None if k in none else False) for k in between]
    parameters += [one(name, one.KEYWORD_ONLY) for name in last]
    signature = inspect.Signature(parameters)

    def step(*args: Any, **options: Any) -> None:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        group = bound.arguments
        for name, (first, second) in rule.pairs.items():
            group[name] = group[first], group[second]
        cls._run([group[name] for name in names], group, group)

    step.__name__ = step.__qualname__ = cls.__name__.lower()
    step.__doc__ = f"One step of {cls.__name__} over lists of parameters, gradients and state; see the class."
    step.__module__ = cls.__module__
    step.__signature__ = signature  # type: ignore[attr-defined]
    return step
