"""Optimizer, the base class of optimizers: groups of parameters, the state of each parameter, hooks around a step."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import lamella
from lamella._C import Tensor
from lamella._usage_log import log_once
from lamella.optim import _options, _saved
from lamella.optim._hooks import OptimizerHooks, _global_post_hooks, _global_pre_hooks, run_hooked
from lamella.optim._hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from lamella.optim._hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    """Stands for the default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_grad_switch: Any = (getattr(lamella, "is_grad_enabled", None), getattr(lamella, "set_grad_enabled", None))


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a step so that autograd records it if, and only if, the optimizer is differentiable."""
    enabled, enable = _grad_switch
    if enable is None:  # autograd is not loaded
        return func

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = enabled()
        enable(bool(self.defaults.get("differentiable")))
        try:
            return func(self, *args, **kwargs)
        finally:
            enable(before)

    return step


def with_grad(closure: Callable[[], Any]) -> Any:
    """Calls the closure with autograd's recording on; returns its result."""
    if _grad_switch[1] is None:
        return closure()
    with lamella.enable_grad():  # type: ignore[attr-defined]
        return closure()


class Optimizer(OptimizerHooks):
    """The base class of optimizers, which change parameters by their gradients. A subclass defines ``step``.

    Args:
        params: tensors; or pairs of a name and a tensor; or groups, which are dicts with ``params`` and options
        defaults: the values of options that a group does not give

    Attributes: ``param_groups``, a list of dicts; ``state``, a dict for each parameter with its averages and counts;
    ``defaults``.

    Raises:
        TypeError: ``params`` is a tensor, a group's ``params`` are a set, or a parameter is not a tensor
        ValueError: there is no parameter; a parameter is not a leaf, or is in two groups; some have names and others
            do not; or an option is required and absent

    >>> class Sign(lamella.optim.Optimizer):
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.sub_(p.grad.sign(), alpha=group["lr"])
    >>> w = lamella.zeros(2)
    >>> w.grad = lamella.tensor([3.0, -4.0])
    >>> Sign([w], {"lr": 0.5}).step()
    >>> w
    tensor([-0.5000,  0.5000])
    """

    _checks: _options.Table = {}  # a check for each option

    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]
    defaults: dict[str, Any]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        log_once("python.optimizer")
        self.defaults = defaults
        self._make_hooks()
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{lamella.typename(params)}; put the tensor into a list"
            )
        self._check_options(defaults)
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list; give it at least one tensor or group")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps ``step`` so that it calls the hooks, too. The first instance of a class wraps the step of its class."""

        @functools.wraps(func)
        def step(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks:
                return run_hooked(func, self, args, kwargs)
            if _global_pre_hooks or _global_post_hooks:
                return run_hooked(func, self, args, kwargs)
            return func(self, *args, **kwargs)

        step.hooked = True  # type: ignore[attr-defined]
        return step

    def _patch_step_function(self) -> None:
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)

    def state_dict(self) -> dict[str, Any]:
        """Returns the options of the groups and the state, with a number in the place of each parameter.

        The form is ``{"state": {0: {...}}, "param_groups": [{"lr": 0.1, ..., "params": [0]}]}``. Its tensors are the
        optimizer's own, not copies.

        >>> w = lamella.zeros(1)
        >>> lamella.optim.Adagrad([w]).state_dict()["state"]
        {0: {'step': tensor(0.), 'sum': tensor([0.])}}
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        found = _saved.pack(self.param_groups, self.state)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, found)
            found = found if changed is None else changed
        return found

    _process_value_according_to_param_policy = staticmethod(_saved.cast)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the options and the state of a ``state_dict()``. After an error the optimizer is unchanged.

        Tensors other than ``step`` are moved to the device of their parameter, and converted to its dtype if that is
        floating-point. Call this function after making schedulers, since a new scheduler sets learning rates.

        Raises:
            ValueError: the number of groups, or of parameters in a group, differs; options or state are those of
                another class of optimizer; or the state does not have the shapes of the parameters
            KeyError: the dict has no ``state`` or no ``param_groups``

        >>> a, b = (lamella.optim.SGD([lamella.zeros(1)], lr=lr) for lr in (0.5, 0.1))
        >>> b.load_state_dict(a.state_dict())
        >>> b.param_groups[0]["lr"]
        0.5
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        loaded = _saved.unpack(self, state_dict)
        before = dict(self.__dict__)
        try:
            self.__setstate__(loaded)
            if type(self).__module__.startswith("lamella.optim."):  # other classes may keep any state
                _saved.check(self)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _shapes(self, p: Any, group: dict[str, Any], own: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Returns the shape of each tensor that a parameter's state must have, by its key."""
        return {}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients to None; with ``set_to_none=False`` fills them with zeros in place.

        >>> w = lamella.zeros(1)
        >>> w.grad = lamella.ones(1)
        >>> lamella.optim.SGD([w]).zero_grad()
        >>> w.grad is None
        True
        """
        if set_to_none:
            for group in self.param_groups:
                for p in group["params"]:
                    p.grad = None
            return
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad
                if grad is not None:
                    if getattr(grad, "requires_grad", False):
                        grad = p.grad = grad.detach()
                    grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter once. If given, ``closure`` is called first to compute the loss and the gradients.

        >>> w = lamella.zeros(1)
        >>> w.grad = lamella.ones(1)
        >>> lamella.optim.SGD([w], lr=1.0).step(lambda: 7)
        7
        """
        raise NotImplementedError(f"{type(self).__name__} has no step of its own; write step(self, closure=None)")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group: a dict with ``params`` and options. Absent options get the optimizer's defaults.

        Raises the errors of the class.

        >>> optimizer = lamella.optim.SGD([lamella.zeros(1)], lr=0.1)
        >>> optimizer.add_param_group({"params": lamella.zeros(2), "lr": 0.5})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.5]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but got a set, whose order differs "
                "between runs; use a list"
            )
        named = [given] if isinstance(given, Tensor) else list(given)
        params = [p[1] if isinstance(p, tuple) else p for p in named]
        names = [p[0] for p in named if isinstance(p, tuple)]
        if names and len(names) != len(params):
            raise ValueError(
                f"all optimizer params should be with/without names, got {len(names)} names of {len(params)} parameters"
            )
        for p in params:
            self._check_param(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        ids = set(map(id, params))
        if len(ids) != len(params):
            warnings.warn(
                f"optimizer contains a parameter group with duplicate parameters: {len(params)} parameters are "
                f"{len(ids)} tensors, and a step changes some twice",
                stacklevel=3,
            )
        self._check_options({**self.defaults, **param_group})
        has_names = bool(names) or "param_names" in param_group
        for i, group in enumerate(self.param_groups):
            if has_names != ("param_names" in group):
                with_or_without = "with" if has_names else "without"
                raise ValueError(
                    "all optimizer param groups should be with/without names; a group "
                    f"{with_or_without} names cannot join group {i}"
                )
            shared = ids.intersection(map(id, group["params"]))
            if shared:
                raise ValueError(
                    f"some parameters appear in more than one parameter group: {len(shared)} are in group {i} already"
                )
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _check_options(self, options: dict[str, Any]) -> None:
        """Raises if an option is out of its range, or does not fit another option."""
        _options.pass_table(type(self).__name__, self._checks, options, required)

    def _check_param(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {lamella.typename(p)}")
        if not (self.defaults.get("differentiable") or getattr(p, "is_leaf", True) or p.retains_grad):
            raise ValueError(
                f"can't optimize a non-leaf Tensor, got one of shape {tuple(p.shape)} that an operation made; "
                "give its detach(), or call retain_grad()"
            )
